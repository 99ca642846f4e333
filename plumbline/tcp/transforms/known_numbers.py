"""What is known of the elements of tensors before a program runs."""

from torch_mlir import ir

from plumbline.tcp.ops.data_movement import BroadcastOp, ConstOp

_STRETCHES = (BroadcastOp.OPERATION_NAME, "tensor.expand_shape")


def stretched(value: ir.Value) -> ir.Value:
    """The tensor whose elements, and no others, are those of one that is stretched of it."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in _STRETCHES:
        value = value.owner.operands[0]
    return value


def number_everywhere(value: ir.Value) -> float | int | None:
    """The one number that all elements of `value` are, if that is known."""
    value = stretched(value)
    if isinstance(value.owner, ir.Block) or value.owner.name != ConstOp.OPERATION_NAME:
        return None
    attribute = value.owner.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    return attribute.get_splat_value().value  # type: ignore[no-any-return]
