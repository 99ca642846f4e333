"""Rows of any length are sorted by as many threads as there are elements, as PyTorch sorts them."""

import sys

import pytest
import torch
from torch.export import Dim

from test.linalg_to_gpu.emulated_programs import EmulatedProgram


def _few(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Numbers of which many are equal, so that it shows whether these keep their order."""
    return torch.randint(0, 20, shape).to(dtype)


def _stable(
    x: torch.Tensor, dim: int = -1, *, descending: bool = False
) -> tuple[torch.Tensor, ...]:
    return tuple(torch.sort(x, stable=True, dim=dim, descending=descending))


@pytest.mark.parametrize("size", [2, 31, 32, 33, 1000, 1024])
def test_rows_of_a_tile(size: int) -> None:
    x = _few(3, size)
    program = EmulatedProgram(_stable, x)
    program.check(x)
    assert "bar.sync" in program.ptx


@pytest.mark.parametrize("size", [1025, 2048, 2049, 5000])
def test_rows_of_several_tiles(size: int) -> None:
    """Also where one round of merging is enough, and the way back only copies."""
    x = _few(2, size)
    program = EmulatedProgram(lambda x: _stable(x, descending=True), x)
    program.check(x)
    assert "1024xf32, #gpu.address_space<workgroup>" in program.gpu


@pytest.mark.parametrize("dtype", [torch.float16, torch.uint8, torch.int64, torch.bool], ids=str)
def test_types(dtype: torch.dtype) -> None:
    x = _few(2, 2100, dtype=dtype)
    EmulatedProgram(_stable, x).check(x)


def test_nan_is_above_all() -> None:
    x = _few(4, 300)
    x[x < 3] = torch.nan
    x[x == 5] = torch.inf
    x[x == 6] = -torch.inf
    for descending in (False, True):
        program = EmulatedProgram(lambda x, d=descending: _stable(x, descending=d), x)
        program.check(x)


def test_columns() -> None:
    x = _few(40, 3, 5)
    EmulatedProgram(lambda x: (*_stable(x, 0), *_stable(x, 1)), x).check(x)


def test_dynamic_rows() -> None:
    dims = ({0: Dim("rows"), 1: Dim("size")},)
    program = EmulatedProgram(_stable, torch.randn(3, 50), dims=dims)
    for rows, size in ((3, 50), (1, 1), (2, 0), (0, 7), (2, 1024), (2, 1025), (1, 4500)):
        program.check(_few(rows, size))


def test_what_is_made_of_sorts() -> None:
    x = torch.randn(3, 1200)

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            *torch.topk(x, 7),
            *torch.topk(x, 3, largest=False),
            torch.argsort(x, dim=1),
            torch.median(x),
            *torch.median(x, 1),
            *torch.kthvalue(x, 5),
            torch.quantile(x, 0.3, 1),
        )

    EmulatedProgram(function, x).check(x)


def _launches_of_sorts(program: EmulatedProgram) -> int:
    return program.gpu.count("gpu.launch_func  @kernels::@sort_kernel")


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int64], ids=str
)
@pytest.mark.parametrize("largest", [True, False], ids=["largest", "least"])
def test_first_elements_of_long_rows(dtype: torch.dtype, *, largest: bool) -> None:
    """Of equal ones those come first that are so in the row, as in a whole sort of it."""
    x = (torch.randint(-30, 30, (2, 5000)) * 3).to(dtype)
    if dtype.is_floating_point:
        x[x == 3], x[0, :4] = -0.0, torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0])

    def first(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values, places = _stable(x, descending=largest)
        return values[:, :60], places[:, :60]

    program = EmulatedProgram(first, x)
    program.check(x)
    assert _launches_of_sorts(program) == 1


def test_first_elements_whose_digits_differ() -> None:
    """Each digit of the last one that is taken is looked for."""
    x = torch.randint(-(2**63), 2**63 - 1, (3, 1500))
    program = EmulatedProgram(lambda x: torch.topk(x, 700, sorted=True), x)
    program.check(x)
    y = torch.randn(3, 1100)
    EmulatedProgram(lambda y: torch.topk(y, 1000, dim=-1, largest=False), y).check(y)


def test_first_elements_of_few_long_rows_are_those_of_parts() -> None:
    x = torch.randint(0, 900, (1, 20001)).float()
    program = EmulatedProgram(lambda x: tuple(each[:, :33] for each in _stable(x)), x)
    program.check(x)
    assert _launches_of_sorts(program) == 2
    assert "memref<1x66xi64" in program.gpu


def test_first_elements_of_columns() -> None:
    x = _few(1200, 3)
    program = EmulatedProgram(lambda x: tuple(each[:9] for each in _stable(x, 0)), x)
    program.check(x)
    assert _launches_of_sorts(program) == 1


def test_first_elements_of_dynamic_rows() -> None:
    dims = ({0: Dim("rows"), 1: Dim("size", min=5)},)
    program = EmulatedProgram(
        lambda x: tuple(each[:, :5] for each in _stable(x)), torch.randn(3, 50), dims=dims
    )
    assert _launches_of_sorts(program) == 1
    for rows, size in ((3, 50), (1, 5), (0, 7), (2, 2049)):
        program.check(_few(rows, size))


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
