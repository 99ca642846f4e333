"""Ops that make tensors, or place the elements of tensors anew."""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.stablehlo_to_tcp.elementwise import apply
from plumbline.stablehlo_to_tcp.pattern import (
    Patterns,
    built,
    integer,
    integers,
    tensor,
    tensor_type,
    tensors,
)
from plumbline.stablehlo_to_tcp.shape_tensors import element, elements
from plumbline.tcp.ops import data_movement as tcp
from plumbline.tcp.ops.elementwise import MinimumOp
from plumbline.tcp.ops.indexing import GatherOp
from plumbline.torch_to_tcp import sizes as size_arithmetic
from plumbline.torch_to_tcp.data_movement import concatenate, slice_along, transpose
from plumbline.torch_to_tcp.pattern import Tensor, Unsupported
from plumbline.torch_to_tcp.reshape import reshape, same
from plumbline.torch_to_tcp.shapes import broadcast_to, cast, from_size, unsqueeze
from plumbline.torch_to_tcp.sizes import Size
from plumbline.torch_to_tcp.torch_types import DYNAMIC, TorchTensorType, is_bool

# -- making ----------------------------------------------------------------------------------------


def convert_constant(op: ir.OpView) -> Tensor:
    """A literal; its integers lose their sign, as builtin tensors of TCP carry none."""
    type_ = tensor_type(op.results[0])
    literal = op.attributes["value"]
    if literal.type != type_.builtin():
        if not isinstance(literal, ir.DenseElementsAttr):
            raise Unsupported("unsigned integers that are kept in a resource")
        numbers = np.array(literal)
        signed = numbers.view(f"int{8 * numbers.itemsize}")
        literal = ir.DenseElementsAttr.get(np.ascontiguousarray(signed), type=type_.builtin())
    return Tensor(tcp.ConstOp(value=literal).out, type_)


def iota(sizes: Sequence[Size], dim: int, dtype: str) -> Tensor:
    """Places counted along a dimension."""
    static = tuple(size_arithmetic.static(size) for size in sizes)
    type_ = TorchTensorType(static, "si32" if is_bool(dtype) else dtype)
    dynamic = [size for size in sizes if not isinstance(size, int)]
    places = tcp.IotaOp(dynamic, dim=dim, results=type_.builtin()).out
    return cast(Tensor(places, type_), dtype)


def convert_iota(op: ir.OpView) -> Tensor:
    """Places counted along a dimension."""
    type_ = tensor_type(op.results[0])
    return iota(type_.sizes, integer(op, "iota_dimension"), type_.dtype)


def convert_dynamic_iota(op: ir.OpView) -> Tensor:
    """The same, in a shape that is computed."""
    sizes = _requested(op, op.operands[0])
    return iota(sizes, integer(op, "iota_dimension"), tensor_type(op.results[0]).dtype)


def _requested(op: ir.OpView, shape: ir.Value) -> list[Size]:
    """The sizes of the result: from its type, and where that leaves them open from a tensor."""
    return [
        element(shape, axis) if size == DYNAMIC else size
        for axis, size in enumerate(tensor_type(op.results[0]).sizes)
    ]


def convert_get_dimension_size(op: ir.OpView) -> Tensor:
    """A size as a tensor of rank 0."""
    operand = tensor(op.operands[0])
    size = size_arithmetic.of(operand, integer(op, "dimension"))
    return from_size(size, tensor_type(op.results[0]).dtype)


# -- shapes ----------------------------------------------------------------------------------------


def broadcast_in_dim(operand: Tensor, dims: Sequence[int], sizes: Sequence[Size]) -> Tensor:
    """`operand` in the shape `sizes`, of which its own dimensions are `dims`."""
    order = sorted(range(len(dims)), key=lambda axis: dims[axis])
    operand = transpose(operand, order)
    own = sorted(dims)
    expanded = unsqueeze(operand, [axis for axis in range(len(sizes)) if axis not in own])
    for axis in own:
        have = size_arithmetic.of(expanded, axis)
        if not isinstance(have, int) and not same(have, sizes[axis]):
            expanded = _stretch_if_1(expanded, axis, sizes[axis])
    return broadcast_to(expanded, sizes)


def _stretch_if_1(operand: Tensor, axis: int, size: Size) -> Tensor:
    """A dimension repeated to `size` if it turns out to be 1, and left as it is if not."""
    sizes = size_arithmetic.all_of(operand)
    last = size_arithmetic.subtract(sizes[axis], 1)
    sizes[axis] = size
    places = iota(sizes, axis, "si64")
    ends = broadcast_to(from_size(last), sizes)
    places = apply(MinimumOp, places, ends, int_signedness="Signed")
    return built(GatherOp(operand.value, places.value, dim=axis), operand.type.dtype)


def convert_broadcast_in_dim(op: ir.OpView) -> Tensor:
    """Dimensions of size 1 put in, and then stretched."""
    operand = tensor(op.operands[0])
    dims = integers(op, "broadcast_dimensions")
    return broadcast_in_dim(operand, dims, tensor_type(op.results[0]).sizes)


def convert_dynamic_broadcast_in_dim(op: ir.OpView) -> Tensor:
    """The same, to a shape that is computed."""
    operand = tensor(op.operands[0])
    dims = integers(op, "broadcast_dimensions")
    sizes = _requested(op, op.operands[1])
    for axis in integers(op, "known_nonexpanding_dimensions"):
        sizes[dims[axis]] = size_arithmetic.of(operand, axis)
    return broadcast_in_dim(operand, dims, sizes)


def convert_reshape(op: ir.OpView) -> Tensor:
    """Another shape over the same elements."""
    sizes: Sequence[int] = tensor_type(op.results[0]).sizes
    if sizes.count(DYNAMIC) > 1:
        raise Unsupported("several sizes that nothing tells; say them by a dynamic_reshape")
    return reshape(tensor(op.operands[0]), [None if size == DYNAMIC else size for size in sizes])


def convert_dynamic_reshape(op: ir.OpView) -> Tensor:
    """Another shape over the same elements, which is computed."""
    return reshape(tensor(op.operands[0]), _requested(op, op.operands[1]))


# -- order -----------------------------------------------------------------------------------------


def convert_transpose(op: ir.OpView) -> Tensor:
    """Dimensions in another order."""
    return transpose(tensor(op.operands[0]), integers(op, "permutation"))


def reverse(operand: Tensor, axes: Sequence[int]) -> Tensor:
    """Elements in the opposite order along some dimensions."""
    if not axes:
        return operand
    return built(tcp.ReverseOp(operand.value, axes=sorted(axes)), operand.type.dtype)


def convert_reverse(op: ir.OpView) -> Tensor:
    """Elements in the opposite order."""
    return reverse(tensor(op.operands[0]), integers(op, "dimensions"))


# -- parts -----------------------------------------------------------------------------------------


def slice_(
    operand: Tensor, starts: Sequence[Size], sizes: Sequence[Size], strides: Sequence[Size]
) -> Tensor:
    """`sizes` elements along each dimension, every `strides`-th from `starts` on."""
    type_ = TorchTensorType(
        tuple(size_arithmetic.static(size) for size in sizes), operand.type.dtype
    )
    op = tcp.SliceOp(
        operand.value,
        size_arithmetic.values(starts),
        size_arithmetic.values(sizes),
        size_arithmetic.values(strides),
        results=type_.builtin(),
    )
    return Tensor(op.out, type_)


def _between(
    operand: Tensor, starts: Sequence[Size], limits: Sequence[Size], strides: Sequence[Size]
) -> Tensor:
    sizes = [
        size_arithmetic.divide_up(size_arithmetic.subtract(limit, start), stride)
        for start, limit, stride in zip(starts, limits, strides, strict=True)
    ]
    return slice_(operand, starts, sizes, strides)


def convert_slice(op: ir.OpView) -> Tensor:
    """A part, from places known when the program is compiled."""
    names = ("start_indices", "limit_indices", "strides")
    starts, limits, strides = (integers(op, name) for name in names)
    return _between(tensor(op.operands[0]), starts, limits, strides)


def convert_real_dynamic_slice(op: ir.OpView) -> Tensor:
    """A part, from places that are computed."""
    starts, limits, strides = map(elements, list(op.operands)[1:])
    return _between(tensor(op.operands[0]), starts, limits, strides)


def clamped_starts(
    operand: Tensor, starts: Sequence[ir.Value], sizes: Sequence[Size]
) -> list[Size]:
    """Where a part of the given sizes begins: not before the first element, nor too late."""
    return [
        size_arithmetic.least(
            size_arithmetic.greatest(element(start), 0),
            size_arithmetic.subtract(size_arithmetic.of(operand, axis), size),
        )
        for axis, (start, size) in enumerate(zip(starts, sizes, strict=True))
    ]


def convert_dynamic_slice(op: ir.OpView) -> Tensor:
    """A part of a known shape, from places that are computed."""
    operand, starts = tensor(op.operands[0]), list(op.operands)[1:]
    sizes: list[Size] = list(integers(op, "slice_sizes"))
    places = clamped_starts(operand, starts, sizes)
    return slice_(operand, places, sizes, [1] * len(sizes))


def convert_dynamic_update_slice(op: ir.OpView) -> Tensor:
    """A tensor with a part replaced."""
    operand, update = map(tensor, list(op.operands)[:2])
    starts = list(op.operands)[2:]
    if 0 in update.type.sizes:
        return operand
    sizes = size_arithmetic.all_of(update)
    places = clamped_starts(operand, starts, sizes)
    inserted = tensor_dialect.InsertSliceOp(
        update.value,
        operand.value,
        [place for place in places if not isinstance(place, int)],
        [size for size in sizes if not isinstance(size, int)],
        [],
        [size_arithmetic.static(place) for place in places],
        [size_arithmetic.static(size) for size in sizes],
        [1] * len(sizes),
    )
    return Tensor(inserted.result, operand.type)


def convert_concatenate(op: ir.OpView) -> Tensor:
    """Tensors one after the other."""
    result = tensor_type(op.results[0])
    return concatenate(tensors(op), integer(op, "dimension"), result.sizes)


# -- padding ---------------------------------------------------------------------------------------


def pad(
    operand: Tensor,
    value: Tensor,
    low: Sequence[Size],
    high: Sequence[Size],
    interior: Sequence[Size] | None = None,
) -> Tensor:
    """`operand` with elements of `value` around it and, `interior`, between its elements.

    Amounts below zero take elements away, after those in between have been put in.
    """
    for axis, amount in enumerate(interior or ()):
        if amount != 0:
            operand = _spread(operand, value, axis, amount)
    sizes = size_arithmetic.all_of(operand)
    starts = [_amount_below(amount) for amount in low]
    cut = [_amount_below(amount) for amount in high]
    if any(amount != 0 for amount in (*starts, *cut)):
        kept = [
            size_arithmetic.greatest(
                size_arithmetic.subtract(size, size_arithmetic.add(before, after)), 0
            )
            if (before, after) != (0, 0)
            else size
            for size, before, after in zip(sizes, starts, cut, strict=True)
        ]
        operand = slice_(operand, starts, kept, [1] * len(sizes))
    low = [size_arithmetic.greatest(amount, 0) for amount in low]
    high = [size_arithmetic.greatest(amount, 0) for amount in high]
    if all(amount == 0 for amount in (*low, *high)):
        return operand
    padded = [
        size_arithmetic.static(size_arithmetic.add(size_arithmetic.add(size, before), after))
        for size, before, after in zip(size_arithmetic.all_of(operand), low, high, strict=True)
    ]
    type_ = TorchTensorType(tuple(padded), operand.type.dtype)
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


def _spread(operand: Tensor, value: Tensor, axis: int, amount: Size) -> Tensor:
    """`amount` elements of `value` between one element and the next along an axis."""
    sizes = size_arithmetic.all_of(operand)
    apart = unsqueeze(operand, [axis + 1])
    none: list[Size] = [0] * apart.type.rank
    behind = list(none)
    behind[axis + 1] = amount
    merged = list(sizes)
    merged[axis] = size_arithmetic.multiply(sizes[axis], size_arithmetic.add(amount, 1))
    joined = reshape(pad(apart, value, none, behind), merged)
    # None come after the last element, if there is one.
    length = size_arithmetic.greatest(size_arithmetic.subtract(merged[axis], amount), 0)
    return slice_along(joined, axis, 0, length)


def convert_pad(op: ir.OpView) -> Tensor:
    """Elements around others and between them, or fewer of them."""
    operand, value = tensors(op)
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    low, high, interior = (integers(op, name) for name in names)
    return pad(operand, value, low, high, interior)


def convert_dynamic_pad(op: ir.OpView) -> Tensor:
    """The same, of amounts that are computed."""
    low, high, interior = map(elements, list(op.operands)[2:])
    return pad(tensor(op.operands[0]), tensor(op.operands[1]), low, high, interior)


PATTERNS: Patterns = {
    "stablehlo.broadcast_in_dim": convert_broadcast_in_dim,
    "stablehlo.concatenate": convert_concatenate,
    "stablehlo.constant": convert_constant,
    "stablehlo.dynamic_broadcast_in_dim": convert_dynamic_broadcast_in_dim,
    "stablehlo.dynamic_iota": convert_dynamic_iota,
    "stablehlo.dynamic_pad": convert_dynamic_pad,
    "stablehlo.dynamic_reshape": convert_dynamic_reshape,
    "stablehlo.dynamic_slice": convert_dynamic_slice,
    "stablehlo.dynamic_update_slice": convert_dynamic_update_slice,
    "stablehlo.get_dimension_size": convert_get_dimension_size,
    "stablehlo.iota": convert_iota,
    "stablehlo.pad": convert_pad,
    "stablehlo.real_dynamic_slice": convert_real_dynamic_slice,
    "stablehlo.reshape": convert_reshape,
    "stablehlo.reverse": convert_reverse,
    "stablehlo.slice": convert_slice,
    "stablehlo.transpose": convert_transpose,
}
