"""Draws whole graphs: the sizes, the lines and the options."""

import functools
import random

import torch

from plumbline.target.cpu import cpu_target
from plumbline.target.probe import vector_unit_of
from test.random_graphs.drawing import Drawing, Sizes, Unsuitable
from test.random_graphs.graph import Graph, Options
from test.random_graphs.lines import draw_line

# Oldest first.
_CPUS = ("x86-64", "x86-64-v2", "baseline", "x86-64-v4", "native", "native")

# What is done in parts, or otherwise than for few.
_LARGE = (64, 65, 100, 127, 256, 300, 1000, 1025, 4096, 5000)


@functools.cache
def _that_runs_here(cpu: str) -> str:
    """The CPU, or this machine's own where that has shorter vectors."""
    of_cpu, own = (vector_unit_of(cpu_target(name)) for name in (cpu, "native"))
    return cpu if of_cpu.bytes <= own.bytes else "native"


def draw_graph(seed: int) -> Graph:
    """The graph of that number."""
    chooser = random.Random(seed)
    dynamic = chooser.random() < 0.7
    cases = 4 if dynamic else 1
    symbols: list[Sizes] = [
        (first, chooser.choice((1, 2, 3)), chooser.choice((0, 1, 8, 16)), chooser.randint(7, 37))
        for first in chooser.sample((2, 3, 5, 6, 7), 2)
    ]
    fixed: list[Sizes] = [
        (size,) * cases for size in chooser.sample((1, 2, 4, 8, 9, 16, 17, 33), 2)
    ]
    if chooser.random() < 0.1:
        fixed[1] = (chooser.choice(_LARGE),) * cases
    drawing = Drawing(
        chooser,
        [*symbols, *fixed] if dynamic else [*fixed, (chooser.randint(1, 12),)],
        special=chooser.random() < 0.12,
    )
    length = chooser.choice((1, 2, 3, 3, 4, 5, 6, 8))
    for _ in range(8 * length):
        if len(drawing.lines) == length:
            break
        try:
            draw_line(drawing)
        except Unsuitable:
            continue
    # Without F16C, code calls functions of the C compiler's library that Python does not have.
    has_half = any(value.dtype == torch.float16 for value in drawing.cases[0].values())
    options = Options(
        opt_level=chooser.choice((2, 2, 2, 0, 1, 3)),
        target_cpu=_that_runs_here(chooser.choice(_CPUS[2 * has_half :])),
        # Without checks, a program may read what is not its own.
        runtime_checks=chooser.choice(("values", "values", "values", "all")),
        threads=chooser.choice((1, 1, 1, 1, 1, 2)),
        named_dims=chooser.random() < 0.4,
    )
    return drawing.graph(options)
