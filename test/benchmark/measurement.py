"""Times one case in this process: all frameworks in turns, with the machine's ceilings among them.

    python -m test.benchmark.measurement REQUEST EVENTS

Run by peers.py, in an environment that sets what is read only as a process starts. What is done
goes to a file as it is done, so that it is known who ended the process where one does.
"""

import contextlib
import dataclasses
import gc
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from test.AotCompile.models.float64 import exact_outputs
from test.benchmark.cases import CASES, Program
from test.benchmark.ceilings import Ceilings, least_seconds
from test.benchmark.frameworks import FRAMEWORKS, Call, Settings
from test.benchmark.timing import clock_for

# At a turn, a framework runs for so long, or once where that takes longer, after a call to warm up.
_TURN_SECONDS = 0.02
_MOST_CALLS = 1000

# Threads of the framework before that still wait for work by spinning have stopped after so long.
_PAUSE_SECONDS = 0.01

# More is no rounding: another function was computed.
_LARGEST_ERROR = 1e-2


@dataclass(frozen=True)
class Request:
    """What peers.py asks for."""

    case: str
    target_cpu: str
    threads: int
    rounds: int
    frameworks: list[str]


@dataclass(frozen=True)
class Result:
    """How one framework fared: the problem, or its figures."""

    framework: str
    problem: str = ""
    prepare_seconds: float = 0.0
    seconds: float = 0.0
    """Of a call: the mean of a turn, of all rounds the best."""
    error: float = 0.0
    """The largest against float64, relative to the largest value of that output."""


@dataclass(frozen=True)
class Work:
    """What the case asks of the machine, and what that does at most."""

    flops: float
    bytes_read: float
    bytes_written: float
    least_seconds: float
    flops_a_second: float
    bytes_copied_a_second: float


class _Events:
    """The file where peers.py reads on what is done."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def add(self, kind: str, content: Any) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({kind: content}) + "\n")


@dataclass
class _Contestant:
    """A framework that is ready, and what it did in the rounds."""

    name: str
    call: Call
    prepare_seconds: float
    outputs: tuple[torch.Tensor, ...]
    calls: int = 1
    best: float = float("inf")

    def turn(self, clock: Callable[[], float]) -> None:
        run = self.call.run
        run()
        begin = clock()
        for _ in range(self.calls):
            run()
        self.best = min(self.best, (clock() - begin) / self.calls)
        self.calls = max(1, min(_MOST_CALLS, int(_TURN_SECONDS / self.best)))


def _problem(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0].strip() if lines else ''}"[:200]


def _prepared(request: Request, program: Program, events: _Events) -> list[_Contestant]:
    settings = Settings(request.target_cpu, request.threads)
    ready = []
    for name in request.frameworks:
        framework = FRAMEWORKS[name]
        if missing := framework.missing():
            problem = f"not installed: {', '.join(missing)}"
            events.add("result", dataclasses.asdict(Result(name, problem)))
            continue
        events.add("begin", name)
        begin = time.perf_counter()
        try:
            call = framework.prepare(program, settings)
            with torch.inference_mode():
                outputs = tuple(tensor.clone() for tensor in call.tensors(call.run()))
        except Exception as error:  # A peer may fail in any way; the table says how.
            events.add("result", dataclasses.asdict(Result(name, _problem(error))))
            continue
        ready.append(_Contestant(name, call, time.perf_counter() - begin, outputs))
    return ready


def _take_turns(contestants: Sequence[_Contestant], ceilings: Ceilings, request: Request) -> None:
    clock = clock_for(request.threads)
    pause = _PAUSE_SECONDS if request.threads > 1 else 0.0
    gc.collect()
    gc.disable()
    with torch.inference_mode():
        for number in range(request.rounds):
            first = number % max(len(contestants), 1)
            for contestant in (*contestants[first:], *contestants[:first]):
                time.sleep(pause)
                contestant.turn(clock)
            time.sleep(pause)
            ceilings.measure()
    gc.enable()


def _bytes(tensors: Sequence[torch.Tensor]) -> float:
    return float(sum(tensor.numel() * tensor.element_size() for tensor in tensors))


def _weights(module: torch.nn.Module) -> list[torch.Tensor]:
    """What a run reads of the parameters and buffers; a table of embeddings but for some rows."""
    tables = (torch.nn.Embedding, torch.nn.EmbeddingBag)
    found = {
        tensor.data_ptr(): tensor
        for part in module.modules()
        if not isinstance(part, tables)
        for tensor in (*part.parameters(recurse=False), *part.buffers(recurse=False))
    }
    return list(found.values())


def _exact(program: Program) -> tuple[tuple[torch.Tensor, ...], float]:
    """What the program answers in float64, and the operations that it takes; it stays in float64.

    Attention is written as products of matrices there, so that its operations are counted.
    """
    counter = FlopCounterMode(display=False)
    with sdpa_kernel(SDPBackend.MATH), counter:
        exact = exact_outputs(program.module, program.inputs)
    return exact, float(counter.get_total_flops())


def _error(actual: Sequence[torch.Tensor], exact: Sequence[torch.Tensor]) -> float:
    errors = [0.0]
    for ours, right in zip(actual, exact, strict=True):
        if ours.shape != right.shape:
            return float("inf")
        scale = float(right.abs().max()) or 1.0
        errors.append(float((ours.double() - right).abs().max()) / scale)
    return max(errors) if all(error == error for error in errors) else float("nan")


def _mistake(error: float) -> str:
    """What is wrong with answers of such an error, if anything."""
    if error == float("inf"):
        return "wrong: answers of another shape, or infinite"
    return "" if error < _LARGEST_ERROR else f"wrong: off by {error:.1e} of the largest value"


def measure(request: Request, events: _Events) -> None:
    """Times the case and tells what comes of it."""
    torch.manual_seed(0)
    torch.set_num_threads(request.threads)
    case = CASES[request.case]
    program = case.make()
    read = _bytes(program.inputs) + _bytes(_weights(program.module))
    contestants = _prepared(request, program, events)
    written = _bytes(contestants[0].outputs) if contestants else 0.0
    events.add("begin", "")
    ceilings = Ceilings(request.target_cpu, request.threads, read + written)
    _take_turns(contestants, ceilings, request)
    exact, flops = _exact(program)
    flops *= case.share_of_flops
    for contestant in contestants:
        error = _error(contestant.outputs, exact)
        result = Result(
            contestant.name, _mistake(error), contestant.prepare_seconds, contestant.best, error
        )
        events.add("result", dataclasses.asdict(result))
    rates = ceilings.rates()
    least = least_seconds(rates, flops, read, written)
    work = Work(flops, read, written, least, rates.flops, rates.copied)
    events.add("work", dataclasses.asdict(work))


def main(arguments: Sequence[str]) -> None:
    """The command line: a request as JSON, and where events go."""
    request, path = arguments
    with contextlib.redirect_stdout(sys.stderr):  # Exporters tell there how far they are.
        measure(Request(**json.loads(request)), _Events(path))


if __name__ == "__main__":
    main(sys.argv[1:])
