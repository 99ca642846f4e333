"""The C source of what freestanding programs call in place of the C library."""

from pathlib import Path

SOURCE = Path(__file__).with_name("calls.c")

REPLACED = ("abort", "aligned_alloc", "dprintf", "madvise", "malloc", "snprintf")
"""The functions of the C library that it has others for."""

PREFIX = "plumbline_"
"""What the names of those begin with, before these."""
