"""Measures models on this machine: compiling them, their answers, and running them beside PyTorch.

    bazel run //test/AotCompile/models:benchmark -- resnet50 bert_base

For each it prints the time and the peak memory of each stage, the size of its text and of the
library, the errors of the answers, and the time of a run with one thread.

The errors are those of Plumbline and of PyTorch against the same program in float64, and those of
the two against each other. `share` is how much of the tolerance of the comparison they use up: over
1, the generated test fails.
"""

import argparse
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType

import torch

import plumbline
from plumbline.loader_to_torch.loader import TorchLoaderOutput, load
from plumbline.loader_to_torch.references import record_references
from plumbline.lowering import STAGES
from test.AotCompile.models import (
    language_loader_lib,
    recommendation_loader_lib,
    recurrent_loader_lib,
    speech_loader_lib,
    vision_loader_lib,
)
from test.AotCompile.models.float64 import exact_outputs, outputs

_LIBRARIES = (
    language_loader_lib,
    recommendation_loader_lib,
    recurrent_loader_lib,
    speech_loader_lib,
    vision_loader_lib,
)
_SUFFIX = "_loader"


class _PeakMemory:
    """The most memory that this process has had since `reset`, as Linux counts it."""

    def reset(self) -> None:
        # See proc_pid_clear_refs(5).
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def megabytes(self) -> float:
        with open("/proc/self/status", encoding="ascii") as file:
            (line,) = (line for line in file if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024


class _StageReport:
    """Prints a line for each stage as it is done."""

    def __init__(self) -> None:
        self._memory = _PeakMemory()
        self._memory.reset()
        self._begin = self._last = time.monotonic()
        print(f"  {'stage':14}{'seconds':>8}{'peak MB':>9}")

    def when_done(self, stage: str) -> None:
        now = time.monotonic()
        print(f"  {stage:14}{now - self._last:8.1f}{self._memory.megabytes():9.0f}", flush=True)
        self._memory.reset()
        self._last = time.monotonic()

    def total(self) -> None:
        print(f"  {'in all':14}{time.monotonic() - self._begin:8.1f}")


def _loaders() -> dict[str, ModuleType]:
    """The library that has each program."""
    return {
        name.removesuffix(_SUFFIX): library
        for library in _LIBRARIES
        for name in vars(library)
        if name.endswith(_SUFFIX) and not name.startswith("_")
    }


def _errors(
    actual: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]
) -> tuple[float, float, float]:
    """The largest absolute error, the largest relative one, and the largest expected value."""
    pairs = [(a.double(), e.double()) for a, e in zip(actual, expected, strict=True)]
    absolute = max(float((a - e).abs().max()) for a, e in pairs)
    relative = max(float(((a - e) / e).nan_to_num().abs().max()) for a, e in pairs)
    return absolute, relative, max(float(e.abs().max()) for _, e in pairs)


def _share(program: TorchLoaderOutput, actual: Sequence[torch.Tensor]) -> float:
    """The largest part of the tolerance that an element uses up."""
    references = record_references("benchmark", program)
    shares: Iterator[float] = (
        float(((a - e).abs() / (atol + rtol * e.abs())).max())
        for a, e, rtol, atol in zip(
            actual,
            map(torch.from_numpy, references.outputs),
            references.rtol,
            references.atol,
            strict=True,
        )
    )
    return max(shares)


def _milliseconds(run: Callable[[], object], seconds: float) -> float:
    """The median time of a run, of as many as begin within so long, when everything is warm."""
    run()
    times: list[float] = []
    end = time.monotonic() + seconds
    while not times or time.monotonic() < end:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1000


def _measure(name: str, library: ModuleType, options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    program = load(f"{library.__name__}.{name}{_SUFFIX}")
    print(f"{name}: {len(program.inputs)} inputs, e.g. {list(program.inputs[0].shape)}")
    report = _StageReport()
    compiled = plumbline.compile(
        program.model,
        program.inputs,
        program.dynamic_shapes,
        target_cpu=options.target_cpu,
        opt_level=options.opt_level,
        cache=False,
        when_done=report.when_done,
    )
    report.total()
    texts = {stage: len(compiled.stage(stage)) / 1000 for stage in STAGES if stage != "asm"}
    print("  texts, kB: " + ", ".join(f"{stage} {size:.0f}" for stage, size in texts.items()))
    code, weights = (size / 1e6 for size in (compiled.code_bytes, compiled.weight_bytes))
    print(f"  library, MB: code {code:.2f}, weights {weights:.1f}")

    ours = _milliseconds(lambda: compiled(*program.inputs), options.seconds)
    pytorch = _milliseconds(lambda: outputs(program.model, program.inputs), options.seconds)
    print(f"  run, ms: Plumbline {ours:.2f}, PyTorch {pytorch:.2f}, ratio {ours / pytorch:.2f}")

    actual = compiled(*program.inputs)
    eager = outputs(program.model, program.inputs)
    share = _share(program, actual)
    exact = exact_outputs(program.model, program.inputs)
    print("  largest error    absolute  relative")
    for what, left, right in (
        ("Plumbline", actual, exact),
        ("PyTorch", eager, exact),
        ("between them", actual, eager),
    ):
        absolute, relative, scale = _errors(left, right)
        print(f"    {what:14}{absolute:10.1e}{relative:10.1e}")
    print(f"    values up to {scale:.2g}, share of the tolerance {share:.2f}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Measures the models that the command line names, each in a process of its own."""
    loaders = _loaders()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", nargs="+", choices=sorted(loaders))
    parser.add_argument("--target-cpu", default="native")
    parser.add_argument("--opt-level", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to run each again")
    options = parser.parse_args(arguments)
    failed = 0
    for name in options.model:
        process = multiprocessing.get_context("fork").Process(
            target=_measure, args=(name, loaders[name], options)
        )
        process.start()
        process.join()
        failed |= process.exitcode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
