"""Rows of any length are scanned by a block each, or by a thread where there are many."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim

from test.linalg_to_gpu.emulated_programs import EmulatedProgram, integers

_ONE_THREAD = "known_block_size = array<i32: 1, 1, 1>"


def _check(function: Callable[..., object], *operands: torch.Tensor) -> EmulatedProgram:
    program = EmulatedProgram(function, *operands)
    program.check(*operands)
    assert _ONE_THREAD not in program.gpu
    return program


@pytest.mark.parametrize("size", [32, 127, 128, 1000, 1024, 1025, 5000])
def test_rows(size: int) -> None:
    program = _check(lambda x: x.cumsum(-1), integers(3, size))
    assert "shfl.sync.up" in program.ptx
    assert "bar.sync" in program.ptx


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool], ids=str
)
def test_types(dtype: torch.dtype) -> None:
    _check(lambda x: x.cumsum(-1), torch.randint(0, 2, (2, 700)).to(dtype))


def test_products() -> None:
    _check(lambda x: x.cumprod(1), torch.rand(3, 300) + 0.5)


def test_logarithms_of_sums() -> None:
    x = torch.randn(2, 1500)
    x[0, 3], x[1, :2] = torch.inf, -torch.inf
    _check(lambda x: x.logcumsumexp(1), x)


@pytest.mark.parametrize("function", [torch.cummax, torch.cummin], ids=["cummax", "cummin"])
def test_extremes_so_far(function: Callable[..., tuple[torch.Tensor, torch.Tensor]]) -> None:
    x = integers(3, 1000)
    x[1, 400], x[1, 500] = torch.nan, torch.nan
    program = _check(lambda x: tuple(function(x, 1)), x)
    # The extremes, where an element is one, and the last place of such.
    assert program.gpu.count("gpu.launch_func") == 3


def test_columns() -> None:
    """All in one launch, where the CPU goes from one slice to the next."""
    program = _check(lambda x: (x.cumsum(0), x.logcumsumexp(1)), torch.randn(40, 300, 3))
    assert program.gpu.count("gpu.launch_func") == 4
    program = _check(lambda x: x.cumsum(1), integers(2, 50, 3000))
    assert "shfl" not in program.ptx


def test_short_rows_are_for_threads() -> None:
    program = _check(lambda x: x.cumsum(1), integers(300, 7))
    assert "shfl" not in program.ptx


def test_dynamic_rows() -> None:
    dims = ({0: Dim("rows"), 1: Dim("size")},)
    program = EmulatedProgram(lambda x: (x.cumsum(0), x.cumsum(1)), integers(3, 50), dims=dims)
    for rows, size in ((3, 50), (1, 1), (2, 0), (0, 7), (2, 1025), (1500, 2)):
        program.check(integers(rows, size))
    assert _ONE_THREAD not in program.gpu


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.cumsum(-1),
        lambda x: x.half().sign().cumprod(-1),
        lambda x: tuple(x.cummax(-1)),
        lambda x: x.transpose(0, 1).contiguous().cumsum(0),
    ],
    ids=["cumsum", "cumprod", "cummax", "columns"],
)
def test_few_long_rows_are_in_parts(function: Callable[..., object]) -> None:
    """The last part is of fewer elements than the others, and the last chunk not a whole one."""
    program = _check(function, integers(2, 16500))
    assert "memref<512x" in program.gpu
    assert "blocks in (%c34," in program.gpu


def test_as_many_parts_as_there_is_memory_for() -> None:
    program = _check(lambda x: x.cumsum(1), integers(128, 16000, dtype=torch.int8))
    assert "blocks in (%c512," in program.gpu
    program = _check(lambda x: x.cumsum(1), integers(1, 15 * 1024))
    assert "memref<512x" not in program.gpu


def test_as_many_rows_as_a_call_has() -> None:
    dims = ({0: Dim("rows"), 1: Dim("size")},)
    program = EmulatedProgram(lambda x: x.cumsum(1), integers(3, 50), dims=dims)
    for rows, size, launches in ((1, 16000, 3), (3, 50, 1), (200, 16000, 1), (2, 0, 1), (0, 7, 1)):
        assert program.launches(integers(rows, size)) == launches


def test_bits_are_the_same() -> None:
    x = torch.randn(20000)
    program = EmulatedProgram(lambda x: x.cumsum(0), x)
    (first,), (second,) = program.run(x), program.run(x)
    assert torch.equal(first, second)


def test_places_of_what_is_true() -> None:
    """Those that are not true go to the place of the next one that is, which writes it last."""
    x, places = torch.randn(17000), torch.arange(1, 17001)
    program = EmulatedProgram(
        lambda x, mask, places: (
            x[mask].cos().sum(),
            mask.nonzero()[:, 0].cumsum(0).sum(),
            places[mask].sum(),
        ),
        x,
        x > 0,
        places,
    )
    for mask in (x > 0, x > 5, x < 5, x > 2):
        program.check(x, mask, places)
    assert _ONE_THREAD not in program.gpu


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
