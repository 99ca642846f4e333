"""What kernels need to know of the CPU that code is made for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class VectorUnit:
    """The vector registers of a CPU: how many bytes each holds, and how many there are."""

    bytes: int
    registers: int
    has_bf16_dots: bool = False
    """Whether it adds up products of two pairs of bf16 in each element of f32 at once."""

    def lanes(self, element_bits: int) -> int:
        """How many elements of that width a register holds."""
        return max(self.bytes * 8 // element_bits, 1)


AVX2 = VectorUnit(32, 16)
"""Of x86-64-v3, which code is made for unless asked otherwise."""
