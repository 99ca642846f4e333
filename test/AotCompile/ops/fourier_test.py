"""Fourier transforms, compiled, against PyTorch."""

import re
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch._higher_order_ops.map import map as map_rows
from torch.export import Dim

import plumbline

C64, C128 = torch.complex64, torch.complex128


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x)


def _check(
    function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, *, dynamic: bool = False
) -> None:
    """Compares with errors of roundings, in units of the numbers that are added up."""
    shapes = {"x": {0: Dim("batch", max=64)}} if dynamic else None
    program = plumbline.compile(_Of(function), (x,), shapes)
    for given in (x, x[:2].clone()) if dynamic else (x,):
        (actual,), expected = program(given), function(given)
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        epsilon = 1e-6 if expected.dtype in (C64, torch.float32) else 1e-14
        assert (actual - expected).abs().max() <= epsilon * expected.abs().max()


_HALF = torch.fft.rfft


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.fft.fft(x, dim=1),
        lambda x: torch.fft.ifft(torch.fft.fft(x, dim=1), dim=1),
        lambda x: _HALF(x, dim=1, norm="forward"),
        lambda x: torch.fft.ifft(x, dim=1, norm="ortho"),
        lambda x: torch.fft.irfft(_HALF(x, dim=1), n=x.shape[1], dim=1),
        lambda x: torch.fft.irfft2(torch.fft.rfft2(x), s=x.shape[-2:]),
        lambda x: torch.fft.fftn(x, dim=(1, 2)).real,
        lambda x: torch.fft.fftshift(x, 1),
    ],
)
def test_sizes_that_differ_from_call_to_call(
    function: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    torch.manual_seed(0)
    shapes = {"x": {0: Dim("batch"), 1: Dim("size")}}
    program = plumbline.compile(_Of(function), (torch.randn(2, 8, 6),), shapes)
    for size in (8, 1, 2, 33):
        x = torch.randn(3, size, 6)
        (actual,), expected = program(x), function(x)
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        assert (actual - expected).abs().max() <= 1e-6 * expected.abs().max()


@pytest.mark.parametrize(
    ("function", "of_numpy", "x"),
    [
        (
            lambda x: torch.fft.fft(x, dim=1),
            lambda x: np.fft.fft(x, axis=1),
            torch.randn(2, 100, 3),
        ),
        (torch.fft.ifft, np.fft.ifft, torch.randn(2, 100, dtype=C128)),
    ],
)
def test_large_sizes_that_differ_from_call_to_call(
    function: Callable[[torch.Tensor], torch.Tensor],
    of_numpy: Callable[[np.ndarray], np.ndarray],
    x: torch.Tensor,
) -> None:
    """They are products of small primes, with larger ones, or have one that is too large.

    Numbers are held against NumPy's: those of the MKL that PyTorch has are 1.5e-14 from the exact
    ones for 3721 elements on Intel's processors, 20 times as far as ours.
    """
    torch.manual_seed(0)
    program = plumbline.compile(_Of(function), (x,), {"x": {0: Dim("batch"), 1: Dim("size")}})
    # With 48 rows and more there are lanes enough for vectors, with others a matrix has columns.
    for batch, size in (
        *((2, 100), (1, 2048), (48, 2048), (2, 263), (48, 263), (2, 5040), (48, 360)),
        *((2, 65), (48, 61), (1, 3721), (2, 67), (3, 22), (2, 7), (1, 1)),
    ):
        given = torch.randn(batch, size, *x.shape[2:], dtype=x.dtype)
        (actual,), expected = program(given), function(given)
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        exact = torch.from_numpy(
            of_numpy(given.to(torch.promote_types(x.dtype, torch.float64)).numpy())
        )
        epsilon = 1e-6 if expected.dtype == C64 else 2e-15
        assert (actual - exact).abs().max() <= epsilon * exact.abs().max()


def test_sizes_that_values_decide() -> None:
    def spectrum(x: torch.Tensor) -> torch.Tensor:
        positive = x[x > 0]
        torch._check(positive.shape[0] >= 2)  # type: ignore[no-untyped-call]
        result: torch.Tensor = torch.fft.fft(positive)
        return result

    torch.manual_seed(0)
    program = plumbline.compile(_Of(spectrum), (torch.randn(300),))
    for x in (torch.randn(300), torch.rand(300)):
        torch.testing.assert_close(program(x)[0], spectrum(x), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("size", [1, 6, 16, 100, 127, 263, 1024])
def test_sizes(size: int) -> None:
    torch.manual_seed(0)
    _check(torch.fft.fft, torch.randn(3, size, dtype=C64), dynamic=True)


@pytest.mark.parametrize("dtype", [C64, C128])
def test_family(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    z = torch.randn(3, 6, 20, dtype=dtype)
    _check(lambda x: torch.fft.ifft(x, norm="ortho"), z)
    _check(lambda x: torch.fft.irfft(x, 31), z)
    _check(lambda x: torch.fft.hfft(x, dim=1), z)
    _check(lambda x: torch.fft.hfft2(x), z)
    _check(lambda x: torch.fft.ihfft2(x), z.real.clone())
    _check(lambda x: torch.fft.ihfftn(x, dim=(1,)), z.real.clone())
    _check(lambda x: torch.fft.fft2(x), z)
    _check(lambda x: torch.fft.ifftn(x, norm="forward"), z)
    _check(lambda x: torch.fft.rfft2(x), z.real.clone())
    _check(lambda x: torch.fft.irfft2(x), z)
    _check(lambda x: torch.fft.fftshift(torch.fft.fft(x, 15, dim=1), dim=(1, 2)), z, dynamic=True)


def test_short_time_transforms() -> None:
    torch.manual_seed(0)
    window = torch.hann_window(40)
    signal = torch.randn(3, 500)

    def there(x: torch.Tensor) -> torch.Tensor:
        return torch.stft(x, 40, 15, window=window, return_complex=True)

    _check(there, signal, dynamic=True)
    _check(lambda x: there(x).abs(), signal)
    _check(lambda x: torch.istft(there(x), 40, 15, window=window, length=480), signal)
    _check(lambda x: torch.stft(x, 40, 15, 30, window[:30], return_complex=True), signal)


def test_within_a_loop() -> None:
    """The body has the roots handed to it."""

    def spectra(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = map_rows(torch.fft.rfft, x)
        return result

    _check(spectra, torch.randn(3, 20))


@pytest.mark.parametrize("size", [1, 6, 7])
def test_frequencies(size: int) -> None:
    class Frequencies(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (
                torch.fft.fftfreq(size, 0.3) + x,
                torch.fft.rfftfreq(size, 0.7),
                torch.fft.fftfreq(size, dtype=torch.float64),
            )

    x = torch.zeros(())
    program = plumbline.compile(Frequencies(), (x,))
    torch.testing.assert_close(program(x), Frequencies()(x), rtol=0, atol=0)


def test_the_roots_are_constants() -> None:
    program = plumbline.compile(_Of(torch.fft.fft), (torch.randn(8, 60, dtype=C64),))
    torch_stage, tcp = program.stage("torch"), program.stage("tcp")
    assert "turns_6_10_0_0_float32" in torch_stage
    assert "cos" not in tcp
    # What rows are multiplied by at once is a literal, of which a kernel makes additions.
    assert "butterfly" not in tcp
    assert program.weight_bytes == 2 * 2 * 60 * 4


@pytest.mark.parametrize(
    ("function", "x", "kernels"),
    [
        (torch.fft.fft, torch.ones(8, 1024, dtype=C64), 1),
        (torch.fft.irfft, torch.ones(8, 513, dtype=C64), 1),
        (lambda x: torch.fft.fft(x, dim=0), torch.ones(256, 32, dtype=C64), 1),
        # The first and the last result are computed by themselves.
        (torch.fft.rfft, torch.ones(8, 1024), 5),
    ],
)
def test_one_kernel_does_all_steps(
    function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, kernels: int
) -> None:
    """It goes over memory once, and each loop along what is contiguous."""
    program = plumbline.compile(_Of(function), (x,))
    stage = program.stage("kernels")
    assert len(re.findall(r"^    call @", stage, re.MULTILINE)) == kernels
    assert len(re.findall(r"call @\w*product\w*\(", stage)) == 1
    assert "arith.divui" not in stage
    assert "arith.remui" not in stage


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
