"""Gives the sorts that torch-mlir makes PyTorch's order of NaN, which is above all numbers.

Their own comparison says of NaN beside a number that the two are out of order, either way round.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_of

_RISING = (arith.CmpFPredicate.OLE, arith.CmpFPredicate.OLT)


def _order_nan(operation: ir.Operation) -> None:
    for sort in operations_of(operation, "tm_tensor"):
        if sort.name != "tm_tensor.sort":
            continue
        for op in list(sort.regions[0].blocks[0].operations):
            if isinstance(op, arith.CmpFOp):
                _allow_nan(op)


def _allow_nan(compare: arith.CmpFOp) -> None:
    """Has two elements be in order, too, where the one that goes to the end of NaN is NaN."""
    predicate = arith.CmpFPredicate(ir.IntegerAttr(compare.attributes["predicate"]).value)
    end = compare.rhs if predicate in _RISING else compare.lhs
    terminator = compare.operation.block.operations[-1]
    with ir.InsertionPoint(terminator), compare.location:
        is_nan = arith.cmpf(arith.CmpFPredicate.UNO, end, end)
        in_order = arith.ori(compare.result, is_nan)
    terminator.operation.replace_uses_of_with(compare.result, in_order)


ORDER_NAN_IN_SORTS = Pass(
    "order-nan-in-sorts", "Have sorts take NaN to be above all numbers, as PyTorch does", _order_nan
)
