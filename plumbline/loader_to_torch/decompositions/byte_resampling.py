"""Images of bytes of other sizes, as PyTorch computes them on CPUs: with whole numbers.

Weights are multiples of a power of 2, of at most 16 bits. An axis is done after the other, and what
the first gives are bytes again. So has Pillow it.
"""

from collections.abc import Callable, Sequence

import torch

from plumbline.loader_to_torch.decompositions.resampling_weights import Taps

_MOST_DIGITS = 22
"""Of the weights, behind the point."""


def resampled_bytes(
    image: torch.Tensor,
    output_size: Sequence[int],
    taps: Callable[[int, torch.dtype], Taps],
) -> torch.Tensor:
    """An image [..., height, width] of uint8 of another size.

    Args:
      image: the image.
      output_size: the new height and width.
      taps: what counts along an axis, -2 or -1, with weights in a dtype.
    """
    for axis in (-1, -2):
        if image.shape[axis] == output_size[axis]:
            continue
        found = taps(axis, torch.float64)
        digits = _digits(found.weights)
        scaled = found.weights * _power_of_2(digits).to(torch.float64)
        # Away from 0 where two are as near.
        whole = (scaled + torch.where(scaled < 0, -0.5, 0.5)).to(torch.int32)
        half = _power_of_2(digits - 1)
        sums = Taps(found.places, whole).sums(image.to(torch.int32), axis)
        image = torch.clamp((sums + half) >> digits, 0, 255).to(torch.uint8)
    return image


def _digits(weights: torch.Tensor) -> torch.Tensor:
    """How many digits all weights have behind the point, so that the greatest fits 16 bits."""
    digits = torch.arange(1, _MOST_DIGITS + 1, dtype=torch.int32)
    scaled = weights.max() * _power_of_2(digits).to(torch.float64) + 0.5
    return (scaled < 2**15).sum(dtype=torch.int32)


def _power_of_2(exponents: torch.Tensor) -> torch.Tensor:
    return torch.ones((), dtype=torch.int32) << exponents
