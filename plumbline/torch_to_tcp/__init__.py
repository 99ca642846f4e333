"""Torch dialect -> TCP."""
