"""What a program raises exceptions for because of values, which becomes assertions.

PYTEST_DONT_REWRITE: assert statements are looked for as Python compiles them.
"""

import contextlib
import logging
import sys
import warnings
from collections.abc import Callable

import pytest
import torch

import plumbline
from plumbline.errors import UserError

_Function = Callable[[torch.Tensor], torch.Tensor]


class _Program(torch.nn.Module):
    def __init__(self, function: _Function) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x)


def _asserts(x: torch.Tensor) -> torch.Tensor:
    assert (x >= 0).all(), f"{x.shape} is {{}} not % {x.dtype!r}"
    return x.sqrt()


def _raises(x: torch.Tensor) -> torch.Tensor:
    if x.min() < 0 or (x > 9).any():
        raise ValueError(f"{x.shape} " + str(x.dtype))
    return x.sqrt()


def _raises_unless(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad(), contextlib.nullcontext():
        if not torch.isfinite(x.sqrt()).all():
            wrong = x[~torch.isfinite(x.sqrt())]
            raise ArithmeticError(wrong) from None
        return x.sqrt()


def _raises_within_a_gradient(x: torch.Tensor) -> torch.Tensor:
    gradient: torch.Tensor = torch.func.grad(lambda y: _raises(y).sum())(x)
    return gradient


_CHECKS: dict[_Function, str] = {
    _asserts: 'assert (x >= 0).all(), f"{x.shape} is {{}} not % {x.dtype!r}"',
    _raises: "if x.min() < 0 or (x > 9).any():",
    _raises_unless: "if not torch.isfinite(x.sqrt()).all():",
    _raises_within_a_gradient: "if x.min() < 0 or (x > 9).any():",
}


def _asserts_one_of(x: torch.Tensor) -> torch.Tensor:
    steps = x[1:] > x[:-1]
    assert x is None or steps.all() or ((~steps).all() and (x > 1).any()), "not in order"
    return x + 1


def _raises_for_all_of(x: torch.Tensor) -> torch.Tensor:
    if x.shape[0] > 1 and (x > 0).any() and not (x < 5).all():
        raise ValueError(x)
    return x + 1


def _asserts_a_range(x: torch.Tensor) -> torch.Tensor:
    for each in x[0], x[1]:
        assert 0 < each <= 3 < x.max(), f"{each}"
    return x + 1


def _asserts_what_another_function_does(x: torch.Tensor) -> torch.Tensor:
    assert (x > 0).all() or _is_below(x, -1)
    assert (x < 8).all()
    return x + 1


def _is_below(x: torch.Tensor, number: float) -> torch.Tensor:
    assert (x < 0).all()
    return (x < number).any()


def _asserts_likeness(x: torch.Tensor) -> torch.Tensor:
    assert torch.allclose(x[0], x[1], atol=0.5) or x[0].equal(-x[1])
    assert x.allclose(x.abs()) or not torch.equal(x.abs(), x.abs().sort()[0])
    return x + 1


def _asserts_what_ends_with_that(x: torch.Tensor) -> torch.Tensor:
    _check_order(x)
    return x + 1


def _check_order(x: torch.Tensor) -> None:
    rises = x[1:] > x[:-1]
    assert rises.all() or (~rises).all()


@pytest.mark.parametrize(
    "function",
    [
        _asserts_one_of,
        _asserts_what_ends_with_that,
        _raises_for_all_of,
        _asserts_a_range,
        _asserts_what_another_function_does,
        _asserts_likeness,
    ],
)
def test_an_exception_is_raised_where_no_alternative_holds(function: _Function) -> None:
    examples = [
        torch.tensor(numbers)
        for numbers in (
            [1.0, 2.0, 4.0],
            [4.0, 2.0, 1.0],
            [0.5, 0.25, 0.0],
            [2.0, 2.25, 9.0],
            [-2.0, -1.0, 1.0],
            [-4.0, -2.0, -1.0],
            [-0.5, -0.25, -0.125],
            [-1.0, 1.0, -2.0],
            [-2.0, -1.0, -0.5],
        )
    ]
    program = plumbline.compile(_Program(function), (examples[0],))
    raised = 0
    for x in examples:
        try:
            expected = function(x)
        except (AssertionError, ValueError):
            with pytest.raises(UserError, match=r"a check of the program's fails: (assert|if) "):
                program(x)
            raised += 1
        else:
            torch.testing.assert_close(program(x)[0], expected)
    assert 0 < raised < len(examples)


@pytest.mark.parametrize("function", _CHECKS)
def test_what_raises_an_exception_is_asserted(function: _Function) -> None:
    x = torch.tensor([4.0, 0.25])
    program = plumbline.compile(_Program(function), (x,))
    torch.testing.assert_close(program(x)[0], function(x))
    with pytest.raises(UserError) as error:
        program(-x)
    assert str(error.value).endswith(f"a check of the program's fails: {_CHECKS[function]}")


def _catches(x: torch.Tensor) -> torch.Tensor:
    try:
        return _raises(x)
    except ValueError:
        return x


def _catches_beyond(x: torch.Tensor) -> torch.Tensor:
    with contextlib.suppress(KeyError):
        try:
            with torch.no_grad():
                return _raises_unless(x)
        finally:
            x.abs()
    return x


def _does_more(x: torch.Tensor) -> torch.Tensor:
    if x.min() < 0:
        x.neg_()
        raise ValueError(x)
    return x


def _warns_and_does_more(x: torch.Tensor) -> torch.Tensor:
    if (x < 0).any():
        warnings.warn("negative", stacklevel=2)
        x = -x
    return x


def _writes_on_the_way(x: torch.Tensor) -> torch.Tensor:
    assert (x > 0).all() or x.add_(1).all()
    return x


def _assigns_on_the_way(x: torch.Tensor) -> torch.Tensor:
    if (x < 0).any() and (x := x + 1).any():
        raise ValueError(x)
    return x


def _branches_on_the_way(x: torch.Tensor) -> torch.Tensor:
    if (x > 0).any() or (x < 5).all():
        if (x > 1).any():
            raise ValueError(x)
        return x + 1
    return x


@pytest.mark.parametrize(
    "function",
    [
        _catches,
        _catches_beyond,
        _does_more,
        _warns_and_does_more,
        _writes_on_the_way,
        _assigns_on_the_way,
        _branches_on_the_way,
    ],
)
def test_what_does_otherwise_is_refused(function: _Function) -> None:
    with pytest.raises(UserError, match=r"torch\.where or torch\.cond"):
        plumbline.compile(_Program(function), (torch.ones(2),))


def test_a_warning_is_left_out() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        if (x < 0).any():
            warnings.warn(f"negative: {x.shape}", stacklevel=2)
        if not x.isfinite().all():
            logging.warning("infinite")
        if x.max() > 9:
            assert isinstance(x, torch.Tensor)
            warnings.warn_explicit(
                "large{}".format(f": {x}" if x.dim() else "."), UserWarning, "example.py", 1
            )
        return x + 1

    program = plumbline.compile(_Program(function), (torch.ones(2),))
    torch.testing.assert_close(
        program(torch.tensor([-1.0, torch.inf]))[0], torch.tensor([0.0, torch.inf])
    )


def test_what_is_known_is_not_asserted() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        assert torch.tensor([1.0, 2.0]).sum() > 2
        places = x.long()
        assert torch.equal(places, places)
        return x + 1 if x.equal(torch.ones(3)) else x + 2

    program = plumbline.compile(_Program(function), (torch.ones(2),))
    assert "require" not in program.stage("linalg")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
