"""Where PyTorch raises for the values that it is given, a compiled program says why as well."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody calls it)
from torch.export import Dim

import plumbline
from plumbline.errors import UserError

_Function = Callable[..., torch.Tensor]
_X = torch.arange(15.0).reshape(5, 3)


class _OfOne(torch.nn.Module):
    def __init__(self, function: _Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


class _OfTwo(_OfOne):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return self.function(x, y)


def _ints(*values: Any, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype)


_INDEXED: dict[str, tuple[_Function, torch.Tensor, dict[str, torch.Tensor]]] = {
    # By name: a function of x and indices, indices that fit, and some that do not, by message.
    "embedding": (
        lambda x, i: F.embedding(i, x),
        _ints(4, 0),
        {
            "'tcp.gather_nd' op index 5 is out of range for dimension 0 of size 5": _ints(1, 5),
            "index -1 is out of range": _ints(-1, 0),
        },
    ),
    "embedding_bag": (
        lambda x, i: F.embedding_bag(i, x, torch.tensor([0, 1])),
        _ints(4, 0, 3),
        {"index 5 is out of range for dimension 0 of size 5": _ints(0, 5, 1)},
    ),
    "gather": (
        lambda x, i: x.gather(1, i),
        _ints([2, 0]),
        {
            "'tcp.gather' op index 3 is out of range for dimension 1 of size 3": _ints([3, 0]),
            f"index {-(2**63)} is out of range": _ints([0, -(2**63)]),
        },
    ),
    "index_select": (
        lambda x, i: x.index_select(1, i),
        _ints(2, 0),
        {"index 3 is out of range for dimension 1 of size 3": _ints(0, 3)},
    ),
    "index": (
        lambda x, i: x[i],
        _ints(-5, 4),
        {
            "index -6 is out of range for dimension 0 of size 5": _ints(-6, 4),
            "index 5 is out of range for dimension 0 of size 5": _ints(0, 5),
        },
    ),
    "index by two": (
        lambda x, i: x[i, i - 1],
        _ints(-2, 3),
        {"index -4 is out of range for dimension 1 of size 3": _ints(1, -3)},
    ),
    "nll_loss": (
        F.nll_loss,
        _ints(0, 1, 2, -100, 0),
        {"index 3 is out of range for dimension 1 of size 3": _ints(0, 1, 3, 0, 0)},
    ),
    "scatter": (
        lambda x, i: x.scatter(0, i, 7.0),
        _ints([4, 0]),
        {"'tcp.scatter' op index 5 is out of range for dimension 0 of size 5": _ints([0, 5])},
    ),
    "scatter_add": (
        lambda x, i: x.scatter_add(0, i, x),
        _ints([4, 0]),
        {"index -1 is out of range for dimension 0 of size 5": _ints([0, -1])},
    ),
    "index_put": (
        lambda x, i: x.index_put((i,), torch.tensor(7.0)),
        _ints(-5, 4),
        {
            "'tcp.scatter_nd' op index 5 is out of range for dimension 0 of size 5": _ints(5, 0),
            "index -6 is out of range": _ints(0, -6),
        },
    ),
    "index_add": (
        lambda x, i: x.index_add(0, i, x[:2]),
        _ints(4, 0),
        {"index 5 is out of range": _ints(5, 0)},
    ),
}


@pytest.mark.parametrize("name", _INDEXED)
def test_indices_out_of_range(name: str) -> None:
    function, fits, wrong = _INDEXED[name]
    program = plumbline.compile(_OfTwo(function), (_X, fits))
    torch.testing.assert_close(program(_X, fits)[0], function(_X, fits))
    for message, indices in wrong.items():
        with pytest.raises((IndexError, RuntimeError)):
            function(_X, indices)
        with pytest.raises(UserError, match=message):
            program(_X, indices)
    # A refused call leaves nothing behind that the next one would stumble over.
    torch.testing.assert_close(program(_X, fits)[0], function(_X, fits))


@pytest.mark.parametrize(
    ("function", "dtype", "op"),
    [
        (lambda x, y: x // y, torch.int64, "divsi"),
        (lambda x, y: torch.div(x, y, rounding_mode="trunc"), torch.int32, "divsi"),
        (lambda x, y: x // y, torch.uint8, "divui"),
        (lambda x, y: x % y, torch.int16, "remsi"),
        (torch.fmod, torch.int64, "remsi"),
        (lambda x, y: x % y, torch.uint8, "remui"),
    ],
)
def test_integers_divided_by_zero(function: _Function, dtype: torch.dtype, op: str) -> None:
    x, fits = _ints(7, 100, 0, dtype=dtype), _ints(2, 7, 1, dtype=dtype)
    program = plumbline.compile(_OfTwo(function), (x, fits))
    assert torch.equal(program(x, fits)[0], function(x, fits))
    zero = _ints(2, 0, 1, dtype=dtype)
    with pytest.raises(RuntimeError):
        function(x, zero)
    with pytest.raises(UserError, match=f"'tcp.{op}' op an integer is divided by zero"):
        program(x, zero)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x // torch.where(y == 0, -1, y),
        lambda x, y: x % torch.where((y == 3) | (y == 0), 1, y),
    ],
)
def test_divisors_that_have_something_else_for_zeros(function: _Function) -> None:
    x, y = _ints(7, 100, -5), _ints(0, 3, 2)
    program = plumbline.compile(_OfTwo(function), (x, y))
    assert "require" not in program.stage("linalg")
    assert torch.equal(program(x, y)[0], function(x, y))


@pytest.mark.parametrize(
    "divisor",
    [
        lambda y: torch.where(y == 0, 0, y),
        lambda y: torch.where(y == 1, 1, y),
        lambda y: torch.where((y == 0) & (y == 1), 1, y),
        lambda y: torch.where(y != 0, 1, y),
        lambda y: torch.where(y == 0, 1, y - 2),
    ],
)
def test_divisors_that_may_be_zero_all_the_same(divisor: Callable[..., torch.Tensor]) -> None:
    x, fits = _ints(7, 100, -5), _ints(4, 3, 5)
    program = plumbline.compile(_OfTwo(lambda x, y: x // divisor(y)), (x, fits))
    assert "require" in program.stage("linalg")


_PICKING: dict[str, _Function] = {
    "max": torch.max,
    "min": torch.min,
    "amax": lambda x: x.amax(0),
    "amin": lambda x: x.amin((0, 1)),
    "max along": lambda x: x.max(0)[0],
    "min along": lambda x: x.min(0)[1],
    "argmax": torch.argmax,
    "argmin along": lambda x: x.argmin(0),
    "median along": lambda x: x.median(0)[0],
    "nanmedian along": lambda x: x.nanmedian(0)[0],
    "mode": lambda x: x.mode(0)[0],
    "kthvalue": lambda x: x.kthvalue(1, 0)[0],
    "topk": lambda x: x.topk(1, 0)[0],
    "select": lambda x: x[0],
    "last": lambda x: x[-1],
    "norm": lambda x: torch.linalg.vector_norm(x, float("inf")),
    "aminmax": lambda x: torch.aminmax(x)[1],
}


@pytest.mark.parametrize("name", _PICKING)
def test_picking_one_of_no_elements(name: str) -> None:
    function = _PICKING[name]
    program = plumbline.compile(_OfOne(function), (_X,), ({0: Dim("n")},))
    torch.testing.assert_close(program(_X)[0], function(_X))
    with pytest.raises((IndexError, RuntimeError)):
        function(_X[:0])
    # Where PyTorch knows it from the sizes alone, the checked entry does too.
    with pytest.raises(UserError, match=r"n must be at least|which has size 0|out of range"):
        program(_X[:0])


def test_more_are_picked_than_there_are() -> None:
    program = plumbline.compile(_OfOne(lambda x: x.topk(2, 0)[0]), (_X,), ({0: Dim("n")},))
    torch.testing.assert_close(program(_X[:2])[0], _X[:2].topk(2, 0)[0])
    with pytest.raises(UserError, match=r"argument 0 has size 1 .* n must be at least 2"):
        program(_X[:1])


@pytest.mark.parametrize("function", [torch.median, torch.nanmedian])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_the_median_of_no_elements(function: _Function, dtype: torch.dtype) -> None:
    program = plumbline.compile(_OfOne(function), (_X.to(dtype),), ({0: Dim("n")},))
    for rows in (0, 1, 2, 5):
        x = _X[:rows].to(dtype)
        torch.testing.assert_close(program(x)[0], function(x), equal_nan=True)
    if dtype.is_floating_point:
        some = torch.where(_X == 7, torch.nan, _X)
        torch.testing.assert_close(program(some)[0], function(some), equal_nan=True)


@pytest.mark.parametrize(
    "function", [lambda x: x.argmax(1), lambda x: x.amax(1), lambda x: x.softmax(0)]
)
def test_no_elements_of_which_none_is_picked(function: _Function) -> None:
    program = plumbline.compile(_OfOne(function), (_X,), ({0: Dim("n")},))
    assert torch.equal(program(_X[:0])[0], function(_X[:0]))


def test_no_index_into_nothing() -> None:
    dynamic = ({0: Dim("n")}, {0: Dim("k")})
    program = plumbline.compile(_OfTwo(lambda x, i: x[i]), (_X, _ints(4, 0)), dynamic)
    none = torch.zeros(0, dtype=torch.int64)
    assert program(_X[:0], none)[0].shape == (0, 3)
    with pytest.raises(UserError, match="index 0 is out of range for dimension 0 of size 0"):
        program(_X[:0], _ints(0))


def test_what_is_not_to_be_checked_is_not() -> None:
    texts = {
        checks: plumbline.compile(
            _OfTwo(lambda x, i: x[i].amax(0)),
            (_X, _ints(4, 0)),
            ({0: Dim("n")}, {0: Dim("k")}),
            runtime_checks=checks,
        ).stage("linalg")
        for checks in ("off", "values", "all")
    }
    assert "plumbline_require" not in texts["off"]
    assert "assert" not in texts["off"]
    assert texts["values"].count("call @plumbline_require") == 1
    assert "aten.amax over dimension 0" in texts["values"]
    assert texts["all"].count("cf.assert") > texts["values"].count("cf.assert")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
