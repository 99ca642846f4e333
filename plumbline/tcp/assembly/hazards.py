"""Text that MLIR takes, and that it or its bindings fail on later: refused with its place."""

import math
import re
from collections.abc import Iterator
from contextlib import suppress

from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.errors import UserError
from plumbline.errors.location import describe
from plumbline.tcp.assembly.lexer import AssemblyError, Kind, Tokens

_ESCAPED_BYTE = re.compile(rb"\\(?:([0-9A-Fa-f]{2})|.)")
_ESCAPED_NON_ASCII = re.compile(r"\\[89A-Fa-f][0-9A-Fa-f]")

_RUN_TIME_SIZE = "9223372036854775808"
"""Negative, it stands in MLIR for a size that is an operand."""

RESOURCE = "dense_resource"
"""How the text of a constant begins whose data stands apart."""
_USE = re.compile(rf'{RESOURCE}<(?:"(?P<quoted>[^"]*)"|(?P<bare>[^>]*))>')
_BLOB = re.compile(r'(?:"(?P<quoted>[^"]*)"|(?P<bare>[\w$.-]+)): "0x(?P<digits>[0-9A-Fa-f]*)"')
_ALIGNMENT_BYTES = 4
"""Of a blob, before its data."""


def has_none(text: str) -> bool:
    """Whether there is surely nothing in a text for the functions below to refuse."""
    has_mark = _RUN_TIME_SIZE in text or RESOURCE in text
    return not has_mark and not _ESCAPED_NON_ASCII.search(text)


def refuse_bytes_in_strings(tokens: Tokens) -> None:
    """Refuses strings that spell bytes which are no text.

    The bindings raise an error for each look at one.

    Raises:
      AssemblyError: there is one.
    """
    if not _ESCAPED_NON_ASCII.search(tokens.text):
        return
    for index, kind in enumerate(tokens.kinds):
        if kind in (Kind.STRING, Kind.SIGIL) and "\\" in (spelling := tokens.spelling(index)):
            content = _ESCAPED_BYTE.sub(
                lambda found: bytes.fromhex(found[1].decode()) if found[1] else b"",
                spelling.encode(),
            )
            try:
                content.decode()
            except UnicodeDecodeError:
                message = "the bytes of this string are not UTF-8"
                raise AssemblyError(tokens.starts[index], message) from None


def refuse_run_time_sizes(tokens: Tokens) -> None:
    """Refuses the number that means "an operand" where a list of sizes has it as a number.

    Looking for that operand, MLIR reads beyond the operands.

    Raises:
      AssemblyError: there is one.
    """
    if _RUN_TIME_SIZE not in tokens.text:
        return
    open_brackets: list[int] = []
    for index in range(len(tokens)):
        while open_brackets and tokens.match[open_brackets[-1]] < index:
            open_brackets.pop()
        if tokens.match[index] >= 0:
            open_brackets.append(index)
        elif (
            tokens.spelling(index) == _RUN_TIME_SIZE
            and open_brackets
            and _opens_sizes(tokens, open_brackets[-1])
        ):
            message = f"-{_RUN_TIME_SIZE} is no size: it stands for one that is known at run time"
            raise AssemblyError(tokens.starts[index], message)


def _opens_sizes(tokens: Tokens, bracket: int) -> bool:
    """Whether a bracket opens a list such as those of `tensor.extract_slice %x[0] [4] [1]`.

    Elements of `dense<[...]>` and of attributes, `a = [...]`, may be any number.
    """
    if tokens.spelling(bracket) != "[" or bracket == 0:
        return False
    before = bracket - 1
    return tokens.kinds[before] in (Kind.VALUE, Kind.WORD) or tokens.spelling(before) == "]"


def refuse_unfit_resources(operation: ir.Operation) -> None:
    """Refuses constants whose data, a resource, is missing or of another size than their type's.

    Raises:
      UserError: there is one.
    """
    sizes = None
    for op in all_operations(operation):
        for attribute in _resources(op):
            if sizes is None:
                sizes = _blob_sizes(operation)
            use = _USE.match(str(attribute))
            name = (use["quoted"] or use["bare"]) if use else ""
            given, expected = sizes.get(name), _byte_sizes(attribute.type)
            if given not in expected:
                data = "no data" if given is None else f"data of {given} bytes"
                raise UserError(
                    f"{describe(op.location)}: error: {RESOURCE}<{name}> has {data}, where "
                    f"{attribute.type} takes {expected[0]}"
                )


def _resources(op: ir.Operation) -> Iterator[ir.DenseResourceElementsAttr]:
    for name in op.attributes:
        # The bindings have no class for some attributes, which raises the one error; the other says
        # that the attribute is none of these.
        with suppress(TypeError, ValueError):
            yield ir.DenseResourceElementsAttr(op.attributes[name])


def _blob_sizes(operation: ir.Operation) -> dict[str, int]:
    """The bytes of all resources that are used, which the bindings give as text only."""
    text = operation.get_asm().rpartition("{-#")[2]
    return {
        blob["quoted"] or blob["bare"]: len(blob["digits"]) // 2 - _ALIGNMENT_BYTES
        for blob in _BLOB.finditer(text)
    }


def _byte_sizes(type_: ir.ShapedType) -> tuple[int, ...]:
    """The sizes that the elements of a type may have in a resource."""
    count, element = math.prod(type_.shape), type_.element_type
    parts = 1
    if isinstance(element, ir.ComplexType):
        parts, element = 2, element.element_type
    width = 64 if isinstance(element, ir.IndexType) else element.width
    if width == 1:
        # In bits or in bytes.
        return (-(-count // 8), count)
    return (count * parts * -(-width // 8),)
