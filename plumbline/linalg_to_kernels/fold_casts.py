"""Has contractions take elements of half precision or of few bits, and widen them themselves.

A kernel widens a left operand once, and a right one as it packs it, so that no tensor of wide
elements is written for it; and weights are packed as they are, before the program runs. So what is
reshaped or moved on its way to a contraction is widened after that.
"""

from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.linalg_to_kernels.computations import (
    Computation,
    composed,
    computation,
    is_copy,
    widening_of,
)
from plumbline.linalg_to_kernels.products import SumOfProducts, sum_of_products
from plumbline.linalg_to_kernels.vectors import cast
from plumbline.tcp_to_linalg.pattern import dim, empty, generic

_RESHAPES = frozenset({"tensor.collapse_shape", "tensor.expand_shape"})


def fold_casts(module: ir.Operation) -> None:
    """Folds what widens operands into the contractions of `module`, but for those of windows.

    Of an image each element is in many windows, and is widened once for all of them.
    """
    with module.context:
        for op in all_operations(module):
            if _only_moves(op) and _is_multiplied(op.results[0]):
                _widen_after(op)
        for op in all_operations(module):
            member = computation(op)
            sum_ = None if member is None else sum_of_products(op)
            if member is None or sum_ is None or _has_windows(sum_):
                continue
            for number, value in enumerate(member.inputs):
                widening = widening_of(value)
                if widening is not None:
                    _fold(member, number, widening)


def _only_moves(op: ir.Operation) -> bool:
    """Whether the result has elements of the first operand, in another shape or order."""
    if op.name in _RESHAPES:
        return True
    member = computation(op)
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


def _widen_after(op: ir.Operation) -> None:
    """Has what is widened before `op` moves it be widened after that."""
    widening, result = widening_of(op.operands[0]), op.results[0]
    if widening is None or not all(map(_is_identity, widening.maps)):
        return
    wide = ir.RankedTensorType(result.type)
    with ir.InsertionPoint.after(op), op.location:
        moved = _moved(op, widening.inputs[0])
        widened = generic(
            _empty_like(moved, wide.element_type),
            [moved],
            [ir.AffineMap.get_identity(wide.rank)],
            lambda elements: cast(elements[0], wide.element_type),
        )
    result.replace_all_uses_with(widened)
    op.erase()
    if not list(widening.results[0].uses):
        widening.op.erase()


def _moved(op: ir.Operation, narrow: ir.Value) -> ir.Value:
    """What `op` makes of a tensor of other elements than its operand has."""
    element = ir.RankedTensorType(narrow.type).element_type
    member = computation(op)
    if member is not None:
        out = _empty_like(member.inits[0], element)
        return generic(out, [narrow], member.maps[:1], lambda elements: elements[0])
    clone = op.clone(ip=ir.InsertionPoint.current).operation
    clone.operands[0] = narrow
    shape = ir.RankedTensorType(op.results[0].type).shape
    clone.results[0].set_type(ir.RankedTensorType.get(shape, element))
    return clone.results[0]


def _empty_like(value: ir.Value, element: ir.Type) -> ir.Value:
    """A tensor of such elements to be written, of the sizes of another."""
    type_ = ir.RankedTensorType(value.type)
    sizes = [dim(value, axis) for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]
    return empty(ir.RankedTensorType.get(type_.shape, element), sizes)


def _is_identity(map_: ir.AffineMap) -> bool:
    return bool(map_ == ir.AffineMap.get_identity(map_.n_dims))


def _has_windows(sum_: SumOfProducts) -> bool:
    return any(len(terms) > 1 for access in sum_.accesses for terms in access.axes)


def _fold(member: Computation, number: int, widening: Computation) -> None:
    op, (narrow,), (cast,) = member.op, widening.inputs, widening.body_ops
    maps = [*op.attributes["indexing_maps"]]
    loops = widening.loops_for(tuple(member.maps[number].results))
    count = len(member.reduces)
    places = composed(widening.maps[0], loops, count)
    maps[number] = ir.AffineMapAttr.get(ir.AffineMap.get(count, 0, list(places)))
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(maps)
    op.operands[number] = narrow
    element = member.body.arguments[number]
    element.set_type(ir.RankedTensorType(narrow.type).element_type)
    with ir.InsertionPoint.at_block_begin(member.body):
        widened = cast.clone(ip=ir.InsertionPoint.current).operation
    element.replace_all_uses_except(widened.results[0], widened)
    widened.operands[0] = element
    if not list(widening.results[0].uses):
        widening.op.erase()
