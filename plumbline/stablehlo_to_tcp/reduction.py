"""Reductions."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.stablehlo_to_tcp.bodies import (
    best_of_two,
    combiner,
    constant,
    is_neutral,
    with_initial,
)
from plumbline.stablehlo_to_tcp.elementwise import apply, like
from plumbline.stablehlo_to_tcp.pattern import Patterns, integers, tensors
from plumbline.tcp.ops.data_movement import BroadcastOp, IotaOp
from plumbline.tcp.ops.elementwise import MaximumOp
from plumbline.tcp.ops.reduction import ArgmaxOp, ArgminOp
from plumbline.torch_to_tcp import sizes as size_arithmetic
from plumbline.torch_to_tcp.pattern import Tensor, Unsupported
from plumbline.torch_to_tcp.reduction import reduce
from plumbline.torch_to_tcp.shapes import broadcast_to
from plumbline.torch_to_tcp.torch_types import DYNAMIC, TorchTensorType, signedness


def convert_reduce(op: ir.OpView) -> list[Tensor]:
    """Elements combined by one op, several tensors side by side, or the best with its place."""
    operands = tensors(op)
    count = len(operands) // 2
    inputs, initials = operands[:count], operands[count:]
    axes = integers(op, "dimensions")
    block = op.regions[0].blocks[0]
    if best := best_of_two(block):
        return _best(inputs, initials, axes, best)
    combiners = [combiner(block, number) for number in range(count)]
    return [
        with_initial(name, reduce(operand, axes, name), initial)
        for name, operand, initial in zip(combiners, inputs, initials, strict=True)
    ]


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
    sizes = (*values.type.sizes[:axis], *values.type.sizes[axis + 1 :])
    type_ = TorchTensorType(sizes, places.type.dtype)
    found = (ArgmaxOp if name == "max" else ArgminOp)(
        values.value,
        dim=axis,
        int_signedness=signedness(values.type.dtype),
        results=type_.builtin(),
    ).out
    place = Tensor(found, type_)
    if values.type.sizes[axis] == DYNAMIC:
        # Of no elements the place is -1 in TCP.
        kind = signedness(type_.dtype)
        signed = Tensor(found, TorchTensorType(sizes, type_.dtype.replace("u", "s")))
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
