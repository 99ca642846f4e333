"""Checks results that are larger than caches against PyTorch: rows, elements, and what is left."""

import sys
from collections.abc import Callable

import pytest
import torch

import plumbline


class _Function(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("columns", [4096, 4112])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
        lambda x: torch.softmax(x, dim=-1),
        torch.nn.functional.gelu,
        lambda x: torch.where(x[:, :1] > 0, x, x.abs() + 1),
        # It takes products whose two halves are two results of one operation, as what an angle
        # takes more for is not computed once more to see whether it is small.
        lambda x: torch.sin(x.abs().sqrt()),
    ],
    ids=["rows", "rows_that_are_asked_for", "elements", "of_a_column", "halves"],
)
def test_large_results(
    function: Callable[[torch.Tensor], torch.Tensor], columns: int, threads: int
) -> None:
    x = torch.randn(1024, columns, generator=torch.Generator().manual_seed(0))
    program = plumbline.compile(_Function(function), (x,), threads=threads)
    kernels = program.stage("kernels")
    assert "nontemporal" in kernels
    assert ", write, locality" not in kernels
    # PyTorch's own GELU in f32 is 1e-6 off with vectors of 512 bits.
    expected = function(x.double()).float()
    torch.testing.assert_close(program(x)[0], expected, rtol=1e-6, atol=1e-6)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
