"""Ops that make tensors, or place the elements of tensors anew."""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.bodies import constant
from plumbline.stablehlo_to_tcp.pattern import (
    Patterns,
    integer,
    integers,
    tensor,
    tensor_type,
    tensors,
)
from plumbline.stablehlo_to_tcp.shape_tensors import element, elements
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import (
    concatenate,
    insert,
    iota,
    pad,
    reverse,
    slice_,
    slice_along,
    transpose,
)
from plumbline.tcp.building.elementwise import apply
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast_to, from_size, unsqueeze
from plumbline.tcp.building.size_polynomials import same
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, built
from plumbline.tcp.ops import data_movement as tcp
from plumbline.tcp.ops.elementwise import MinimumOp
from plumbline.tcp.ops.indexing import GatherOp
from plumbline.tcp.shapes import DYNAMIC

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


def convert_set_dimension_size(op: ir.OpView) -> Tensor:
    """A tensor of which one size is said to be what it is already.

    Raises:
      Unsupported: it is said to be less, which types do not tell.
    """
    operand, size = tensor(op.operands[0]), tensor(op.operands[1])
    if constant(size) != operand.type.sizes[integer(op, "dimension")]:
        raise Unsupported(
            "sizes below a bound; export them as dynamic ones, or keep as many elements as there "
            "are and choose among them"
        )
    return operand


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


def convert_reverse(op: ir.OpView) -> Tensor:
    """Elements in the opposite order."""
    return reverse(tensor(op.operands[0]), integers(op, "dimensions"))


# -- parts -----------------------------------------------------------------------------------------


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
    return insert(update, operand, places, [1] * len(sizes))


def convert_concatenate(op: ir.OpView) -> Tensor:
    """Tensors one after the other."""
    result = tensor_type(op.results[0])
    return concatenate(tensors(op), integer(op, "dimension"), result.sizes)


# -- padding ---------------------------------------------------------------------------------------


def spread(operand: Tensor, value: Tensor, interior: Sequence[Size]) -> Tensor:
    """`operand` with elements of `value` between its elements, `interior` along each dimension."""
    for axis, amount in enumerate(interior):
        if amount != 0:
            operand = _spread_along(operand, value, axis, amount)
    return operand


def _spread_along(operand: Tensor, value: Tensor, axis: int, amount: Size) -> Tensor:
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
    return pad(spread(operand, value, interior), value, low, high)


def convert_dynamic_pad(op: ir.OpView) -> Tensor:
    """The same, of amounts that are computed."""
    low, high, interior = map(elements, list(op.operands)[2:])
    operand, value = map(tensor, list(op.operands)[:2])
    return pad(spread(operand, value, interior), value, low, high)


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
    "stablehlo.set_dimension_size": convert_set_dimension_size,
    "stablehlo.iota": convert_iota,
    "stablehlo.pad": convert_pad,
    "stablehlo.real_dynamic_slice": convert_real_dynamic_slice,
    "stablehlo.reshape": convert_reshape,
    "stablehlo.reverse": convert_reverse,
    "stablehlo.slice": convert_slice,
    "stablehlo.transpose": convert_transpose,
}
