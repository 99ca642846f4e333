"""What was measured of a program: the time of each call of a kernel, and of the rest."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plumbline.explorer.source_files import line_of
from plumbline.linalg_to_kernels.timed_calls import TimedCall, Work

_MOST_ROWS = 30
"""Of a table; what is left is told in one row."""

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (0.0, "ns"))


@dataclass(frozen=True)
class KernelTime:
    """A call of a kernel in a program, or a loop of calls that is timed as one."""

    call: TimedCall
    count: float
    """How often it is made in a call of the program."""
    seconds: float
    """How long it takes in a call of the program, all these together."""
    work: Work | None
    """What is done in a call of the program, all these together, if that is known."""

    @property
    def name(self) -> str:
        """The kernel, or those that a loop calls."""
        kernels = self.call.kernels
        return kernels[0] if len(kernels) == 1 else f"loop of {', '.join(kernels)}"


@dataclass(frozen=True)
class Profile:
    """What a program spends its time on.

    Its text is a table, of the slowest kernels. Calls of one kernel from one line are a row of it,
    with the names of the modules that they differ in: `layers.*.linear1`.
    """

    name: str
    """The program's."""
    kernels: Sequence[KernelTime]
    """The calls of kernels, in the order of the program."""
    seconds: float
    """How long a call of the program takes, without timers and with all that Python does."""
    timed_seconds: float
    """How long the machine code takes with timers, from its first instruction to its last."""
    timer_seconds: float
    """How long a timer takes, which is not part of the time of kernels."""

    @cached_property
    def outside(self) -> float:
        """The seconds of the machine code that are in no kernel: memory is allocated there."""
        timers = sum(kernel.count for kernel in self.kernels) * 2 * self.timer_seconds
        return max(self.timed_seconds - self.inside - timers, 0.0)

    @cached_property
    def whole(self) -> float:
        """The seconds of the machine code, without those of timers."""
        return self.inside + self.outside

    @cached_property
    def inside(self) -> float:
        """The seconds of all kernels."""
        return sum(kernel.seconds for kernel in self.kernels)

    def shares_of_lines(self) -> dict[tuple[str, int], float]:
        """How much of the whole each line of the source takes, from 0 to 1.

        Of a kernel that is from several lines, each takes as much.
        """
        shares: dict[tuple[str, int], float] = {}
        for kernel in self.kernels:
            for line in kernel.call.lines:
                seconds = kernel.seconds / len(kernel.call.lines)
                shares[line] = shares.get(line, 0.0) + (seconds and seconds / self.whole)
        return shares

    def __str__(self) -> str:
        inside, whole = self.inside, self.whole
        slowest = sorted(_merged(self.kernels), key=lambda kernel: -kernel.seconds)
        shown, others = slowest[:_MOST_ROWS], slowest[_MOST_ROWS:]
        rows: list[tuple[str, ...]] = [
            ("time", "share", "calls", "Gop/s", "GB/s", "kernel", "module", "line")
        ]
        rows += [_row(kernel, whole, self.timer_seconds) for kernel in shown]
        if others:
            rest = sum(kernel.seconds for kernel in others)
            rows.append(_plain_row(rest, whole, _count(len(others), "other")))
        rows.append(_plain_row(self.outside, whole, "outside of kernels"))
        head = (
            f"{self.name}: a call takes {_time(self.seconds)}, its kernels {_time(inside)} of that "
            f"({_count(len(self.kernels), 'call')} of {_count(len(self._names), 'kernel')})"
        )
        return "\n".join([head, "", *_aligned(rows)])

    @property
    def _names(self) -> set[str]:
        return {name for kernel in self.kernels for name in kernel.call.kernels}


def _merged(kernels: Sequence[KernelTime]) -> list[KernelTime]:
    """One for all calls of a kernel from a line."""
    alike: dict[Any, list[KernelTime]] = {}
    for kernel in kernels:
        alike.setdefault((kernel.call.kernels, *kernel.call.lines), []).append(kernel)
    return [_sum(group) if len(group) > 1 else group[0] for group in alike.values()]


def _sum(kernels: Sequence[KernelTime]) -> KernelTime:
    count = sum(kernel.count for kernel in kernels)
    works = [kernel.work for kernel in kernels]
    known = [work for work in works if work is not None]
    work = None
    if len(known) == len(works):
        work = Work(sum(each.operations for each in known), sum(each.bytes for each in known))
    modules = _common([kernel.call.module for kernel in kernels])
    call = dataclasses.replace(kernels[0].call, module=modules)
    return KernelTime(call, count, sum(kernel.seconds for kernel in kernels), work)


def _common(paths: Sequence[str]) -> str:
    """The paths of modules as one, with a * for each part that they differ in."""
    parts = [path.split(".") for path in dict.fromkeys(paths)]
    if len({len(each) for each in parts}) > 1:
        return "*"
    return ".".join(each[0] if len(set(each)) == 1 else "*" for each in zip(*parts, strict=True))


def _row(kernel: KernelTime, whole: float, timer_seconds: float) -> tuple[str, ...]:
    work = kernel.work
    operations = bytes_ = ""
    # Of what takes less than a timer, no more is known than that.
    if work is not None and kernel.seconds > kernel.count * timer_seconds:
        operations = _rate(work.operations, kernel.seconds)
        bytes_ = _rate(work.bytes, kernel.seconds)
    return (
        _time(kernel.seconds),
        _share(kernel.seconds, whole),
        f"{kernel.count:.4g}",
        operations,
        bytes_,
        kernel.name,
        kernel.call.module,
        _source(kernel.call.lines),
    )


def _plain_row(seconds: float, whole: float, what: str) -> tuple[str, ...]:
    return (_time(seconds), _share(seconds, whole), "", "", "", what, "", "")


def _time(seconds: float) -> str:
    scale, unit = next((scale, unit) for scale, unit in _UNITS if seconds >= scale)
    return f"{seconds / scale:.3g} {unit}" if scale else f"{1e9 * seconds:.0f} {unit}"


def _share(seconds: float, whole: float) -> str:
    return f"{100 * seconds / whole:.1f} %" if whole else ""


def _rate(count: int, seconds: float) -> str:
    return f"{1e-9 * count / seconds:.3g}" if count else ""


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _source(lines: Sequence[tuple[str, int]]) -> str:
    """The first of the lines and what it says, if its file is there, and where the others are."""
    if not lines:
        return ""
    (file, line), *others = lines
    text = line_of(file, line)
    first = f"{file}:{line}  {text}" if text else f"{file}:{line}"
    if not others:
        return first
    numbers = (str(each[1]) if each[0] == file else "{}:{}".format(*each) for each in others)
    return f"{first}  (and {', '.join(numbers)})"


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterable[str]:
    """Lines of a table, its numbers on the right of their columns."""
    used = [any(row[column] for row in rows[1:]) for column in range(len(rows[0]))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    first_word = rows[0].index("kernel")
    for row in rows:
        cells = [
            cell.rjust(width) if column < first_word else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            if used[column]
        ]
        yield "  ".join(cells).rstrip()
