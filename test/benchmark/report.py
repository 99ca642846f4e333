"""The tables of peers.py, in Markdown."""

import datetime
import importlib.metadata
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from test.benchmark.cases import CASES, Group
from test.benchmark.ceilings import Ceilings
from test.benchmark.frameworks import FRAMEWORKS, OURS
from test.benchmark.measurement import Result, Work

_TURNS = 20

_PACKAGES = ("torch", "onnxruntime", "openvino")

_EXPLANATION = """\
- `ms`: a call of the program that Plumbline compiled. Below each peer stands our time over the
  peer's, and under `ours / best` that over the fastest of them, **bold** where it misses the goal.
- Calls are made from Python, by each framework in its own fastest way, over tensors that are there
  already; outputs lie in memory that the framework allocates, and that is warm. Ours checks its
  arguments. A time is the mean of a turn; of all rounds of turns, the best. For one thread, it is
  the time that the process has a core, so that what else the machine does counts less.
- `ceiling`: the least time in which this machine could do the case's multiply-adds, or move its
  inputs, weights and outputs once, whichever takes longer, as a share of our time. The rates are
  measured in the same turns, with as many threads, the same instructions, and as much memory.
  Exponentials and the like are not counted; products with zeros around images are, which ours
  leaves out.
- `error`: the largest against float64, relative to the largest value: ours / PyTorch eager's.
- `c`: what Plumbline took to compile the program, in seconds, as the first of a process."""


@dataclass(frozen=True)
class Row:
    """What was measured of a case."""

    case: str
    target_cpu: str
    threads: int
    results: Sequence[Result]
    work: Work | None


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"no {package}"


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()


def heading() -> str:
    """Where and when, and what the columns mean."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    versions = ", ".join(map(_version, _PACKAGES))
    machine = f"{_cpu()}, {os.cpu_count()} CPUs"
    return f"# Beside other frameworks\n\n{today}, {machine}; {versions}.\n\n{_EXPLANATION}\n"


# Within a core's caches, within those of all cores, and beyond.
_FOOTPRINTS = {"128 kB": 2**17, "4 MB": 2**22, "256 MB": 2**28}


def ceilings(threads: Sequence[int]) -> str:
    """What the machine does at most with these numbers of threads, as a table."""
    rows: dict[str, list[str]] = {}
    for count in threads:
        for target_cpu in ("native", "baseline"):
            machine = _measured(target_cpu, count, 2**17)
            row = f"multiply-adds of float32 by {32 * machine.lanes} bits, GFLOP/s ({target_cpu})"
            rows.setdefault(row, []).append(f"{machine.rates().flops / 1e9:.0f}")
        for name, footprint in _FOOTPRINTS.items():
            rates = _measured("native", count, footprint).rates()
            for what, rate in (("copies", rates.copied), ("reads", rates.read)):
                row = f"{what} within {name}, GB/s"
                rows.setdefault(row, []).append(f"{rate / 1e9:.0f}")
    columns = ["1 thread" if count == 1 else f"{count} threads" for count in threads]
    lines = [f"| this machine | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    lines += [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join(lines) + "\n"


def _measured(target_cpu: str, threads: int, footprint: float) -> Ceilings:
    machine = Ceilings(target_cpu, threads, footprint)
    for _ in range(_TURNS):
        machine.measure()
    return machine


def _seconds(seconds: float) -> str:
    """As milliseconds, of three digits."""
    milliseconds = seconds * 1e3
    for digits, limit in ((4, 0.1), (3, 1), (2, 10), (1, 100)):
        if milliseconds < limit:
            return f"{milliseconds:.{digits}f}"
    return f"{milliseconds:.0f}"


class Table:
    """The table of a target and a number of threads, row by row."""

    def __init__(self, peers: Sequence[str], target_cpu: str, threads: int) -> None:
        self._peers = peers
        self._target_cpu = target_cpu
        self._threads = threads
        self._group: Group | None = None
        self._notes: list[str] = []

    def heading(self) -> str:
        """The title, and the row of the columns' names."""
        columns = ["case", "ms", *self._peers, "ours / best", "ceiling", "error", "c"]
        threads = "1 thread" if self._threads == 1 else f"{self._threads} threads"
        return (
            f"## {self._target_cpu}, {threads}\n\n"
            f"| {' | '.join(columns)} |\n| --- |{' ---: |' * (len(columns) - 1)}"
        )

    def lines(self, row: Row) -> str:
        """The row of a case, after one of its group where that begins."""
        group = CASES[row.case].group
        lines = []
        if group is not self._group:
            self._group = group
            goal = group.goals.get(self._threads)
            words = f" (goal {goal:g})" if goal is not None else ""
            lines.append(f"| **{group.title}**{words} |{' |' * (len(self._peers) + 5)}")
        lines.append(f"| {row.case} | {' | '.join(self._cells(row))} |")
        return "\n".join(lines)

    def _cells(self, row: Row) -> list[str]:
        results = {result.framework: result for result in row.results}
        for result in results.values():
            if result.problem:
                self._notes.append(f"{row.case}, {result.framework}: {result.problem}")
        ours = results[OURS]
        if ours.problem:
            return ["fails", *[""] * (len(self._peers) + 4)]
        cells = [_seconds(ours.seconds)]
        ratios = []
        for peer in self._peers:
            result = results[peer]
            if result.problem:
                missing = result.problem.startswith("not installed")
                cells.append("not installed" if missing else "fails")
                continue
            ratio = ours.seconds / result.seconds
            counts = self._target_cpu != "baseline" or FRAMEWORKS[peer].limited_to_avx2
            if counts:
                ratios.append(ratio)
            cells.append(f"{ratio:.2f}" + ("" if counts else "*"))
        cells.append(self._against_goal(max(ratios)) if ratios else "")
        work = row.work
        cells.append(f"{work.least_seconds / ours.seconds:.0%}" if work else "")
        eager = results.get("eager")
        cells.append(f"{ours.error:.1e}" + (f" / {eager.error:.1e}" if eager else ""))
        cells.append(f"{ours.prepare_seconds:.1f}")
        return cells

    def _against_goal(self, ratio: float) -> str:
        goal = self._group.goals.get(self._threads) if self._group else None
        return f"**{ratio:.2f}**" if goal is not None and ratio > goal else f"{ratio:.2f}"

    def footer(self) -> str:
        """What did not work."""
        lines = []
        if self._target_cpu == "baseline":
            lines.append("\n\\* uses AVX-512 where the CPU has it, and does not count as a peer.")
        if self._notes:
            lines.append("\nWhat fails:\n\n" + "\n".join(f"- {note}" for note in self._notes))
        return "\n".join(lines) + "\n"
