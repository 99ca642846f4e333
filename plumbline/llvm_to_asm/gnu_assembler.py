"""What has GNU's assembler take the instructions of all CPUs, as it does on x86-64 by itself.

LLVM has chosen among those of the CPU that the code is for.
"""

import re

from plumbline.target.target import THUMB, Target

_OF_ARM = re.compile(
    r"^\t\.(cpu|fpu|arch_extension|fnstart|fnend|cantunwind|save|vsave|pad|setfp)\b.*\n",
    re.MULTILINE,
)
"""What microcontrollers have, some of which binutils 2.40, Debian 12's, does not know by name: its
command line says it by other words. And how exceptions leave functions: there are none, and tables
of them take as much memory as small functions do."""

_PREDICATE = re.compile(r"^(\tv(?:ldr|str)\t)p0\b", re.MULTILINE)
"""Moves of Helium's predicates to the stack and back, which it takes in capitals alone."""

_CONVERSION = re.compile(r"^\tvcvt([bt])(\.f32\.f16|\.f16\.f32)\tq(\d), q(\d)$", re.MULTILINE)
"""Helium's conversions of float16, of which binutils 2.40 writes the numbers of registers wrong."""

_BY_ONE_INTEGER = re.compile(r"^(\tvmlas?\.)i((?:8|16|32)\tq\d, q\d, (?:r\d+|lr))$", re.MULTILINE)
"""Helium's products of vectors by an integer with sums, of types that LLVM 22 says no sign of. The
architecture's manual, and assemblers by it, take one, which makes no difference."""

_FUNCTION = re.compile(
    r"^((?:\t\.(?:globl|p2align)\t.*\n)*\t\.type\t(\S+),%function\n)", re.MULTILINE
)
"""What a function begins with, and its name. Each has a section of its own, so that linkers leave
out those that a program does not call: flash is scarce."""

_EPILOGUES = re.compile(r"^\t\.seh_(?:start|end)epilogue\n", re.MULTILINE)
"""Where functions give back their stack, as Windows may be told since version 2 of its tables of
how exceptions leave functions. Binutils 2.40 writes version 1, and looks at the code."""

_ARMV8 = "\t.arch\tarmv8.6-a+fp16+sha3+sve2\n"

_EXTENSIONS = re.compile(r'^(\t\.attribute\t5, ")(.*)(")$', re.MULTILINE)
"""Of RISC-V, those that LLVM says that the code has, with their versions: "rv64i2p1_m2p0_zba1p0"
(RISC-V ELF psABI, Attributes, Tag_RISCV_arch)."""

_READ = re.compile(
    r"(rv64i|[mafdcv]|zicsr|zifencei|zicbop|zawrs|zfh|zfhmin|zb[abcs]|zbkb|xthead\w+?)\d+p\d+"
)
"""Those with instructions that code consists of and that binutils 2.40, Debian 12's, knows by name:
it refuses text that says of any other one. Half precision in vectors has none of its own."""


def for_gnu_assembler(assembly: str, target: Target) -> str:
    """LLVM's assembly, as GNU's assembler of 2023 takes it."""
    if target.is_for_windows:
        return _EPILOGUES.sub("", assembly)
    if target.architecture == "aarch64":
        return _ARMV8 + assembly
    if target.architecture == THUMB:
        assembly = _PREDICATE.sub(r"\1P0", _OF_ARM.sub("", assembly))
        assembly = _BY_ONE_INTEGER.sub(r"\1s\2", assembly)
        assembly = _CONVERSION.sub(_encoded_conversion, assembly)
        return _FUNCTION.sub(r'\t.section\t.text.\2,"ax",%progbits\n\1', assembly)
    if target.architecture == "riscv64":
        return _EXTENSIONS.sub(_known_extensions, assembly, count=1)
    return assembly


def _encoded_conversion(instruction: re.Match[str]) -> str:
    """The word of it.

    It is of the Armv8-M Architecture Reference Manual: VCVT (between single and half-precision
    floating-point), of vectors.
    """
    half, types, to, of = instruction.groups()
    word = 0xFE3F0E01 if types == ".f32.f16" else 0xEE3F0E01
    word |= (half == "t") << 12 | int(to) << 13 | int(of) << 1
    return f"\t.inst.w\t{word:#x}\t@ {instruction[0].strip()}"


def _known_extensions(attribute: re.Match[str]) -> str:
    names = [name for name in attribute[2].split("_") if _READ.fullmatch(name)]
    return f"{attribute[1]}{'_'.join(names)}{attribute[3]}"
