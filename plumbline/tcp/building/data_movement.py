"""Makes tensors, and places the elements of tensors anew."""

import itertools
from collections.abc import Sequence

from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.tcp.assembly.format import MAX_SLOTS
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.dtypes import is_bool
from plumbline.tcp.building.shapes import cast
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType, built
from plumbline.tcp.ops import data_movement as tcp
from plumbline.tcp.shapes import DYNAMIC


def iota(sizes: Sequence[Size], dim: int, dtype: str) -> Tensor:
    """Places counted along a dimension."""
    static = tuple(size_arithmetic.static(size) for size in sizes)
    type_ = TensorType(static, "si32" if is_bool(dtype) else dtype)
    dynamic = [size for size in sizes if not isinstance(size, int)]
    places = tcp.IotaOp(dynamic, dim=dim, results=type_.builtin()).out
    return cast(Tensor(places, type_), dtype)


def transpose(operand: Tensor, permutation: Sequence[int]) -> Tensor:
    """`operand` with dimension `permutation[i]` as its dimension i."""
    if list(permutation) == list(range(operand.type.rank)):
        return operand
    sizes = tuple(operand.type.sizes[a] for a in permutation)
    op = tcp.TransposeOp(operand.value, permutation=permutation)
    return Tensor(op.out, TensorType(sizes, operand.type.dtype))


def reverse(operand: Tensor, axes: Sequence[int]) -> Tensor:
    """Elements in the opposite order along some dimensions."""
    if not axes:
        return operand
    return built(tcp.ReverseOp(operand.value, axes=sorted(axes)), operand.type.dtype)


def slice_(
    operand: Tensor, starts: Sequence[Size], sizes: Sequence[Size], strides: Sequence[Size]
) -> Tensor:
    """`sizes` elements along each dimension, every `strides`-th from `starts` on."""
    type_ = TensorType(tuple(size_arithmetic.static(size) for size in sizes), operand.type.dtype)
    op = tcp.SliceOp(
        operand.value,
        size_arithmetic.values(starts),
        size_arithmetic.values(sizes),
        size_arithmetic.values(strides),
        results=type_.builtin(),
    )
    return Tensor(op.out, type_)


def slice_along(operand: Tensor, dim: int, start: Size, size: Size, stride: int = 1) -> Tensor:
    """`size` elements along one dimension, every `stride`-th from `start` on."""
    sizes = size_arithmetic.all_of(operand)
    whole = sizes[dim]
    if start == 0 and stride == 1 and isinstance(size, int) and size == whole:
        return operand
    starts: list[Size] = [0] * len(sizes)
    strides: list[Size] = [1] * len(sizes)
    starts[dim], sizes[dim], strides[dim] = start, size, stride
    return slice_(operand, starts, sizes, strides)


def concatenate(operands: Sequence[Tensor], dim: int, sizes: Sequence[int]) -> Tensor:
    """The operands, of one dtype, one after the other along `dim`."""
    if len(operands) == 1:
        return operands[0]
    if sum(1 for _ in itertools.groupby(operand.type for operand in operands)) > MAX_SLOTS:
        # More than one op may have: some at a time first.
        firsts = range(0, len(operands), MAX_SLOTS)
        parts = [_joined(operands[first : first + MAX_SLOTS], dim, sizes) for first in firsts]
        return concatenate(parts, dim, sizes)
    type_ = TensorType(tuple(sizes), operands[0].type.dtype)
    values = [operand.value for operand in operands]
    return Tensor(tcp.ConcatOp(values, dim=dim, results=type_.builtin()).out, type_)


def _joined(operands: Sequence[Tensor], dim: int, sizes: Sequence[int]) -> Tensor:
    """Some of the operands of a concatenation, whose sizes are those, as one."""
    lengths = [operand.type.sizes[dim] for operand in operands]
    length = DYNAMIC if DYNAMIC in lengths else sum(lengths)
    return concatenate(operands, dim, [*sizes[:dim], length, *sizes[dim + 1 :]])


def insert(part: Tensor, whole: Tensor, starts: Sequence[Size], strides: Sequence[int]) -> Tensor:
    """`whole` with `part` in place of every `strides`-th element from `starts` on."""
    sizes = size_arithmetic.all_of(part)
    inserted = tensor_dialect.InsertSliceOp(
        part.value,
        whole.value,
        [start for start in starts if not isinstance(start, int)],
        [size for size in sizes if not isinstance(size, int)],
        [],
        [size_arithmetic.static(start) for start in starts],
        [size_arithmetic.static(size) for size in sizes],
        strides,
    )
    return Tensor(inserted.result, whole.type)


def pad(operand: Tensor, value: Tensor, low: Sequence[Size], high: Sequence[Size]) -> Tensor:
    """`operand` with elements of `value`, of rank 0, before and after along each dimension.

    Amounts below zero take elements away.
    """
    operand = _cut(operand, list(map(_amount_below, low)), list(map(_amount_below, high)))
    low = [size_arithmetic.greatest(amount, 0) for amount in low]
    high = [size_arithmetic.greatest(amount, 0) for amount in high]
    if all(amount == 0 for amount in (*low, *high)):
        return operand
    sizes = tuple(
        DYNAMIC
        if size == DYNAMIC or not isinstance(before, int) or not isinstance(after, int)
        else before + size + after
        for size, before, after in zip(operand.type.sizes, low, high, strict=True)
    )
    type_ = TensorType(sizes, operand.type.dtype)
    op = tcp.PadOp(
        operand.value,
        value.value,
        size_arithmetic.values(low),
        size_arithmetic.values(high),
        results=type_.builtin(),
    )
    return Tensor(op.out, type_)


def _amount_below(amount: Size) -> Size:
    """How much less than zero an amount is, or zero."""
    return size_arithmetic.greatest(size_arithmetic.subtract(0, amount), 0)


def _cut(operand: Tensor, low: Sequence[Size], high: Sequence[Size]) -> Tensor:
    """`operand` without so many of the first and last elements along each dimension."""
    if all(amount == 0 for amount in (*low, *high)):
        return operand
    kept = [
        size
        if before == after == 0
        else size_arithmetic.greatest(
            size_arithmetic.subtract(size, size_arithmetic.add(before, after)), 0
        )
        for size, before, after in zip(size_arithmetic.all_of(operand), low, high, strict=True)
    ]
    return slice_(operand, low, kept, [1] * len(kept))
