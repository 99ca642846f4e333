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


@pytest.mark.parametrize("is_length_known", [True, False])
def test_as_many_rows_as_a_call_has(is_length_known: bool) -> None:
    """Few long rows are split, in memory for 512 parts, and many or short ones are not."""
    dims = {0: Dim("rows"), **({} if is_length_known else {1: Dim("length")})}
    program = EmulatedProgram(lambda x: x.sum(1), torch.randn(3, 33000), dims=(dims,))
    assert "memref<512x" in program.gpu
    for rows in (3, 1, 0):
        assert program.launches(integers(rows, 33000)) == 2
    # 128 rows in four parts each are as many as there is memory for.
    assert program.launches(integers(128, 33000)) == 2
    assert program.launches(integers(129, 33000)) == 1
    if not is_length_known:
        assert program.launches(integers(2, 4 * 256 * 32 - 1)) == 1
        assert program.launches(integers(2, 4 * 256 * 32)) == 2
        assert program.launches(integers(5, 1)) == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.amax(1),
        # Little is done with what the rows come to.
        lambda x: (x.mean(1) * 2).relu(),
    ],
    ids=["amax", "mean"],
)
def test_other_reductions_of_as_many_rows(function: Callable[..., object]) -> None:
    program = EmulatedProgram(function, torch.randn(3, 33000), dims=({0: Dim("rows")},))
    assert program.launches(integers(2, 33000)) == 2
    assert program.launches(integers(200, 33000)) == 1


def test_as_many_columns_as_a_call_has() -> None:
    dims = ({0: Dim("length"), 1: Dim("columns")},)
    program = EmulatedProgram(lambda x: x.sum(0), torch.randn(300, 12), dims=dims)
    assert program.launches(integers(300, 12)) == 2
    assert program.launches(integers(127, 12)) == 1
    assert program.launches(integers(130, 40000)) == 1


def test_rows_of_several_axes() -> None:
    dims = ({0: Dim("outer"), 2: Dim("inner")},)
    program = EmulatedProgram(lambda x: x.sum((1, 3)), torch.randn(2, 30, 3, 1200), dims=dims)
    assert program.launches(integers(2, 30, 3, 1200)) == 2
    assert program.launches(integers(13, 30, 10, 1200)) == 1


def test_bits_are_the_same_whatever_was_called_before() -> None:
    program = EmulatedProgram(lambda x: x.sum(1), torch.randn(3, 40000), dims=({0: Dim("rows")},))
    x = torch.randn(200, 40000)
    (first,), (many,), (second,) = program.run(x[:2]), program.run(x), program.run(x[:2])
    assert torch.equal(first, second)
    torch.testing.assert_close(many[:2], first)


def test_what_is_long_after_the_sums_is_not_split() -> None:
    """A block does a row, which it then writes, as one with a second launch would read it again."""
    program = EmulatedProgram(
        lambda x: x.softmax(1), torch.randn(3, 33000), dims=({0: Dim("rows")},)
    )
    assert "memref<512x" not in program.gpu
    program.check(torch.randn(2, 33000))


def test_few_rows_that_are_not_split_are_for_more_threads() -> None:
    program = _check(lambda x: x.softmax(1), torch.randn(3, 4096))
    assert "threads in (%c512," in program.gpu
    program = _check(lambda x: x.softmax(1), torch.randn(3, 4095))
    assert "threads in (%c256," in program.gpu


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
