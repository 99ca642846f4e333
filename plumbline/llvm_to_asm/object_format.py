"""How assembly says where data lies, in the object files of each kind."""

from dataclasses import dataclass

from plumbline.signature.library_description import COFF_SECTION, SECTION
from plumbline.target.target import THUMB, Target


@dataclass(frozen=True)
class ObjectFormat:
    """The directives of one kind of object file."""

    read_only: str
    """What begins a section of data that nobody writes."""
    described: str
    """What begins the section in which a library says what it is, which linkers keep."""
    says_more: bool = True
    """Whether symbols are said to have sizes, and to be hidden from other libraries."""

    def of_symbol(self, symbol: str, bytes_: int, *, shown: bool = False) -> tuple[str, ...]:
        """What is said of a symbol, of so many bytes, which other objects may look for."""
        lines = [f'\t.globl\t"{symbol}"'] if shown else []
        if self.says_more:
            lines += [f'\t.hidden\t"{symbol}"'] if shown else []
            lines += [f'\t.size\t"{symbol}", {bytes_}']
        return tuple(lines)


ELF = ObjectFormat("\t.section\t.rodata", f'\t.section\t{SECTION},"aR",@progbits')

# To GNU's assembler for Arm, what follows an @ is a comment.
_ELF_OF_ARM = ObjectFormat(ELF.read_only, ELF.described.replace("@", "%"))

# Names of sections have eight letters there (Microsoft's PE Format, Section Table).
_COFF = ObjectFormat('\t.section\t.rdata,"dr"', f'\t.section\t{COFF_SECTION},"dr"', says_more=False)

# Each section of data becomes a segment of the memory, as they are; those that are called so become
# sections of their own, which are not in the memory.
_WASM = ObjectFormat(
    '\t.section\t.rodata.plumbline,"",@', f'\t.section\t.custom_section.{SECTION},"",@'
)


def object_format(target: Target) -> ObjectFormat:
    """That of object files for `target`."""
    if target.is_for_windows:
        return _COFF
    if target.architecture == THUMB:
        return _ELF_OF_ARM
    return _WASM if target.is_webassembly else ELF
