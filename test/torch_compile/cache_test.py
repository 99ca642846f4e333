"""Programs of `torch.compile` that come from the cache."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import sympy
import torch
from torch._dynamo.source import ConstantSource
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.nn import functional

import plumbline
from plumbline.torch_compile import compiled_graph
from plumbline.torch_compile.divided_graph import Weight, divided
from plumbline.torch_compile.export_key import export_key
from plumbline.torch_compile.size_facts import Comparisons, repeat_comparisons
from test.torch_compile import cached_programs
from test.torch_compile.fresh_dynamo import nothing_compiled_before

aten = torch.ops.aten


_nothing_compiled_before = pytest.fixture(autouse=True)(nothing_compiled_before)


def test_another_process_compiles_nothing(tmp_path: Path) -> None:
    first = cached_programs.results(tmp_path)
    assert not any(first["from_cache"])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-m", cached_programs.__name__, tmp_path],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    second = json.loads(run.stdout)
    assert all(second["from_cache"])
    assert second["told"] == first["told"]


def _compiled(
    function: Callable[..., Any],
    folder: Path,
    *inputs: Any,
    dynamic: bool | None = None,
    **options: Any,
) -> tuple[torch.Tensor, bool]:
    """What a function gives, compiled as in a new process, and whether that was there."""
    torch._dynamo.reset()
    backend = plumbline.Backend(threads=1, cache=folder, **options)
    compiled = torch.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)
    result = compiled(*inputs)
    (program,) = backend.programs
    return result, program.from_cache


@pytest.mark.parametrize("dynamic", [False, True])
def test_nothing_is_even_exported(tmp_path: Path, *, dynamic: bool) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.cumsum(0) + torch.arange(1000.0)[: x.shape[0]]

    x = torch.randn(5)
    _compiled(function, tmp_path, x, dynamic=dynamic)
    with mock.patch.object(compiled_graph, "_exported", None):
        result, was_there = _compiled(function, tmp_path, x, dynamic=dynamic)
    assert was_there
    torch.testing.assert_close(result, function(x))


def test_later_calls_are_told_apart_as_in_the_first_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The export of what draws asks whether there are more numbers than are made at once."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return functional.dropout(x, 0.25)

    for _ in range(2):
        torch._dynamo.reset()
        backend = plumbline.Backend(threads=1, cache=tmp_path)
        compiled = torch.compile(function, backend=backend, fullgraph=True, dynamic=True)
        for size, programs in ((2000, 1), (3000, 1), (10, 2)):
            results = []
            for call in (function, compiled):
                torch.manual_seed(1)
                results.append(call(torch.ones(size)))
            assert torch.equal(*results)
            assert len(backend.programs) == programs
        monkeypatch.setattr(compiled_graph, "_exported", None)


def test_comparisons_that_cannot_be_told_are_not_kept() -> None:
    known = ShapeEnv()
    size = known.create_symbol(
        5, ConstantSource("size"), dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None
    )
    made = Comparisons(known)
    known.evaluate_expr(sympy.Ne(size - 7, -1))
    told = made.told()
    assert told["guards"] == [[sympy.srepr(known.guards[0].expr), False]]
    assert not repeat_comparisons(known, {**told, "facts": "others"})
    known.evaluate_expr(sympy.Gt(sympy.log(size), 1))
    assert made.told() is None


def test_what_a_program_says_when_it_fails_has_its_line(tmp_path: Path) -> None:
    def first(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return x[index]

    def second(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return x[index]

    for function in (first, second, second):
        line = function.__code__.co_firstlineno + 1
        with pytest.raises(plumbline.errors.UserError, match=rf"cache_test\.py:{line}\b"):
            _compiled(function, tmp_path, torch.ones(3), torch.tensor([3]))


def test_options_are_part_of_the_key(tmp_path: Path) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.relu()

    x = torch.randn(5)
    assert not _compiled(function, tmp_path, x)[1]
    assert not _compiled(function, tmp_path, x, opt_level=0)[1]
    assert not _compiled(function, tmp_path, x, target_cpu="baseline")[1]
    assert _compiled(function, tmp_path, x)[1]


# -- keys ------------------------------------------------------------------------------------------


def _key(function: Callable[..., Any], *inputs: torch.Tensor, mode: Any = "fake") -> bytes | None:
    module: GraphModule = make_fx(function, tracing_mode=mode)(*inputs)
    for node in module.graph.nodes:
        # Which repeats what is said of values, if it is there.
        node.meta.pop("tensor_meta", None)
    program = divided(module, {}).program
    assert program is not None
    key = export_key(module, program)
    return None if key is None else key.key


_Function = Callable[[torch.Tensor], Sequence[torch.Tensor]]


def _with(operand: Any, op: Callable[..., Any] = torch.mul) -> _Function:
    return lambda x: [op(x, operand)]


def _table(*numbers: float) -> _Function:
    return lambda x: [x * torch.tensor(numbers)]


def test_the_same_program_has_the_same_key() -> None:
    x = torch.ones(2, 3)
    assert _key(_table(1, 2, 3), x) == _key(_table(1, 2, 3), x) is not None
    assert _key(_with(2), x) == _key(_with(2), 5 * x) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_with(2), _with(3)),
        (_with(2), _with(2.0)),
        (_with(0.0), _with(-0.0)),
        (_with(1), _with(True)),
        (_with(2), _with(2, torch.add)),
        (_with(0, torch.cumsum), _with(1, torch.cumsum)),
        (_with(torch.int32, torch.Tensor.to), _with(torch.int64, torch.Tensor.to)),
        (_table(1, 2, 3), _table(1, 2, 4)),
        (_table(0.0, 0, 0), _table(-0.0, 0, 0)),
    ],
)
def test_another_program_has_another_key(one: _Function, other: _Function) -> None:
    keys = [_key(function, torch.ones(2, 3)) for function in (one, other)]
    assert None not in keys
    assert keys[0] != keys[1]


def test_other_inputs_make_another_key() -> None:
    x = torch.ones(2, 3)
    inputs = [x, x.double(), x.int(), torch.ones(3, 2), torch.ones(3, 2).T]
    keys = [_key(_with(2), each) for each in inputs]
    assert None not in keys
    # Of the axes that lie in memory the other way round, the program's argument is the transposed.
    assert len(set(keys)) == len(keys)
    # What has gaps is handed over without.
    assert _key(_with(2), torch.ones(2, 6)[:, :3]) == keys[0]


def test_the_default_dtype_is_part_of_the_key() -> None:
    x = torch.ones(3, dtype=torch.int32)
    first = _key(_with(2), x)
    torch.set_default_dtype(torch.float64)
    try:
        assert _key(_with(2), x) != first
    finally:
        torch.set_default_dtype(torch.float32)


def test_what_is_known_of_sizes_is_part_of_the_key() -> None:
    def below_seven(x: torch.Tensor) -> Sequence[torch.Tensor]:
        assert x.shape[0] < 7
        return [x * 2]

    def key(function: _Function, *sizes: int) -> bytes | None:
        return _key(function, torch.ones(*sizes), mode="symbolic")

    assert key(_with(2), 4, 3) == key(_with(2), 4, 3)
    keys = [key(_with(2), 4, 3), key(_with(2), 5, 3), key(_with(2), 3, 3), key(below_seven, 4, 3)]
    assert None not in keys
    assert len(set(keys)) == len(keys)


@torch.library.custom_op("plumbline_test::doubled", mutates_args=())
def _doubled(x: torch.Tensor) -> torch.Tensor:
    return x + x


_doubled.register_fake(torch.empty_like)


def test_programs_that_may_mean_another_thing_elsewhere_have_none() -> None:
    x = torch.ones(4, 3)
    assert _key(lambda x: [_doubled(x)], x) is None
    # As many as values say.
    assert _key(lambda x: [x.nonzero()], x, mode="symbolic") is None


def test_weights_are_computed_with() -> None:
    module = make_fx(_with(2), tracing_mode="fake")(torch.ones(3))
    placeholder = next(iter(module.graph.nodes))
    weight = Weight("weight", torch.ones(3))
    program = divided(module, {placeholder.name: weight}).program
    assert program is not None
    assert export_key(module, program) is None


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
