"""Has contractions take elements of half precision or of few bits, and widen them themselves.

A kernel widens a left operand once, and a right one as it packs it, so that no tensor of wide
elements is written for it; and weights are packed as they are, before the program runs.
"""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.linalg_to_kernels.computations import (
    Computation,
    composed,
    computation,
    computation_of,
    is_copy,
    is_widening,
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
                chain = _chain_to_widening(value)
                if chain:
                    _fold(member, number, chain)


def _has_windows(sum_: SumOfProducts) -> bool:
    return any(len(terms) > 1 for access in sum_.accesses for terms in access.axes)


def _chain_to_widening(value: ir.Value) -> list[Computation]:
    """What widens a tensor, after what turns its axes about then; nothing if it is not widened."""
    found = computation_of(value)
    if found is None:
        return []
    if is_widening(found):
        return [found]
    if not (is_copy(found) and len(found.inputs) == 1 and found.maps[0].is_projected_permutation):
        return []
    rest = _chain_to_widening(found.inputs[0])
    return [found, *rest] if rest else []


def _fold(member: Computation, number: int, chain: Sequence[Computation]) -> None:
    op, widening = member.op, chain[-1]
    (narrow,), (cast,) = widening.inputs, widening.body_ops
    count = len(member.reduces)
    places = tuple(member.maps[number].results)
    for step in chain:
        places = composed(step.maps[0], step.loops_for(places), count)
    maps = [*op.attributes["indexing_maps"]]
    maps[number] = ir.AffineMapAttr.get(ir.AffineMap.get(count, 0, list(places)))
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(maps)
    op.operands[number] = narrow
    element = member.body.arguments[number]
    element.set_type(ir.RankedTensorType(narrow.type).element_type)
    with ir.InsertionPoint.at_block_begin(member.body):
        widened = cast.clone(ip=ir.InsertionPoint.current).operation
    element.replace_all_uses_except(widened.results[0], widened)
    widened.operands[0] = element
    for step in chain:
        if not list(step.results[0].uses):
            step.op.erase()
