"""Random programs answer as PyTorch does, or are refused: a few of them, or as many as one likes.

    bazel test //test/random_graphs:random_graphs_test
    bazel test //test/random_graphs:hunt_test --test_env=GRAPHS=10000 --test_env=FIRST_GRAPH=5000

The numbers of graphs are all that they are drawn from. Of one that goes wrong, the smallest program
that does is printed, to be run by itself.
"""

import gc
import os
import sys
import warnings

import pytest
import torch

import plumbline
from test.forked import run_forked
from test.random_graphs.generator import draw_graph
from test.random_graphs.graph import Graph, Line, Options
from test.random_graphs.shrinking import shrink
from test.random_graphs.trial import TIME_LIMIT, Trial, run_trial, summary, trial_of
from test.shard import of_this_shard

_FIRST, _COUNT = (
    int(os.environ.get(name, default)) for name, default in (("FIRST_GRAPH", "0"), ("GRAPHS", "20"))
)


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    """What the first compilation in a process sets up is set up before any process is forked."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    plumbline.compile(torch.nn.Linear(2, 2), (torch.ones(2, 2),))
    gc.collect()
    gc.freeze()


def test_as_pytorch() -> None:
    numbers = of_this_shard(range(_FIRST, _FIRST + _COUNT))
    drawn = {number: draw_graph(number) for number in numbers}
    graphs = {id(graph): number for number, graph in drawn.items() if graph.inputs}
    trials = []
    failures = []
    for end in run_forked((drawn[n] for n in graphs.values()), run_trial, time_limit=TIME_LIMIT):
        trial = trial_of(end)
        trials.append(trial)
        if trial.kind in ("wrong", "lenient", "broken"):
            smallest = shrink(end.item, trial)
            failures.append(
                f"graph {graphs[id(end.item)]}: {trial.kind}: {trial.reason}\n{smallest.source()}"
            )
    print(summary(trials))
    assert not failures, "\n\n".join(failures)
    # Most of what is drawn is a program.
    assert sum(trial.kind == "agrees" for trial in trials) > len(trials) / 2


_X = torch.arange(6.0).reshape(2, 3)

_ANOTHER = "(1 + torch.compiler.is_compiling())"
"""A number that is another one where PyTorch traces a program."""


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("x0 * 2", "agrees"),
        ("x0.to(torch.complex32).real", "refused"),
        (f"x0 + {_ANOTHER}", "wrong"),
        ("__import__('os').abort() or x0", "broken"),
    ],
)
def test_what_is_told_of_a_graph(expression: str, kind: str) -> None:
    graph = Graph((Line("v0", expression),), ("v0",), ({"x0": _X},))
    (end,) = run_forked([graph], run_trial, time_limit=TIME_LIMIT)
    assert trial_of(end).kind == kind, trial_of(end)


def test_a_graph_is_the_same_each_time() -> None:
    assert draw_graph(7).source() == draw_graph(7).source()


def test_the_smallest_graph() -> None:
    lines = (
        Line("v0", "x0 * 2"),
        Line("v1", "v0 + x1"),
        Line("v2", f"v1 * {_ANOTHER}"),
        Line("v3", "v2 - 1"),
        Line("v4", "x1.exp()"),
    )
    graph = Graph(lines, ("v3", "v4"), ({"x0": _X, "x1": _X[0]},))
    smallest = shrink(graph, Trial("wrong"))
    assert smallest.lines in (lines[2:4], lines[2:3])
    assert smallest.inputs == ("v1",)
    assert "cases = [\n    (torch.tensor([[0.0, 3.0, 6.0], [6.0, 9.0, 12.0]]" in smallest.source()


@pytest.mark.parametrize("named_dims", [False, True])
def test_source_stands_alone(named_dims: bool) -> None:
    graph = Graph(
        (Line("v0", "x0.sum(0) + x1"),),
        ("v0",),
        ({"x0": _X, "x1": _X[0]}, {"x0": torch.ones(4, 2) / 0, "x1": _X[0, :2]}),
        Options(named_dims=named_dims),
    )
    exec(compile(graph.source(), "<source>", "exec"), {})


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", "-rP", *sys.argv[1:]]))
