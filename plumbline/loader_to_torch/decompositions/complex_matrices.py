"""Values of complex matrices, by those of real ones of twice the size.

(A + iB) (x + iy) is A x - B y and B x + A y. The matrix of both has each singular value of the
complex one twice, and each eigenvalue of a Hermitian one.
"""

from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.complex_numbers import complex_rule, parts
from plumbline.loader_to_torch.decompositions.rule import Conditional, Rules

aten = torch.ops.aten


def _eigenvalues(matrix: torch.Tensor, UPLO: str = "L") -> torch.Tensor:  # noqa: N803
    """Of the Hermitian matrix that one triangle tells of. Vectors of equal ones may be any."""
    triangle = matrix.mH if UPLO.upper() == "U" else matrix
    below = triangle.tril(-1)
    diagonal = torch.diag_embed(torch.diagonal(torch.real(triangle), dim1=-2, dim2=-1))
    values: torch.Tensor = torch.linalg.eigvalsh(_doubled(below + below.mH + diagonal))
    return values[..., ::2]


def _singular_values(matrix: torch.Tensor, *, driver: str | None = None) -> torch.Tensor:
    values: torch.Tensor = torch.linalg.svdvals(_doubled(matrix))
    return values[..., ::2]


def _doubled(matrix: torch.Tensor) -> torch.Tensor:
    """The real matrix that does to the parts of a vector, one above the other, the same."""
    real, imaginary = parts(matrix)
    upper = torch.cat([real, -imaginary], -1)
    return torch.cat([upper, torch.cat([imaginary, real], -1)], -2)


def _has_complex_dtype(*_: Any, dtype: torch.dtype | None = None, **__: Any) -> bool:
    return dtype is not None and dtype.is_complex


def _eye(*sizes: int, dtype: torch.dtype, **options: Any) -> torch.Tensor:
    return torch.eye(*sizes, dtype=dtype.to_real(), **options).to(dtype)


RULES: Rules = {
    aten.eye.default: Conditional(_has_complex_dtype, _eye),
    aten.eye.m: Conditional(_has_complex_dtype, _eye),
    aten.linalg_eigvalsh.default: complex_rule(_eigenvalues),
    aten.linalg_svdvals.default: complex_rule(_singular_values),
}
