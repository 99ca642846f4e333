"""Checks sums of products with matrices that are known, against PyTorch, and how they are done."""

import re
import sys

import pytest
import torch

import plumbline


class _Times(torch.nn.Module):
    """The product of matrices with a literal one, both being broadcast; by its zeros or not."""

    def __init__(self, matrix: list[list[float]], by_zeros: bool = True) -> None:
        super().__init__()
        self._matrix, self._by_zeros = matrix, by_zeros

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        numbers = torch.tensor(self._matrix, dtype=x.dtype)[:, :, None]
        terms = x[:, None] * numbers
        if not self._by_zeros:
            terms = torch.where(torch.tensor(self._matrix)[:, :, None] != 0, terms, 0)
        return terms.sum(2)


_MATRICES: dict[str, list[list[float]]] = {
    "hadamard": [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]],
    "signs alone": [[-1, -1], [1, -1], [-1, 1]],
    "any": [[0.5, 2, -3], [1, -0.25, 4], [-2, 3, -1], [7, 7, 7]],
    "columns that are alike": [[2, -2, 2], [3, 3, -3]],
    "a row": [[1, -2, 3, 4]],
    "zeros": [[1, 0, -1, 0], [0, 1, 0, -1], [1, 1, 0, 0], [0, 0, 0, 0]],
    "rotation": [[1, 0, 0, 1], [0, 1, -1, 0], [1, 0, 0, -1], [0, 1, 1, 0]],
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", _MATRICES)
def test_products(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    matrix = _MATRICES[name]
    x = torch.randn(5, len(matrix[0]), 37, dtype=dtype)
    for by_zeros in (True, False):
        module = _Times(matrix, by_zeros)
        program = plumbline.compile(module, (x,), {"x": {0: torch.export.Dim("batch")}})
        torch.testing.assert_close(program(x[:3])[0], module(x[:3]))


def test_what_is_infinite() -> None:
    """A zero makes NaN of it, unless the product is left out."""
    x = torch.tensor([[[torch.inf, 1], [2, torch.nan], [3, 4], [5, 6]]])
    for by_zeros in (True, False):
        module = _Times(_MATRICES["zeros"], by_zeros)
        actual = plumbline.compile(module, (x,))(x)[0]
        torch.testing.assert_close(actual, module(x), equal_nan=True)


@pytest.mark.parametrize(
    ("name", "additions", "products"),
    [("hadamard", 8, 0), ("rotation", 4, 0), ("columns that are alike", 4, 4)],
)
def test_operations(name: str, additions: int, products: int) -> None:
    matrix = _MATRICES[name]
    x = torch.randn(5, len(matrix[0]), 64)
    kernels = plumbline.compile(_Times(matrix, by_zeros=False), (x,)).stage("kernels")
    assert len(re.findall(r"arith\.(?:addf|subf)", kernels)) == additions
    assert kernels.count("arith.mulf") == products
    assert "arith.select" not in kernels


def test_rows_of_other_elements() -> None:
    """Each group of a convolution has channels of its own."""
    weight = torch.tensor([[[[1.0, 2.0]], [[3.0, -4.0]]], [[[5.0, 6.0]], [[-7.0, 8.0]]]])

    class Groups(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            literal = torch.tensor(weight.tolist())
            return torch.nn.functional.conv2d(x, literal, groups=2)

    x = torch.arange(60.0).reshape(1, 4, 3, 5)
    torch.testing.assert_close(plumbline.compile(Groups(), (x,))(x)[0], Groups()(x))


def test_numbers_that_are_read_by_themselves_too() -> None:
    class _Scalarised(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            weights = torch.tensor([0.3, 0.7])
            return (weights * x).amax(-1) + (x * weights).sum(-1) * 0.05

    x = torch.randn(20, 2)
    torch.testing.assert_close(plumbline.compile(_Scalarised(), (x,))(x)[0], _Scalarised()(x))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
