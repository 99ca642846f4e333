"""The exponential of a matrix: of a part of it by Taylor's series, and of the whole by squarings.

(Higham, Functions of Matrices, chapter 10.) In double precision, as each squaring doubles an error.
"""

import math

import torch
from torch._higher_order_ops.while_loop import while_loop_op

from plumbline.loader_to_torch.decompositions import matrices
from plumbline.loader_to_torch.decompositions.loops import contiguous
from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

_BLOCKS = 4
"""Of as many powers each: 16 terms take 6 products (Paterson and Stockmeyer, "On the number of
nonscalar multiplications necessary to evaluate polynomials", 1973)."""

_NEAR = {torch.float32: 2.0, torch.float64: 0.75}
"""Up to which 1-norm what the series leaves out, x^17 / 17! of x, is less than 2^-32 and 2^-54."""

_MOST_SQUARINGS = 1023
"""2^-1023 is the least factor that another one can undo."""


def _matrix_exp(matrix: torch.Tensor) -> torch.Tensor:
    if 0 in matrix.shape:
        return matrix.clone()
    wide = matrices.wide(matrix)
    near = _NEAR.get(matrix.dtype.to_real(), _NEAR[torch.float32])
    norm = wide.abs().sum(-2, keepdim=True).amax(-1, keepdim=True)
    halvings = torch.ceil(torch.log2(norm / near)).clamp(0, _MOST_SQUARINGS)
    squarings = torch.where((norm > near) & norm.isfinite(), halvings, 0.0)
    # As in PyTorch: of what is infinite there is no exponential.
    scale = torch.where(norm.isfinite(), torch.exp2(-squarings), torch.nan)
    size = matrix.shape[-1]
    part = _series(wide * scale) + matrices.unit(size, size, wide.dtype)
    return _squared(part, squarings).to(matrix.dtype)


def _series(matrix: torch.Tensor) -> torch.Tensor:
    """The sum of all A^k / k! from 1 to 16."""
    second = matrix @ matrix
    powers = [matrix, second, second @ matrix, second @ second]
    total: torch.Tensor | None = None
    for block in reversed(range(_BLOCKS)):
        factors = [1 / math.factorial(block * _BLOCKS + number) for number in range(1, _BLOCKS + 1)]
        first, *others = [factor * power for factor, power in zip(factors, powers, strict=True)]
        terms = sum(others, first)
        total = terms if total is None else terms + powers[-1] @ total
    assert total is not None
    return total


def _squared(part: torch.Tensor, squarings: torch.Tensor) -> torch.Tensor:
    """Each matrix after so many squarings of it."""

    def goes_on(step: torch.Tensor, power: torch.Tensor, squarings: torch.Tensor) -> torch.Tensor:
        return step < squarings.amax()

    def turn(
        step: torch.Tensor, power: torch.Tensor, squarings: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        return step + 1, torch.where(step < squarings, power @ power, power)

    start = torch.zeros((), dtype=squarings.dtype), contiguous(part)
    _, power = while_loop_op(goes_on, turn, start, (squarings,))  # type: ignore[arg-type]
    result: torch.Tensor = power
    return result


RULES: Rules = {aten.linalg_matrix_exp.default: _matrix_exp}
