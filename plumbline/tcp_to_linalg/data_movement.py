"""Ops that make tensors, or place the elements of tensors anew."""

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.tcp.ops.data_movement import BroadcastOp, ConstOp
from plumbline.tcp_to_linalg.pattern import Patterns, DYNAMIC, dim, empty, generic


def convert_const(op: ConstOp) -> ir.Value:
    """An `arith.constant`."""
    return arith.ConstantOp(op.out.type, op.value).result


def convert_broadcast(op: BroadcastOp) -> ir.Value:
    """Reads place 0 along the axes that are stretched."""
    type_ = op.out.type
    sizes = {axis.value: size for axis, size in zip(op.axes, op.sizes, strict=True)}
    out = empty(
        type_,
        [
            sizes[axis] if axis in sizes else dim(op.input, axis)
            for axis, size in enumerate(type_.shape)
            if size == DYNAMIC
        ],
    )
    places = [
        ir.AffineConstantExpr.get(0) if axis in sizes else ir.AffineDimExpr.get(axis)
        for axis in range(type_.rank)
    ]
    read = ir.AffineMap.get(type_.rank, 0, places)
    return generic(out, [op.input], [read], lambda elements: elements[0])


PATTERNS: Patterns = {
    BroadcastOp: convert_broadcast,
    ConstOp: convert_const,
}
