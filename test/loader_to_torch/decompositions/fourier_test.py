"""What Fourier transforms are made of, against PyTorch's and numbers in float64."""

import sys
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from plumbline.loader_to_torch.decompositions import (
    decomposition_table,
    fourier,
    fourier_transforms,
)

aten, prims = torch.ops.aten, torch.ops.prims
TABLE = decomposition_table()
C64, C128, F64 = torch.complex64, torch.complex128, torch.float64


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def _factors(size: int, lanes: int = 1) -> list[int]:
    """What a size is taken apart into; a convolution is a 0, and then what its size is."""
    plan = fourier_transforms.plan_of(size, lanes)
    return (
        [0, *_factors(fourier_transforms._convolved(size), lanes)]
        if plan is None
        else list(plan[1])
    )


@pytest.mark.parametrize("length", [0, 1, 2, 9, 10])
@pytest.mark.parametrize(
    ("op", "parameters"),
    [
        (aten.bartlett_window, ()),
        (aten.blackman_window, ()),
        (aten.hamming_window, (0.6, 0.3)),
        (aten.kaiser_window, (8.0,)),
    ],
    ids=str,
)
def test_windows(op: Any, parameters: tuple[float, ...], length: int) -> None:
    for arguments in ((), (True,), (False,), (False, *parameters)):
        windows = [getattr(op, name) for name in op.overloads() if not name.endswith("out")]
        fitting = next(
            each for each in windows if len(each._schema.arguments) == 5 + len(arguments)
        )
        for dtype in (torch.float32, F64):
            actual = TABLE[fitting](length, *arguments, dtype=dtype)
            torch.testing.assert_close(actual, fitting(length, *arguments, dtype=dtype))


@pytest.mark.parametrize(
    ("size", "factors"),
    [
        (1, []),
        (32, [8, 4]),
        (64, [8, 8]),
        (100, [10, 5, 2]),
        (128, [8, 16]),
        (251, [251]),
        (400, [16, 5, 5]),
        (512, [8, 4, 16]),
        (1024, [8, 8, 16]),
        (65536, [16, 16, 16, 16]),
        (257, [0, 9, 2, 5, 6]),
    ],
)
def test_how_sizes_are_taken_apart(size: int, factors: list[int]) -> None:
    assert _factors(size) == factors


@pytest.mark.parametrize(
    ("size", "lanes", "factors"), [(32, 64, [2, 16]), (64, 64, [4, 16]), (512, 64, [2, 16, 16])]
)
def test_lanes_let_great_factors_come_first(size: int, lanes: int, factors: list[int]) -> None:
    assert _factors(size, lanes) == factors


@pytest.mark.parametrize(("size", "count"), [(8, 3), (12, 4), (16, 5), (24, 7)])
def test_roots_are_equal_but_for_signs_to_the_last_bit(size: int, count: int) -> None:
    roots = fourier_transforms.roots(torch.arange(size), size)
    assert len({*roots.abs().flatten().tolist()}) == count
    expected = torch.exp(2j * torch.pi * torch.arange(size, dtype=F64) / size)
    torch.testing.assert_close(torch.view_as_complex(roots), expected)


_SIZES = (1, 2, 3, 7, 16, 60, 127, 128, 210, 257, 400, 1000, 1009, 1024, 2 * 263, 4096, 44100)


@pytest.mark.parametrize("size", _SIZES)
def test_errors_are_as_small_as_pytorchs(size: int) -> None:
    operand = torch.randn(2, size, dtype=C64)
    exact = torch.fft.fft(operand.to(C128))
    ours = TABLE[prims.fft_c2c.default](operand, dim=[1], forward=True)
    errors = [(result - exact).abs().square().mean() for result in (ours, torch.fft.fft(operand))]
    assert ours.dtype == C64
    # Both are of the order of roundings; where PyTorch's own is 0, as for one number, so is this.
    assert errors[0] <= 4 * errors[1]


@pytest.mark.parametrize("size", _SIZES)
def test_transforms_in_double(size: int) -> None:
    operand = torch.randn(2, size, 3, dtype=C128)
    scale = size**0.5
    for forward in (True, False):
        actual = TABLE[prims.fft_c2c.default](operand, dim=[1], forward=forward)
        expected = prims.fft_c2c(operand, dim=[1], forward=forward)
        torch.testing.assert_close(actual / scale, expected / scale, rtol=0, atol=1e-13)
    for onesided in (True, False):
        actual = TABLE[prims.fft_r2c.default](operand.real, dim=[1], onesided=onesided)
        expected = prims.fft_r2c(operand.real, dim=[1], onesided=onesided)
        torch.testing.assert_close(actual / scale, expected / scale, rtol=0, atol=1e-13)
    half = operand[:, : size // 2 + 1]
    actual = TABLE[prims.fft_c2r.default](half, dim=[1], last_dim_size=size)
    expected = prims.fft_c2r(half, dim=[1], last_dim_size=size)
    torch.testing.assert_close(actual / scale, expected / scale, rtol=0, atol=1e-13)


@pytest.mark.parametrize("normalization", [0, 1, 2])
def test_transforms_of_aten(normalization: int) -> None:
    operand = torch.randn(3, 4, 10, dtype=C128)
    for op, given, last in (
        (aten._fft_c2c.default, operand, True),
        (aten._fft_c2c.default, operand, False),
        (aten._fft_r2c.default, operand.real, True),
        (aten._fft_r2c.default, operand.real, False),
    ):
        for dims in ([2], [0, 2], [2, 1]):
            arguments = (given, dims, normalization, last)
            torch.testing.assert_close(TABLE[op](*arguments), op(*arguments))
    for dims, sizes in (([2], (18, 19)), ([0, 2], (18, 19)), ([2, 1], (6, 7))):
        for size in sizes:
            op = aten._fft_c2r.default
            actual = TABLE[op](operand, dims, normalization, size)
            torch.testing.assert_close(actual, op(operand, dims, normalization, size))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize(
    "name",
    [
        "fft",
        "ifft",
        "rfft",
        "irfft",
        "hfft",
        "ihfft",
        "fft2",
        "rfft2",
        "irfftn",
        "ihfft2",
        "ihfftn",
    ],
)
def test_norms_sizes_and_dimensions(name: str, norm: str | None) -> None:
    op = getattr(aten, f"fft_{name}").default
    operand: Any = torch.randn(3, 4, 5, dtype=C128)
    if name in ("rfft", "rfft2", "ihfft", "ihfft2", "ihfftn"):
        operand = operand.real
    several = name[-1] in "2n"
    sizes = ([4, 7], None) if several else (None, 1, 4, 7, 12)
    for size in sizes:
        arguments = (operand, size, [0, 1] if several else 1, norm)
        with _ByRules():  # type: ignore[no-untyped-call]
            actual = TABLE[op](*arguments)
        torch.testing.assert_close(actual, op(*arguments))


class _ByRules(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Computes the transforms that PyTorch's decompositions leave by rules."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        op = fourier.RULES[func] if str(func).startswith("prims.fft") else func
        return op(*args, **(kwargs or {}))


@pytest.mark.parametrize(("size", "step"), [(8, 2), (8, 8), (7, 3), (5, 1), (4, 6)])
def test_frames_that_overlap_are_added(size: int, step: int) -> None:
    frames = torch.randn(2, 6, size)
    length = 5 * step + size
    op = aten.unfold_backward.default
    for dim in (1, -1):
        arguments = (frames, [2, length], dim, size, step)
        torch.testing.assert_close(TABLE[op](*arguments), op(*arguments))
    # Of another dimension, and with a rest that no frame reaches.
    arguments = (torch.randn(6, 2, 3, size), [length + step - 1, 2, 3], 0, size, step)
    torch.testing.assert_close(TABLE[op](*arguments), op(*arguments))
    # Of one row, for all.
    arguments = (frames[:1], [2, length], 1, size, step)
    torch.testing.assert_close(TABLE[op](*arguments), op(*arguments))


def test_sizes_that_are_not_known_are_left() -> None:
    assert TABLE[prims.fft_c2c.default](torch.zeros(0, 4), dim=[1], forward=True) is NotImplemented


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
