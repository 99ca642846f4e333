"""Products of matrices as AMX does them, compiled for this CPU, against float64.

Where a CPU has no AMX, the same are done by other instructions.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.target.cpu import cpu_target
from plumbline.target.probe import vector_unit_of

_F = torch.nn.functional
BF16, I8 = torch.bfloat16, torch.int8


class _Program(torch.nn.Module):
    """A function of arguments and of weights."""

    def __init__(self, function: Callable[..., torch.Tensor], *weights: torch.Tensor) -> None:
        super().__init__()
        self._function = function
        self._names = [f"weight_{number}" for number in range(len(weights))]
        for name, weight in zip(self._names, weights, strict=True):
            self.register_buffer(name, weight)

    def forward(self, *given: torch.Tensor) -> torch.Tensor:
        return self._function(*given, *(getattr(self, name) for name in self._names))


def _drawn(shape: str, dtype: torch.dtype) -> torch.Tensor:
    sizes = [int(size) for size in shape.split("x")]
    generator = torch.Generator().manual_seed(sum(sizes))
    if dtype == I8:
        return torch.randint(-128, 128, sizes, dtype=I8, generator=generator)
    return torch.randn(sizes, generator=generator).to(dtype)


def _wide(values: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """As which the exact sums are computed."""
    return [each.double() if each.is_floating_point() else each for each in values]


def _check(
    program: plumbline.CompiledProgram,
    function: Callable[..., torch.Tensor],
    given: tuple[torch.Tensor, ...],
    weights: tuple[torch.Tensor, ...] = (),
    tolerance: float = 2**-8,
) -> None:
    (actual,), exact = program(*given), function(*_wide((*given, *weights)))
    assert actual.shape == exact.shape
    if not actual.is_floating_point():
        assert torch.equal(actual, exact)
        return
    largest = exact.abs().max() if exact.numel() else 0
    assert ((actual.double() - exact).abs() <= tolerance * largest).all()


def _is_by_amx(program: plumbline.CompiledProgram) -> bool:
    return "tdp" in program.stage("asm")


_HAS_AMX = "tdpbf16ps" in vector_unit_of(cpu_target("native")).dots


def _as_summed(x: torch.Tensor) -> torch.Tensor:
    """PyTorch adds up bytes in bytes."""
    return x.int() if x.dtype == I8 else x


def _product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _as_summed(x) @ _as_summed(y)


def _of_columns(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _as_summed(x).mT @ _as_summed(y)


def _of_rows(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return _as_summed(x) @ _as_summed(y).mT


# Tiles are of 32x32 and 16x64 sums, of 32 elements of bf16 or 64 of int8; from 1 MB on a left
# operand is copied chunk by chunk, and of few columns it is read where it lies.
_MATRICES = [
    (_product, "70x96 96x300"),
    (_product, "33x100 100x70"),
    (_product, "50x95 95x310"),
    (_product, "9x513 513x200"),
    (_product, "1030x530 530x100"),
    (_product, "1030x529 529x700"),
    (_of_columns, "96x70 96x300"),
    (_of_columns, "95x70 95x90"),
    (_of_rows, "70x96 300x96"),
    (_of_rows, "47x1056 90x1056"),
    (_of_rows, "3x50x64 3x80x64"),
    (_product, "3x50x65 3x65x80"),
]


@pytest.mark.parametrize("dtype", [BF16, I8])
@pytest.mark.parametrize("is_weight", [False, True])
@pytest.mark.parametrize(("function", "shapes"), _MATRICES)
def test_matrices(
    function: Callable[..., torch.Tensor], shapes: str, dtype: torch.dtype, *, is_weight: bool
) -> None:
    left, right = (_drawn(shape, dtype) for shape in shapes.split())
    weights = (right,) if is_weight else ()
    given = (left,) if is_weight else (left, right)
    program = plumbline.compile(_Program(function, *weights), given)
    _check(program, function, given, weights)
    # Weights of an odd number of elements were packed otherwise, which may be faster.
    if not is_weight or right.shape[-2 if function is _product else -1] % 4 == 0:
        assert _is_by_amx(program) == _HAS_AMX


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [BF16, I8])
def test_sizes_that_are_not_known(dtype: torch.dtype, threads: int) -> None:
    rows, summed = Dim("rows", max=4096), Dim("summed", max=4096)
    given = (_drawn("70x96", dtype), _drawn("96x80", dtype))
    shapes = ({0: rows, 1: summed}, {0: summed})
    program = plumbline.compile(_Program(_product), given, (shapes,), threads=threads)
    assert _is_by_amx(program) == _HAS_AMX
    for count in (2, 16, 17, 300):
        for size in (0, 1, 3, 31, 32, 33, 63, 64, 65, 300):
            others = _drawn(f"{count}x{size}", dtype), _drawn(f"{size}x80", dtype)
            _check(program, _product, others)


def test_what_follows_on_products() -> None:
    weight, bias = _drawn("90x96", BF16), _drawn("90", BF16)
    x, y = _drawn("50x96", BF16), _drawn("50x90", BF16)

    def function(*operands: torch.Tensor) -> torch.Tensor:
        x, y, weight, bias = operands
        return _F.linear(x, weight, bias).relu() + y

    program = plumbline.compile(_Program(function, weight, bias), (x, y))
    _check(program, function, (x, y), (weight, bias), 2**-7)


_CONVOLUTIONS = [
    (partial(_F.conv2d, padding=1), "1x64x14x15 40x64x3x3"),
    (partial(_F.conv2d, stride=2, padding=1), "3x32x11x9 70x32x3x3"),
    (partial(_F.conv2d, padding=2, dilation=2), "2x24x11x9 40x24x3x3"),
    (_F.conv2d, "2x96x7x7 40x96x1x1"),
    (partial(_F.conv1d, padding=3), "2x16x100 40x16x7"),
    (partial(_F.conv3d, padding=1), "1x16x5x6x7 40x16x3x3x3"),
]


@pytest.mark.parametrize(("function", "shapes"), _CONVOLUTIONS)
def test_convolutions(function: Callable[..., torch.Tensor], shapes: str) -> None:
    image, weight = (_drawn(shape, BF16) for shape in shapes.split())
    program = plumbline.compile(_Program(function, weight), (image,))
    _check(program, function, (image,), (weight,))
    assert _is_by_amx(program) == _HAS_AMX


_ATTENTION: Callable[..., torch.Tensor] = _F.scaled_dot_product_attention

_ATTENTIONS: list[tuple[dict[str, Any], str]] = [
    ({}, "2x3x100x64 2x3x100x64"),
    ({}, "1x3x65x72 1x3x177x72"),
    ({"is_causal": True}, "1x3x129x64 1x3x129x64"),
    ({}, "1x4x290x64 1x4x290x64"),
    ({"is_causal": True}, "2x1x40x80 2x1x40x80"),
    ({"enable_gqa": True}, "1x4x90x64 1x2x90x64"),
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("options", "shapes"), _ATTENTIONS)
def test_attention(options: dict[str, Any], shapes: str, threads: int) -> None:
    query, key = (_drawn(shape, BF16) for shape in shapes.split())
    given, function = (query, key, key.flip(1, 2)), partial(_ATTENTION, **options)
    program = plumbline.compile(_Program(function), given, threads=threads)
    _check(program, function, given, tolerance=2**-7)
    assert _is_by_amx(program) == _HAS_AMX
    if _HAS_AMX and threads == 1:
        # No scores are in memory.
        assert program.stage("kernels").count("call @") == 1


def test_weights_are_not_rounded_for_a_result_of_float32() -> None:
    """As only values, or keys, are of bf16."""
    x = _drawn("2x100x64", torch.float32)
    key, value = (_drawn(f"2x{count}x64", BF16)[:, :100] for count in (100, 101))

    def function(x: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        key, value = key.to(x.dtype), value.to(x.dtype)
        return (x @ key.mT / 8).softmax(-1) @ value

    program = plumbline.compile(_Program(function), (x, key, value))
    _check(program, function, (x, key, value), tolerance=1e-6)


@pytest.mark.parametrize("is_causal", [False, True], ids=["all", "causal"])
def test_attention_of_a_length_that_is_not_known(*, is_causal: bool) -> None:
    function, length = partial(_ATTENTION, is_causal=is_causal), Dim("length", max=1024)
    given = tuple(_drawn("1x2x50x64", BF16) for _ in range(3))
    program = plumbline.compile(_Program(function), given, (({2: length},) * 3,))
    for size in (1, 2, 31, 32, 33, 200):
        others = (_drawn(f"1x2x{size}x64", BF16), *(_drawn(f"1x2x{size}x64", BF16) for _ in "kv"))
        _check(program, function, others, tolerance=2**-7)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, *sys.argv[1:]]))
