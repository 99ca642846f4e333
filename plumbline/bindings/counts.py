"""What is seen of the counts of loops over tensors: whether they are less than a size."""

from torch_mlir import ir

from plumbline.bindings.walk import constant_integer, defining_operation


def _is_same_number(one: ir.Value, other: ir.Value) -> bool:
    """Whether two numbers are seen to be equal: one value, one constant, or one size."""
    if one == other:
        return True
    number = constant_integer(one)
    if number is not None:
        return number == constant_integer(other)
    size, same = defining_operation(one), defining_operation(other)
    return (
        size is not None
        and same is not None
        and size.name == same.name == "tensor.dim"
        and size.operands[0] == same.operands[0]
        and _is_same_number(size.operands[1], same.operands[1])
    )


def upper_bound(value: ir.Value) -> ir.Value | None:
    """The number that a loop counts up to by one, from 0 or more, if `value` is its count."""
    block = value.owner
    if not isinstance(block, ir.Block) or block.owner.operation.name != "scf.for":
        return None
    lower, upper, step = list(block.owner.operation.operands)[:3]
    start = constant_integer(lower)
    if value != block.arguments[0] or constant_integer(step) != 1 or start is None or start < 0:
        return None
    return upper


def is_place_below(value: ir.Value, size: ir.Value) -> bool:
    """Whether a number is seen to be at least 0, and less than another."""
    upper = upper_bound(value)
    return upper is not None and _is_same_number(upper, size)
