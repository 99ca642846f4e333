"""Branches that only raise an exception or warn, found in the byte code of who asks for a truth."""

import dis
import functools
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
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
    "CONVERT_VALUE",
    "EXTENDED_ARG",
    "FORMAT_",
    "KW_NAMES",
    "LOAD_",
    "NOP",
    "NOT_TAKEN",
    "PRECALL",
    "PUSH_NULL",
    "STORE_FAST",
    "UNARY_",
)
"""How instructions begin that go nowhere else, and leave nothing that is seen afterwards: the
function's own variables are gone with it."""

_WARN = {"warn", "warning", "warning_once"}
"""Functions, of `warnings` and of loggers, after which a program does what it does without them."""


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


def is_quiet_if(frame: FrameType) -> bool | None:
    """With which truth a frame that asks for one does not warn, if that is all the other does."""
    return _warnings(frame.f_code).get(frame.f_lasti)


def _is_in(frame: FrameType, folder: str) -> bool:
    return frame.f_code.co_filename.startswith(folder)


@functools.cache
def _branches(code: CodeType) -> Mapping[int, bool]:
    """By the place of each branch with an exception, the truth that leads past it."""
    branches = {}
    for offset, truth, passed, jumped_to in _jumps(code):
        jumps = _raises(jumped_to)
        if jumps != _raises(passed):
            branches[offset] = truth != jumps
    return branches


@functools.cache
def _warnings(code: CodeType) -> Mapping[int, bool]:
    """By the place of each branch that only warns, the truth that leads past it."""
    return {
        offset: truth
        for offset, truth, passed, jumped_to in _jumps(code)
        if _warns(passed[: len(passed) - len(jumped_to)])
    }


def _jumps(
    code: CodeType,
) -> Iterator[tuple[int, bool, Sequence[dis.Instruction], Sequence[dis.Instruction]]]:
    """Where jumps ask for a truth, with which they jump, what follows, and what follows there."""
    instructions = list(dis.get_instructions(code))
    places = {instruction.offset: place for place, instruction in enumerate(instructions)}
    for place, instruction in enumerate(instructions):
        name = instruction.opname
        if name.startswith("POP_JUMP_") and name.endswith(("IF_TRUE", "IF_FALSE")):
            jumped_to = instructions[places[instruction.argval] :]
            asks = _asks(instructions[place - 1], instruction).offset
            yield asks, name.endswith("TRUE"), instructions[place + 1 :], jumped_to


def _asks(before: dis.Instruction, jump: dis.Instruction) -> dis.Instruction:
    """The instruction that asks for the truth of a jump: from Python 3.13 on the one before it."""
    asks_before = before.opname == "TO_BOOL" or before.argrepr.startswith("bool(")
    return before if asks_before else jump


def _raises(instructions: Sequence[dis.Instruction]) -> bool:
    """Whether they make an exception, and raise it."""
    for instruction in instructions:
        if instruction.opname == "RAISE_VARARGS":
            return True
        if not instruction.opname.startswith(_MAKES_EXCEPTION):
            return False
    return False


def _warns(instructions: Sequence[dis.Instruction]) -> bool:
    """Whether they are a call of a function that warns, of whose result nothing becomes."""
    loads = (each for each in instructions if each.opname.startswith("LOAD_"))
    called = list(itertools.islice(loads, 2))
    return (
        any(each.argval in _WARN for each in called)
        and called[0].opname == "LOAD_GLOBAL"
        and instructions[-1].opname == "POP_TOP"
        and all(each.opname.startswith(_MAKES_EXCEPTION) for each in instructions[:-1])
    )


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
