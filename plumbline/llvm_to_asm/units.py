"""Divides LLVM IR into units, which LLVM can turn into objects on several threads.

A unit but the first has kernels: functions that are never inlined, and that need little but what
other units and libraries have for all, which the unit then has a copy of, unless that is data that
may change. All else is in the first, which declares those kernels. What the units are depends on
the text alone, so that the objects are the same wherever they are made.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

MOST_UNITS = 4
"""As many as machines at hand have cores for. Each is read with all declarations and weights' names
of the text."""

_LEAST = 100_000
"""Characters of functions that pay for a unit: LLVM takes a fifth of a second to compile them."""

_MOST_COPIED = 10_000
"""Up to how many characters a kernel may need copies of: more than of what tells about failures."""

_DEFINITION = re.compile(
    r"""
    ^define\ (?P<internal>internal\ )?
        (?P<header>[^@\n]*@(?P<function>[\w.$]+)\([^\n]*\)(?P<marks>[^)\n]*))\ \{\n
        (?s:.*?)^\}\n
    | ^@(?P<data>[\w.$]+)\ =\ (?P<constant>(?:private|internal)\ [^\n"]*?\bconstant\ )?[^\n]*\n
    """,
    re.MULTILINE | re.VERBOSE,
)
_GROUP = re.compile(r"^attributes #(?P<group>\d+) = \{(?P<words>[^\n]*)\}$", re.MULTILINE)
_REFERENCE = re.compile(r'@([\w.$]+|")')


@dataclass(frozen=True)
class _Definition:
    """A function with a body, or data."""

    text: str
    can_be_copied: bool
    """Whether another unit can have it as well: it stays the same, and nobody asks where it is."""
    is_kernel: bool = False
    header: str = ""
    """The line of a kernel, from its result on, as far as its body."""

    def references(self) -> set[str]:
        """The names of what it needs, and its own; a quotation mark for those in quotes."""
        return set(_REFERENCE.findall(self.text))


def may_be_several(llvm_ir: str) -> bool:
    """Whether a text is long enough for several units."""
    return len(llvm_ir) >= 2 * _LEAST


def units_of(llvm_ir: str) -> list[str]:
    """The units of a text that LLVM has printed, each again LLVM IR."""
    division = _Division(llvm_ir)
    return division.units() if division.is_complete else [llvm_ir]


@dataclass(frozen=True)
class _Unit:
    kernels: set[str] = field(default_factory=set)
    """Which of them other units call."""
    copies: set[str] = field(default_factory=set)
    """What else is in it, as it is in the text."""


class _Division:
    def __init__(self, llvm_ir: str) -> None:
        never_inlined = {
            f"#{found['group']}"
            for found in _GROUP.finditer(llvm_ir)
            if "noinline" in found["words"].split()
        }
        self._defined: dict[str, _Definition] = {}
        self._between: list[str] = []
        """What stands before each definition, and after the last."""
        end = 0
        for found in _DEFINITION.finditer(llvm_ir):
            name, data = found["function"] or found["data"], found["data"]
            if data and " external " in found[0]:
                continue
            self._between.append(llvm_ir[end : found.start()])
            end = found.end()
            is_kernel = bool(found["internal"]) and not never_inlined.isdisjoint(
                (found["marks"] or "").split()
            )
            self._defined[name] = _Definition(
                found[0],
                bool(found["constant"] if data else found["internal"]),
                is_kernel,
                found["header"] or "",
            )
        self._between.append(llvm_ir[end:])

    @property
    def is_complete(self) -> bool:
        """Whether all functions are found; the names of some would stand in quotes."""
        return not any("\ndefine " in text or text.startswith("define ") for text in self._between)

    def units(self) -> list[str]:
        """All units, the first first."""
        copied = {
            name: copies
            for name, definition in self._defined.items()
            if definition.is_kernel and (copies := self._needed_by(name)) is not None
        }
        sizes = {name: self._size([name, *copies]) for name, copies in copied.items()}
        count = min(MOST_UNITS, 1 + sum(sizes.values()) // _LEAST)
        units = [_Unit() for _ in range(count)]
        filled = [0] * count
        filled[0] = self._size(name for name in self._defined if name not in sizes)
        # The largest first, each to where there is least. Sorting leaves those of a size in order.
        for name in sorted(sizes, key=lambda name: -sizes[name]):
            least = filled.index(min(filled))
            filled[least] += sizes[name]
            units[least].kernels.add(name)
            units[least].copies.update(copied[name])
        taken = {name for unit in units[1:] for name in unit.kernels}
        first = _Unit(copies=self._defined.keys() - taken)
        return [self._text(first, taken), *(self._text(unit, set()) for unit in units[1:])]

    def _size(self, names: Iterable[str]) -> int:
        return sum(len(self._defined[name].text) for name in names)

    def _needed_by(self, kernel: str) -> set[str] | None:
        """What a unit with a kernel needs copies of; None if it cannot have those."""
        found: set[str] = set()
        pending = [kernel]
        while pending:
            for name in self._defined[pending.pop()].references() - found - {kernel}:
                definition = self._defined.get(name)
                if name == '"' or (definition is not None and not definition.can_be_copied):
                    return None
                if definition is not None:
                    found.add(name)
                    pending.append(name)
                    if self._size(found) > _MOST_COPIED:
                        return None
        return found

    def _text(self, unit: _Unit, declared: set[str]) -> str:
        """The text with what is defined in a unit, and no other definitions."""
        parts = []
        for before, (name, definition) in zip(self._between, self._defined.items(), strict=False):
            parts.append(before)
            if name in unit.kernels:
                body = definition.text.index(definition.header)
                parts.append(f"define {definition.text[body:]}")
            elif name in unit.copies:
                parts.append(definition.text)
            elif name in declared:
                parts.append(f"declare {definition.header}\n")
        return "".join([*parts, self._between[-1]])
