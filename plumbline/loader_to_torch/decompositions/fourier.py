"""Fourier transforms of any size.

PyTorch's own decompositions take care of sizes, norms and dimensions and leave three transforms,
from complex to complex numbers and between real and complex ones. Real numbers of an even size are
half as many complex ones.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import _refs
from torch._decomp import get_decompositions

from plumbline.loader_to_torch.decompositions import dynamic_fourier_transforms, fourier_transforms
from plumbline.loader_to_torch.decompositions.complex_numbers import parts
from plumbline.loader_to_torch.decompositions.constant_tables import constant_table
from plumbline.loader_to_torch.decompositions.fourier_transforms import (
    BACKWARD,
    F64,
    FORWARD,
    LANES,
    SIGNS,
    dense,
    matrix_of,
    plan_of,
    product,
    roots,
)
from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten
prims = torch.ops.prims

_SHORT = 64
"""Rows of so many real numbers are multiplied by a matrix at once."""

# Tables. Those of complex numbers have real and imaginary parts along an axis.


@constant_table
def _matrix_to_real(size: int) -> torch.Tensor:
    """The roots e^(2 pi i j k / size), as [old part and k, j], for half of the k.

    Those that have conjugates in the other half count for these, too.
    """
    places = torch.arange(size // 2 + 1)
    weights = torch.where((places == 0) | (2 * places == size), 1, 2)
    matrix = dense(size, 2, BACKWARD)[:, : size // 2 + 1, 0] * weights[:, None]
    return matrix.reshape(-1, size)


@constant_table
def _half_circle(size: int, part: int, way: int) -> torch.Tensor:
    """A part of e^(+-2 pi i k / size) up to where that is -1, as [k, inner]."""
    return roots(SIGNS[way] * torch.arange(size // 2), size)[:, part, None]


@constant_table
def _all_but_first(size: int) -> torch.Tensor:
    """A zero and ones, as [k, inner]."""
    return (torch.arange(size) > 0).to(F64)[:, None]


def _transform(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """The transform of [outer, part, j, inner], as [outer, k, inner, part]."""
    if isinstance(numbers.shape[2], int):
        return fourier_transforms.transform(numbers, way)
    return dynamic_fourier_transforms.transform(numbers, way)


def _is_product(size: int, inner: int) -> bool:
    """Whether real numbers are best multiplied by a matrix at once."""
    if not isinstance(size, int):
        return False
    plan = plan_of(size, LANES)
    is_row = isinstance(inner, int) and inner == 1
    return (is_row and size <= _SHORT) or (plan is not None and plan[1] == (size,))


# The transforms that PyTorch's decompositions leave, of numbers whose parts come last.


def _along(numbers: torch.Tensor, axis: int, way: int) -> torch.Tensor:
    """The transform along an axis of complex numbers, or of real ones: their last axis has 1."""
    *shape, given = numbers.shape
    inner = math.prod(shape[axis + 1 :])
    apart = numbers.reshape(-1, shape[axis], inner, given).permute(0, 3, 1, 2)
    return _transform(apart, way).reshape(*shape, 2)


def _is_empty(operand: torch.Tensor) -> bool:
    """Whether there is nothing to transform."""
    return any(isinstance(size, int) and size == 0 for size in operand.shape)


def _numbers(operand: torch.Tensor) -> torch.Tensor:
    """The parts of numbers, which may be real after all, along a new last axis."""
    if operand.is_complex():
        return torch.view_as_real(operand.resolve_conj())
    return torch.stack(parts(operand), -1)


def _c2c(operand: torch.Tensor, *, dim: Sequence[int], forward: bool) -> Any:
    if _is_empty(operand):
        return NotImplemented
    numbers = _numbers(operand)
    for axis in dim:
        numbers = _along(numbers, axis % operand.dim(), FORWARD if forward else BACKWARD)
    return torch.view_as_complex(numbers)


def _r2c(operand: torch.Tensor, *, dim: Sequence[int], onesided: bool) -> Any:
    if _is_empty(operand):
        return NotImplemented
    *others, last = (axis % operand.dim() for axis in dim)
    size = operand.shape[last]
    if onesided and isinstance(size, int):
        numbers = _of_real(operand, last)
    else:
        numbers = _along(operand[..., None], last, FORWARD)
        numbers = numbers.narrow(last, 0, size // 2 + 1 if onesided else size)
    for axis in others:
        numbers = _along(numbers, axis, FORWARD)
    return torch.view_as_complex(numbers)


def _of_real(operand: torch.Tensor, axis: int) -> torch.Tensor:
    """Half of the transform of real numbers."""
    shape, size = list(operand.shape), operand.shape[axis]
    inner = math.prod(shape[axis + 1 :])
    shape[axis] = size // 2 + 1
    numbers = operand.reshape(-1, size, inner)
    if _is_product(size, inner):
        half = product(numbers, matrix_of([size, 1, shape[axis], FORWARD], numbers.dtype))
        half = torch.stack(half.reshape(-1, 2, shape[axis], inner).unbind(1), -1)
    elif size % 2 == 0:
        half = _by_pairs(numbers)
    else:
        half = _transform(numbers[:, None], FORWARD).narrow(1, 0, shape[axis])
    return half.reshape(*shape, 2)


def _by_pairs(numbers: torch.Tensor) -> torch.Tensor:
    """The same of an even size, [outer, j, inner]: they are half as many complex numbers.

    With Z of these, X[k] = (Z[k] + Z*[-k]) / 2 - i w^k (Z[k] - Z*[-k]) / 2.
    """
    _, size, inner = numbers.shape
    pairs = numbers.reshape(-1, size // 2, 2, inner).transpose(1, 2)
    both = _transform(pairs, FORWARD)
    x, y = both.narrow(1, 1, size // 2 - 1).unbind(-1)
    u, v = x.flip(1), y.flip(1)
    cos, sin = (
        _half_circle([size, part, FORWARD], numbers.dtype).narrow(0, 1, size // 2 - 1)
        for part in range(2)
    )
    twice = [(x + u) + cos * (y + v) + sin * (x - u), (y - v) + sin * (y + v) - cos * (x - u)]
    middle = 0.5 * torch.stack(twice, -1)
    real, imaginary = both.narrow(1, 0, 1).unbind(-1)
    nothing = torch.zeros_like(real)
    ends = [torch.stack([end, nothing], -1) for end in (real + imaginary, real - imaginary)]
    return torch.cat([ends[0], middle, ends[1]], 1)


def _c2r(operand: torch.Tensor, *, dim: Sequence[int], last_dim_size: int) -> Any:
    """The inverse transform of half of what has conjugates in the other half."""
    if _is_empty(operand):
        return NotImplemented
    *others, last = (axis % operand.dim() for axis in dim)
    numbers = _numbers(operand.narrow(last, 0, last_dim_size // 2 + 1))
    for axis in others:
        numbers = _along(numbers, axis, BACKWARD)
    if isinstance(last_dim_size, int):
        return _to_real(numbers, last, last_dim_size)
    return _along(_both_halves(numbers, last, last_dim_size), last, BACKWARD).select(-1, 0)


def _both_halves(numbers: torch.Tensor, axis: int, size: int) -> torch.Tensor:
    """Half of what has conjugates in the other half, with these."""
    x, y = numbers.unbind(-1)
    u, v = (part.narrow(axis, 1, (size - 1) // 2).flip(axis) for part in (x, y))
    return torch.stack([torch.cat([x, u], axis), torch.cat([y, -v], axis)], -1)


def _to_real(numbers: torch.Tensor, axis: int, size: int) -> torch.Tensor:
    """The inverse of `_of_real`, but for a factor of `size`."""
    shape = list(numbers.shape[:-1])
    inner = math.prod(shape[axis + 1 :])
    shape[axis] = size
    half = numbers.reshape(-1, size // 2 + 1, inner, 2)
    if _is_product(size, inner):
        rows = torch.cat(half.unbind(-1), 1)
        return product(rows, _matrix_to_real([size], numbers.dtype)).reshape(shape)
    if size % 2 == 0:
        return _from_pairs(half).reshape(shape)
    whole = _both_halves(half, 1, size).permute(0, 3, 1, 2)
    return _transform(whole, BACKWARD).select(-1, 0).reshape(shape)


def _from_pairs(half: torch.Tensor) -> torch.Tensor:
    """The inverse of `_by_pairs`."""
    size = 2 * (half.shape[1] - 1)
    x, y = half.narrow(1, 0, size // 2).unbind(-1)
    u, v = half.narrow(1, 1, size // 2).flip(1).unbind(-1)
    cos, sin = (_half_circle([size, part, BACKWARD], half.dtype) for part in range(2))
    # The first number and the last one are real, whatever they are said to be.
    y, v = (part * _all_but_first([size // 2], half.dtype) for part in (y, v))
    pairs = torch.stack(
        [(x + u) - sin * (x - u) - cos * (y + v), (y - v) + cos * (x - u) - sin * (y + v)], -1
    )
    return _transform(pairs.permute(0, 3, 1, 2), BACKWARD).transpose(2, 3)


def _with_normalization(rule: Any, names: Sequence[str]) -> Rule:
    """The rule of what ATen makes of such a transform: the same, and a scale."""

    def decomposed(operand: torch.Tensor, dim: Sequence[int], normalization: int, last: Any) -> Any:
        result = rule(operand, dim=dim, **{names[0]: last})
        if result is NotImplemented or normalization == 0:
            return result
        shape = operand.shape if names[0] != "last_dim_size" else result.shape
        size = math.prod(shape[axis] for axis in dim)
        return result * (1 / torch.sym_sqrt(size) if normalization == 1 else 1 / size)

    return decomposed


_IHFFTN: Rule = get_decompositions([aten.fft_ihfftn])[aten.fft_ihfftn.default]


def _ihfftn(
    operand: torch.Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] | None = None,
    norm: str | None = None,
) -> torch.Tensor:
    """PyTorch's own, which of one dimension ends in an op that no trace takes."""
    sizes, dims = s or (), dim or ()
    result: torch.Tensor
    if max(len(sizes), len(dims)) == 1 or (not sizes and not dims and operand.dim() == 1):
        size, axis = next(iter(sizes), None), next(iter(dims), -1)
        result = torch.fft.ihfft(operand, size, axis, norm)
    else:
        result = _IHFFTN(operand, s, dim, norm)
    return result


def _stft(
    operand: torch.Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: torch.Tensor | None = None,
    *options: Any,
    **named: Any,
) -> torch.Tensor:
    """Of what has been padded."""
    names = ("normalized", "onesided", "return_complex", "align_to_window")
    given = {**dict(zip(names, options, strict=False)), **named}
    result: torch.Tensor = _refs.stft(
        operand, n_fft, hop_length, win_length, window, center=False, **given
    )
    return result


def _unfold_backward(
    frames: torch.Tensor, input_sizes: Sequence[int], dim: int, size: int, step: int
) -> Any:
    """The sum of frames that begin `step` elements apart, each over the rest of those before it.

    Frames of one row are those of all: istft hands over its window so.
    """
    rank = len(input_sizes)
    if rank == 0:
        return frames.reshape(())
    # Counted from the end, it is one of the operand's, which has a dimension less than the frames.
    dim %= rank
    length = input_sizes[dim]
    frames = frames.movedim(dim, -2)
    *batch, count, _ = frames.shape
    pieces = -(-size // step)
    frames = torch.nn.functional.pad(frames, (0, pieces * step - size))
    frames = frames.reshape(-1, count, pieces, step)
    sums = [
        torch.nn.functional.pad(frames[:, :, piece], (0, 0, piece, pieces - 1 - piece))
        for piece in range(pieces)
    ]
    total = functools.reduce(torch.add, sums).reshape(*batch, -1)
    # What no frame reaches, less than a step, is 0.
    if not (isinstance(length, int) and length <= total.shape[-1]):
        total = torch.nn.functional.pad(total, (0, step))
    return total.narrow(-1, 0, length).movedim(-1, dim).expand(list(input_sizes)).contiguous()


def _frequencies(count: int, first: int, end: int, spacing: float, **options: Any) -> torch.Tensor:
    """From `first` on, in units of one over the length of `count` samples that are so far apart."""
    dtype = options.get("dtype") or torch.get_default_dtype()
    # Multiplied, as PyTorch does it, which rounds otherwise than a quotient.
    return torch.arange(first, end).to(dtype) * (1.0 / (count * spacing))


def _fftfreq(n: int, d: float = 1.0, **options: Any) -> torch.Tensor:
    """The frequencies of a transform: those from 0 up, and then the ones below 0."""
    half = (n + 1) // 2
    parts = [_frequencies(n, first, end, d, **options) for first, end in ((0, half), (half - n, 0))]
    return torch.cat(parts)


def _rfftfreq(n: int, d: float = 1.0, **options: Any) -> torch.Tensor:
    return _frequencies(n, 0, n // 2 + 1, d, **options)


RULES: Rules = {
    **get_decompositions(
        [
            aten.fft_fft,
            aten.fft_fft2,
            aten.fft_fftn,
            aten.fft_fftshift,
            aten.fft_hfft,
            aten.fft_hfft2,
            aten.fft_hfftn,
            aten.fft_ifft,
            aten.fft_ifft2,
            aten.fft_ifftn,
            aten.fft_ifftshift,
            aten.fft_ihfft,
            aten.fft_ihfft2,
            aten.fft_irfft,
            aten.fft_irfft2,
            aten.fft_irfftn,
            aten.fft_rfft,
            aten.fft_rfft2,
            aten.fft_rfftn,
        ]
    ),
    aten._fft_c2c.default: _with_normalization(_c2c, ["forward"]),
    aten._fft_c2r.default: _with_normalization(_c2r, ["last_dim_size"]),
    aten._fft_r2c.default: _with_normalization(_r2c, ["onesided"]),
    aten.fft_fftfreq.default: _fftfreq,
    aten.fft_ihfftn.default: _ihfftn,
    aten.fft_rfftfreq.default: _rfftfreq,
    aten.istft.default: _refs.istft,
    aten.stft.center: _refs.stft,
    aten.stft.default: _stft,
    aten.unfold_backward.default: _unfold_backward,
    prims.fft_c2c.default: _c2c,
    prims.fft_c2r.default: _c2r,
    prims.fft_r2c.default: _r2c,
}
