"""Fourier transforms of any size.

PyTorch's own decompositions take care of sizes, norms and dimensions and leave three transforms,
from complex to complex numbers and between real and complex ones.

A size n = r m takes m transforms by r, of what the transforms by m are (Cooley and Tukey, 1965):

    X[k1 m + k2] = sum_j w_r^(j k1) w_n^(j k2) sum_i w_m^(i k2) x[r i + j]

Each step leaves its results where the next one wants them, contiguous along all that is transformed
so far, so that nothing is ever transposed (Stockham). It is a sum of products with a small matrix
of roots of unity, a literal, of which `linalg_to_kernels/constant_products.py` makes a butterfly,
and one kernel of a CPU does all steps, row by row. Real numbers of an even size are half as many
complex ones. A size with a great prime factor is a convolution with a chirp, by transforms of a
size of small factors (Bluestein, 1970). All roots of unity are computed in float64.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import _refs
from torch._decomp import get_decompositions

from plumbline.loader_to_torch.decompositions.complex_numbers import parts
from plumbline.loader_to_torch.decompositions.constant_tables import constant_table, literal_table
from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten
prims = torch.ops.prims

_F64 = torch.float64

_MOST_AT_ONCE = 16
"""Of the factors whose transforms a kernel does by additions, of numbers that are in registers."""

_LARGEST_MATRIX = 256
"""Of the other factors, whose transforms are products with a matrix."""

_STEP = 10
"""What it costs to read and write all numbers once more and to turn them, in additions for each."""

_LANES, _INTERLEAVED = 16, 8
"""Of a vector, and how many LLVM interleaves at most where a step writes number beside number."""

_SCATTERED = 20
"""What it costs to write each number by itself."""

_SHORT = 64
"""Rows of so many real numbers are multiplied by a matrix at once."""

# How a size is taken apart.


@functools.cache
def _plan(size: int, lanes: int) -> tuple[float, tuple[int, ...]] | None:
    """What a transform costs, and its factors; None if one of these is too large.

    So many numbers lie side by side that are transformed alike, as many more with each step.
    """
    if size == 1:
        return 0, ()
    plans = []
    for factor in range(2, min(size, _LARGEST_MATRIX) + 1):
        is_possible = size % factor == 0 and (factor <= _MOST_AT_ONCE or _is_prime(factor))
        rest = _plan(size // factor, lanes * factor) if is_possible else None
        if rest is not None:
            plans.append((_cost(factor, lanes) + rest[0], (factor, *rest[1])))
    return min(plans, default=None)


def _cost(factor: int, lanes: int) -> float:
    """What a step costs, in additions for each number."""
    if factor > _MOST_AT_ONCE:
        return _STEP + 4 * factor
    is_power = factor & (factor - 1) == 0
    cost = _STEP + (2.5 * math.log2(factor) if is_power else 1.7 * factor)
    if lanes == 1:
        return cost if factor <= _INTERLEAVED else cost + _SCATTERED
    # LLVM has half a vector for what is left, and else numbers.
    left = lanes % _LANES
    vectors = lanes // _LANES + left // (_LANES // 2) + left % (_LANES // 2)
    return cost * vectors * _LANES / lanes


def _is_prime(number: int) -> bool:
    return all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def _convolved(size: int) -> int:
    """A size with room for a convolution with a chirp, of factors 2, 3 and 5."""
    return next(length for length in range(2 * size - 1, 4 * size) if _is_smooth(length))


def _is_smooth(size: int) -> bool:
    for factor in (2, 3, 5):
        while size % factor == 0:
            size //= factor
    return size == 1


_FORWARD, _BACKWARD = 0, 1
_SIGNS = (-1, 1)
"""Of the angles of the roots of unity, which way the transform is."""


# Tables. Those of complex numbers have real and imaginary parts along an axis.


def _roots(turns: torch.Tensor, size: int) -> torch.Tensor:
    """The numbers e^(2 pi i turns / size), with their two parts along a new last axis.

    Sines and cosines that are equal but for signs are so to the last bit.
    """
    # Counted in eighths of a circle, and from the nearest multiple of a quarter.
    eighths = turns % size * 8
    quarter = (eighths + size) // (2 * size)
    angles = (eighths - 2 * size * quarter).to(_F64) * (math.pi / 4 / size)
    middle = eighths % (2 * size) == size
    cos, sin = torch.cos(angles), torch.sin(angles)
    sin = torch.where(middle, -cos, sin)
    powers = torch.tensor([[1, 0], [0, 1], [-1, 0], [0, -1]], dtype=_F64)[quarter % 4]
    real, imaginary = powers.unbind(-1)
    return torch.stack([real * cos - imaginary * sin, real * sin + imaginary * cos], -1)


def _as_matrices(roots: torch.Tensor) -> torch.Tensor:
    """Complex numbers as what a pair of parts is multiplied by, with axes for old and new parts."""
    real, imaginary = roots.unbind(-1)
    pairs = torch.stack([real, imaginary, -imaginary, real], -1)
    return pairs.reshape(*roots.shape[:-1], 2, 2)


@literal_table
def _butterfly(size: int, given: int, is_last: int, way: int) -> torch.Tensor:
    """The roots e^(+-2 pi i j k / size), for so many parts.

    They are [outer, old part, j, new part, rest, k, done, inner], or have the new part last.
    """
    matrix = _dense(size, given, way).reshape(1, given, size, 2, 1, size, 1, 1)
    return matrix.movedim(3, -1) if is_last else matrix


@constant_table
def _matrix(size: int, given: int, count: int, way: int) -> torch.Tensor:
    """The same numbers, as [old part and j, new part and k], for so many k."""
    return _dense(size, given, way)[..., :count].reshape(given * size, 2 * count)


@constant_table
def _matrix_to_real(size: int) -> torch.Tensor:
    """The roots e^(2 pi i j k / size), as [old part and k, j], for half of the k.

    Those that have conjugates in the other half count for these, too.
    """
    places = torch.arange(size // 2 + 1)
    weights = torch.where((places == 0) | (2 * places == size), 1, 2)
    matrix = _dense(size, 2, _BACKWARD)[:, : size // 2 + 1, 0] * weights[:, None]
    return matrix.reshape(-1, size)


def _dense(size: int, given: int, way: int) -> torch.Tensor:
    places = torch.arange(size)
    matrix = _as_matrices(_roots(_SIGNS[way] * places[:, None] * places, size))
    return matrix.permute(2, 0, 3, 1)[:given]


@constant_table
def _turns(factor: int, done: int, part: int, way: int) -> torch.Tensor:
    """The roots e^(+-2 pi i j k / (factor done)), as factors of an old part.

    They are [outer, new part, j, rest, k, inner].
    """
    turns = _SIGNS[way] * torch.arange(factor)[:, None] * torch.arange(done)
    matrices = _as_matrices(_roots(turns, factor * done))[:, :, part].permute(2, 0, 1)
    return matrices.reshape(1, 2, factor, 1, done, 1)


@constant_table
def _half_circle(size: int, part: int, way: int) -> torch.Tensor:
    """A part of e^(+-2 pi i k / size) up to where that is -1, as [k, inner]."""
    return _roots(_SIGNS[way] * torch.arange(size // 2), size)[:, part, None]


@constant_table
def _all_but_first(size: int) -> torch.Tensor:
    """A zero and ones, as [k, inner]."""
    return (torch.arange(size) > 0).to(_F64)[:, None]


@constant_table
def _chirp(size: int, way: int) -> torch.Tensor:
    """The numbers e^(+-pi i j^2 / size), as [j, part]."""
    return _chirped(size, way)


def _chirped(size: int, way: int) -> torch.Tensor:
    places = torch.arange(size)
    return _roots(_SIGNS[way] * places * places, 2 * size)


@constant_table
def _filter(size: int, length: int, way: int) -> torch.Tensor:
    """The transform of a chirp's conjugate, j from -size + 1 to size - 1, by `length`."""
    chirp = torch.view_as_complex(_chirped(size, 1 - way))
    around = torch.zeros(length, dtype=torch.complex128)
    around[:size] = chirp
    around[length - size + 1 :] = chirp[1:].flip(0)
    return torch.view_as_real(torch.fft.fft(around) / length)


# Transforms of complex numbers, as [outer, part, j, inner], or [outer, j, inner, part].


def _steps(numbers: torch.Tensor, factors: Sequence[int], way: int) -> torch.Tensor:
    """The transform by factors; there may be the real part alone."""
    outer, _, size, inner = numbers.shape
    dtype, done = numbers.dtype, 1
    for factor in factors:
        rest = size // done // factor
        numbers = numbers.reshape(outer, -1, factor, rest, done, inner)
        if done > 1:
            real, imaginary = (
                numbers.narrow(1, part, 1) * _turns([factor, done, part, way], dtype)
                for part in range(2)
            )
            numbers = real + imaginary
        numbers = _step(numbers, way, is_last=rest == 1)
        done *= factor
    return numbers.reshape(outer, size, inner, 2)


def _step(numbers: torch.Tensor, way: int, *, is_last: bool) -> torch.Tensor:
    """The transforms of [outer, part, j, rest, done, inner].

    They are [outer, part, rest, k, done, inner], or have the part last.
    """
    outer, given, factor, rest, done, inner = numbers.shape
    if factor <= _MOST_AT_ONCE:
        shape = [outer, given, factor, 1, rest, 1, done, inner]
        if is_last:
            shape = [outer, given, factor, rest, 1, done, inner, 1]
        table, is_there = (
            _butterfly([factor, given, int(is_last), way], dtype)
            for dtype in (numbers.dtype, torch.bool)
        )
        # By zeros nothing is multiplied, not even what is infinite.
        nothing = torch.zeros((), dtype=numbers.dtype)
        return torch.where(is_there, numbers.reshape(shape) * table, nothing).sum((1, 2))
    matrix = _matrix([factor, given, factor, way], numbers.dtype)
    result = _product(numbers.reshape(outer, given * factor, rest * done * inner), matrix)
    result = result.reshape(outer, 2, factor, rest, done, inner).transpose(2, 3)
    return torch.stack(result.unbind(1), -1) if is_last else result


def _product(numbers: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """[outer, j, inner] by [j, k], as [outer, k, inner]."""
    if isinstance(numbers.shape[2], int) and numbers.shape[2] == 1:
        # All others are rows of one product.
        return torch.mm(numbers.squeeze(2), matrix).unsqueeze(2)
    return torch.bmm(matrix.t().expand(numbers.shape[0], -1, -1), numbers)


def _is_product(size: int, inner: int) -> bool:
    """Whether real numbers are best multiplied by a matrix at once."""
    if not isinstance(size, int):
        return False
    plan = _plan(size, _LANES)
    is_row = isinstance(inner, int) and inner == 1
    return (is_row and size <= _SHORT) or (plan is not None and plan[1] == (size,))


def _transform(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """The transform of [outer, part, j, inner], as [outer, k, inner, part]."""
    outer, given, size, inner = numbers.shape
    if not isinstance(size, int):
        return _by_matrix_of_any_size(numbers, way)
    plan = _plan(size, inner if isinstance(inner, int) else _LANES)
    if plan is None:
        return _convolution(numbers, way)
    _, factors = plan
    if len(factors) > 1 or inner != 1:
        return _steps(numbers, factors or (1,), way)
    matrix = _matrix([size, given, size, way], numbers.dtype)
    result = _product(numbers.reshape(outer, given * size, inner), matrix)
    return torch.stack(result.reshape(outer, 2, size, inner).unbind(1), -1)


def _by_matrix_of_any_size(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """The same of a size that is only known as the program runs, which makes the matrix then."""
    size, dtype = numbers.shape[2], numbers.dtype
    places = torch.arange(size)
    angles = places.to(_F64) * (_SIGNS[way] * 2 * math.pi) / torch.full((), size, dtype=_F64)
    turns = places[:, None] * places % size
    cos, sin = torch.cos(angles).to(dtype)[turns], torch.sin(angles).to(dtype)[turns]
    real = numbers[:, 0]
    if numbers.shape[1] == 1:
        return torch.stack([cos @ real, sin @ real], -1)
    imaginary = numbers[:, 1]
    return torch.stack([cos @ real - sin @ imaginary, sin @ real + cos @ imaginary], -1)


def _times(numbers: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    """Products of complex numbers, whose parts come last."""
    x, y = numbers.unbind(-1)
    cos, sin = factors.unbind(-1)
    return torch.stack([x * cos - y * sin, x * sin + y * cos], -1)


def _convolution(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """The transform as a convolution, in float64: its errors are greater than a product's."""
    dtype, size = numbers.dtype, numbers.shape[2]
    length = _convolved(size)
    chirp = _chirp([size, way], _F64)[:, None]
    if numbers.shape[1] == 1:
        numbers = torch.nn.functional.pad(numbers, (0, 0, 0, 0, 0, 1))
    turned = _times(numbers.permute(0, 2, 3, 1).to(_F64), chirp)
    padded = torch.nn.functional.pad(turned, (0, 0, 0, 0, 0, length - size))
    transformed = _transform(padded.permute(0, 3, 1, 2), _FORWARD)
    filtered = _times(transformed, _filter([size, length, way], _F64)[:, None])
    result = _transform(filtered.permute(0, 3, 1, 2), _BACKWARD)
    return _times(result[:, :size], chirp).to(dtype)


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
        numbers = _along(numbers, axis % operand.dim(), _FORWARD if forward else _BACKWARD)
    return torch.view_as_complex(numbers)


def _r2c(operand: torch.Tensor, *, dim: Sequence[int], onesided: bool) -> Any:
    if _is_empty(operand):
        return NotImplemented
    *others, last = (axis % operand.dim() for axis in dim)
    size = operand.shape[last]
    if onesided and isinstance(size, int):
        numbers = _of_real(operand, last)
    else:
        numbers = _along(operand[..., None], last, _FORWARD)
        numbers = numbers.narrow(last, 0, size // 2 + 1 if onesided else size)
    for axis in others:
        numbers = _along(numbers, axis, _FORWARD)
    return torch.view_as_complex(numbers)


def _of_real(operand: torch.Tensor, axis: int) -> torch.Tensor:
    """Half of the transform of real numbers."""
    shape, size = list(operand.shape), operand.shape[axis]
    inner = math.prod(shape[axis + 1 :])
    shape[axis] = size // 2 + 1
    numbers = operand.reshape(-1, size, inner)
    if _is_product(size, inner):
        half = _product(numbers, _matrix([size, 1, shape[axis], _FORWARD], numbers.dtype))
        half = torch.stack(half.reshape(-1, 2, shape[axis], inner).unbind(1), -1)
    elif size % 2 == 0:
        half = _by_pairs(numbers)
    else:
        half = _transform(numbers[:, None], _FORWARD).narrow(1, 0, shape[axis])
    return half.reshape(*shape, 2)


def _by_pairs(numbers: torch.Tensor) -> torch.Tensor:
    """The same of an even size, [outer, j, inner]: they are half as many complex numbers.

    With Z of these, X[k] = (Z[k] + Z*[-k]) / 2 - i w^k (Z[k] - Z*[-k]) / 2.
    """
    _, size, inner = numbers.shape
    pairs = numbers.reshape(-1, size // 2, 2, inner).transpose(1, 2)
    both = _transform(pairs, _FORWARD)
    x, y = both.narrow(1, 1, size // 2 - 1).unbind(-1)
    u, v = x.flip(1), y.flip(1)
    cos, sin = (
        _half_circle([size, part, _FORWARD], numbers.dtype).narrow(0, 1, size // 2 - 1)
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
        numbers = _along(numbers, axis, _BACKWARD)
    if isinstance(last_dim_size, int):
        return _to_real(numbers, last, last_dim_size)
    return _along(_both_halves(numbers, last, last_dim_size), last, _BACKWARD).select(-1, 0)


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
        return _product(rows, _matrix_to_real([size], numbers.dtype)).reshape(shape)
    if size % 2 == 0:
        return _from_pairs(half).reshape(shape)
    whole = _both_halves(half, 1, size).permute(0, 3, 1, 2)
    return _transform(whole, _BACKWARD).select(-1, 0).reshape(shape)


def _from_pairs(half: torch.Tensor) -> torch.Tensor:
    """The inverse of `_by_pairs`."""
    size = 2 * (half.shape[1] - 1)
    x, y = half.narrow(1, 0, size // 2).unbind(-1)
    u, v = half.narrow(1, 1, size // 2).flip(1).unbind(-1)
    cos, sin = (_half_circle([size, part, _BACKWARD], half.dtype) for part in range(2))
    # The first number and the last one are real, whatever they are said to be.
    y, v = (part * _all_but_first([size // 2], half.dtype) for part in (y, v))
    pairs = torch.stack(
        [(x + u) - sin * (x - u) - cos * (y + v), (y - v) + cos * (x - u) - sin * (y + v)], -1
    )
    return _transform(pairs.permute(0, 3, 1, 2), _BACKWARD).transpose(2, 3)


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
