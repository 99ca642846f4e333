"""Ops that make tensors, or place the elements of tensors anew.

What the tensor dialect has ops for goes there (`plumbline/tcp_to_tensor`).
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from plumbline.tcp.constraints import is_float
from plumbline.tcp.ops.data_movement import BroadcastOp, IotaOp, ReverseOp, TransposeOp
from plumbline.tcp_to_linalg import scalars
from plumbline.tcp_to_linalg.building import DYNAMIC, dim, empty, generic, index
from plumbline.tcp_to_linalg.loop_nest import dims_map
from plumbline.tcp_to_linalg.pattern import Patterns


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
    start = ir.AffineConstantExpr.get(0)
    read = dims_map(type_.rank, [start if a in sizes else a for a in range(type_.rank)])
    return generic(out, [op.input], [read], lambda elements: elements[0])


def convert_iota(op: IotaOp) -> ir.Value:
    """Writes the number of the loop along `dim`."""
    element_type = op.out.type.element_type

    def payload(_: Sequence[ir.Value]) -> ir.Value:
        place = linalg.IndexOp(op.dim.value).result
        if not is_float(element_type):
            return arith.index_cast(element_type, place)
        wide = arith.index_cast(ir.IntegerType.get_signless(64), place)
        return scalars.cast(wide, element_type, from_unsigned=False, to_unsigned=False)

    return generic(empty(op.out.type, op.sizes), [], [], payload)


def convert_transpose(op: TransposeOp) -> ir.Value:
    """Reads the operand by the loops in its own order."""
    type_ = op.out.type
    permutation = [axis.value for axis in op.permutation]
    out = empty(
        type_,
        [dim(op.input, permutation[a]) for a, size in enumerate(type_.shape) if size == DYNAMIC],
    )
    read = dims_map(type_.rank, [permutation.index(axis) for axis in range(type_.rank)])
    return generic(out, [op.input], [read], lambda elements: elements[0])


def convert_reverse(op: ReverseOp) -> ir.Value:
    """Reads the operand from its end along the axes that are turned."""
    type_ = op.out.type
    turned = [axis.value for axis in op.axes]
    if all(type_.shape[axis] not in (0, DYNAMIC) for axis in turned):
        sizes = [dim(op.input, axis) for axis, size in enumerate(type_.shape) if size == DYNAMIC]
        read = [
            type_.shape[axis] - 1 - ir.AffineDimExpr.get(axis) if axis in turned else axis
            for axis in range(type_.rank)
        ]
        place = dims_map(type_.rank, read)
        return generic(empty(type_, sizes), [op.input], [place], lambda elements: elements[0])
    last = {axis: arith.subi(dim(op.input, axis), index(1)) for axis in turned}
    sizes = [dim(op.input, axis) for axis, size in enumerate(type_.shape) if size == DYNAMIC]

    def payload(_: Sequence[ir.Value]) -> ir.Value:
        loops = [linalg.IndexOp(axis).result for axis in range(type_.rank)]
        place = [arith.subi(last[a], loop) if a in last else loop for a, loop in enumerate(loops)]
        return tensor.extract(op.input, place)

    return generic(empty(type_, sizes), [], [], payload)


PATTERNS: Patterns = {
    BroadcastOp: convert_broadcast,
    IotaOp: convert_iota,
    ReverseOp: convert_reverse,
    TransposeOp: convert_transpose,
}
