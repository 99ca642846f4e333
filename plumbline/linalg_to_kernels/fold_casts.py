"""Has contractions take elements of half precision or of few bits, and widen them themselves.

A kernel widens a left operand once, and a right one as it packs it, so that no tensor of wide
elements is written for it; and weights are packed as they are, before the program runs.
"""

from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.linalg_to_kernels.computations import (
    Computation,
    composed,
    computation,
    widening_of,
)
from plumbline.linalg_to_kernels.products import SumOfProducts, sum_of_products


def fold_casts(module: ir.Operation) -> None:
    """Folds what widens operands into the contractions of `module`, but for those of windows.

    Of an image each element is in many windows, and is widened once for all of them.
    """
    with module.context:
        for op in all_operations(module):
            member = computation(op)
            sum_ = None if member is None else sum_of_products(op)
            if member is None or sum_ is None or _has_windows(sum_):
                continue
            for number, value in enumerate(member.inputs):
                widening = widening_of(value)
                if widening is not None:
                    _fold(member, number, widening)


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
