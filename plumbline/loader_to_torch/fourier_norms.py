"""The scale of unitary Fourier transforms, for any size of what they transform."""

import contextlib
from collections.abc import Callable
from unittest import mock

import torch
from torch._refs import fft


def norms_of_fourier_transforms() -> contextlib.AbstractContextManager[object]:
    """Has what is exported meanwhile compute the scale of `norm="ortho"` from dynamic sizes.

    PyTorch takes a root of Python's for it, which holds for the example's sizes alone.
    """
    return mock.patch.object(fft, "_apply_norm", _apply_norm)


_of_numbers: Callable[..., torch.Tensor] = fft._apply_norm


def _apply_norm(
    x: torch.Tensor, norm: str | None, signal_numel: int, forward: bool
) -> torch.Tensor:
    """The transform in a norm, of one that is not scaled."""
    if norm != "ortho" or isinstance(signal_numel, int):
        return _of_numbers(x, norm, signal_numel, forward)
    return x * torch.rsqrt(torch.full((), signal_numel, dtype=torch.float64))
