"""Compares Python's floats as Python does: one that is NaN is neither above nor below another.

What torch-mlir makes of these comparisons is true where one is NaN.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.torch_c import FROM_I1, TO_F64, TO_I64
from plumbline.bindings.walk import operations_of

_PREDICATES = {
    f"torch.aten.{name}.{operands}": predicate
    for name, predicate in (
        ("eq", arith.CmpFPredicate.OEQ),
        ("ge", arith.CmpFPredicate.OGE),
        ("gt", arith.CmpFPredicate.OGT),
        ("le", arith.CmpFPredicate.OLE),
        ("lt", arith.CmpFPredicate.OLT),
        ("ne", arith.CmpFPredicate.UNE),
    )
    for operands in ("float", "float_int")
}


def _compare(operation: ir.Operation) -> None:
    for op in [op for op in operations_of(operation, "torch") if op.name in _PREDICATES]:
        with ir.InsertionPoint(op), op.location:
            holds = arith.cmpf(_PREDICATES[op.name], *map(_as_f64, op.operands))
            cast = ir.Operation.create(
                FROM_I1, results=[op.results[0].type], operands=[holds]
            ).result
        op.results[0].replace_all_uses_with(cast)
        op.erase()


def _as_f64(number: ir.Value) -> ir.Value:
    f64, i64 = ir.F64Type.get(), ir.IntegerType.get_signless(64)
    if str(number.type) == "!torch.float":
        return ir.Operation.create(TO_F64, results=[f64], operands=[number]).result
    whole = ir.Operation.create(TO_I64, results=[i64], operands=[number]).result
    return arith.sitofp(f64, whole)


COMPARE_FLOATS = Pass(
    "compare-torch-floats", "Compare floats of the Torch dialect as Python does", _compare
)
