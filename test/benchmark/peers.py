"""Times compiled programs beside PyTorch, its compilers, ONNX Runtime and OpenVINO.

    bazel run //test/benchmark:peers -- --target-cpu=native --threads=1,2 'conv_*' resnet50

Prints a table for each target and number of threads, in Markdown. Each case is run in a process of
its own, by all frameworks in turns; figures of a case are of one run, and so are the ceilings.
"""

import argparse
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from plumbline.errors import UserError
from plumbline.target.cpu import cpu_target
from test.benchmark import cases, report
from test.benchmark.frameworks import BASELINE_ENVIRONMENT, FRAMEWORKS, OURS
from test.benchmark.measurement import Request, Result, Work
from test.benchmark.report import Row

_PEERS = [name for name in FRAMEWORKS if name != OURS]

_ROUNDS = 9
_QUICK_ROUNDS = 3

# What the C library gives back is not returned to the system, so that memory is warm at the next
# call, whoever makes it: with fresh memory, page faults are what is timed.
_WARM_MEMORY = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=68719476736"


def _environment(target_cpu: str, threads: int) -> dict[str, str]:
    path = os.pathsep.join(filter(None, sys.path))
    return {
        **os.environ,
        **(BASELINE_ENVIRONMENT if target_cpu == "baseline" else {}),
        "PYTHONPATH": path,
        "GLIBC_TUNABLES": _WARM_MEMORY,
        "OMP_NUM_THREADS": str(threads),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }


def _events(path: Path) -> Iterator[tuple[str, object]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield from json.loads(line).items()


def _ended(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def run(request: Request, time_limit: float) -> Row:
    """Measures a case in a process of its own, and again without a framework that ends it."""
    ended: list[Result] = []
    while True:
        row, blamed = _attempt(request, time_limit)
        if not blamed or len(ended) > len(FRAMEWORKS):
            return dataclasses.replace(row, results=[*ended, *row.results])
        ended.append(blamed)
        left = [name for name in request.frameworks if name != blamed.framework]
        request = dataclasses.replace(request, frameworks=left)


def _attempt(request: Request, time_limit: float) -> tuple[Row, Result | None]:
    """One process; if it does not come to its end, the framework at which it stood."""
    results, work, last = [], None, ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events")
        path.touch()
        command = [
            sys.executable,
            "-m",
            "test.benchmark.measurement",
            json.dumps(dataclasses.asdict(request)),
            str(path),
        ]
        log = Path(folder, "log")
        with log.open("wb") as file:
            try:
                process = subprocess.run(
                    command,
                    env=_environment(request.target_cpu, request.threads),
                    stdout=file,
                    stderr=file,
                    timeout=time_limit,
                    check=False,
                )
                problem = _ended(process.returncode) if process.returncode else ""
            except subprocess.TimeoutExpired:
                problem = f"not done within {time_limit:.0f} s"
        for kind, content in _events(path):
            match kind, content:
                case "result", dict():
                    results.append(Result(**content))
                case "work", dict():
                    work = Work(**content)
                case "begin", str():
                    last = content
        if problem and not last:
            words = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            problem += f" ({words[-1]})" if words else ""
            results = [Result(name, problem) for name in request.frameworks]
    row = Row(request.case, request.target_cpu, request.threads, results, work)
    return row, Result(last, problem) if problem and last else None


_T = TypeVar("_T")


def _list_of(one: Callable[[str], _T]) -> Callable[[str], list[_T]]:
    return lambda text: [one(word) for word in text.split(",")]


def _target_cpu(text: str) -> str:
    try:
        cpu_target(text)
    except UserError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _threads(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of threads")
    return int(text)


def _peer(text: str) -> str:
    if text not in _PEERS:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(_PEERS)}")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "case", nargs="*", help="names of cases, or patterns as the shell's; all without any"
    )
    parser.add_argument("--list", action="store_true", help="print the cases' names, and end")
    parser.add_argument(
        "--target-cpu",
        type=_list_of(_target_cpu),
        default=["native"],
        help="one or more, by commas",
    )
    parser.add_argument(
        "--threads", type=_list_of(_threads), default=[1], help="one number or more, by commas"
    )
    parser.add_argument(
        "--peers",
        type=_list_of(_peer),
        default=_PEERS,
        help=f"of {', '.join(_PEERS)}, by commas (default: all)",
    )
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK_ROUNDS} rounds of turns")
    parser.add_argument("--time-limit", type=float, default=900.0, help="seconds for a case")
    parser.add_argument("--output", type=Path, help="a file to which all figures go, as JSON")
    return parser


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        chosen = cases.chosen(given.case)
    except ValueError as error:
        parser.error(str(error))
    if given.list:
        print("\n".join(case.name for case in chosen))
        return 0
    print(report.heading(), flush=True)
    print(report.ceilings(sorted({1, *given.threads})), flush=True)
    failed = False
    for target_cpu in given.target_cpu:
        for threads in given.threads:
            table = report.Table(given.peers, target_cpu, threads)
            print(table.heading(), flush=True)
            for case in chosen:
                request = Request(
                    case.name,
                    target_cpu,
                    threads,
                    _QUICK_ROUNDS if given.quick else _ROUNDS,
                    [OURS, *given.peers],
                )
                row = run(request, given.time_limit)
                failed |= any(r.framework == OURS and bool(r.problem) for r in row.results)
                print(table.lines(row), flush=True)
                if given.output:
                    with given.output.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(dataclasses.asdict(row)) + "\n")
            print(table.footer(), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
