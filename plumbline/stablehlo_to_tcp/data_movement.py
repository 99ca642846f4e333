"""Ops that make tensors, or place the elements of tensors anew."""

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.stablehlo_to_tcp.pattern import DYNAMIC, Patterns, index, integers
from plumbline.tcp.ops.data_movement import (
    BroadcastOp,
    ConcatOp,
    ConstOp,
    IotaOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)


def convert_constant(op: ir.OpView) -> ir.Value:
    """A literal."""
    return ConstOp(value=op.attributes["value"]).out


def convert_iota(op: ir.OpView) -> ir.Value | None:
    """Places counted along a dimension; of floats and integers, of a static shape."""
    if not op.result.type.has_static_shape:
        return None
    return IotaOp([], dim=op.attributes["iota_dimension"], results=op.result.type).out


def convert_broadcast_in_dim(op: ir.OpView) -> ir.Value | None:
    """Dimensions of size 1 put in, and then stretched; of static shapes."""
    operand, type_ = op.operands[0], op.result.type
    dims = integers(op.attributes["broadcast_dimensions"])
    if not type_.has_static_shape or not operand.type.has_static_shape or dims != sorted(dims):
        return None
    expanded = [1] * type_.rank
    for dim, size in zip(dims, operand.type.shape, strict=True):
        expanded[dim] = size
    value = _expand(operand, dims, expanded)
    axes = [
        axis
        for axis, (have, want) in enumerate(zip(expanded, type_.shape, strict=True))
        if have != want
    ]
    if not axes:
        return value
    return BroadcastOp(
        value, [index(type_.shape[axis]) for axis in axes], axes=axes, results=type_
    ).out


def _expand(operand: ir.Value, dims: list[int], shape: list[int]) -> ir.Value:
    """`operand` in `shape`, where its dimensions are `dims` and all others have size 1."""
    if len(shape) == len(dims):
        return operand
    type_ = ir.RankedTensorType.get(shape, operand.type.element_type)
    # Each dimension takes along those of size 1 that follow it, the first also those before.
    groups: list[list[int]] = [[] for _ in dims]
    for axis in range(len(shape)):
        if dims:
            groups[max(sum(dim <= axis for dim in dims) - 1, 0)].append(axis)
    return tensor.expand_shape(type_, operand, groups, [], shape)


def convert_slice(op: ir.OpView) -> ir.Value | None:
    """A part, from places known when the program is compiled."""
    starts, limits, strides = (
        integers(op.attributes[name]) for name in ("start_indices", "limit_indices", "strides")
    )
    sizes = [
        -(-(limit - start) // stride)
        for start, limit, stride in zip(starts, limits, strides, strict=True)
    ]
    return SliceOp(
        op.operands[0],
        [index(start) for start in starts],
        [index(size) for size in sizes],
        [index(stride) for stride in strides],
        results=op.result.type,
    ).out


def convert_concatenate(op: ir.OpView) -> ir.Value:
    """Tensors one after the other."""
    return ConcatOp(list(op.operands), dim=op.attributes["dimension"], results=op.result.type).out


def convert_transpose(op: ir.OpView) -> ir.Value:
    """Dimensions in another order."""
    return TransposeOp(
        op.operands[0],
        permutation=integers(op.attributes["permutation"]),
        results=op.result.type,
    ).out


def convert_reverse(op: ir.OpView) -> ir.Value:
    """Elements in the opposite order."""
    axes = sorted(integers(op.attributes["dimensions"]))
    return ReverseOp(op.operands[0], axes=axes, results=op.result.type).out


def convert_reshape(op: ir.OpView) -> ir.Value | None:
    """Another shape, if both are static: by way of one dimension."""
    operand, type_ = op.operands[0], op.result.type
    if DYNAMIC in (*operand.type.shape, *type_.shape):
        return None
    if operand.type.rank > 1:
        flat = ir.RankedTensorType.get([_count(type_)], type_.element_type)
        operand = tensor.collapse_shape(flat, operand, [list(range(operand.type.rank))])
    if type_.rank == 0 and operand.type.rank == 1:
        return tensor.collapse_shape(type_, operand, [])
    if operand.type == type_:
        return operand
    groups = [list(range(type_.rank))] if operand.type.rank else []
    return tensor.expand_shape(type_, operand, groups, [], list(type_.shape))


def _count(type_: ir.RankedTensorType) -> int:
    count = 1
    for size in type_.shape:
        count *= size
    return count


PATTERNS: Patterns = {
    "stablehlo.broadcast_in_dim": convert_broadcast_in_dim,
    "stablehlo.concatenate": convert_concatenate,
    "stablehlo.constant": convert_constant,
    "stablehlo.iota": convert_iota,
    "stablehlo.reshape": convert_reshape,
    "stablehlo.reverse": convert_reverse,
    "stablehlo.slice": convert_slice,
    "stablehlo.transpose": convert_transpose,
}
