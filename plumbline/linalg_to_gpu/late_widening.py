"""Has elements widened as late as can be: by the contraction that multiplies them.

Half precision is widened to f32, and int8 to i32, before products are taken; tensor cores take the
narrow elements. So a tensor is padded before it is widened, and each reader of widened elements has
a widening of its own, which then can be part of its group.
"""

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import all_operations, defining_operation, operations_of
from plumbline.linalg_to_gpu.fills import sizes_of, unfilled
from plumbline.linalg_to_kernels.computations import (
    GENERIC,
    erase_unused,
    is_seen_through,
    is_zero,
    number_everywhere,
    widening_of,
)
from plumbline.tcp_to_linalg.building import zero

_INSERT = "tensor.insert_slice"


def widen_late(module: ir.Operation) -> None:
    """Moves what widens the tensors of `module` behind pads, and clones it for each use."""
    with module.context:
        for op in operations_of(module, "tensor"):
            if op.name == _INSERT:
                _widen_after_pad(op)
        for op in reversed(all_operations(module)):
            if _widens(op) or (is_seen_through(op) and _is_widened(op)):
                _repeat(op)


def _widens(op: ir.Operation) -> bool:
    return op.name == GENERIC and bool(op.results) and widening_of(op.results[0]) is not None


def _is_widened(op: ir.Operation) -> bool:
    """Whether an operation reshapes what was widened."""
    while is_seen_through(op):
        source = defining_operation(op.operands[0])
        if source is None:
            return False
        op = source
    return _widens(op)


def _repeat(op: ir.Operation) -> None:
    for use in list(op.results[0].uses)[1:]:
        with ir.InsertionPoint.after(op):
            clone = op.clone(ip=ir.InsertionPoint.current).operation
        use.owner.operation.operands[use.operand_number] = clone.results[0]


def _widen_after_pad(insert: ir.Operation) -> None:
    """Has the zeros around a tensor be narrow, if it is widened before it is put among them."""
    source, target = insert.operands[0], insert.operands[1]
    widening = widening_of(source)
    zeros = defining_operation(target)
    if (
        widening is None
        or zeros is None
        or zeros.name != GENERIC
        or not is_zero(number_everywhere(target))
    ):
        return
    (narrow,) = widening.inputs
    narrow_type, wide_type = ir.RankedTensorType(narrow.type), ir.RankedTensorType(target.type)
    # The axes of what is widened may be others than those of the result of it.
    if any(map_ != ir.AffineMap.get_identity(wide_type.rank) for map_ in widening.maps):
        return
    element = narrow_type.element_type
    type_ = ir.RankedTensorType.get(wide_type.shape, element)
    with ir.InsertionPoint(insert), insert.location:
        out = unfilled(target)
        filled = _filled(zeros, tensor.empty(sizes_of(out), element))
        clone = insert.clone(ip=ir.InsertionPoint.current).operation
        clone.operands[0], clone.operands[1] = narrow, filled
        clone.results[0].set_type(type_)
        widened = widening.op.clone(ip=ir.InsertionPoint.current).operation
        widened.operands[0], widened.operands[1] = clone.results[0], out
        widened.results[0].set_type(wide_type)
    insert.results[0].replace_all_uses_with(widened.results[0])
    insert.erase()
    # What nobody reads would be written all the same.
    erase_unused(source, target)


def _filled(zeros: ir.Operation, target: ir.Value) -> ir.Value:
    """Another tensor filled with zero."""
    type_ = ir.RankedTensorType(target.type)
    element = type_.element_type
    number = zero(element)
    clone = zeros.clone(ip=ir.InsertionPoint.current).operation
    clone.operands[len(clone.operands) - 1] = target
    body = clone.regions[0].blocks[0]
    for argument in body.arguments:
        argument.set_type(element)
    if len(clone.operands) > 1:
        clone.operands[0] = number
    else:
        body.operations[0].operation.operands[0] = number
    clone.results[0].set_type(type_)
    return clone.results[0]
