"""Checks the first elements of sorted rows against PyTorch's stable sort: few, and more."""

import sys

import pytest
import torch

import plumbline


class _First(torch.nn.Module):
    def __init__(self, count: int, dim: int, *, largest: bool) -> None:
        super().__init__()
        self._count, self._dim, self._largest = count, dim, largest

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.topk(self._count, self._dim, self._largest)


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize(
    ("shape", "count", "dim"),
    [
        ((30, 100), 5, -1),
        ((7, 3, 50), 1, 1),
        ((4, 20), 16, -1),
        ((4, 20), 17, -1),
        ((3, 1000), 40, -1),
        ((2, 1000), 999, 1),
        ((40, 9), 3, 0),
        ((3, 5), 5, -1),
    ],
)
def test_first_of_rows(shape: tuple[int, ...], count: int, dim: int, *, largest: bool) -> None:
    # Few numbers, so that many are equal: of those the first ones come first.
    x = torch.randint(0, 12, shape, generator=torch.Generator().manual_seed(0)).float()
    x.view(-1)[::7] = float("nan")
    program = plumbline.compile(_First(count, dim, largest=largest), (x,))
    expected = x.sort(dim=dim, descending=largest, stable=True)
    values, places = program(x)
    torch.testing.assert_close(
        values, expected.values.narrow(dim, 0, count), rtol=0, atol=0, equal_nan=True
    )
    assert torch.equal(places, expected.indices.narrow(dim, 0, count))


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("count", [1, 7, 16, 33, 100])
def test_first_of_rows_that_are_in_order(count: int, order: int) -> None:
    """One way round, each element comes before all others so far, and what is gathered is full."""
    x = order * torch.arange(3.0 * 4000).view(3, 4000)
    program = plumbline.compile(_First(count, 1, largest=True), (x,))
    assert "memref<2x4000xf32>" not in program.stage("kernels")
    expected = x.topk(count, 1)
    for actual, wanted in zip(program(x), expected, strict=True):
        torch.testing.assert_close(actual, wanted, rtol=0, atol=0)


def test_all_of_rows_are_sorted_where_many_first_ones_are_read() -> None:
    """Of a tenth of them most are gathered, which takes longer than to sort all by digits."""
    x = torch.randn(3, 4000, generator=torch.Generator().manual_seed(0))
    program = plumbline.compile(_First(400, 1, largest=True), (x,))
    assert "memref<2x4000xf32>" in program.stage("kernels")
    for actual, wanted in zip(program(x), x.topk(400, 1), strict=True):
        torch.testing.assert_close(actual, wanted, rtol=0, atol=0)


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.float16, torch.float64, torch.int64, torch.int8, torch.uint8],
    ids=str,
)
def test_rows_that_are_sorted_by_digits(dtype: torch.dtype) -> None:
    """From few digits to all, of either order, of rows that are contiguous and that are not."""
    generator = torch.Generator().manual_seed(0)
    if dtype.is_floating_point:
        x = torch.randn(3, 4100, generator=generator, dtype=torch.float64).to(dtype)
        x[0] = x[0].round()
        special = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), -float("nan")]
        x[1, 5:605] = torch.tensor(special, dtype=dtype).repeat(100)
    else:
        limits = torch.iinfo(dtype)
        x = torch.randint(limits.min, limits.max, (3, 4100), generator=generator, dtype=dtype)
        x[0] = x[0] % 5 + 7
        x[1, ::9], x[1, 1::9] = limits.min, limits.max
    program = plumbline.compile(_All(), (x,))
    for actual, expected in zip(program(x), _All()(x), strict=True):
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)
    across = plumbline.compile(_All(), (x.T,))
    for actual, expected in zip(across(x.T), _All()(x.T), strict=True):
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("count", [2, 18])
def test_what_is_sorted_is_computed_and_the_first_are_read_alone(count: int) -> None:
    """Then no memory is taken for what is not read, and what the first ones go to is theirs."""

    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            values, places = (x @ y).topk(count, largest=False)
            return torch.cat([values, -values], 1), places

    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(50, 8, generator=generator), torch.randn(8, 300, generator=generator)
    program = plumbline.compile(Program(), (x, y))
    for actual, expected in zip(program(x, y), Program()(x, y), strict=True):
        torch.testing.assert_close(actual, expected)
    assert "300xi64" not in program.stage("kernels")


class _All(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        across = x.sort(dim=0, stable=True, descending=True)
        return (*x.sort(dim=1, stable=True), *across, x.msort(), x.argsort(dim=1, stable=True))


def test_rows_of_any_size() -> None:
    """Numbers of elements that are odd, and those where the last runs are of unequal length."""
    x = torch.randint(0, 9, (3, 50), generator=torch.Generator().manual_seed(0)).double()
    x[0, ::5] = torch.nan
    dims = ({0: torch.export.Dim("rows"), 1: torch.export.Dim("size")},)
    program = plumbline.compile(_All(), (x,), dims)
    for size in (*range(20), 31, 32, 33, 50):
        part = x[:, :size].contiguous()
        for inputs in (part, part.t().contiguous()):
            for actual, expected in zip(program(inputs), _All()(inputs), strict=True):
                torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_short_rows_of_narrow_floats(dtype: torch.dtype) -> None:
    """Zeros of either sign are equal, and keep it; all that is no number is."""
    x = torch.randn(40, 33, generator=torch.Generator().manual_seed(0)).to(dtype)
    special = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), -float("nan"), 6e-8, -6e-8]
    x[:, ::4] = torch.tensor(special, dtype=dtype).repeat(45).reshape(40, 9)
    program = plumbline.compile(_All(), (x,))
    results = list(zip(program(x), _All()(x), strict=True))
    for actual, expected in results:
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)
    for number in (0, 2):
        actual, expected = results[number]
        is_number = ~expected.isnan()
        assert torch.equal(actual.signbit() & is_number, expected.signbit() & is_number)


def test_all_of_rows_of_which_the_first_are_read_as_well() -> None:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            values = x.sort(1).values
            return values, values[:, :3] * 2

    x = torch.randn(5, 40, generator=torch.Generator().manual_seed(0))
    program = plumbline.compile(Program(), (x,))
    for actual, expected in zip(program(x), Program()(x), strict=True):
        assert torch.equal(actual, expected)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
