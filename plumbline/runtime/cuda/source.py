"""Where the source of the runtime lies, for who compiles it."""

from pathlib import Path

SOURCE = Path(__file__).with_name("runtime.c")

INCLUDES = SOURCE.parents[3]
"""The folder from which it includes its headers."""
