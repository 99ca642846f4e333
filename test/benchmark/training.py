"""Times steps of training under torch.compile: by our backend, by PyTorch's own, and by none.

    bazel run //test/benchmark:training -- --threads=1 --batch=4 resnet50 bert_base

A step is the program, the mean of what it returns squared, and the gradients of all parameters. All
is timed in one process, in turns; ratios are to eager's time. Compilation is that of the first
step, with imports made before. Inductor, which compiles C++, takes a compiler. Gradients of ours
are held against those of a copy in float64, beside eager's: batch norms of few images are no exact
matter. Inductor's are of other random numbers.
"""

import argparse
import copy
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

import plumbline
from test.benchmark.cases import Program, chosen
from test.benchmark.timing import clock_for

_SECONDS = 2.0
"""That each takes at least, in all rounds."""

_ROUNDS = 5

_TIMES_EAGERS, _NO_ERROR = 10.0, 1e-4
"""How far off gradients are that are another program's: beside eager's, and the largest of all."""

_MODELS = (
    "resnet50",
    "mobilenet_v2",
    "convnext_tiny",
    "vit_base",
    "bert_base",
    "gpt2",
    "llama_block",
)


@dataclass
class Row:
    """What came of one program."""

    name: str
    seconds: dict[str, float] = field(default_factory=dict)
    """Of a step."""
    compilation: dict[str, float] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def table(rows: Sequence[Row]) -> str:
    """In Markdown; what failed stands below."""
    lines = [
        "| program | eager ms | ours / eager | inductor / eager | ours compiles s | inductor s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        cells = [row.name, f"{row.seconds['eager'] * 1e3:.1f}"]
        cells += [_cell(row, who, row.seconds, row.seconds["eager"]) for who in _BACKENDS]
        cells += [_cell(row, who, row.compilation, 1.0) for who in _BACKENDS]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        f"{row.name}: {who}: {problem}" for row in rows for who, problem in row.problems.items()
    ]
    return "\n".join(lines)


def _cell(row: Row, who: str, of: dict[str, float], unit: float) -> str:
    return "failed" if who in row.problems else f"{of[who] / unit:.2f}"


_BACKENDS: dict[str, Callable[[int], Any]] = {
    "ours": lambda threads: plumbline.Backend(threads=threads, cache=False),
    "inductor": lambda threads: "inductor",
}
"""What torch.compile is given, for so many threads."""


def measure(name: str, program: Program, threads: int) -> Row:
    """Compiles a program by each backend, compares gradients, and times steps."""
    row = Row(name)
    model = program.module.train()
    steps = {"eager": _step(model, model, program.inputs)}
    exact, by_eager = _in_float64(program)(), steps["eager"]()
    for who, backend in _BACKENDS.items():
        torch._dynamo.reset()
        mine = copy.deepcopy(model)
        step = _step(mine, torch.compile(mine, backend=backend(threads)), program.inputs)
        start = time.perf_counter()
        # A program that fails is no reason to lose the figures of all others.
        try:
            gradients = step()
        except Exception as error:
            row.problems[who] = str(error).split("\n", 1)[0]
            continue
        row.compilation[who] = time.perf_counter() - start
        steps[who] = step
        allowed = _TIMES_EAGERS * _difference(by_eager, exact) + _NO_ERROR
        if who == "ours" and _difference(gradients, exact) > allowed:
            row.problems[who] = "other gradients"
    clock = clock_for(threads)
    for _ in range(_ROUNDS):
        for who, step in steps.items():
            until = time.perf_counter() + _SECONDS / _ROUNDS
            while True:
                start = clock()
                step()
                row.seconds[who] = min(row.seconds.get(who, float("inf")), clock() - start)
                if time.perf_counter() > until:
                    break
    return row


_Step = Callable[[], list[torch.Tensor]]


def _step(
    model: torch.nn.Module, called: Callable[..., Any], inputs: Sequence[torch.Tensor]
) -> _Step:
    """Computes the gradients of a model's parameters, which it is `called` for."""
    parameters = list(model.parameters())

    def step() -> list[torch.Tensor]:
        torch.manual_seed(0)
        results = pytree.tree_leaves(called(*inputs))
        loss = sum(result.square().mean() for result in results if result.is_floating_point())
        return list(torch.autograd.grad(loss, parameters, allow_unused=True))

    return step


def _in_float64(program: Program) -> _Step:
    model = copy.deepcopy(program.module).double()
    inputs = [x.double() if x.is_floating_point() else x for x in program.inputs]
    return _step(model, model, inputs)


def _difference(some: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> float:
    """The largest difference, beside the largest element."""
    pairs = [(one, other) for one, other in zip(some, others, strict=True) if other is not None]
    largest = max(float(other.abs().max()) for _, other in pairs)
    return max(float((one - other).abs().max()) for one, other in pairs) / largest


def _batch(value: torch.Tensor, count: int) -> torch.Tensor:
    """So many examples: floats are drawn, and others repeated."""
    repeated = torch.cat([value] * count)
    return torch.randn_like(repeated) if value.is_floating_point() else repeated


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("patterns", nargs="*", default=_MODELS, help="which, as of a shell")
    parser.add_argument("--threads", type=int, default=1, help="of all three")
    parser.add_argument("--batch", type=int, default=4, help="how many times the example")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Prints the table."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        cases = chosen(given.patterns)
    except ValueError as error:
        parser.error(str(error))
    torch.set_num_threads(given.threads)
    rows = []
    for case in cases:
        torch.manual_seed(0)
        program = case.make()
        inputs = tuple(_batch(value, given.batch) for value in program.inputs)
        rows.append(measure(case.name, Program(program.module, inputs), given.threads))
        print(table(rows[-1:]), file=sys.stderr, flush=True)
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
