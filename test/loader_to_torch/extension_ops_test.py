"""Ops of extensions are what their kernels compute, where these are written by PyTorch's ops."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError


@torch.library.custom_op("plumbline_test::scaled_sine", mutates_args=())
def _scaled_sine(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x.sin() * factor + x


@_scaled_sine.register_fake
def _(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("plumbline_test::by_numpy", mutates_args=())
def _by_numpy(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.numpy()))


@_by_numpy.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("plumbline_test::add_twice", mutates_args={"total"})
def _add_twice(total: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    total.add_(x * 2)
    return total.sum() * x


@_add_twice.register_fake
def _(total: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("plumbline_test::write_by_numpy", mutates_args={"x"})
def _write_by_numpy(x: torch.Tensor) -> None:
    x.numpy()[:] = 1


@pytest.fixture(scope="module")
def ops() -> Iterator[torch._ops._OpNamespace]:
    make: Any = torch.library.Library
    library = make("plumbline_test_library", "DEF")
    for name, kernel, key in (
        ("implicit", lambda x: x.relu() + 1, "CompositeImplicitAutograd"),
        ("explicit", lambda x: x.exp() * 2, "CompositeExplicitAutograd"),
        (
            "nested",
            lambda x: (
                torch.ops.plumbline_test_library.implicit(x)
                * torch.ops.plumbline_test_library.explicit(x)
            ),
            "CompositeImplicitAutograd",
        ),
        ("pair", lambda x: (x.amax(0), _scaled_sine(x, 3.0)), "CompositeExplicitAutograd"),
    ):
        library.define(f"{name}(Tensor x) -> {'(Tensor, Tensor)' if name == 'pair' else 'Tensor'}")
        library.impl(name, kernel, key)
    yield torch.ops.plumbline_test_library
    library._destroy()


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> object:
        return self._function(x)


def _check(function: Callable[..., object]) -> None:
    module = _Of(function)
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
    for dynamic_shapes in (None, ({0: Dim("n")},)):
        expected = module(x)
        expected = expected if isinstance(expected, tuple) else (expected,)
        results = plumbline.compile(module, (x,), dynamic_shapes)(x)
        torch.testing.assert_close(results, expected)


def test_custom_op() -> None:
    _check(lambda x: _scaled_sine(x, 2.0))


@pytest.mark.parametrize("name", ["implicit", "explicit", "nested", "pair"])
def test_library(ops: torch._ops._OpNamespace, name: str) -> None:
    _check(getattr(ops, name))


def test_what_writes_into_arguments() -> None:
    """Also where that is a part of another tensor."""

    def function(x: torch.Tensor) -> Any:
        total = torch.zeros(4, 3)
        return _add_twice(total[1:, 0], x[0, 0]), total, x

    _check(lambda x: (_add_twice(y := x.clone(), x), y))
    x = torch.randn(4, 3)
    results = plumbline.compile(_Of(function), (x,))(x)
    torch.testing.assert_close(results, function(x))
    with pytest.raises(UserError, match=r"mutable=\[\"x\"\]"):
        plumbline.compile(_Of(lambda x: _add_twice(x, x)), (x,))
    program = plumbline.compile(_Of(lambda x: _add_twice(x, x)), (x,), mutable=["x"])
    given, expected = x.clone(), x.clone()
    torch.testing.assert_close(program(given), (_add_twice(expected, expected),))
    torch.testing.assert_close(given, expected)
    with pytest.raises(UserError, match="auto_functionalized"):
        plumbline.compile(_Of(lambda x: (_write_by_numpy(y := x + 1), y)), (x,))


def test_a_kernel_by_other_means_is_refused() -> None:
    with pytest.raises(UserError, match=r"(?s)has no op for.*plumbline_test\.by_numpy"):
        plumbline.compile(_Of(_by_numpy), (torch.ones(3),))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
