"""Where graphs of PyTorch 2 Export (PT2E) quantize numbers, and which integers these are."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

# It is what torchao imports for the ops that it makes models of.
import torch.ao.quantization.fx._decomposed
from torch.nn import functional

import plumbline

_OPS = torch.ops.quantized_decomposed

_S8 = (0.05, -3, -128, 127, torch.int8)
_U8 = (0.04, 100, 0, 255, torch.uint8)
_NARROW = (0.05, -3, -20, 20, torch.int8)
_SMALLEST = (1e-42, 0, -128, 127, torch.int8)

Program = Callable[[torch.Tensor], torch.Tensor]


def _quantized(x: torch.Tensor, by: Any) -> torch.Tensor:
    integers: torch.Tensor = _OPS.quantize_per_tensor.default(x, *by)
    return integers


def _rounded(x: torch.Tensor, by: Any) -> torch.Tensor:
    numbers: torch.Tensor = _OPS.dequantize_per_tensor.default(_quantized(x, by), *by)
    return numbers


class _Module(torch.nn.Module):
    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._program(x)


_X = 5 * torch.randn(2, 5, 9, 8, generator=torch.Generator().manual_seed(0))


def _lines(program: Program, x: torch.Tensor, *ops: str) -> Sequence[str]:
    """Where the program, whose results are PyTorch's to the bit, calls such ops."""
    sizes = ({0: torch.export.Dim("batch", max=100)},)
    compiled = plumbline.compile(_Module(program), (x,), sizes)
    torch.testing.assert_close(compiled(x)[0], program(x), rtol=0, atol=0)
    lines = compiled.stage("torch").splitlines()
    return [line for line in lines if any(f"aten.{op} " in line for op in ops)]


@pytest.mark.parametrize("by", [_S8, _U8], ids=str)
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_pools_are_of_integers(by: Any, ceil_mode: bool) -> None:
    def pooled(x: torch.Tensor) -> torch.Tensor:
        x = functional.max_pool2d(_rounded(x, by), 3, 2, 1, ceil_mode=ceil_mode)
        return _quantized(x, by)

    lines = _lines(pooled, _X, "round", "max_pool2d")
    assert ["round" in line for line in lines] == [True, False]
    assert "f32" not in lines[1]


def test_pools_are_of_what_is_quantized_otherwise() -> None:
    def pooled(x: torch.Tensor) -> torch.Tensor:
        return _quantized(functional.max_pool2d(_rounded(x, _S8), 3, 2), _U8)

    lines = _lines(pooled, _X, "round", "max_pool2d")
    assert ["round" in line for line in lines] == [True, True, False]


def test_pools_of_what_is_no_number_are_of_floats() -> None:
    """Such is the largest, and no integer is it."""

    def pooled(x: torch.Tensor) -> torch.Tensor:
        return _quantized(functional.max_pool2d(x, 3, 2), _S8)

    lines = _lines(pooled, _X, "round", "max_pool2d")
    assert ["round" in line for line in lines] == [False, True]


@pytest.mark.parametrize("value", [None, 0.0, 2.0, -1e9])
def test_pads_are_of_integers(value: float | None) -> None:
    def padded(x: torch.Tensor) -> torch.Tensor:
        return _quantized(functional.pad(x, (1, 2, 0, 1), value=value), _U8)

    lines = _lines(padded, _X, "round", "constant_pad_nd")
    assert ["round" in line for line in lines] == [True, False]


def test_pads_that_are_read_otherwise_stay() -> None:
    def padded(x: torch.Tensor) -> torch.Tensor:
        y = functional.pad(x, (1, 2, 0, 1))
        return _quantized(y, _U8) + y.abs()

    lines = _lines(padded, _X, "round", "constant_pad_nd")
    assert ["round" in line for line in lines] == [False, True]


def test_integers_are_what_they_were() -> None:
    def rounds(before: Any, by: Any) -> int:
        return len(_lines(lambda x: _quantized(_rounded(x, before), by), _X, "round"))

    assert rounds(_S8, _S8) == rounds(_NARROW, _S8) == rounds(_NARROW, _NARROW) == 1
    # What is beyond the bounds comes to lie within.
    assert rounds(_S8, _NARROW) == rounds(_S8, _U8) == 2
    # Of the smallest scales floats do not hold the inverse.
    assert rounds(_SMALLEST, _SMALLEST) == 2


@pytest.mark.parametrize(
    ("clamp", "bounds"),
    [
        (functional.relu, ("-3", "127")),
        (functional.relu6, ("-3", "117")),
        (lambda x: functional.hardtanh(x, -0.52, 1.01), ("-13", "17")),
        (lambda x: x.clamp(max=2.0), ("-128", "37")),
    ],
)
def test_clamps_are_bounds(clamp: Program, bounds: tuple[str, str]) -> None:
    lines = _lines(lambda x: _quantized(clamp(_rounded(x, _S8)), _S8), _X, "round", "clamp")
    assert ["round" in line for line in lines] == [True, False]
    assert all(f"int{bound}" in lines[1] for bound in bounds)


def test_clamps_are_done_where_numbers_are_read_besides() -> None:
    def clamped(x: torch.Tensor) -> torch.Tensor:
        x = _rounded(x, _S8)
        return _quantized(x.relu(), _S8) + x

    assert len(_lines(clamped, _X, "round")) == 2


def test_integers_have_a_sign() -> None:
    def moved(x: torch.Tensor) -> torch.Tensor:
        x = functional.pad(_rounded(x, _U8), (1, 0))
        return _rounded(functional.max_pool2d(_rounded(x, _U8), 2), _U8)

    lines = _lines(moved, _X, "round", "constant_pad_nd", "max_pool2d", "to.dtype")
    assert any("max_pool2d" in line and "si8" in line for line in lines)
    assert "ui8" not in "".join(lines)


def test_integers_that_the_program_gives_stay_without_a_sign() -> None:
    def given(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([_quantized(functional.max_pool2d(_rounded(x, _U8), 2), _U8)] * 2)

    assert all("ui8" in line for line in _lines(given, _X, "max_pool2d", "cat"))


def test_one_goes_before_another() -> None:
    def made(x: torch.Tensor) -> torch.Tensor:
        x = _rounded(functional.hardtanh(_rounded(x, _S8), 0.0, 6.0), _S8)
        x = _rounded(functional.max_pool2d(x, 2), _S8)
        return _quantized(functional.pad(x, (1, 1)), _S8)

    lines = _lines(made, _X, "round", "max_pool2d", "constant_pad_nd")
    assert ["round" in line for line in lines] == [True, False, False]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
