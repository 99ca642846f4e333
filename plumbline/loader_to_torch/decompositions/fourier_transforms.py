"""Fourier transforms of complex numbers, of fixed sizes.

A size n = r m takes m transforms by r, of what the transforms by m are (Cooley and Tukey, 1965):

    X[k1 m + k2] = sum_j w_r^(j k1) w_n^(j k2) sum_i w_m^(i k2) x[r i + j]

Each step leaves its results where the next one wants them, contiguous along all that is transformed
so far, so that nothing is ever transposed (Stockham). It is a sum of products with a small matrix
of roots of unity, a literal, of which `linalg_to_kernels/constant_products.py` makes a butterfly,
and one kernel of a CPU does all steps, row by row. A size with a great prime factor is a
convolution with a chirp, by transforms of a size of small factors (Bluestein, 1970). All roots of
unity are computed in float64.
"""

import functools
import math
from collections.abc import Sequence

import torch

from plumbline.loader_to_torch.decompositions.constant_tables import constant_table, literal_table

F64 = torch.float64

_MOST_AT_ONCE = 16
"""Of the factors whose transforms a kernel does by additions, of numbers that are in registers."""

_LARGEST_MATRIX = 256
"""Of the other factors, whose transforms are products with a matrix."""

_STEP = 10
"""What it costs to read and write all numbers once more and to turn them, in additions for each."""

LANES, _INTERLEAVED = 16, 8
"""Of a vector, and how many LLVM interleaves at most where a step writes number beside number."""

_SCATTERED = 20
"""What it costs to write each number by itself."""

# How a size is taken apart.


@functools.cache
def plan_of(size: int, lanes: int) -> tuple[float, tuple[int, ...]] | None:
    """What a transform costs, and its factors; None if one of these is too large.

    So many numbers lie side by side that are transformed alike, as many more with each step.
    """
    if size == 1:
        return 0, ()
    plans = []
    for factor in range(2, min(size, _LARGEST_MATRIX) + 1):
        is_possible = size % factor == 0 and (factor <= _MOST_AT_ONCE or _is_prime(factor))
        rest = plan_of(size // factor, lanes * factor) if is_possible else None
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
    left = lanes % LANES
    vectors = lanes // LANES + left // (LANES // 2) + left % (LANES // 2)
    return cost * vectors * LANES / lanes


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


FORWARD, BACKWARD = 0, 1
SIGNS = (-1, 1)
"""Of the angles of the roots of unity, which way the transform is."""


# Tables. Those of complex numbers have real and imaginary parts along an axis.


def roots(turns: torch.Tensor, size: int) -> torch.Tensor:
    """The numbers e^(2 pi i turns / size), with their two parts along a new last axis.

    Sines and cosines that are equal but for signs are so to the last bit.
    """
    # Counted in eighths of a circle, and from the nearest multiple of a quarter.
    eighths = turns % size * 8
    quarter = (eighths + size) // (2 * size)
    angles = (eighths - 2 * size * quarter).to(F64) * (math.pi / 4) / size
    middle = eighths % (2 * size) == size
    cos, sin = torch.cos(angles), torch.sin(angles)
    sin = torch.where(middle, -cos, sin)
    # Of 1, i, -1, -i.
    power, odd = quarter % 4, quarter % 2
    real, imaginary = ((1 - power) * (1 - odd)).to(F64), ((2 - power) * odd).to(F64)
    return torch.stack([real * cos - imaginary * sin, real * sin + imaginary * cos], -1)


def _as_matrices(roots: torch.Tensor) -> torch.Tensor:
    """Complex numbers as what a pair of parts is multiplied by, with axes for old and new parts."""
    real, imaginary = roots.unbind(-1)
    pairs = torch.stack([real, imaginary, -imaginary, real], -1)
    return pairs.reshape(*roots.shape[:-1], 2, 2)


@literal_table
def butterfly(size: int, given: int, is_last: int, way: int) -> torch.Tensor:
    """The roots e^(+-2 pi i j k / size), for so many parts.

    They are [outer, old part, j, new part, rest, k, done, inner], or have the new part last.
    """
    matrix = dense(size, given, way).reshape(1, given, size, 2, 1, size, 1, 1)
    return matrix.movedim(3, -1) if is_last else matrix


@constant_table
def matrix_of(size: int, given: int, count: int, way: int) -> torch.Tensor:
    """The same numbers, as [old part and j, new part and k], for so many k."""
    return dense(size, given, way)[..., :count].reshape(given * size, 2 * count)


def dense(size: int, given: int, way: int) -> torch.Tensor:
    """The roots e^(+-2 pi i j k / size), as [old part, j, new part, k]."""
    places = torch.arange(size)
    matrix = _as_matrices(roots(SIGNS[way] * places[:, None] * places, size))
    return matrix.permute(2, 0, 3, 1)[:given]


@constant_table
def _turns(factor: int, done: int, part: int, way: int) -> torch.Tensor:
    """The roots e^(+-2 pi i j k / (factor done)), as factors of an old part.

    They are [outer, new part, j, rest, k, inner].
    """
    turns = SIGNS[way] * torch.arange(factor)[:, None] * torch.arange(done)
    matrices = _as_matrices(roots(turns, factor * done))[:, :, part].permute(2, 0, 1)
    return matrices.reshape(1, 2, factor, 1, done, 1)


@constant_table
def _chirp(size: int, way: int) -> torch.Tensor:
    """The numbers e^(+-pi i j^2 / size), as [j, part]."""
    return _chirped(size, way)


def _chirped(size: int, way: int) -> torch.Tensor:
    places = torch.arange(size)
    return roots(SIGNS[way] * places * places, 2 * size)


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
        numbers = step(numbers, way, is_last=rest == 1)
        done *= factor
    return numbers.reshape(outer, size, inner, 2)


def step(numbers: torch.Tensor, way: int, *, is_last: bool) -> torch.Tensor:
    """The transforms of [outer, part, j, rest, done, inner].

    They are [outer, part, rest, k, done, inner], or have the part last.
    """
    outer, given, factor, rest, done, inner = numbers.shape
    if factor <= _MOST_AT_ONCE:
        table, is_there = (
            butterfly([factor, given, int(is_last), way], dtype)
            for dtype in (numbers.dtype, torch.bool)
        )
        first, second = (4, 7) if is_last else (3, 5)
        apart = numbers.unsqueeze(first).unsqueeze(second)
        # By zeros nothing is multiplied, not even what is infinite.
        nothing = torch.zeros((), dtype=numbers.dtype)
        return torch.where(is_there, apart * table, nothing).sum((1, 2))
    matrix = matrix_of([factor, given, factor, way], numbers.dtype)
    result = product(numbers.reshape(outer, given * factor, rest * done * inner), matrix)
    result = result.reshape(outer, 2, factor, rest, done, inner).transpose(2, 3)
    return torch.stack(result.unbind(1), -1) if is_last else result


def product(numbers: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """[outer, j, inner] by [j, k], as [outer, k, inner]."""
    if isinstance(numbers.shape[2], int) and numbers.shape[2] == 1:
        # All others are rows of one product.
        return torch.mm(numbers.squeeze(2), matrix).unsqueeze(2)
    return torch.bmm(matrix.t().expand(numbers.shape[0], -1, -1), numbers)


def transform(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """The transform of [outer, part, j, inner], as [outer, k, inner, part]."""
    outer, given, size, inner = numbers.shape
    plan = plan_of(size, inner if isinstance(inner, int) else LANES)
    if plan is None:
        return _convolution(numbers, way)
    _, factors = plan
    if len(factors) > 1 or inner != 1:
        return _steps(numbers, factors or (1,), way)
    matrix = matrix_of([size, given, size, way], numbers.dtype)
    result = product(numbers.reshape(outer, given * size, inner), matrix)
    return torch.stack(result.reshape(outer, 2, size, inner).unbind(1), -1)


def _times(numbers: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    """Products of complex numbers, whose parts come last."""
    x, y = numbers.unbind(-1)
    cos, sin = factors.unbind(-1)
    return torch.stack([x * cos - y * sin, x * sin + y * cos], -1)


def _convolution(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """The transform as a convolution, in float64: its errors are greater than a product's."""
    dtype, size = numbers.dtype, numbers.shape[2]
    length = _convolved(size)
    chirp = _chirp([size, way], F64)[:, None]
    if numbers.shape[1] == 1:
        numbers = torch.nn.functional.pad(numbers, (0, 0, 0, 0, 0, 1))
    turned = _times(numbers.permute(0, 2, 3, 1).to(F64), chirp)
    padded = torch.nn.functional.pad(turned, (0, 0, 0, 0, 0, length - size))
    transformed = transform(padded.permute(0, 3, 1, 2), FORWARD)
    filtered = _times(transformed, _filter([size, length, way], F64)[:, None])
    result = transform(filtered.permute(0, 3, 1, 2), BACKWARD)
    return _times(result[:, :size], chirp).to(dtype)
