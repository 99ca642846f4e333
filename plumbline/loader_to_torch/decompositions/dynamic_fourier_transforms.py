"""Fourier transforms of complex numbers, of sizes that are only known as the program runs.

A size of few numbers is a product with a matrix. Others are an op of our own,
`plumbline::fourier_transform`, of which the conversion to TCP knows: PyTorch takes ten times as
long to trace what that makes of one.
"""

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.library import define, impl, register_fake

from plumbline.loader_to_torch.decompositions.fourier_transforms import SIGNS, product, roots

_FEW = 64
"""So many numbers are multiplied by a matrix at once."""

_NAME = "plumbline::fourier_transform"


def _transformed(numbers: torch.Tensor, sign: int) -> torch.Tensor:
    real, imaginary = numbers.unbind(1) if numbers.shape[1] == 2 else (numbers.squeeze(1), 0)
    values = torch.complex(real, torch.zeros_like(real) + imaginary)
    if sign < 0:
        return torch.view_as_real(torch.fft.fft(values, dim=1))
    return torch.view_as_real(torch.fft.ifft(values, dim=1, norm="forward"))


def _like_result(numbers: torch.Tensor, sign: int) -> torch.Tensor:
    outer, _, size, inner = numbers.shape
    return numbers.new_empty((outer, size, inner, 2))


define(_NAME, "(Tensor numbers, int sign) -> Tensor")
impl(_NAME, "CPU")(_transformed)
register_fake(_NAME, _like_result)

FOURIER_TRANSFORM = torch.ops.plumbline.fourier_transform.default


def transform(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """The transform of [outer, part, j, inner], as [outer, k, inner, part]."""
    if _is_few(numbers.shape[2]):
        return _multiplied(numbers, way)
    result: torch.Tensor = FOURIER_TRANSFORM(numbers, SIGNS[way])
    return result


def _is_few(size: int) -> bool:
    """Whether a size is small, or that of the example is, which others are taken to be like."""
    if not isinstance(size, torch.SymInt):
        return size <= _FEW
    hint = int(size.node.hint) if size.node.has_hint() else None
    return statically_known_true(size <= _FEW) or (hint is not None and hint <= _FEW)


def _multiplied(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """By a matrix, at once."""
    outer, given, size, inner = numbers.shape
    places = torch.arange(size)
    circle = _circle(size, way).to(numbers.dtype)
    matrix = circle[:, :, places[:, None] * places % size][:given].transpose(1, 2)
    matrix = matrix.reshape(given * size, 2 * size)
    result = product(numbers.reshape(outer, given * size, inner), matrix)
    return torch.stack(result.reshape(outer, 2, size, inner).unbind(1), -1)


def _circle(size: int, way: int) -> torch.Tensor:
    """The roots e^(+-2 pi i j / size), as [old part, new part, j]."""
    cos, sin = roots(SIGNS[way] * torch.arange(size), size).unbind(-1)
    return torch.stack([torch.stack([cos, sin]), torch.stack([-sin, cos])])
