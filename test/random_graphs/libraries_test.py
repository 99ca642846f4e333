"""Libraries of random programs answer as PyTorch does, and touch no memory but their own.

    bazel test //test/random_graphs:random_graphs_test
    bazel test //test/random_graphs:libraries_hunt_test --test_env=FIRST_GRAPH=5000

They are made as `random_graphs_test.py` says.
"""

import ctypes
import dataclasses
import functools
import os
import sys
import warnings
from typing import Any, BinaryIO

import numpy as np
import pytest
import torch

import plumbline
from plumbline.library import call_plan, native_function
from plumbline.library.call_plan import CallPlan
from test.forked import run_forked
from test.random_graphs.generator import draw_graph
from test.random_graphs.graph import Graph, Line
from test.random_graphs.guarded_memory import guarded_bytes, guarded_copy
from test.random_graphs.libraries import Form, compiled_to_library, draw_form
from test.random_graphs.shrinking import shrink
from test.random_graphs.trial import TIME_LIMIT, run_trial, summary, trial_of
from test.shard import of_this_shard

_FIRST, _COUNT = (
    int(os.environ.get(name, default)) for name, default in (("FIRST_GRAPH", "0"), ("GRAPHS", "8"))
)

_Item = tuple[int, Graph, Form]


@pytest.fixture(autouse=True, scope="module")
def _warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the first compilation in a process sets up is set up before any process is forked."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("warm")
    plumbline.aot(torch.nn.Linear(2, 2), torch.ones(2, 2), name="warm", out=folder)


def _task(form: Form, graph: Graph, pipe: BinaryIO) -> None:
    run_trial(graph, pipe, functools.partial(compiled_to_library, form=form))


def _task_of_item(item: _Item, pipe: BinaryIO) -> None:
    _, graph, form = item
    _task(form, graph, pipe)


def test_as_pytorch() -> None:
    numbers = of_this_shard(range(_FIRST, _FIRST + _COUNT))
    drawn = ((number, draw_graph(number), draw_form(number)) for number in numbers)
    items = [item for item in drawn if item[1].inputs]
    trials = []
    failures = []
    for end in run_forked(items, _task_of_item, time_limit=TIME_LIMIT):
        trial = trial_of(end)
        trials.append(trial)
        if trial.kind in ("wrong", "lenient", "broken"):
            number, graph, form = end.item
            smallest = shrink(graph, trial, functools.partial(_task, form))
            failures.append(
                f"graph {number}, {form}: {trial.kind}: {trial.reason}\n{smallest.source()}"
            )
    print(summary(trials))
    assert not failures, "\n\n".join(failures)
    # Most of what is drawn is a program.
    assert sum(trial.kind == "agrees" for trial in trials) > len(trials) / 2


@pytest.mark.parametrize("form", [Form(), Form(behind=False), Form(memory="pool"), Form("memref")])
def test_what_is_told_of_a_library(form: Form) -> None:
    lines = Line("v0", "x0 + w0"), Line("v1", "x0.add_(w0)")
    cases = {"x0": torch.ones(2, 3)}, {"x0": torch.ones(7, 3)}
    graph = Graph(lines, ("v0",), cases, weights={"w0": torch.nn.Buffer(torch.arange(3.0))})
    (end,) = run_forked([(0, graph, form)], _task_of_item, time_limit=TIME_LIMIT)
    assert trial_of(end).kind == "agrees", trial_of(end)
    assert trial_of(end).cases == {"agree": 2}


def test_a_workspace_that_is_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_small(*arguments: Any) -> CallPlan:
        plan = call_plan.plan_call(*arguments)
        assert plan.workspace is not None
        return dataclasses.replace(plan, workspace=plan.workspace - 64)

    monkeypatch.setattr(native_function, "plan_call", too_small)
    case = {"x0": torch.arange(1024, dtype=torch.uint8)}
    graph = Graph((Line("v0", "torch.isin(x0, x0).flip(0)"),), ("v0",), (case,))
    (end,) = run_forked([(0, graph, Form(memory="pool"))], _task_of_item, time_limit=TIME_LIMIT)
    assert trial_of(end).reason == "SIGSEGV while running case 0"


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("what", ["inside", "outside", "read-only"])
def test_what_ends_a_process(what: str, *, behind: bool) -> None:
    def touch(what: str, pipe: BinaryIO) -> None:
        if what == "read-only":
            guarded_copy(np.ones(5), behind=behind, writable=False)[4] = 2
        memory = guarded_bytes(64, behind=behind)
        assert memory.ctypes.data % 64 == 0
        address = memory.ctypes.data + (64 if behind else -1) * (what == "outside")
        ctypes.c_uint8.from_address(address).value = 1
        pipe.write(b"done")

    (end,) = run_forked([what], touch, time_limit=TIME_LIMIT)
    assert (end.death, end.written) == (("", b"done") if what == "inside" else ("SIGSEGV", b""))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", "-rP", *sys.argv[1:]]))
