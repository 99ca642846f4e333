"""Gives back memory from the heap of the C library that compiled programs are linked with."""

import ctypes
import os

# On Windows there are several of these, each with a heap of its own; Python has another one.
_LIBRARY = "msvcrt" if os.name == "nt" else None

free = ctypes.CDLL(_LIBRARY).free
"""What C calls so; it takes an address."""
free.argtypes = [ctypes.c_void_p]
free.restype = None
