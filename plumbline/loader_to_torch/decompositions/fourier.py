"""Fourier transforms whose operand and result are real.

As products with matrices of cosines and sines, a complex number being a pair of real ones: the work
grows with the square of a size. Others have complex operands or results, which no stage has a
type for.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch._decomp import get_decompositions

from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten

_Pair = tuple[torch.Tensor, torch.Tensor]
"""Real and imaginary parts."""


def _half_to_real(*, inverse: bool) -> Rule:
    """The transform of half of a spectrum that has a symmetry, along one dimension."""
    several = _half_to_real_along(inverse=inverse)

    def decomposed(
        operand: torch.Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
    ) -> Any:
        return several(operand, None if n is None else [n], [dim], norm)

    return decomposed


def _half_to_real_along(*, inverse: bool, last_two: bool = False) -> Rule:
    """The same along several dimensions, of which the last is the one that is halved."""

    def decomposed(
        operand: torch.Tensor,
        s: Sequence[int] | None = None,
        dim: Sequence[int] | None = (-2, -1) if last_two else None,
        norm: str | None = None,
    ) -> Any:
        if operand.is_complex():
            return NotImplemented
        rank = operand.dim()
        if dim is None:
            dim = range(rank) if s is None else range(rank - len(s), rank)
        dims = [axis % rank for axis in dim]
        sizes = [operand.shape[axis] for axis in dims]
        sizes[-1] = 2 * (sizes[-1] - 1)
        if s is not None:
            sizes = [own if size == -1 else size for own, size in zip(sizes, s, strict=True)]
        # Of the angles all but those of the last dimension go in this direction.
        sign = 1 if inverse else -1
        real = operand.to(torch.float64)
        pair = real, torch.zeros_like(real)
        for axis, size in zip(dims[:-1], sizes[:-1], strict=True):
            pair = _transform(pair, axis, size, sign)
        result = _to_real(pair, dims[-1], sizes[-1], sign)
        return (result * _scale(math.prod(sizes), norm, inverse=inverse)).to(
            operand.dtype if operand.is_floating_point() else torch.get_default_dtype()
        )

    return decomposed


def _scale(count: int, norm: str | None, *, inverse: bool) -> float:
    if norm == "ortho":
        return 1 / math.sqrt(count)
    divides = inverse if norm in (None, "backward") else not inverse
    return 1 / count if divides else 1.0


def _angles(count: int, size: int) -> torch.Tensor:
    """2 pi j k / size, of `count` frequencies j and of all places k."""
    j = torch.arange(count, dtype=torch.float64).unsqueeze(-1)
    # Of whole turns nothing remains but roundings.
    return torch.remainder(j * torch.arange(size, dtype=torch.float64), size) * (2 * math.pi / size)


def _resize(operand: torch.Tensor, size: int) -> torch.Tensor:
    """The last dimension cut off, or filled up with zeros."""
    have = operand.shape[-1]
    if have >= size:
        return operand[..., :size]
    return torch.nn.functional.pad(operand, (0, size - have))


def _transform(pair: _Pair, axis: int, size: int, sign: int) -> _Pair:
    real, imaginary = (_resize(part.movedim(axis, -1), size) for part in pair)
    angles = _angles(size, size)
    cos, sin = torch.cos(angles), torch.sin(angles) * sign
    turned = real @ cos - imaginary @ sin, real @ sin + imaginary @ cos
    return turned[0].movedim(-1, axis), turned[1].movedim(-1, axis)


def _to_real(pair: _Pair, axis: int, size: int, sign: int) -> torch.Tensor:
    """The transform along the dimension of which the other half is the conjugate of this one."""
    count = size // 2 + 1
    real, imaginary = (_resize(part.movedim(axis, -1), count) for part in pair)
    # All stand for two, but the first, and the last if it is in the middle.
    weights = torch.full((count,), 2.0, dtype=torch.float64)
    places = torch.arange(count)
    weights = torch.where((places == 0) | (2 * places == size), 1.0, weights)
    angles = _angles(count, size)
    weights = weights.unsqueeze(-1)
    # The conjugate of a sum is the sum of the conjugates: to real parts both signs are one, but
    # for that of the imaginary ones.
    result = real @ (torch.cos(angles) * weights) - imaginary @ (torch.sin(angles) * weights * sign)
    return result.movedim(-1, axis)


RULES: Rules = {
    **get_decompositions([aten.fft_fftshift, aten.fft_ifftshift]),
    aten.fft_hfft.default: _half_to_real(inverse=False),
    aten.fft_hfft2.default: _half_to_real_along(inverse=False, last_two=True),
    aten.fft_hfftn.default: _half_to_real_along(inverse=False),
    aten.fft_irfft.default: _half_to_real(inverse=True),
    aten.fft_irfft2.default: _half_to_real_along(inverse=True, last_two=True),
    aten.fft_irfftn.default: _half_to_real_along(inverse=True),
}
