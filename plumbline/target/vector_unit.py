"""What kernels need to know of the CPU that code is made for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class VectorUnit:
    """The vector registers of a CPU: how many bytes each holds, and how many there are."""

    bytes: int
    registers: int
    dots: tuple[str, ...] = ()
    """Of which element types it adds up several products at once in each lane of 32 bits: of bf16,
    i8 and i16."""

    def lanes(self, element_bits: int) -> int:
        """How many elements of that width a register holds."""
        return max(self.bytes * 8 // element_bits, 1)


AVX2 = VectorUnit(32, 16)
"""Of x86-64-v3, which code is made for unless asked otherwise."""
