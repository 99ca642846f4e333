"""What kernels need to know of the CPU that code is made for."""

from dataclasses import dataclass, replace

AVX512_BYTES = 64
"""Of a vector register."""

_HELIUM_REGISTERS = 8

_SUMS_OF_INTEGERS = 4
"""Of 13 registers, of which others hold what is multiplied, and where it is."""


_HALF_OF_CACHE = 1 << 14


@dataclass(frozen=True)
class VectorUnit:
    """The vector registers of a CPU: how many bytes each holds, and how many there are."""

    bytes: int
    registers: int
    dots: tuple[str, ...] = ()
    """Its instructions that add up several products at once in each lane of 32 bits, by their
    mnemonics: those of `linalg_to_kernels/dot_instructions.py`."""

    scalable: bool = False
    """Whether it also has vectors that are as long as each machine has them (SVE, RISC-V's)."""

    scratch_bytes: int = _HALF_OF_CACHE
    """How many bytes of sums, or of a copy of an operand, a kernel has on the stack at a time,
    about: half of a first cache, or what there is of memory."""

    index_bits: int = 64
    """How wide its registers of integers are, which kernels count in."""

    is_shared: bool = False
    """Whether several threads do a kernel, which then is to leave each enough to do."""

    @property
    def of_integers(self) -> "VectorUnit":
        """Registers of single integers of 32 bits, as many as a small CPU has for sums."""
        return replace(self, bytes=4, registers=_SUMS_OF_INTEGERS, dots=())

    @property
    def fetches_ahead(self) -> bool:
        """Whether it is worth asking memory for what is read later: not where that is small."""
        return self.scratch_bytes >= _HALF_OF_CACHE

    @property
    def looks_up(self) -> bool:
        """Whether an instruction looks up a number for each lane in a table that registers hold.

        AVX2 has one as well, but its registers hold tables of 8 numbers.
        """
        return self.bytes >= AVX512_BYTES and not self.scalable

    @property
    def divides_floats_alone(self) -> bool:
        """Whether there are instructions that divide vectors of floats, and none for integers.

        Helium, which alone has so few registers, has neither, and SVE and RISC-V have both.
        """
        return self.lanes(32) > 1 and self.registers > _HELIUM_REGISTERS and not self.scalable

    @property
    def converts_long_integers(self) -> bool:
        """Whether instructions make floats of vectors of 64-bit integers, and back (AVX-512)."""
        return self.bytes >= AVX512_BYTES and not self.scalable

    def lanes(self, element_bits: int) -> int:
        """How many elements of that width a register holds."""
        return max(self.bytes * 8 // element_bits, 1)


AVX2 = VectorUnit(32, 16)
"""Of x86-64-v3, which code is made for unless asked otherwise."""
