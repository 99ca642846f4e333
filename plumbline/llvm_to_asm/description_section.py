"""Puts what a library says of itself into its assembly."""

from plumbline.llvm_to_asm.object_format import ELF, ObjectFormat


def include_description(text: str, format_: ObjectFormat = ELF) -> str:
    """Assembly, for object files of a format, of the section with a description.

    Linkers keep it, and put those of several programs one after the other.
    """
    return f"{format_.described}\n\t.asciz\t{_quoted(text)}\n"


def _quoted(text: str) -> str:
    # Octal is read as it is by every assembler, whatever the letters are.
    plain = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:03o}"
        for byte in text.encode()
    )
    return f'"{"".join(plain)}"'
