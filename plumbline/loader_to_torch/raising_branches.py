"""Branches that only raise an exception or warn, found in the byte code of who asks for a truth."""

import dis
import functools
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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

_WARN = {"warn", "warn_explicit", "warning", "warning_once"}
"""Functions, of `warnings` and of loggers, after which a program does what it does without them."""


@dataclass(frozen=True)
class Branch:
    """Where a function asks for a truth, and raises an exception if that is the wrong one."""

    goes_on: bool
    """The truth with which it goes on, past the exception."""
    asks_until: int | None = None
    """Where in its byte code, if it asks for others before it raises: `assert a or b`."""


def raising_branch(frame: FrameType) -> Branch | None:
    """Where a frame asks for a truth, if all that it does with one of the two is to raise.

    None where it does something else, or where the exception would be caught on its way out.
    """
    branch = _branches(frame.f_code).get(frame.f_lasti)
    above: FrameType | None = frame
    # Above the program is what exports it.
    while branch is not None and above is not None and not _is_in(above, _OWN):
        if not _is_in(above, _OF_PYTORCH) and _is_caught(above.f_code, above.f_lasti):
            return None
        above = above.f_back
    return branch


class Alternatives:
    """What a program has asked for on its way to an exception, which it raises if none of it holds.

    What comes after one of these is traced as if it did not hold.
    """

    def __init__(self) -> None:
        self._asked: list[tuple[FrameType, int, int, torch.Tensor]] = []
        """Each with the function that asked for it, where, and where that goes on if it holds."""

    def remember(self, frame: FrameType, end: int, holds: torch.Tensor) -> None:
        """Has what is raised from where a frame is to an end be raised unless `holds`."""
        self._asked.append((frame, frame.f_lasti, end, holds))

    def at(self, frame: FrameType) -> list[torch.Tensor]:
        """With which of them nothing would be raised where a frame is."""
        frames = set()
        above: FrameType | None = frame
        while above is not None:
            frames.add(above)
            above = above.f_back
        self._asked = [
            (asking, start, end, holds)
            for asking, start, end, holds in self._asked
            if asking in frames and start < asking.f_lasti < end
        ]
        return [holds for *_, holds in self._asked]

    def forget(self) -> None:
        """Lets go of the functions that were traced."""
        self._asked.clear()


def is_quiet_if(frame: FrameType) -> bool | None:
    """With which truth a frame that asks for one does not warn, if that is all the other does."""
    return _warnings(frame.f_code).get(frame.f_lasti)


def _is_in(frame: FrameType, folder: str) -> bool:
    return frame.f_code.co_filename.startswith(folder)


@functools.cache
def _branches(code: CodeType) -> Mapping[int, Branch]:
    """The branches with an exception, by their place."""
    branches = {}
    for offset, truth, passed, jumped_to in _jumps(code):
        jumps = _raises(jumped_to)
        end = jumped_to[0].offset
        if jumps != _raises(passed):
            branches[offset] = Branch(truth != jumps)
        elif not jumps and offset < end and _raises_unless_at(jumped_to, passed):
            branches[offset] = Branch(truth, asks_until=end)
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
        if _jumps_by_truth(instruction):
            jumped_to = instructions[places[instruction.argval] :]
            asks = _asks(instructions[place - 1], instruction).offset
            truth = instruction.opname.endswith("TRUE")
            yield asks, truth, instructions[place + 1 :], jumped_to


def _asks(before: dis.Instruction, jump: dis.Instruction) -> dis.Instruction:
    """The instruction that asks for the truth of a jump: from Python 3.13 on the one before it."""
    asks_before = before.opname == "TO_BOOL" or before.argrepr.startswith("bool(")
    return before if asks_before else jump


def _raises(instructions: Sequence[dis.Instruction]) -> bool:
    """Whether they make an exception, and raise it."""
    for place, instruction in enumerate(instructions):
        if instruction.opname == "RAISE_VARARGS":
            return True
        if instruction.opname == "JUMP_FORWARD":
            return _raises(_from(instruction.argval, instructions))
        # What of `a < b < c` is compared no more goes first.
        is_left = place == 0 and instruction.opname == "POP_TOP"
        if not is_left and not instruction.opname.startswith(_MAKES_EXCEPTION):
            return False
    return False


def _raises_unless_at(
    end: Sequence[dis.Instruction], instructions: Sequence[dis.Instruction]
) -> bool:
    """Whether they compute truths alone, and with each either raise or go on at `end`."""
    for place, instruction in enumerate(instructions):
        following = instructions[place:]
        # Python may have each way end in a return of its own.
        returned = _returned(following)
        if instruction.offset == end[0].offset or (returned and returned == _returned(end)):
            return True
        if _jumps_by_truth(instruction):
            if instruction.argval <= instruction.offset:
                return False
            sides = (instructions[place + 1 :], _from(instruction.argval, instructions))
            return all(_raises(side) or _raises_unless_at(end, side) for side in sides)
        if _changes_what_stays(instruction):
            return False
    return False


def _returned(instructions: Sequence[dis.Instruction]) -> str | None:
    """The constant that they return at once, if they do."""
    first, *others = instructions
    if first.opname == "LOAD_CONST" and others[0].opname == "RETURN_VALUE":
        return first.argrepr
    return first.argrepr if first.opname == "RETURN_CONST" else None


def _changes_what_stays(instruction: dis.Instruction) -> bool:
    """Whether the function goes on otherwise after it than without it."""
    if not instruction.opname.startswith((*_MAKES_EXCEPTION, "TO_BOOL", "COPY", "SWAP")):
        return True
    is_method = instruction.opname in ("LOAD_ATTR", "LOAD_METHOD")
    # As PyTorch names what writes in place.
    writes = is_method and instruction.argval.endswith("_") and instruction.argval[-2:] != "__"
    return writes or instruction.opname.startswith("STORE_")


def _jumps_by_truth(instruction: dis.Instruction) -> bool:
    name = instruction.opname
    return name.startswith("POP_JUMP_") and name.endswith(("IF_TRUE", "IF_FALSE"))


def _from(offset: int, instructions: Sequence[dis.Instruction]) -> Sequence[dis.Instruction]:
    """Those of them that are there or behind."""
    return [each for each in instructions if each.offset >= offset]


def _warns(instructions: Sequence[dis.Instruction]) -> bool:
    """Whether they are a call of a function that warns, of whose result nothing becomes.

    What they assert before that, such as of what type a line's number is, is of the warning.
    """
    for place, instruction in enumerate(instructions):
        if _jumps_by_truth(instruction):
            following = instructions[place + 1 :]
            if _raises(following):
                return _warns(_from(instruction.argval, following))
    loads = (each for each in instructions if each.opname.startswith("LOAD_"))
    called = list(itertools.islice(loads, 2))
    return (
        any(each.argval in _WARN for each in called)
        and called[0].opname == "LOAD_GLOBAL"
        and instructions[-1].opname == "POP_TOP"
        and all(_makes_warning(each, instructions[-1].offset) for each in instructions[:-1])
    )


def _makes_warning(instruction: dis.Instruction, end: int) -> bool:
    """Whether it goes nowhere but to what warns, by one way or another, before `end`."""
    if instruction.opname == "JUMP_FORWARD" or _jumps_by_truth(instruction):
        return bool(instruction.offset < instruction.argval < end)
    return instruction.opname.startswith(_MAKES_EXCEPTION)


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
