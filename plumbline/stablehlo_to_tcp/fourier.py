"""Fourier transforms, of sizes that are known.

They are products with small matrices of roots of unity. A size n = r m takes r transforms over j1
and then m over j2 (Cooley and Tukey, 1965):

    X[k1 + r k2] = sum_j2 w_m^(j2 k2) w_n^(j2 k1) sum_j1 w_r^(j1 k1) x[m j1 + j2]

A size that has no small factors is a convolution with a chirp, by transforms of a power of two, in
float64 (Bluestein, 1970). All roots of unity are computed in float64, and are constants.
"""

import math
from collections.abc import Callable

import numpy as np
from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.attributes import fourier_type
from plumbline.stablehlo_to_tcp.pattern import integers
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import concatenate, pad, reverse, slice_along, transpose
from plumbline.tcp.building.elementwise import apply
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast, cast, scalar
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.complex_numbers.parts import as_tensor
from plumbline.tcp.complex_numbers.splitting import Replacement, Splitting
from plumbline.tcp.ops.contraction import MatmulOp
from plumbline.tcp.ops.data_movement import ConstOp
from plumbline.tcp.ops.elementwise import AddOp, MulOp, NegOp, SubOp
from plumbline.tcp.shapes import DYNAMIC

_Pair = tuple[Tensor, Tensor]
"""Real and imaginary parts."""

_Array = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]

_LARGEST_MATRIX = 64
"""Of the sizes that are transformed at once."""


def convert_fft(splitting: Splitting, op: ir.Operation) -> Replacement:
    """A transform along the last dimensions: the inverse one is scaled.

    Raises:
      Unsupported: a dimension that is transformed is dynamic.
    """
    kind, length = fourier_type(op.opview), integers(op.opview, "fft_length")
    operand = op.operands[0]
    rank = operand.type.rank
    axes = list(range(rank - len(length), rank))
    if any(operand.type.shape[axis] == DYNAMIC for axis in axes):
        raise Unsupported("a Fourier transform along a dimension whose size is not known")
    if 0 in length:
        raise Unsupported("a Fourier transform of no numbers")
    real, imaginary = map(as_tensor, splitting.pair(operand))
    pair = real, imaginary
    *outer, last = axes
    if kind == "RFFT":
        pair = _along(pair, last, forward=True)
        pair = _each(pair, lambda part: slice_along(part, last, 0, length[-1] // 2 + 1))
    elif kind in ("FFT", "IFFT"):
        pair = _along(pair, last, forward=kind == "FFT")
    for axis in outer:
        pair = _along(pair, axis, forward=kind in ("FFT", "RFFT"))
    if kind == "IRFFT":
        # Of what the other half would be, the real result has no other part.
        return [_along(_both_halves(pair, last, length[-1]), last, forward=False)[0].value]
    return [(pair[0].value, pair[1].value)]


def _each(pair: _Pair, function: Callable[[Tensor], Tensor]) -> _Pair:
    return function(pair[0]), function(pair[1])


def _both_halves(pair: _Pair, axis: int, size: int) -> _Pair:
    """All of what the transform of real numbers is, of which those after the middle are left out.

    They are the conjugates of those before it.
    """
    count = (size - 1) // 2
    have = pair[0].type.sizes[axis]
    if have < size // 2 + 1:
        raise Unsupported(f"{have} numbers for a transform to {size} real ones")
    first = _each(pair, lambda part: slice_along(part, axis, 0, size // 2 + 1))
    if count == 0:
        return first
    real, imaginary = _each(pair, lambda part: reverse(slice_along(part, axis, 1, count), [axis]))
    sizes = list(real.type.sizes)
    sizes[axis] = size
    return (
        concatenate([first[0], real], axis, sizes),
        concatenate([first[1], apply(NegOp, imaginary)], axis, sizes),
    )


def _along(pair: _Pair, axis: int, *, forward: bool) -> _Pair:
    """The transform along one dimension."""
    sizes = size_arithmetic.all_of(pair[0])
    size = pair[0].type.sizes[axis]
    order = [*(other for other in range(len(sizes)) if other != axis), axis]
    rows = size_arithmetic.product([sizes[other] for other in order[:-1]])
    pair = _each(pair, lambda part: reshape(transpose(part, order), [rows, size]))
    if forward:
        pair = _transform(pair)
    else:
        # Parts exchanged before and after.
        imaginary, real = _transform((pair[1], pair[0]))
        pair = _each((real, imaginary), lambda part: _scaled(part, 1 / size))
    back = [order.index(other) for other in range(len(sizes))]
    ordered = [sizes[other] for other in order]
    return _each(pair, lambda part: transpose(reshape(part, ordered), back))


def _scaled(part: Tensor, factor: float) -> Tensor:
    number = scalar(factor, part.type.dtype)
    return apply(MulOp, part, broadcast(number, (part,), part.type.sizes))


def _transform(pair: _Pair) -> _Pair:
    """The transform of each row of a matrix."""
    size = pair[0].type.sizes[1]
    factors = [factor for factor in range(2, _LARGEST_MATRIX + 1) if size % factor == 0]
    if size <= _LARGEST_MATRIX:
        return _by_matrix(pair, size)
    if _greatest_prime_factor(size) > _LARGEST_MATRIX:
        return _by_convolution(pair, size)
    factor = max(factors)
    rest = size // factor
    rows = size_arithmetic.of(pair[0], 0)
    inner = _each(
        pair,
        lambda part: reshape(
            transpose(reshape(part, [rows, factor, rest]), [0, 2, 1]),
            [size_arithmetic.multiply(rows, rest), factor],
        ),
    )
    inner = _each(_transform(inner), lambda part: reshape(part, [rows, rest, factor]))
    inner = _times(inner, _roots(np.outer(np.arange(rest), np.arange(factor)), size)[None])
    inner = _each(
        inner,
        lambda part: reshape(
            transpose(part, [0, 2, 1]), [size_arithmetic.multiply(rows, factor), rest]
        ),
    )
    outer = _each(_transform(inner), lambda part: reshape(part, [rows, factor, rest]))
    return _each(outer, lambda part: reshape(transpose(part, [0, 2, 1]), [rows, size]))


def _greatest_prime_factor(size: int) -> int:
    factor = 2
    while factor * factor <= size:
        if size % factor == 0:
            size //= factor
        else:
            factor += 1
    return size


def _by_matrix(pair: _Pair, size: int) -> _Pair:
    roots = _roots(np.outer(np.arange(size), np.arange(size)), size)
    cos, sin = _constants(roots, pair[0].type.dtype)
    (x, y) = pair
    return (
        apply(SubOp, _product(x, cos), _product(y, sin)),
        apply(AddOp, _product(x, sin), _product(y, cos)),
    )


def _by_convolution(pair: _Pair, size: int) -> _Pair:
    dtype = pair[0].type.dtype
    length = 1 << (2 * size - 2).bit_length()
    # Of whole turns nothing remains but roundings.
    chirp = np.exp(-1j * np.pi / size * (np.arange(size) ** 2 % (2 * size)))
    around = np.zeros(length, np.complex128)
    around[:size] = chirp.conj()
    around[length - size + 1 :] = chirp.conj()[:0:-1]
    zero = scalar(0, "f64")
    pair = _times(_each(pair, lambda part: cast(part, "f64")), chirp[None])
    pair = _each(pair, lambda part: pad(part, zero, [0, 0], [0, length - size]))
    pair = _times(_transform(pair), np.fft.fft(around)[None] / length)
    imaginary, real = _transform((pair[1], pair[0]))
    pair = _each((real, imaginary), lambda part: slice_along(part, 1, 0, size))
    return _each(_times(pair, chirp[None]), lambda part: cast(part, dtype))


def _roots(turns: np.ndarray[tuple[int, ...], np.dtype[np.int64]], size: int) -> _Array:
    """The roots of unity e^(-2 pi i turns / size)."""
    roots: _Array = np.exp(-2j * math.pi / size * (turns % size))
    return roots


def _constants(numbers: _Array, dtype: str) -> _Pair:
    parts = []
    for part in (numbers.real, numbers.imag):
        array = np.ascontiguousarray(part, np.float64 if dtype == "f64" else np.float32)
        op = ConstOp(value=ir.DenseElementsAttr.get(array))
        parts.append(Tensor(op.out, TensorType(array.shape, dtype)))
    return parts[0], parts[1]


def _times(pair: _Pair, factors: _Array) -> _Pair:
    """Products with constants, which are stretched along the first dimension."""
    (x, y) = pair
    cos, sin = _each(
        _constants(factors, x.type.dtype), lambda part: broadcast(part, (x,), x.type.sizes)
    )
    return (
        apply(SubOp, apply(MulOp, x, cos), apply(MulOp, y, sin)),
        apply(AddOp, apply(MulOp, x, sin), apply(MulOp, y, cos)),
    )


def _product(left: Tensor, right: Tensor) -> Tensor:
    sizes = left.type.sizes[0], right.type.sizes[1]
    return Tensor(MatmulOp(left.value, right.value).out, TensorType(sizes, left.type.dtype))
