"""Fourier transforms of any size.

PyTorch's own decompositions take care of sizes, norms and dimensions and leave three transforms,
from complex to complex numbers and between real and complex ones. These are products with small
matrices of roots of unity, which is what CPUs are fastest at:

A size n = r m takes r transforms over j1 and then m over j2 (Cooley and Tukey, 1965), of

    X[k1 + r k2] = sum_j2 w_m^(j2 k2) w_n^(j2 k1) sum_j1 w_r^(j1 k1) x[m j1 + j2]

where the first leaves its results where the second wants them, so that nothing is ever transposed
(Stockham). A size with a great prime factor is a convolution with a chirp, by transforms of a size
of small factors (Bluestein, 1970). Which it is to be, and by what factors, is what costs the least.
All roots of unity are computed in float64, and are constants of the program.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import _refs
from torch._decomp import get_decompositions

from plumbline.loader_to_torch.decompositions.complex_numbers import join, parts
from plumbline.loader_to_torch.decompositions.constant_tables import Table, constant_table
from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten
prims = torch.ops.prims

_F64 = torch.float64

_Pair = tuple[torch.Tensor, torch.Tensor]
"""Real and imaginary parts."""

_STAGE, _FUSED_STAGE = 14, 8
"""What it costs to read and write all numbers once more, in products with each of them; and where
one kernel does all that is made of them, as the last products are when they are few."""

_LANES = 16
"""How many products are made at once, by a vector or two."""

_SMALL = 4096
"""So many products at most kernels make in plain loops, of a matrix for itself
(`linalg_to_kernels/contraction_groups.py`)."""

_FEWEST, _NOT_WORTH = 1000, 64
"""A matrix of fewer products costs so much more where rows are longer than a vector or it is of
size 2, and amid stages, where its size is to be a multiple of half a vector besides."""

_LARGEST_MATRIX = 256
"""Of the sizes that are transformed at once."""

# How a size is taken apart.


@functools.cache
def _plan(size: int, inner: int, first: float = 1, last: float = 1) -> tuple[float, int]:
    """The cost of a transform for each number, and the factor that is taken out first.

    That is `size` itself where it is done at once, and 0 where it is a convolution. Of dimensions
    after it there are `inner` numbers. Of its first products only the share `first` is made, as of
    real numbers half is, and of its last ones `last`.
    """
    choices: list[tuple[float, int]] = []
    if size <= _LARGEST_MATRIX:
        # Half of a row and one number more do not fill vectors.
        share = first * (last if inner > 1 else (1 + last) / 2)
        choices.append((_last_cost(size, inner, share), size))
    for factor in range(2, min(size // 2, _LARGEST_MATRIX) + 1):
        if size % factor == 0:
            rest, _ = _plan(size // factor, factor * inner, last=last)
            choices.append((_first_cost(factor, size // factor, inner, first) + rest, factor))
    if not choices or _has_great_factor(size):
        length = _convolved(size)
        # In float64, and both ways; besides, three products with chirps.
        choices.append((4 * length / size * (_plan(length, inner)[0] + _STAGE), 0))
    # Of two alike the greater factor goes first, so that rows are longer from then on.
    return min(choices, key=lambda choice: (choice[0], -choice[1]))


def _first_cost(factor: int, rest: int, inner: int, share: float) -> float:
    """The cost of the transforms by a factor that is taken out first, of `rest` others."""
    if inner == 1:
        return share * _matrix_cost(factor, factor, rest * factor * factor) + _STAGE
    products = factor * factor * inner
    is_worth = products > _SMALL or (products >= _FEWEST and factor % (_LANES // 2) == 0)
    cost = _matrix_cost(factor, inner, products) + (0 if is_worth else _NOT_WORTH)
    return share * cost + _STAGE


def _last_cost(size: int, inner: int, share: float) -> float:
    """The cost of transforms that are done at once."""
    if inner == 1:
        # All others are rows of the one product.
        return share * _matrix_cost(size, size, _SMALL + 1) + _STAGE
    products = size * size * inner
    is_worth = size > 2 and (products >= _FEWEST or inner <= _LANES)
    cost = _matrix_cost(size, inner, products) + (0 if is_worth else _NOT_WORTH)
    return share * cost + (_FUSED_STAGE if products <= _SMALL else _STAGE)


def _matrix_cost(size: int, columns: int, products: int) -> float:
    """The cost of products with a matrix, along rows of results of so many columns."""
    left = columns % _LANES
    if products > _SMALL:
        vectors = columns // _LANES + bool(left)
    else:
        # LLVM has half a vector for what is left, and else numbers.
        half = _LANES // 2
        vectors = columns // _LANES + left // half + left % half
    return size * vectors * _LANES / columns


def _has_great_factor(size: int) -> bool:
    for factor in range(2, _LARGEST_MATRIX // 4):
        while size % factor == 0:
            size //= factor
    return size > 1


def _convolved(size: int) -> int:
    """A size with room for a convolution with a chirp, of factors 2, 3 and 5."""
    return next(length for length in range(2 * size - 1, 4 * size) if _is_smooth(length))


def _is_smooth(size: int) -> bool:
    for factor in (2, 3, 5):
        while size % factor == 0:
            size //= factor
    return size == 1


# Tables, of real parts where `part` is 0, and of imaginary parts where it is 1.


@constant_table
def _roots(rows: int, columns: int, size: int, part: int) -> torch.Tensor:
    """The roots of unity e^(-2 pi i j k / size), for each row j and column k."""
    turns = torch.arange(rows)[:, None] * torch.arange(columns) % size
    return _cos_or_sin(turns.to(_F64) * (-2 * math.pi / size), part)


@constant_table
def _weights(size: int) -> torch.Tensor:
    """How often a number of the first half counts of what has conjugates in the other half."""
    places = torch.arange(size // 2 + 1)
    return torch.where((places == 0) | (2 * places == size), 1, 2).to(_F64)


@constant_table
def _chirp(size: int, part: int) -> torch.Tensor:
    """The numbers e^(-pi i j^2 / size)."""
    return _cos_or_sin(_chirp_angles(size), part)


@constant_table
def _filter(size: int, length: int, part: int) -> torch.Tensor:
    """The transform of a chirp's conjugate, j from -size + 1 to size - 1, by `length`."""
    angles = -_chirp_angles(size)
    chirp = torch.complex(torch.cos(angles), torch.sin(angles))
    around = torch.zeros(length, dtype=torch.complex128)
    around[:size] = chirp
    around[length - size + 1 :] = chirp[1:].flip(0)
    transformed = torch.fft.fft(around) / length
    return torch.view_as_real(transformed)[:, part]


def _chirp_angles(size: int) -> torch.Tensor:
    places = torch.arange(size)
    # Of whole turns nothing remains but roundings.
    return (places * places % (2 * size)).to(_F64) * (-math.pi / size)


def _cos_or_sin(angles: torch.Tensor, part: int) -> torch.Tensor:
    return torch.cos(angles) if part == 0 else torch.sin(angles)


def _both(table: Table, numbers: Sequence[int], dtype: torch.dtype) -> _Pair:
    return table([*numbers, 0], dtype), table([*numbers, 1], dtype)


# Transforms along the second dimension of three. Those in the other direction are the same, the
# parts of operand and result being exchanged.

_Numbers = tuple[torch.Tensor, torch.Tensor | None]
"""The same; real numbers have no imaginary part."""


def _times(numbers: _Numbers, factors: _Pair) -> _Pair:
    x, y = numbers
    cos, sin = factors
    if y is None:
        return x * cos, x * sin
    return x * cos - y * sin, x * sin + y * cos


def _each(numbers: _Numbers, function: Callable[[torch.Tensor], torch.Tensor]) -> _Numbers:
    x, y = numbers
    return function(x), None if y is None else function(y)


def _by_matrix(numbers: _Numbers, count: int, size: int) -> _Pair:
    """The first `count` results of a transform of a size, as a product with a matrix.

    Vectors of results run along the last dimension, and along the results where that is of size 1.
    """
    outer, given, inner = numbers[0].shape
    roots = _both(_roots, [count, given, size], numbers[0].dtype)
    if not isinstance(inner, int) or inner > 1:
        return _product(
            numbers, roots, lambda part, root: torch.bmm(root.expand(outer, count, given), part)
        )
    real, imaginary = _product(
        numbers, roots, lambda part, root: torch.mm(part.squeeze(2), root.t())
    )
    return real[:, :, None], imaginary[:, :, None]


def _product(
    numbers: _Numbers,
    roots: _Pair,
    product: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> _Pair:
    (x, y), (cos, sin) = numbers, roots
    if y is None:
        return product(x, cos), product(x, sin)
    return product(x, cos) - product(y, sin), product(x, sin) + product(y, cos)


def _by_matrix_of_any_size(numbers: _Numbers, count: int) -> _Pair:
    """The same of a size that is only known as the program runs, which makes the matrix then."""
    size, dtype = numbers[0].shape[1], numbers[0].dtype
    places = torch.arange(size)
    angles = places.to(_F64) * (-2 * math.pi) / torch.full((), size, dtype=_F64)
    turns = torch.arange(count)[:, None] * places % size
    roots = (torch.cos(angles).to(dtype)[turns], torch.sin(angles).to(dtype)[turns])
    return _product(numbers, roots, lambda part, root: root @ part)


def _transform(numbers: _Numbers, count: int | None = None, size: int | None = None) -> _Pair:
    """The transform of numbers, of whose results only the first `count` matter.

    They are followed by zeros up to `size`.
    """
    outer, given, inner = numbers[0].shape
    size = given if size is None else size
    count = size if count is None else count
    if not isinstance(size, int):
        return _by_matrix_of_any_size(numbers, count)
    _, factor = _plan(
        size,
        inner if isinstance(inner, int) else _LANES,
        first=1 if numbers[1] is not None and given == size else 0.5,
        last=1 if count == size else 0.5,
    )
    if factor == 0:
        return _convolution(_padded(numbers, size))
    if factor == size:
        return _by_matrix(numbers, count, size)
    rest = size // factor
    rows = -(-given // rest)
    numbers = _padded(numbers, rows * rest)
    first = _first(_each(numbers, lambda part: part.reshape(outer, rows, rest, inner)), factor)
    cos, sin = _both(_roots, [rest, factor, size], first[0].dtype)
    real, imaginary = (part.reshape(outer, rest, factor, inner) for part in first)
    turned = _times((real, imaginary), (cos[:, :, None], sin[:, :, None]))
    real, imaginary = (part.reshape(outer, rest, factor * inner) for part in turned)
    real, imaginary = _transform((real, imaginary), -(-count // factor))
    return real.reshape(outer, -1, inner), imaginary.reshape(outer, -1, inner)


def _padded(numbers: _Numbers, size: int) -> _Numbers:
    """Numbers with zeros after them."""
    room = size - numbers[0].shape[1]
    if room == 0:
        return numbers
    return _each(numbers, lambda part: torch.nn.functional.pad(part, (0, 0, 0, room)))


def _first(numbers: _Numbers, factor: int) -> _Pair:
    """The transforms over j1, of [.., j1, j2, ..], as [.., j2, k1, ..]; of the last j1 all is 0."""
    outer, given, _, inner = numbers[0].shape
    if not isinstance(inner, int) or inner > 1:
        by_rows = _each(numbers, lambda part: part.transpose(1, 2).reshape(-1, given, inner))
        return _by_matrix(by_rows, factor, factor)
    return _product(
        _each(numbers, lambda part: part.squeeze(3).transpose(1, 2)),
        _both(_roots, [given, factor, factor], numbers[0].dtype),
        lambda part, root: torch.bmm(part, root.expand(outer, given, factor)),
    )


def _convolution(numbers: _Numbers) -> _Pair:
    """The transform as a convolution, in float64: its errors are greater than a product's."""
    dtype, size = numbers[0].dtype, numbers[0].shape[1]
    length = _convolved(size)
    cos, sin = (part[:, None] for part in _both(_chirp, [size], _F64))
    turned = _times(_each(numbers, lambda part: part.to(_F64)), (cos, sin))
    room = (0, 0, 0, length - size)
    real, imaginary = (torch.nn.functional.pad(part, room) for part in turned)
    across, up = (part[:, None] for part in _both(_filter, [size, length], _F64))
    real, imaginary = _times(_transform((real, imaginary)), (across, up))
    imaginary, real = _transform((imaginary, real), size)
    result = _times((real[:, :size], imaginary[:, :size]), (cos, sin))
    return result[0].to(dtype), result[1].to(dtype)


def _along(
    numbers: _Numbers, axis: int, count: int | None = None, size: int | None = None
) -> _Pair:
    """The transform along any dimension, of a known size."""
    shape = numbers[0].shape
    inner = math.prod(shape[axis + 1 :])
    real, imaginary = _transform(
        _each(numbers, lambda part: part.reshape(-1, shape[axis], inner)), count, size
    )
    result = [*shape]
    result[axis] = real.shape[1]
    return real.reshape(result), imaginary.reshape(result)


# The transforms that PyTorch's decompositions leave.


def _is_empty(operand: torch.Tensor) -> bool:
    """Whether there is nothing to transform."""
    return any(isinstance(size, int) and size == 0 for size in operand.shape)


def _c2c(operand: torch.Tensor, *, dim: Sequence[int], forward: bool) -> Any:
    if _is_empty(operand):
        return NotImplemented
    real, imaginary = parts(operand) if forward else parts(operand)[::-1]
    for axis in dim:
        real, imaginary = _along((real, imaginary), axis % operand.dim())
    return join((real, imaginary) if forward else (imaginary, real))


def _r2c(operand: torch.Tensor, *, dim: Sequence[int], onesided: bool) -> Any:
    if _is_empty(operand):
        return NotImplemented
    *others, last = (axis % operand.dim() for axis in dim)
    count = operand.shape[last] // 2 + 1 if onesided else operand.shape[last]
    pair = tuple(part.narrow(last, 0, count) for part in _along((operand, None), last, count))
    for axis in others:
        pair = _along((pair[0], pair[1]), axis)
    return join((pair[0], pair[1]))


def _c2r(operand: torch.Tensor, *, dim: Sequence[int], last_dim_size: int) -> Any:
    """The inverse transform of half of what has conjugates in the other half."""
    if _is_empty(operand):
        return NotImplemented
    *others, last = (axis % operand.dim() for axis in dim)
    imaginary, real = parts(operand.narrow(last, 0, last_dim_size // 2 + 1))
    for axis in others:
        real, imaginary = _along((real, imaginary), axis)
    if isinstance(last_dim_size, int):
        # What is left out adds as much to the real part as its conjugate does, and nothing else.
        weights = _weights([last_dim_size], real.dtype).reshape(-1, *[1] * (real.dim() - 1 - last))
        return _along((real * weights, imaginary * weights), last, size=last_dim_size)[1]
    imaginary, real = real, imaginary
    count = (last_dim_size - 1) // 2
    mirrored = [part.narrow(last, 1, count).flip(last) for part in (real, imaginary)]
    real = torch.cat([real, mirrored[0]], last)
    imaginary = torch.cat([imaginary, -mirrored[1]], last)
    return _along((imaginary, real), last)[1]


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
    """The sum of frames that begin `step` elements apart, each over the rest of those before it."""
    rank = len(input_sizes)
    if rank == 0:
        return frames.reshape(())
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
    return total.narrow(-1, 0, length).movedim(-1, dim).contiguous()


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
