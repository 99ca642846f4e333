"""Checks transpositions against PyTorch: of all element types, whole squares and what is left."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim

import plumbline

_SHUFFLE = "vector.shuffle"


class _Function(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x)


def _numbers(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def _transposed(x: torch.Tensor) -> torch.Tensor:
    return x.mT.contiguous()


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.float64,
        torch.int64,
        torch.int16,
        torch.int8,
        torch.half,
        torch.bfloat16,
    ],
)
@pytest.mark.parametrize("shape", [(64, 64), (3, 77, 131)], ids=["whole", "odd"])
def test_element_types(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x = (_numbers(*shape) * 100).to(dtype)
    program = plumbline.compile(_Function(_transposed), (x,), target_cpu="baseline")
    assert _SHUFFLE in program.stage("kernels")
    assert torch.equal(program(x)[0], _transposed(x))


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_computed_on_the_way(threads: int) -> None:
    rows, columns = _numbers(300), _numbers(45)

    def function(x: torch.Tensor) -> torch.Tensor:
        y = x.mT * rows + columns[:, None]
        return torch.where(y > 0, y, x.mT) + x[0, 0]

    x = _numbers(300, 45)
    program = plumbline.compile(_Function(function), (x,), threads=threads)
    assert _SHUFFLE in program.stage("kernels")
    torch.testing.assert_close(program(x)[0], function(x))


def test_what_is_written_is_contiguous_however_much_is_read() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x[:70].mT + x[70:].mT

    x = _numbers(140, 53)
    program = plumbline.compile(_Function(function), (x,))
    assert _SHUFFLE in program.stage("kernels")
    assert torch.equal(program(x)[0], function(x))


@pytest.mark.parametrize(("columns", "piece"), [(512, 256), (128, 16)])
def test_long_rows_are_written_in_long_pieces(columns: int, piece: int) -> None:
    """But for those that something is computed for on the way."""
    x = _numbers(columns, 100)
    moved = plumbline.compile(_Function(_transposed), (x,)).stage("kernels")
    assert f"to %c{columns} step %c{piece} " in moved
    computed = plumbline.compile(_Function(lambda x: x.mT.tanh()), (x,)).stage("kernels")
    assert f"to %c{columns} step %c16 " in computed


def test_places_that_are_computed() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.roll(5, 0).mT.flip(0)[:, 1:].contiguous()

    x = _numbers(70, 50)
    program = plumbline.compile(_Function(function), (x,))
    assert torch.equal(program(x)[0], function(x))


@pytest.mark.parametrize("turns", [1, -1])
def test_quarter_turns(turns: int) -> None:
    """In one direction rows are read from the last one on, in the other one columns are."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.rot90(x, turns, (1, 2)) - 2 * x.mT

    x = _numbers(2, 70, 53)
    program = plumbline.compile(_Function(function), (x,))
    assert _SHUFFLE in program.stage("kernels")
    assert torch.equal(program(x)[0], function(x))


@pytest.mark.parametrize("part", [0, 1])
def test_parts_of_pairs(part: int) -> None:
    """As the real or imaginary parts of complex numbers lie."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return x[..., part].mT + x[..., 1 - part].mT.flip(0) * 2

    x = _numbers(70, 53, 2)
    program = plumbline.compile(_Function(function), (x,))
    assert _SHUFFLE in program.stage("kernels")
    torch.testing.assert_close(program(x)[0], function(x))


@pytest.mark.parametrize("sizes", [(1, 1), (5, 3), (16, 17), (200, 33)])
def test_sizes_that_differ_from_call_to_call(sizes: tuple[int, int]) -> None:
    example = _numbers(40, 24)
    dynamic = {0: Dim("rows", min=1, max=1000), 1: Dim("columns", min=1, max=1000)}
    program = plumbline.compile(_Function(_transposed), (example,), dynamic_shapes=(dynamic,))
    assert _SHUFFLE in program.stage("kernels")
    x = _numbers(*sizes)
    assert torch.equal(program(x)[0], _transposed(x))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
