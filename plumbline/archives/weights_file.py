"""The file that a library maps its weights from, and what of it is known where.

A library compiled with `weights = "file"` has room for the whole file, header and all, in memory
that costs nothing before it is mapped there (`.bss`). So a weight lies where it would if it were
embedded, and machine code for either is the same. The header is part of what a library knows: a
file that begins with these bytes, and is as long as it says, has the names, element types, shapes
and layouts that the library was compiled for.

Three symbols of a program stand for it, whose memory the assembler makes
(`llvm_to_asm/mapped_weights.py`):

    <program>.weights.region   where the file is mapped to
    <program>.weights.header   the bytes that it begins with
    <program>.weights.sizes    two int64: how many these are, and how many the file has
"""

from dataclasses import dataclass

_REGION = ".weights.region"


@dataclass(frozen=True)
class WeightsFileSymbols:
    """The symbols of a program."""

    program: str

    @property
    def region(self) -> str:
        """Where the file is mapped to."""
        return f"{self.program}{_REGION}"

    @property
    def header(self) -> str:
        """The bytes that it begins with."""
        return f"{self.program}.weights.header"

    @property
    def sizes(self) -> str:
        """How many these are, and how many bytes the file has."""
        return f"{self.program}.weights.sizes"

    @staticmethod
    def of_region(symbol: str) -> "WeightsFileSymbols | None":
        """The symbols of which this is the region, if it is one."""
        program = symbol.removesuffix(_REGION)
        return WeightsFileSymbols(program) if program != symbol else None
