"""Times programs on the GPU of this machine: ours beside PyTorch's, eager and torch.compile's.

    bazel run //test/benchmark:gpu -- --dtypes=float32,float16 blur_5x5 unsharp_mask

All are timed in one run, in turns, by the GPU's own clock; ratios are our time over the other's.
Calls are captured, as many as take some milliseconds, and replayed: so the times are those of
kernels. What a call takes from Python, one after the other, stands in columns of its own. Beside
them stands what a call moves and computes at least, over the time that it takes, and what this card
does at most: a copy of its memory, a product of cuBLAS's.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

import plumbline
from plumbline.errors import UserError
from test.benchmark.cases import Program, chosen

_ROUNDS = 10
_TURN_SECONDS = 0.02
_MOST_CALLS = 100
_LARGEST_ERROR = {torch.float32: 1e-2, torch.float16: 5e-2, torch.bfloat16: 2e-1}

_DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in _LARGEST_ERROR}

_DEVICE = "cuda"

_Call = Callable[[], Any]


@dataclass
class Ceilings:
    """What a card does at most."""

    bytes_per_second: float
    """Of a copy: what is read, and what is written."""
    flops_per_second: float
    """Of a large product of matrices of the element type."""


@dataclass
class Row:
    """What came of one program."""

    name: str
    dtype: str
    bytes: float = 0.0
    """That a call reads and writes at least: arguments, weights, results."""
    flops: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    """That the GPU takes for a call of each framework's."""
    calls: dict[str, float] = field(default_factory=dict)
    """Seconds that such a call takes from Python."""
    problems: dict[str, str] = field(default_factory=dict)
    kernels: dict[str, float] = field(default_factory=dict)
    """Of our kernels, by their names, in a call."""


def table(rows: Sequence[Row], ceilings: dict[str, Ceilings]) -> str:
    """The table, in Markdown, and below it the kernels of each program."""
    lines = [
        "| program | type | ours, ms | / eager | / torch.compile | called, ms | / eager | GB/s "
        "| of copy | TFLOP/s | of cuBLAS |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        lines.append(f"| {' | '.join(_cells(row, ceilings[row.dtype]))} |")
    for row in rows:
        lines += [f"{row.name}: {who} {problem}" for who, problem in row.problems.items()]
    for row in rows:
        lines += [
            f"{row.name}, {row.dtype}: {kernel} {1e3 * seconds:.4f} ms"
            for kernel, seconds in sorted(row.kernels.items(), key=lambda each: -each[1])
        ]
    return "\n".join(lines) + "\n"


def _cells(row: Row, ceilings: Ceilings) -> list[str]:
    ours = row.seconds.get("ours")
    if ours is None:
        return [row.name, row.dtype, "failed", *["-"] * 8]
    ratios = [_ratio(row.seconds, who) for who in ("eager", "torch.compile")]
    moved, computed = row.bytes / ours, row.flops / ours
    return [
        row.name,
        row.dtype,
        f"{1e3 * ours:.4f}",
        *ratios,
        f"{1e3 * row.calls['ours']:.4f}" if "ours" in row.calls else "-",
        _ratio(row.calls, "eager"),
        f"{moved / 1e9:.0f}",
        f"{100 * moved / ceilings.bytes_per_second:.0f} %",
        f"{computed / 1e12:.2f}",
        f"{100 * computed / ceilings.flops_per_second:.0f} %",
    ]


def _ratio(seconds: dict[str, float], who: str) -> str:
    return f"{seconds['ours'] / seconds[who]:.2f}" if {"ours", who} <= seconds.keys() else "-"


def problem_here() -> str:
    """Why nothing can be timed on this machine; empty: it can."""
    try:
        plumbline.device.open_driver()
    except UserError as error:
        return str(error)
    if not torch.cuda.is_available():
        return (
            f"PyTorch {torch.__version__} sees no GPU: the benchmark needs one that is built for "
            "CUDA"
        )
    return ""


@dataclass(frozen=True)
class _Turn:
    """Some calls, one after the other."""

    run: _Call
    count: int


def _seconds(turn: _Turn) -> float:
    """Of a call of a turn, by the GPU's clock."""
    new: Callable[..., Any] = torch.cuda.Event
    start, end = new(enable_timing=True), new(enable_timing=True)
    start.record()
    turn.run()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end) / 1e3 / turn.count)


def _called(call: _Call) -> _Turn:
    """So many calls as take a while."""
    call()
    once = max(_seconds(_Turn(call, 1)), 1e-7)
    count = max(1, min(_MOST_CALLS, int(_TURN_SECONDS / once)))

    def run() -> None:
        for _ in range(count):
            call()

    return _Turn(run, count)


def _captured(turn: _Turn) -> _Turn | None:
    """The same as a graph, in which Python has no part; None if the calls cannot be captured."""
    new: Callable[..., Any] = torch.cuda.Stream
    stream = new()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        turn.run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            turn.run()
    except RuntimeError:
        # They look at what they have computed.
        torch.cuda.synchronize()
        return None
    return _Turn(graph.replay, turn.count)


def _ceilings(dtype: torch.dtype) -> Ceilings:
    source = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    left = torch.randn(8192, 8192, dtype=dtype, device="cuda")
    product = torch.empty_like(left)
    copies = _called(lambda: target.copy_(source))
    products = _called(lambda: torch.mm(left, left, out=product))
    copy = min(_seconds(copies) for _ in range(_ROUNDS))
    multiply = min(_seconds(products) for _ in range(_ROUNDS))
    return Ceilings(2 * source.nbytes / copy, 2 * 8192**3 / multiply)


def _bytes(tensors: Sequence[torch.Tensor]) -> float:
    return float(sum(tensor.nbytes for tensor in tensors))


def _moved(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    value = value.to(_DEVICE)
    return value.to(dtype) if value.is_floating_point() else value


def _measure(name: str, program: Program, dtype: torch.dtype, arch: str) -> Row:
    row = Row(name, str(dtype).removeprefix("torch."))
    inputs = tuple(_moved(value, dtype) for value in program.inputs)
    host = program.module.to("cpu", dtype)
    on_host = tuple(value.cpu() for value in inputs)
    calls: dict[str, _Call] = {}

    def compile_ours() -> _Call:
        compiled = plumbline.compile(
            host,
            on_host,
            target="nvptx",
            gpu_arch=arch,
            on_gpu_tensors=True,
            stream=True,
            runtime_checks="off",
            cache=False,
        )
        compiled(*inputs)
        return lambda: compiled(*inputs)

    # A program that fails is no reason to lose the figures of all others.
    try:
        calls["ours"] = compile_ours()
    except (UserError, RuntimeError) as error:
        row.problems["ours"] = str(error)
    module = program.module.to(_DEVICE)
    with FlopCounterMode(display=False) as counter:
        expected = module(*inputs)
    results = expected if isinstance(expected, tuple) else (expected,)
    weights = [*module.parameters(), *module.buffers()]
    row.flops = float(counter.get_total_flops())
    row.bytes = _bytes(inputs) + _bytes(weights) + _bytes(results)
    calls["eager"] = lambda: module(*inputs)
    try:
        compiled = torch.compile(module, mode="max-autotune-no-cudagraphs")
        compiled(*inputs)
        calls["torch.compile"] = lambda: compiled(*inputs)
    except Exception as error:
        # Whatever Triton or the compilers that it starts raise.
        row.problems["torch.compile"] = str(error).split("\n", 1)[0]
    if "ours" in calls:
        for one, other in zip(calls["ours"](), results, strict=True):
            scale = other.float().abs().max().clamp(min=1)
            if float((one.float() - other.float()).abs().max() / scale) > _LARGEST_ERROR[dtype]:
                row.problems["ours"] = "another function was computed"
        row.kernels = _kernels(calls["ours"])
    called = {who: _called(call) for who, call in calls.items()}
    captured = {who: _captured(turn) or turn for who, turn in called.items()}
    for _ in range(_ROUNDS):
        for turns, least in ((called, row.calls), (captured, row.seconds)):
            for who, turn in turns.items():
                least[who] = min(least.get(who, float("inf")), _seconds(turn))
    return row


def _kernels(call: _Call) -> dict[str, float]:
    """The time of each kernel in a call, as CUPTI tells."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        call()
        torch.cuda.synchronize()
    return {event.key: event.device_time_total / 1e6 for event in profiler.key_averages()}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("patterns", nargs="*", default=["*"], help="which programs, as of a shell")
    parser.add_argument(
        "--dtypes", default="float32,float16,bfloat16", help="element types, with commas between"
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    """Prints the table; 2: there is no GPU to time anything on."""
    parser = _parser()
    given = parser.parse_args(arguments)
    names = given.dtypes.split(",")
    if unknown := [name for name in names if name not in _DTYPES]:
        parser.error(f"--dtypes: {', '.join(unknown)} is none of {', '.join(_DTYPES)}")
    try:
        cases = chosen(given.patterns)
    except ValueError as error:
        parser.error(str(error))
    if problem := problem_here():
        print(f"//test/benchmark:gpu: nothing was timed: {problem}", file=sys.stderr)
        return 2
    major, minor = torch.cuda.get_device_capability()
    print(f"{torch.cuda.get_device_name()}, sm_{major}{minor}, PyTorch {torch.__version__}")
    # As ours does, convolutions multiply float32 as it is.
    torch.backends.cudnn.allow_tf32 = False
    rows, ceilings = [], {}
    with torch.no_grad():
        for name in names:
            dtype = _DTYPES[name]
            ceilings[name] = _ceilings(dtype)
            print(
                f"{name}: copies {ceilings[name].bytes_per_second / 1e9:.0f} GB/s, cuBLAS "
                f"{ceilings[name].flops_per_second / 1e12:.1f} TFLOP/s"
            )
            for case in cases:
                torch.manual_seed(0)
                rows.append(_measure(case.name, case.make(), dtype, f"sm_{major}{minor}"))
    print(table(rows, ceilings))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
