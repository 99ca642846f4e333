"""What PyTorch takes for granted of sizes is asserted, but for what the program does without."""

import importlib
import re
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim
from torch.nn import functional

import plumbline
from plumbline.errors import UserError
from plumbline.loader_to_torch.python_functions import calls_alone

AUTO = Dim.AUTO

_Function = Callable[[torch.Tensor], torch.Tensor]
_Sizes = tuple[int, ...]


class _Program(torch.nn.Module):
    def __init__(self, function: _Function) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x)


def _compile(
    function: _Function, example: _Sizes, dims: Mapping[int, Any]
) -> plumbline.CompiledProgram:
    return plumbline.compile(
        _Program(function), (torch.randn(example),), dynamic_shapes=(dims,), opt_level=0
    )


def _branch(x: torch.Tensor) -> torch.Tensor:
    if x.shape[0] > x.shape[1]:
        return x * 2
    return x


def _padded(x: torch.Tensor) -> torch.Tensor:
    if x.shape[0] % 4:
        x = functional.pad(x, (0, 0, 0, 4 - x.shape[0] % 4))
    return x


def _halves(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[0] // 2
    return x[:half] + x[half:]


@pytest.mark.parametrize(
    ("function", "example", "dynamic", "refused", "condition"),
    [
        (lambda x: x.view(-1, 3) * 2, (12,), (0,), [(7,), (14,)], "(x.shape[0] % 3) == 0"),
        (_halves, (12,), (0,), [(7,), (13,)], "== (x.shape[0] - (x.shape[0] // 2))"),
        # Of as many rows as x, where it has 5 or more.
        (
            lambda x: torch.ones(1, 5)[max(0, 5 - x.shape[0]) :] + x,
            (6, 5),
            (0,),
            [(3, 5), (4, 5)],
            "max(0, 5 - x.shape[0])",
        ),
        # A branch gives tensors of the same shape.
        (_branch, (6, 5), (0, 1), [(5, 5), (3, 5)], "x.shape[0] > x.shape[1]"),
        (_padded, (6, 5), (0,), [(8, 5)], "(x.shape[0] % 4) != 0"),
        (
            lambda x: functional.avg_pool1d(x, round(x.shape[1] / 5)),
            (3, 12),
            (1,),
            [(3, 13)],
            "round(",
        ),
    ],
)
def test_calls_that_the_program_is_not_exported_for_are_refused(
    function: _Function,
    example: _Sizes,
    dynamic: _Sizes,
    refused: list[_Sizes],
    condition: str,
) -> None:
    program = _compile(function, example, dict.fromkeys(dynamic, AUTO))
    x = torch.randn(example)
    torch.testing.assert_close(program(x)[0], function(x))
    for sizes in refused:
        with pytest.raises(UserError, match=f"for sizes where .*{re.escape(condition)}"):
            program(torch.randn(sizes))


@pytest.mark.parametrize("size", [lambda n: 2 * n, lambda n: 2 * n + 6], ids=["factor", "offset"])
def test_guards_on_what_a_size_is_computed_of(size: Callable[[Any], Any]) -> None:
    program = _compile(_padded, (12, 5), {0: size(Dim("n", min=2, max=30))})
    for rows in (12, 16, 28):
        x = torch.randn(rows, 5)
        torch.testing.assert_close(program(x)[0], _padded(x))
    with pytest.raises(UserError, match=r"the program is exported for sizes where .*2\*n.* == 0"):
        program(torch.randn(14, 5))


def test_a_branch_of_the_program_is_named_by_its_place() -> None:
    program = _compile(_branch, (6, 5), {0: AUTO, 1: AUTO})
    line = _branch.__code__.co_firstlineno + 1
    with pytest.raises(UserError, match=rf"size_guards_test\.py:{line}: .* where x"):
        program(torch.randn(5, 6))


def test_a_condition_of_pytorch_is_named_by_the_line_that_calls_it() -> None:
    program = _compile(_halves, (12,), {0: AUTO})
    line = _halves.__code__.co_firstlineno + 2
    with pytest.raises(UserError, match=rf"size_guards_test\.py:{line}: .* where"):
        program(torch.randn(7))


def _pooled(x: torch.Tensor) -> torch.Tensor:
    return functional.max_pool2d(x, 3, 2)


def _pooled_with_the_rest(x: torch.Tensor) -> torch.Tensor:
    windows = functional.avg_pool2d(x, 2, 3, 1, ceil_mode=True)
    return windows.flatten(2) + windows.shape[2]


@pytest.mark.parametrize(
    ("function", "example", "dynamic", "others"),
    [
        # PyTorch's own ranges of these begin at 2, but it does not check that.
        (lambda x: x.relu() + 1, (4, 5), (0,), [(0, 5), (1, 5), (9, 5)]),
        (lambda x: x.softmax(-1) @ x.mT, (4, 5, 3), (0, 1), [(1, 1, 3), (1, 7, 3), (2, 1, 3)]),
        (_halves, (12,), (0,), [(4,), (6,), (22,)]),
        # It looks whether 4 of s rows of 3 are all, and how they lie in memory.
        (lambda x: x[:, :4] + torch.ones(4, 1), (2, 16, 3), (1,), [(2, 4, 3), (2, 5, 3)]),
        # It makes sure that there is more than one window.
        (_pooled, (1, 2, 12, 12), (2, 3), [(1, 2, 3, 4), (1, 2, 5, 12), (1, 2, 13, 3)]),
        # It takes the last window to begin where that of the example does.
        (_pooled_with_the_rest, (1, 2, 10, 12), (2, 3), [(1, 2, n, 12) for n in range(3, 17)]),
        (_branch, (6, 5), (0, 1), [(3, 0), (7, 1), (13, 12)]),
        (_padded, (6, 5), (0,), [(1, 5), (2, 5), (3, 5), (9, 5)]),
    ],
)
def test_sizes_for_which_the_program_holds_are_taken(
    function: _Function, example: _Sizes, dynamic: _Sizes, others: list[_Sizes]
) -> None:
    program = _compile(function, example, dict.fromkeys(dynamic, AUTO))
    for sizes in (example, *others):
        x = torch.randn(sizes)
        torch.testing.assert_close(program(x)[0], function(x))


def test_a_pooling_of_a_dim_with_a_name_has_windows_for_the_rest() -> None:
    program = _compile(_pooled_with_the_rest, (1, 2, 10, 12), {2: Dim("height", min=3)})
    assert "runtime.assert" not in program.stage("torch")
    for height in range(3, 14):
        x = torch.randn(1, 2, height, 12)
        torch.testing.assert_close(program(x)[0], _pooled_with_the_rest(x))


def test_parts_of_complex_numbers_are_of_any_size() -> None:
    """Which of the example are one number, and are taken apart when guards are asserted already."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.view_as_real(torch.complex(x, x * 2)[::2])

    program = _compile(function, (2,), {0: Dim("count")})
    for count in (1, 2, 5):
        x = torch.randn(count)
        torch.testing.assert_close(program(x)[0], function(x))


def test_a_guard_that_comes_too_late_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(exported: torch.export.ExportedProgram) -> None:
        (x,) = exported.graph.find_nodes(op="placeholder")
        assert x.meta["val"].shape[0] > 2

    monkeypatch.setattr("plumbline.loader_to_torch.export.split_complex", ask)
    with pytest.raises(UserError, match=r"compiled for such sizes only where .* > 2"):
        _compile(lambda x: x * 2, (5,), {0: Dim("count", min=2)})


def _as_many_as_fit(x: torch.Tensor) -> torch.Tensor:
    return x[: x.shape[0] // (x.shape[1] - 3)] * 2


def test_what_a_condition_divides_by_is_not_0() -> None:
    program = _compile(_as_many_as_fit, (6, 5), {0: AUTO, 1: AUTO})
    x = torch.randn(6, 4)
    torch.testing.assert_close(program(x)[0], _as_many_as_fit(x))
    with pytest.raises(UserError, match=r"for sizes where x\.shape\[1\] - 3 > 0"):
        program(torch.randn(6, 3))


def test_a_range_that_begins_at_2_stays_for_a_dim_with_a_name() -> None:
    program = _compile(lambda x: x * 2, (4, 5), {0: Dim("rows", min=2)})
    with pytest.raises(UserError, match="rows must be at least 2"):
        program(torch.randn(1, 5))


class _Flattened(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert len(x.shape) == 2
        return x.reshape(len(x) * 5) / len(x)


def test_a_length_is_a_size() -> None:
    rows = ({0: Dim("rows", min=2)},)
    program = plumbline.compile(_Flattened(), (torch.randn(4, 5),), rows)
    x = torch.randn(7, 5)
    torch.testing.assert_close(program(x)[0], _Flattened()(x))


class _Wider(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = int(x.shape[1] * 1.5)
        assert isinstance(3, int)
        return functional.interpolate(x[:, None], size=size)[:, 0] + int("3") / int(2.5)


@pytest.mark.parametrize("size", [Dim.AUTO, Dim("columns", min=2)], ids=["auto", "dim"])
def test_an_integer_of_a_size_is_one(size: Any) -> None:
    program = plumbline.compile(_Wider(), (torch.randn(2, 6),), ({1: size},))
    x = torch.randn(2, 9)
    torch.testing.assert_close(program(x)[0], _Wider()(x))


class _Shared(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        columns = float(x.shape[1])
        assert isinstance(0.5, float)
        return x.new_ones(int(columns * 1.5)) * x.sum() / columns + float("3")


@pytest.mark.parametrize("size", [Dim.AUTO, Dim("columns", min=2)], ids=["auto", "dim"])
def test_a_float_of_a_size_is_one(size: Any) -> None:
    program = plumbline.compile(_Shared(), (torch.randn(2, 6),), ({1: size},))
    x = torch.randn(2, 9)
    torch.testing.assert_close(program(x)[0], _Shared()(x))


class _Folded(torch.nn.Module):
    """As it is asked of sizes that may be one for all dimensions, or of what is counted."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size, share = x.shape[1], x.shape[1] / 4
        x = x * 2 if isinstance(size, int) else x
        return x + 1 if isinstance(share, (int, float)) else x


def test_a_size_is_an_integer() -> None:
    program = plumbline.compile(_Folded(), (torch.randn(2, 6),), ({1: Dim("columns", min=2)},))
    x = torch.randn(2, 9)
    torch.testing.assert_close(program(x)[0], _Folded()(x))


class _UpToLongest(torch.nn.Module):
    def forward(self, lengths: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        longest = int(lengths.max())
        torch._check(longest <= 16)  # type: ignore[no-untyped-call]
        return (torch.arange(longest) < lengths[:, None]) * int(scale.sum()) + int(scale[0] > 2)


def test_an_integer_of_a_tensor_is_computed() -> None:
    """Of floats, their whole part, and of a truth 0 or 1."""
    program = plumbline.compile(_UpToLongest(), (torch.tensor([2, 4]), torch.ones(2)))
    for lengths, scale in (([3, 9], [3.5, -9.25]), ([1, 1], [1.5, 7.5])):
        given = torch.tensor(lengths), torch.tensor(scale)
        torch.testing.assert_close(program(*given)[0], _UpToLongest()(*given))


class _Kept(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = {int(x.shape[1] / 2): x * 2}
        return kept[int(x.shape[1] / 2)]


class _Summed(torch.nn.Module):
    def __init__(self, sums: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._sums = sums

    def forward(self, x: torch.Tensor, groups: torch.Tensor) -> torch.Tensor:
        return self._sums(x, groups)


_SUMS = """
def counted(groups):
    return int(groups.max()) + 1

def sums(x, groups):
    return x.new_zeros(counted(groups)).index_add(0, groups, x).sort().values[-1]

def chosen(x, groups):
    return x if int(groups.max()) > 2 else -x

def placed(x, groups):
    return x.new_zeros(len(groups)).index_add(0, groups, x) * len(x)

def longer(x, groups):
    return x.new_ones(int(x.shape[0] * 1.5)) * x.sum()

def shared(x, groups):
    return x.new_ones(round(float(x.shape[0]) * 1.5)) * x.sum() / float(x.shape[0])

def kept(x, groups):
    return {len(groups): x * 2}[len(groups)]

def fixed(x, groups):
    return sum(row * groups for row in x)
"""


@pytest.fixture
def summing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A file of functions that are methods of no module."""
    (tmp_path / "plumbline_summing.py").write_text(_SUMS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "plumbline_summing", raising=False)
    return importlib.import_module("plumbline_summing")


def test_an_integer_is_a_size_in_functions_of_other_files(summing: types.ModuleType) -> None:
    model = _Summed(summing.sums)
    program = plumbline.compile(model, (torch.ones(4), torch.tensor([0, 1, 1, 0])))
    for groups in ([0, 2, 2, 2], [9, 0, 1, 9], [0, 0, 0, 0]):
        given = torch.randn(4), torch.tensor(groups)
        torch.testing.assert_close(program(*given)[0], model(*given))


@pytest.mark.parametrize("size", [Dim.AUTO, Dim("rows", min=2)], ids=["auto", "dim"])
@pytest.mark.parametrize("function", ["placed", "longer", "shared"])
def test_what_would_fix_a_size_gives_one_in_functions_of_other_files(
    summing: types.ModuleType, function: str, size: Any
) -> None:
    model = _Summed(getattr(summing, function))
    example = torch.ones(4), torch.tensor([0, 1, 1, 0])
    program = plumbline.compile(model, example, ({0: size}, {0: size}))
    for groups in ([1, 0], [0, 2, 4, 4, 1]):
        given = torch.randn(len(groups)), torch.tensor(groups)
        torch.testing.assert_close(program(*given)[0], model(*given))


def test_what_only_integers_do_with_a_length_fixes_a_size(summing: types.ModuleType) -> None:
    example = torch.ones(4), torch.tensor([0, 1, 1, 0])
    model = _Summed(summing.kept)
    program = plumbline.compile(model, example, ({0: Dim.AUTO}, {0: Dim.AUTO}))
    torch.testing.assert_close(program(*example)[0], example[0] * 2)
    with pytest.raises(UserError, match=r"takes i64\[4\]"):
        program(torch.ones(5), torch.tensor([0, 1, 1, 0, 0]))


def test_what_fixes_a_size_is_named_where_it_is(summing: types.ModuleType) -> None:
    given = torch.ones(4), torch.tensor(1)
    with pytest.raises(UserError, match=r"constant \(4\)[^\n]*\n  at plumbline_summing.py:24: ret"):
        plumbline.compile(_Summed(summing.fixed), given, ({0: Dim("rows", min=2)}, None))


def test_a_branch_on_an_integer_is_named_where_it_is(summing: types.ModuleType) -> None:
    given = torch.ones(4), torch.tensor([0, 1, 1, 0])
    with pytest.raises(UserError, match=r"else -x\nIts control flow depends on the values"):
        plumbline.compile(_Summed(summing.chosen), given)


def test_what_only_integers_do_fixes_a_size() -> None:
    """Such as to be a key of a dictionary."""
    program = plumbline.compile(_Kept(), (torch.randn(2, 6),), ({1: Dim.AUTO},))
    torch.testing.assert_close(program(x := torch.randn(2, 6))[0], x * 2)
    with pytest.raises(UserError, match="for sizes where"):
        program(torch.randn(2, 9))


@pytest.mark.parametrize(
    ("source", "alone"),
    [
        ("I = list[int]\ndef f(x: int, y) -> I: return int(x) + isinstance(y, (int, float))", True),
        ("def f(x): return isinstance(x, int)", True),
        ("def f(x): return isinstance(x, float)", False),
        ("def f(x): return int(x) if type(x) is int else 0", False),
        ("def f(x): return torch.full((int(x),), 1, dtype=int)", False),
    ],
)
def test_files_that_take_int_for_a_type_keep_it(source: str, *, alone: bool) -> None:
    assert calls_alone("int", source) == alone


def test_orders_of_contractions_fix_no_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which opt_einsum, as a module that takes sizes for numbers, chooses by them."""
    chooses = types.ModuleType("opt_einsum.contract")
    exec("def cost(tensor): return int(tensor.shape[0])", vars(chooses))
    monkeypatch.setitem(sys.modules, chooses.__name__, chooses)

    def function(x: torch.Tensor) -> torch.Tensor:
        return (x @ x.mT) @ x if chooses.cost(x) < 3 else x @ (x.mT @ x)

    program = _compile(function, (4, 5), {0: Dim("rows", min=2)})
    for rows in (2, 7):
        x = torch.randn(rows, 5)
        torch.testing.assert_close(program(x)[0], function(x))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
