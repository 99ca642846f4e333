"""Parts of matrices at places that a run tells, as PyTorch computes them."""

import sys

import pytest
import torch

from plumbline.loader_to_torch.decompositions.matrix_parts import less_product, part, with_part

_START = torch.tensor(2)


def test_a_part_is_taken_and_put() -> None:
    x = torch.randn(3, 4, 6, dtype=torch.complex64)
    taken = part(x, _START, -1, 3)
    torch.testing.assert_close(taken, x[..., 2:5])
    zeros = with_part(torch.zeros_like(x), taken, _START, -1)
    torch.testing.assert_close(zeros[..., 2:5], taken)
    assert zeros.count_nonzero() == taken.numel()


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_a_part_is_less_a_product(dtype: torch.dtype) -> None:
    x, left, right = (torch.randn(2, 3, *shape, dtype=dtype) for shape in ((5, 7), (5, 4), (4, 7)))
    got = less_product(x, left, right, rows=(_START, 5), inner=(0, _START), columns=(1, _START))
    expected = x.clone()
    expected[..., 2:, 1:2] -= left[..., 2:, :2] @ right[..., :2, 1:2]
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close(less_product(x, left, right), x - left @ right)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
