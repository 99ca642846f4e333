"""Makes a graph smaller that still goes wrong as it did."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import BinaryIO

import torch

from test.forked import run_forked
from test.random_graphs.graph import Graph, Line, evaluate
from test.random_graphs.trial import TIME_LIMIT, Trial, run_trial, trial_of


def shrink(
    graph: Graph, trial: Trial, task: Callable[[Graph, BinaryIO], None] = run_trial
) -> Graph:
    """The smallest graph found by leaving out results, lines and cases of another one.

    `task` tries each, as `run_trial` does.
    """
    smaller = True
    while smaller:
        smaller = False
        for candidate in _candidates(graph):
            if _try(candidate, task).kind == trial.kind:
                graph = candidate
                smaller = True
                break
    return graph


def _try(graph: Graph, task: Callable[[Graph, BinaryIO], None]) -> Trial:
    (end,) = run_forked([graph], task, time_limit=TIME_LIMIT)
    return trial_of(end)


def _candidates(graph: Graph) -> Iterator[Graph]:
    if len(graph.outputs) > 1:
        for name in graph.outputs:
            yield _needed(dataclasses.replace(graph, outputs=(name,)))
    for number in range(len(graph.cases) - 1, 0, -1):
        kept = tuple(case for index, case in enumerate(graph.cases) if index != number)
        yield dataclasses.replace(graph, cases=kept)
    for line in graph.lines:
        if line.name not in graph.outputs and (given := _given(graph, line)):
            yield given


def _given(graph: Graph, line: Line) -> Graph | None:
    """The graph with what a line computes as an input."""
    lines = tuple(other for other in graph.lines if other is not line)
    before = graph.lines[: graph.lines.index(line) + 1]
    cases = []
    for case in graph.cases:
        try:
            value = evaluate(before, {**graph.weights, **case})[line.name]
        except Exception:
            return None
        cases.append({**case, line.name: value.contiguous()})
    return _needed(dataclasses.replace(graph, lines=lines, cases=tuple(cases)))


def _needed(graph: Graph) -> Graph:
    """The graph without lines and inputs that no result needs."""
    needed = set(graph.outputs)
    lines: list[Line] = []
    for line in reversed(graph.lines):
        if line.name in needed:
            lines.insert(0, line)
            needed |= line.operands
    cases: list[dict[str, torch.Tensor]] = [
        {name: value for name, value in case.items() if name in needed} for case in graph.cases
    ]
    weights = {name: weight for name, weight in graph.weights.items() if name in needed}
    return dataclasses.replace(graph, lines=tuple(lines), cases=tuple(cases), weights=weights)
