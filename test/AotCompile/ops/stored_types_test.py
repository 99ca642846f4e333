"""Types that hold numbers but are not computed with, at the boundary, in weights and in casts.

Held against PyTorch bit by bit.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import _higher_order_ops as higher_order
from torch.utils import _pytree as pytree

import plumbline
from plumbline.errors import UserError

FLOAT8 = (
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2fnuz,
)
UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

_float8 = pytest.mark.parametrize("dtype", FLOAT8, ids=str)
_unsigned = pytest.mark.parametrize("dtype", UNSIGNED, ids=str)


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *arguments: torch.Tensor) -> Any:
        return self._function(*arguments)


def _check(function: Callable[..., Any], *arguments: torch.Tensor) -> plumbline.CompiledProgram:
    program = plumbline.compile(_Of(function), arguments)
    expected = pytree.tree_leaves(function(*arguments))
    results = program(*arguments)
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert result.dtype == wanted.dtype
        assert result.shape == wanted.shape
        _assert_same_bits(result, wanted)
    return program


def _assert_same_bits(result: torch.Tensor, wanted: torch.Tensor) -> None:
    if wanted.dtype.is_floating_point and wanted.dtype not in FLOAT8:
        # Which NaN it is means nothing to arithmetic.
        nan = result.isnan() & wanted.isnan()
        result, wanted = (torch.where(nan, 0, tensor) for tensor in (result, wanted))
    bits = [tensor.contiguous().view(_BITS[tensor.element_size()]) for tensor in (result, wanted)]
    torch.testing.assert_close(*bits, rtol=0, atol=0)


def _every(dtype: torch.dtype) -> torch.Tensor:
    """One element of each pattern of 8 bits."""
    return torch.arange(256).to(torch.uint8).view(dtype)


def _telling(dtype: torch.dtype) -> torch.Tensor:
    """Around each number of a float of 8 bits and each middle of two of them, and far beyond."""
    numbers = _every(dtype).to(torch.float64)
    numbers = numbers[numbers.isfinite()].sort().values
    beyond = numbers[-1] * torch.tensor([1, 1 + 2**-5, 1.0625, 1.125, 1.25, 2, 1e30])
    middles = (numbers[1:] + numbers[:-1]) / 2
    points = torch.cat([numbers, middles, beyond, -beyond, numbers / 2**12]).to(torch.float32)
    infinity = torch.tensor(float("inf"))
    special = torch.tensor([0.0, -0.0, float("nan"), -float("nan"), float("inf"), -float("inf")])
    return torch.cat(
        [points, torch.nextafter(points, infinity), torch.nextafter(points, -infinity), special]
    )


@_float8
def test_every_float8_widens(dtype: torch.dtype) -> None:
    wide = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.bool)
    _check(lambda x: tuple(x.to(to) for to in wide), _every(dtype))


@_float8
def test_casts_to_float8_round_as_pytorch_does(dtype: torch.dtype) -> None:
    numbers = _telling(dtype)
    _check(lambda x: x.to(dtype), numbers)
    _check(lambda x: x.to(dtype), numbers.to(torch.float64) * (1 + 2**-40))


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16], ids=str)
@_float8
def test_every_half_precision_number_narrows(dtype: torch.dtype, half: torch.dtype) -> None:
    numbers = torch.arange(2**16).to(torch.int32).to(torch.int16).view(half)
    _check(lambda x: x.to(dtype), numbers)


@_float8
def test_float8_from_whole_numbers_and_other_float8(dtype: torch.dtype) -> None:
    _check(lambda x, y: (x.to(dtype), y.to(dtype)), torch.arange(-500, 500), torch.tensor([True]))
    others = tuple(map(_every, FLOAT8))
    _check(lambda *given: tuple(x.to(dtype) for x in given), *others)


@_float8
def test_float8_moves_and_keeps_its_bits(dtype: torch.dtype) -> None:
    def moved(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        square = x.view(16, 16)
        return square.t(), torch.cat([square, square[3:5]]), square[::2, 3:], x.clone(), x

    _check(moved, _every(dtype))


class _Weighed(torch.nn.Module):
    weight: torch.Tensor
    scale: torch.Tensor

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        weight = torch.randn(32, 48, generator=generator).to(dtype)
        self.register_buffer("weight", weight)
        self.register_buffer("scale", torch.rand(32, 1, generator=generator))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, self.weight.to(torch.float32) * self.scale)


@_float8
def test_weights_stay_float8(dtype: torch.dtype) -> None:
    model, x = _Weighed(dtype), torch.randn(5, 48)
    program = plumbline.compile(model, (x,))
    torch.testing.assert_close(program(x)[0], model(x))
    # A byte for each of them, and the scales.
    assert program.weight_bytes == 32 * 48 + 32 * 4


@_float8
def test_numpy_has_records_of_one_byte(dtype: torch.dtype) -> None:
    program = plumbline.compile(_Of(lambda x: x.view(-1)), (_every(dtype),))
    name = str(dtype).removeprefix("torch.")
    given = np.arange(256, dtype=np.uint8).view([(name, np.uint8)])
    (result,) = program(given)
    assert result.dtype == given.dtype
    assert result.tobytes() == given.tobytes()
    with pytest.raises(UserError, match=f"f8.*{name.removeprefix('float8_')}"):
        program(np.arange(256, dtype=np.uint8))


def test_a_product_of_scaled_float8() -> None:
    generator = torch.Generator().manual_seed(0)
    left, right = (
        torch.randn(16, 32, generator=generator).to(torch.float8_e4m3fn) for _ in range(2)
    )
    one, half = torch.tensor(1.0), torch.tensor(0.5)

    def product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return torch._scaled_mm(left, right.t(), scale_a=one, scale_b=half, out_dtype=torch.float32)

    program = plumbline.compile(_Of(product), (left, right))
    torch.testing.assert_close(program(left, right)[0], product(left, right))


@_float8
def test_branches_and_loops(dtype: torch.dtype) -> None:
    def halved(x: torch.Tensor) -> Any:
        def turn(i: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return i + 1, (y.to(torch.float32) * 0.5).to(dtype)

        start = torch.cond(x.sum() > 0, lambda x: x.to(dtype), lambda x: (-x).to(dtype), (x,))
        return higher_order.while_loop(  # type: ignore[no-untyped-call]
            lambda i, y: i < 3, turn, (torch.tensor(0), start)
        )[1]

    _check(halved, torch.randn(3, 4, generator=torch.Generator().manual_seed(0)))


class _Running(torch.nn.Module):
    state: torch.Tensor

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.register_buffer("state", torch.ones(3, 4).to(dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state.copy_((self.state.to(torch.float32) + x).to(self.state.dtype))
        return self.state.to(torch.float32)


@_float8
def test_state(dtype: torch.dtype) -> None:
    model, x = _Running(dtype), torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    program = plumbline.compile(model, (x,), mutable=["state"])
    state = program.state["state"].clone()
    for _ in range(2):
        (result,) = program(x, state)
        torch.testing.assert_close(result, model(x))
        _assert_same_bits(state, model.state)


# -- unsigned integers -----------------------------------------------------------------------------


def _extremes(dtype: torch.dtype) -> torch.Tensor:
    """Numbers where a sign would show, or where a float of fewer bits is halfway between two."""
    bits = 8 * dtype.itemsize
    top = 2 ** (bits - 1)
    numbers = {0, 1, 2, 3, 1000, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2}
    for precision in (8, 11, 24, 53):
        for power in range(precision, bits):
            half = 2 ** (power - precision)
            numbers |= {2**power + half + step for step in (-1, 0, 1)}
            numbers |= {2**power + 3 * half + step for step in (-1, 0, 1)}
    return torch.tensor(sorted(number for number in numbers if number < 2 * top), dtype=dtype)


@_unsigned
def test_unsigned_to_all(dtype: torch.dtype) -> None:
    to = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e5m2)
    integers = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
    _check(lambda x: tuple(x.to(other) for other in (*to, *integers, *UNSIGNED)), _extremes(dtype))


@_unsigned
def test_unsigned_from_all(dtype: torch.dtype) -> None:
    integers = torch.tensor([0, 1, -1, 255, 2**15, -(2**15), 2**31, 2**62, -(2**63), 2**63 - 1])
    _check(lambda x: x.to(dtype), integers)
    _check(lambda x: (x.to(dtype), (x > 3).to(dtype)), integers.to(torch.int32))
    greatest = 2.0 ** (8 * dtype.itemsize)
    fractions = torch.tensor([0.0, 0.25, 0.5, 0.75, 0.9990234375, 1e-6])
    for float_ in (torch.float32, torch.float64):
        _check(lambda x: x.to(dtype), (fractions * greatest).to(float_))


@_unsigned
def test_unsigned_moves(dtype: torch.dtype) -> None:
    x = _extremes(dtype)[:40].view(5, 8)
    _check(lambda x: (x.t(), torch.cat([x, x[1:3]]), x.view(-1)[::3], x.expand(2, 5, 8)), x)


@_unsigned
def test_what_pytorch_computes_with_unsigned(dtype: torch.dtype) -> None:
    x = _extremes(dtype)[:40]
    _check(lambda x: (x * x, x == 3, x != 1000, torch.zeros_like(x)), x)


@_unsigned
def test_what_is_counted_of_unsigned(dtype: torch.dtype) -> None:
    x = _extremes(dtype)[:40].view(5, 8)
    _check(
        lambda x: (
            x.sum(),
            x.sum(1, keepdim=True),
            x.prod(0),
            x.cumsum(1),
            x.cumprod(1),
            x.any(),
            x.all(1),
            x & x.roll(1),
            x | x.roll(1),
            x ^ x.roll(1),
            x.reshape(-1).sort().values,
            x.sort(dim=1, descending=True, stable=True),
            x.unique(),
        ),
        x,
    )


@pytest.mark.parametrize("dtype", [*UNSIGNED, *FLOAT8], ids=str)
def test_means_and_sums_in_float32(dtype: torch.dtype) -> None:
    x = torch.tensor([[0, 1, 2, 64], [5, 8, 40, 96]]).to(torch.float32).to(dtype)
    _check(
        lambda x: (
            x.mean(dtype=torch.float32),
            x.mean(1, dtype=torch.float32),
            x.sum(0, dtype=torch.float32),
            x.any(0),
            x.all(1),
        ),
        x,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.bool])
def test_hashes(dtype: torch.dtype) -> None:
    x = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(0)).to(dtype)
    _check(lambda x: (torch.hash_tensor(x), torch.hash_tensor(x, dim=1, keepdim=True)), x)


# -- views -----------------------------------------------------------------------------------------

_VIEWED = (
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.float16,
    torch.bfloat16,
    torch.int32,
    torch.float32,
    torch.int64,
    torch.float64,
    torch.complex64,
    torch.float8_e5m2,
    *UNSIGNED,
)


@pytest.mark.parametrize("dtype", _VIEWED, ids=str)
def test_views_as_every_other_dtype(dtype: torch.dtype) -> None:
    """Bits that are finite in each of the types, so that none is a NaN."""
    content = torch.randint(0, 60, (3, 64), generator=torch.Generator().manual_seed(0))
    x = content.to(torch.uint8).view(dtype)

    def viewed(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        views = (x.view(other) for other in _VIEWED if other != dtype)
        return tuple(torch.view_as_real(v) if v.is_complex() else v.clone() for v in views)

    _check(viewed, x)


def test_bytes_of_64_bits_are_taken_by_halves() -> None:
    """Of eight at once each is stored by itself, which takes several times as long."""
    x = torch.arange(-50, 50)
    program = _check(lambda x: x.view(torch.uint8), x)
    assert program.stage("torch").count("shift") == 1 + 3


def test_views_of_bool() -> None:
    _check(lambda x: x.view(torch.uint8), torch.tensor([True, False, True]))
    _check(lambda x: x.view(torch.bool), torch.tensor([1, 0, 1], dtype=torch.uint8))


# -- integers of 4 bits ----------------------------------------------------------------------------


class _Int4(torch.nn.Module):
    """Two weights in each byte, in groups that have a scale and a zero point each."""

    packed: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        packed = torch.randint(0, 256, (32, 64), generator=generator).to(torch.uint8)
        self.register_buffer("packed", packed)
        # Powers of two, so that sums of whole numbers have no rounding.
        exponents = torch.randint(-3, 3, (32, 4, 1), generator=generator)
        self.register_buffer("scales", torch.exp2(exponents.float()))
        self.register_buffer("zeros", torch.randint(0, 16, (32, 4, 1), generator=generator))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        halves = torch.stack([self.packed & 0xF, self.packed >> 4], -1)
        grouped = halves.reshape(32, 4, 32).to(torch.float32)
        weight = (grouped - self.zeros) * self.scales
        return torch.nn.functional.linear(x, weight.reshape(32, 128))


def test_int4_weights_stay_packed() -> None:
    model = _Int4()
    x = torch.randint(-8, 8, (5, 128), generator=torch.Generator().manual_seed(1)).float()
    program = plumbline.compile(model, (x,))
    assert torch.equal(program(x)[0], model(x))
    assert program.weight_bytes == 32 * 64 + 32 * 4 * 4 + 32 * 4 * 8


def test_int8_weights_with_scales() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, 64, generator=generator).to(torch.bfloat16)
    weight = torch.randint(-128, 128, (32, 64), generator=generator).to(torch.int8)
    scales = torch.rand(32, generator=generator).to(torch.bfloat16)
    program = plumbline.compile(_Of(torch.ops.aten._weight_int8pack_mm), (x, weight, scales))
    expected = torch.ops.aten._weight_int8pack_mm(x, weight, scales)
    torch.testing.assert_close(program(x, weight, scales)[0], expected)


# -- refusals --------------------------------------------------------------------------------------


def test_sums_of_float8_are_refused_with_their_place() -> None:
    class Sums(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.to(torch.float8_e5m2).sum()

    with pytest.raises(UserError, match="only hold numbers") as refusal:
        plumbline.compile(Sums(), (torch.ones(3),))
    message = str(refusal.value)
    assert "aten.sum" in message
    assert "stored_types_test.py" in message
    assert "cast to float32" in message


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
