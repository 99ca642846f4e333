"""Has contractions take elements of half precision or of few bits, and convert them themselves.

A kernel converts a left operand once, and a right one as it packs it, so that no tensor of wide
elements is written for it; and weights are packed as they are, before the program runs. So what is
reshaped or moved on its way to a contraction is converted after that.
"""

from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.linalg_to_kernels.computations import (
    Computation,
    computation,
    computation_of,
    is_copy,
    is_widening,
    only_does,
    read_source,
)
from plumbline.linalg_to_kernels.products import CASTS, sum_of_products
from plumbline.linalg_to_kernels.vectors import cast
from plumbline.tcp_to_linalg.building import empty_like, generic

_BYTE = 8

_RESHAPES = frozenset({"tensor.collapse_shape", "tensor.expand_shape"})


def fold_casts(module: ir.Operation) -> None:
    """Folds what converts operands into the contractions of `module`, but for images.

    Of an image each element is in many windows, and is converted once for all of them.
    """
    with module.context:
        for op in all_operations(module):
            # Most ops are told by their operands, and few move what was converted.
            if _only_moves(op) and _conversion(op.operands[0]) and _is_multiplied(op.results[0]):
                _convert_after(op)
        for op in all_operations(module):
            member = computation(op)
            sum_ = None if member is None else sum_of_products(op)
            if member is None or sum_ is None:
                continue
            for number in range(2):
                while not sum_.accesses[number].has_windows and (
                    conversion := _conversion(op.operands[number])
                ):
                    convert_in(op, number, conversion)


def _conversion(value: ir.Value) -> Computation | None:
    """What converts a tensor into what products are of, without rounding, if it was converted."""
    found = computation_of(value)
    if found is None or is_widening(found):
        return found
    # Any float holds an integer of so few bits, and so does one that it is widened to.
    is_exact = (
        only_does(found, "arith.sitofp") and found.body_ops[0].operands[0].type.width <= _BYTE
    )
    return found if is_exact else None


def _only_moves(op: ir.Operation) -> bool:
    """Whether the result has elements of the first operand, in another shape or order."""
    if op.name in _RESHAPES:
        return True
    member = computation(op) if len(op.operands) == 2 else None
    return (
        member is not None
        and is_copy(member)
        and member.yielded == tuple(member.body.arguments)[:1]
        and len(member.inputs) == 1
        and _is_identity(member.maps[1])
    )


def _is_multiplied(value: ir.Value) -> bool:
    """Whether a contraction reads a tensor, moved or not."""
    return any(
        _is_multiplied(user.results[0])
        if _only_moves(user)
        else computation(user) is not None and sum_of_products(user) is not None
        for user in (use.owner.operation for use in value.uses)
    )


def _convert_after(op: ir.Operation) -> None:
    """Has what is converted before `op` moves it be converted after that."""
    conversion, result = _conversion(op.operands[0]), op.results[0]
    if conversion is None or not all(map(_is_identity, conversion.maps)):
        return
    wide = ir.RankedTensorType(result.type)
    with ir.InsertionPoint.after(op), op.location:
        moved = _moved(op, conversion.inputs[0])
        converted = generic(
            empty_like(moved, wide.element_type),
            [moved],
            [ir.AffineMap.get_identity(wide.rank)],
            lambda elements: cast(elements[0], wide.element_type),
        )
    result.replace_all_uses_with(converted)
    op.erase()
    if not list(conversion.results[0].uses):
        conversion.op.erase()


def _moved(op: ir.Operation, narrow: ir.Value) -> ir.Value:
    """What `op` makes of a tensor of other elements than its operand has."""
    element = ir.RankedTensorType(narrow.type).element_type
    member = computation(op)
    if member is not None:
        out = empty_like(member.inits[0], element)
        return generic(out, [narrow], member.maps[:1], lambda elements: elements[0])
    clone = op.clone(ip=ir.InsertionPoint.current).operation
    clone.operands[0] = narrow
    shape = ir.RankedTensorType(op.results[0].type).shape
    clone.results[0].set_type(ir.RankedTensorType.get(shape, element))
    return clone.results[0]


def _is_identity(map_: ir.AffineMap) -> bool:
    return bool(map_ == ir.AffineMap.get_identity(map_.n_dims))


def convert_in(op: ir.Operation, number: int, conversion: Computation) -> None:
    """Has a contraction take an operand as it was before it was converted, and convert that."""
    member = computation(op)
    assert member is not None
    read_source(member, number, conversion)
    element, sum_ = member.body.arguments[number], member.body.arguments[2]
    element.set_type(ir.RankedTensorType(op.operands[number].type).element_type)
    with ir.InsertionPoint.at_block_begin(member.body):
        converted = cast(element, sum_.type)
    for old in [use.owner.operation for use in element.uses]:
        if old != converted.owner.operation and old.name in CASTS:
            old.results[0].replace_all_uses_with(converted)
            old.erase()
    element.replace_all_uses_except(converted, converted.owner.operation)
    if not list(conversion.results[0].uses):
        conversion.op.erase()
