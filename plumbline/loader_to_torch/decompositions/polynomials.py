"""Polynomials whose products and sums need not be rounded one by one, as PyTorch's ops are.

They are an op of our own, `plumbline::polynomial`, of which the conversion to TCP knows.
"""

from collections.abc import Sequence

import torch
from torch.library import define, impl, register_fake

_NAME = "plumbline::polynomial"


def _polynomial(variable: torch.Tensor, coefficients: Sequence[float]) -> torch.Tensor:
    *others, last = coefficients
    result = torch.full_like(variable, last)
    for coefficient in reversed(others):
        result = result * variable + coefficient
    return result


define(_NAME, "(Tensor variable, float[] coefficients) -> Tensor")
impl(_NAME, "CPU")(_polynomial)
register_fake(_NAME, lambda variable, coefficients: torch.empty_like(variable))

POLYNOMIAL = torch.ops.plumbline.polynomial.default


def polynomial(variable: torch.Tensor, coefficients: Sequence[float]) -> torch.Tensor:
    """The sum of coefficients times powers of a variable, from the constant on."""
    result: torch.Tensor = POLYNOMIAL(variable, list(coefficients))
    return result
