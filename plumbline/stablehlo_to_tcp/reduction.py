"""Reductions."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import scf

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.bodies import (
    best_of_two,
    combiner,
    constant,
    is_neutral,
    with_initial,
)
from plumbline.stablehlo_to_tcp.lifted_bodies import is_elementwise, lifted
from plumbline.stablehlo_to_tcp.pattern import Patterns, integers, tensors
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import slice_along, transpose
from plumbline.tcp.building.dtypes import signedness
from plumbline.tcp.building.elementwise import apply, like
from plumbline.tcp.building.reduction import arg_reduce, reduce
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast_to
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops.data_movement import BroadcastOp, IotaOp
from plumbline.tcp.ops.elementwise import MaximumOp
from plumbline.tcp.ops.reduction import ArgmaxOp, ArgminOp
from plumbline.tcp.shapes import DYNAMIC


def convert_reduce(op: ir.OpView) -> list[Tensor]:
    """Elements combined by one op, several tensors side by side, or the best with its place.

    What else there is of bodies is done to one slice after the other.
    """
    operands = tensors(op)
    count = len(operands) // 2
    inputs, initials = operands[:count], operands[count:]
    axes = integers(op, "dimensions")
    block = op.regions[0].blocks[0]
    try:
        if best := best_of_two(block):
            return _best(inputs, initials, axes, best)
        combiners = [combiner(block, number) for number in range(count)]
    except Unsupported:
        if not is_elementwise(block):
            raise
        return _one_after_another(inputs, initials, axes, block)
    return [
        with_initial(name, reduce(operand, axes, name), initial)
        for name, operand, initial in zip(combiners, inputs, initials, strict=True)
    ]


def _one_after_another(
    inputs: Sequence[Tensor], initials: Sequence[Tensor], axes: Sequence[int], block: ir.Block
) -> list[Tensor]:
    """What a body makes of all slices, in the order in which they lie."""
    kept = [axis for axis in range(inputs[0].type.rank) if axis not in axes]
    sizes = size_arithmetic.all_of(inputs[0])
    kept_sizes = [sizes[axis] for axis in kept]
    count = size_arithmetic.product([sizes[axis] for axis in axes])
    rows = [reshape(transpose(operand, [*axes, *kept]), [count, *kept_sizes]) for operand in inputs]
    start = [broadcast_to(initial, kept_sizes) for initial in initials]
    if count == 0:
        return start
    zero, end, one = map(size_arithmetic.value, (0, count, 1))
    loop = scf.ForOp(zero, end, one, [tensor.value for tensor in start])
    with ir.InsertionPoint(loop.body):
        so_far = [
            Tensor(value, tensor.type)
            for value, tensor in zip(loop.inner_iter_args, start, strict=True)
        ]
        slices = [
            reshape(slice_along(row, 0, loop.induction_variable, 1), kept_sizes) for row in rows
        ]
        scf.YieldOp([tensor.value for tensor in lifted(block, [*so_far, *slices])])
    return [Tensor(result, tensor.type) for result, tensor in zip(loop.results, start, strict=True)]


def _best(
    inputs: Sequence[Tensor], initials: Sequence[Tensor], axes: Sequence[int], name: str
) -> list[Tensor]:
    """The greatest or least element along an axis, and its place."""
    values, places = inputs
    if len(axes) != 1:
        raise Unsupported("the place of an element along several dimensions; merge them first")
    (axis,) = axes
    if not _counts_along(places.value, axis):
        raise Unsupported("values that are not joined by their places, an iota along the dimension")
    if not is_neutral(name, initials[0]) or constant(initials[1]) != 0:
        raise Unsupported(f"a place that does not begin as 0 with what is neutral to {name}")
    if values.type.sizes[axis] == 0:
        kept = [size for a, size in enumerate(size_arithmetic.all_of(values)) if a != axis]
        return [broadcast_to(initial, kept) for initial in initials]
    op_class = ArgmaxOp if name == "max" else ArgminOp
    place = arg_reduce(values, axis, op_class, dtype=places.type.dtype)
    if values.type.sizes[axis] == DYNAMIC:
        # Of no elements the place is -1 in TCP.
        type_ = place.type
        kind = signedness(type_.dtype)
        signed = Tensor(place.value, TensorType(type_.sizes, type_.dtype.replace("u", "s")))
        raised = apply(
            MaximumOp, signed, like(signed, 0), int_signedness="Signed" if kind else kind
        )
        place = Tensor(raised.value, type_)
    return [reduce(values, axes, name), place]


def _counts_along(value: ir.Value, axis: int) -> bool:
    """Whether each element is its own place along an axis."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    if owner.name == IotaOp.OPERATION_NAME:
        return bool(owner.opview.dim.value == axis)
    if owner.name == BroadcastOp.OPERATION_NAME:
        stretched = [entry.value for entry in owner.opview.axes]
        return axis not in stretched and _counts_along(owner.operands[0], axis)
    if owner.name == "tensor.cast":
        return _counts_along(owner.operands[0], axis)
    if owner.name == "tensor.expand_shape":
        # Dimensions of size 1 beside the one that counts.
        source = owner.operands[0]
        if source.type.rank != 1 or list(value.type.shape).count(1) != value.type.rank - 1:
            return False
        return value.type.shape[axis] != 1 and _counts_along(source, 0)
    return False


PATTERNS: Patterns = {
    "stablehlo.reduce": convert_reduce,
}
