"""Branches that only raise an exception, found in the byte code of who asks for a truth."""

import dis
import functools
import os
from collections.abc import Mapping, Sequence
from types import CodeType, FrameType
from typing import Any

import torch

_OF_PYTORCH = os.path.join(os.path.dirname(torch.__file__), "")
_OWN = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")

_MAKES_EXCEPTION = (
    "BINARY_",
    "BUILD_",
    "CALL",
    "COMPARE_",
    "EXTENDED_ARG",
    "FORMAT_",
    "KW_NAMES",
    "LOAD_",
    "NOP",
    "PRECALL",
    "PUSH_NULL",
    "STORE_FAST",
    "UNARY_",
)
"""How instructions begin that go nowhere else, and leave nothing that is seen afterwards: the
function's own variables are gone with it."""


def goes_on_if(frame: FrameType) -> bool | None:
    """With which truth a frame that asks for one goes on, if it raises an exception with the other.

    None where it does something else, or where the exception would be caught on its way out.
    """
    goes_on = _branches(frame.f_code).get(frame.f_lasti)
    above: FrameType | None = frame
    # Above the program is what exports it.
    while goes_on is not None and above is not None and not _is_in(above, _OWN):
        if not _is_in(above, _OF_PYTORCH) and _is_caught(above.f_code, above.f_lasti):
            return None
        above = above.f_back
    return goes_on


def _is_in(frame: FrameType, folder: str) -> bool:
    return frame.f_code.co_filename.startswith(folder)


@functools.cache
def _branches(code: CodeType) -> Mapping[int, bool]:
    """By the place of each branch with an exception, the truth that leads past it."""
    instructions = list(dis.get_instructions(code))
    places = {instruction.offset: place for place, instruction in enumerate(instructions)}
    branches = {}
    for place, instruction in enumerate(instructions):
        name = instruction.opname
        if not name.startswith("POP_JUMP_") or not name.endswith(("IF_TRUE", "IF_FALSE")):
            continue
        jumps = _raises(instructions[places[instruction.argval] :])
        if jumps != _raises(instructions[place + 1 :]):
            branches[instruction.offset] = name.endswith("TRUE") != jumps
    return branches


def _raises(instructions: Sequence[dis.Instruction]) -> bool:
    """Whether they make an exception, and raise it."""
    for instruction in instructions:
        if instruction.opname == "RAISE_VARARGS":
            return True
        if not instruction.opname.startswith(_MAKES_EXCEPTION):
            return False
    return False


def _is_caught(code: CodeType, place: int) -> bool:
    """Whether what is raised there is caught in the same function, but for with statements."""
    # Which Python's own types do not tell of.
    byte_code: Any = dis.Bytecode(code)
    names = {instruction.offset: instruction.opname for instruction in byte_code}
    offsets = sorted(names)
    while True:
        handler = next(
            (
                entry.target
                for entry in byte_code.exception_entries
                if entry.start <= place < entry.end
            ),
            None,
        )
        if handler is None:
            return False
        following = offsets[offsets.index(handler) + 1]
        # A with statement is left, and then the handler of that.
        if names[following] != "WITH_EXCEPT_START" and names[handler] != "COPY":
            return True
        place = handler
