"""Sorts, which go beside TCP, against PyTorch: its order of NaN, of unsigned numbers, of ties."""

import math
import sys

import pytest
import torch

import plumbline

_FLOATS = [2.5, math.nan, -math.inf, 0.0, math.inf, math.nan, -1.0, 2.5]
_BYTES = [200, 100, 3, 255, 0, 128, 127, 100]


class _Sorted(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rising = torch.sort(x, dim=-1, stable=True)
        falling = torch.sort(x, dim=-1, stable=True, descending=True)
        if x.dtype == torch.bool:
            return (*rising, *falling)
        # Among ties, PyTorch leaves open which places are taken.
        greatest = torch.topk(x, 3, dim=-1).values
        third = torch.kthvalue(x, 3, dim=-1).values
        # In an order that PyTorch leaves open.
        unordered = torch.topk(x, 4, dim=-1, sorted=False).values.sort().values
        least = torch.topk(x, 3, -1, largest=False).values
        return (*rising, *falling, greatest, unordered, least, third)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    ("dtype", "elements"),
    [
        (torch.float64, _FLOATS),
        (torch.float32, _FLOATS),
        (torch.float16, _FLOATS),
        (torch.bfloat16, _FLOATS),
        (torch.uint8, _BYTES),
        (torch.int8, [element - 128 for element in _BYTES]),
        (torch.int64, _BYTES),
        (torch.bool, [element > 100 for element in _BYTES]),
    ],
    ids=str,
)
def test_sorts(dtype: torch.dtype, elements: list[float], dynamic: bool) -> None:
    x = torch.tensor([elements, elements[::-1]], dtype=dtype)
    shapes = {"x": {1: torch.export.Dim("n", min=4)}} if dynamic else None
    program = plumbline.compile(_Sorted(), (x,), dynamic_shapes=shapes)
    for inputs in [x, x[:, :5]] if dynamic else [x]:
        for actual, expected in zip(program(inputs), _Sorted()(inputs), strict=True):
            torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


class _Ranked(torch.nn.Module):
    def forward(self, *operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(
            torch.kthvalue(x, k, dim).values for x in operands for dim, k in ((0, 9), (1, 39))
        )


def test_ranks_that_are_selected() -> None:
    """Bit by bit, also of numbers that are no numbers, equal, or of different signs."""
    torch.manual_seed(0)
    x = torch.randn(12, 40)
    x[:, ::7], x[:, 1::7], x[:, 2::7], x[::5, 3] = math.nan, 0.0, -math.inf, math.inf
    whole = torch.randint(-128, 128, (12, 40))
    dtypes = (torch.float32, torch.float64, torch.float16, torch.int8, torch.uint8, torch.int64)
    operands = tuple((x if dtype.is_floating_point else whole).to(dtype) for dtype in dtypes)
    program = plumbline.compile(_Ranked(), operands)
    for actual, expected in zip(program(*operands), _Ranked()(*operands), strict=True):
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


class _SortedAlong(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values, places = torch.sort(x, dim=self.dim, stable=True)
        return values, places, torch.argsort(x, dim=self.dim, stable=True, descending=True)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 64, 1000])
def test_many_ties_in_rows_of_any_size(size: int, dim: int) -> None:
    torch.manual_seed(size)
    sizes = [2, 3]
    sizes.insert(dim, size)
    x = torch.randint(0, 9, sizes).float()
    x[x == 8] = math.nan
    program = plumbline.compile(_SortedAlong(dim), (x,))
    for actual, expected in zip(program(x), _SortedAlong(dim)(x), strict=True):
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


class _Among(torch.nn.Module):
    def forward(self, x: torch.Tensor, among: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.isin(x, among), torch.isin(x, among, invert=True), torch.isin(3, among)


@pytest.mark.parametrize("count", [5, 200])
def test_among_others(count: int) -> None:
    """For any number of elements, whatever that of the example was."""
    among = torch.arange(0, 2 * count, 2)
    shapes = {"x": {0: torch.export.Dim.AUTO}, "among": {}}
    program = plumbline.compile(_Among(), (torch.arange(6), among), dynamic_shapes=shapes)
    for size in (0, 1, 500):
        x = torch.arange(size)
        assert all(map(torch.equal, program(x, among), _Among()(x, among)))


def test_a_row_of_a_million() -> None:
    torch.manual_seed(0)
    x = torch.randint(0, 1 << 40, (1 << 20,))
    program = plumbline.compile(_SortedAlong(0), (x,))
    for actual, expected in zip(program(x), _SortedAlong(0)(x), strict=True):
        assert torch.equal(actual, expected)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
