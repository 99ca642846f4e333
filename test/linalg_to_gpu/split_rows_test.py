"""Few rows of many elements are reduced in parts by as many blocks as there is room for."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim

from test.linalg_to_gpu.emulated_programs import EmulatedProgram, integers


def _check(function: Callable[..., object], *operands: torch.Tensor) -> EmulatedProgram:
    program = EmulatedProgram(function, *operands)
    program.check(*operands)
    return program


@pytest.mark.parametrize(
    "function",
    [torch.sum, torch.amax, torch.argmin, torch.var, torch.any, lambda x: x.float().norm()],
    ids=["sum", "amax", "argmin", "var", "any", "norm"],
)
def test_all_of_a_tensor(function: Callable[..., object]) -> None:
    program = _check(function, integers(41, 1003))
    # One launch for five parts, and one for what they come to.
    assert "memref<5x" in program.gpu
    assert "bar.sync" in program.ptx


def test_few_rows() -> None:
    program = _check(lambda x: (x.mean(1), x.max(1), x.softmax(1)), torch.randn(2, 40000))
    assert "memref<2x4xf32" in program.gpu


def test_few_columns() -> None:
    """Threads that are next to one another have rows that are, as these are contiguous."""
    program = _check(lambda x: x.sum(0), integers(5000, 12))
    assert "memref<12x156xf" in program.gpu


def test_several_axes() -> None:
    _check(lambda x: x.sum((0, 2)), integers(70, 3, 600))


def test_parts_without_elements() -> None:
    """As many parts as ever there may be."""
    dims = ({0: Dim("rows")},)
    program = EmulatedProgram(
        lambda x: (x.sum(), x.amax(), x.argmax()), torch.randn(30, 7), dims=dims
    )
    for rows in (30, 1, 3000):
        program.check(integers(rows, 7))


def test_products_of_vectors() -> None:
    x, y = integers(60000), integers(60000)
    _check(torch.dot, x, y)
    _check(lambda m, y: torch.relu(m @ y), integers(3, 60000), y)


def test_bits_are_the_same() -> None:
    x = torch.randn(300000)
    program = EmulatedProgram(torch.sum, x)
    (first,), (second,) = program.run(x), program.run(x)
    assert first == second


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
