"""Compiled code in this process: loaded, described, and called with tensors."""
