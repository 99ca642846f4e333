"""The error function's scaled complement and inverse, and the normal distribution's functions."""

import functools
import math
from collections.abc import Callable

import torch

from plumbline.loader_to_torch.decompositions import chebyshev_expansions as chebyshev
from plumbline.loader_to_torch.decompositions.rule import (
    Rules,
    in_double_within,
    in_single_or_double,
)

aten = torch.ops.aten


def _erfcx_from_0(x: torch.Tensor, error: float) -> torch.Tensor:
    """exp(x^2) erfc(x), for x of at least 0."""
    t = 4 / (4 + x)
    return chebyshev.ERFCX(t, error) * t


def _erfcx(x: torch.Tensor, error: float) -> torch.Tensor:
    right = _erfcx_from_0(x.abs(), error)
    # The reflection erfc(-x) = 2 - erfc(x).
    return torch.where(x < 0, 2 * torch.exp(x * x) - right, right)


def _log_ndtr(x: torch.Tensor, error: float) -> torch.Tensor:
    """The logarithm of the normal distribution's share below x."""
    scaled = x * math.sqrt(0.5)
    left = torch.log(_erfcx_from_0(scaled.abs(), error) * 0.5) - scaled * scaled
    return torch.where(x < -1, left, torch.log1p(torch.erfc(scaled) * -0.5))


def _erfinv_ratio(w: torch.Tensor, error: float) -> torch.Tensor:
    """erfinv(x) / x, of w = -log(1 - x^2); as far as float64 goes, which is 746."""
    root = torch.sqrt(w)
    far = torch.where(
        root > 6,
        chebyshev.ERFINV_ROOT_W_BELOW_28(root, error),
        chebyshev.ERFINV_ROOT_W_BELOW_6(root, error),
    )
    return torch.where(w > 6.25, far, chebyshev.ERFINV_W_BELOW_6(w, error))


def _erfinv_ratio_of_single(w: torch.Tensor) -> torch.Tensor:
    """The same, as far as float32 goes below 1, which is 16, and as exact as it shows."""
    far = chebyshev.ERFINV_ROOT_W_BELOW_6(torch.sqrt(w), 2e-8)
    return torch.where(w > 6.25, far, chebyshev.ERFINV_W_BELOW_6(w, 1e-8))


def _erfinv(ratio: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    def erfinv(x: torch.Tensor) -> torch.Tensor:
        # Near 0 it is no more exact than 1 is, nor has to be. NaN beyond 1, where the logarithm is.
        w = -torch.log((1 - x) * (1 + x))
        return torch.where(x.abs() == 1, x * math.inf, x * ratio(w))

    return erfinv


def _ndtri(p: torch.Tensor, error: float) -> torch.Tensor:
    """The number that the normal distribution has the share p below: sqrt(2) erfinv(2 p - 1).

    By the distance from the nearer end, since 2 p - 1 keeps too little of a small p.
    """
    tail = torch.where(p > 0.5, 1 - p, p)
    x = 1 - 2 * tail
    w = -torch.log(4 * tail * (1 - tail))
    size = math.sqrt(2) * x * _erfinv_ratio(w, error)
    size = torch.where(tail == 0, math.inf, size)
    return torch.where(p > 0.5, size, -size)


RULES: Rules = {
    op.default: in_double_within(function)
    for op, function in (
        (aten.special_erfcx, _erfcx),
        (aten.special_log_ndtr, _log_ndtr),
        (aten.special_ndtri, _ndtri),
    )
} | {
    aten.erfinv.default: in_single_or_double(
        _erfinv(_erfinv_ratio_of_single), _erfinv(functools.partial(_erfinv_ratio, error=0.0))
    )
}
