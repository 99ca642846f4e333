"""Finds the op at which a compiled program's numbers leave PyTorch's."""
