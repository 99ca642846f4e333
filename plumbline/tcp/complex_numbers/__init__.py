"""Tensors of complex numbers as two of real ones, for all that comes after."""
