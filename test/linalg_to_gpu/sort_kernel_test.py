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
    x = _few(2, 1100, dtype=dtype)
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


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
