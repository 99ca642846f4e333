"""Makes one operation of a product, a sum and a rounding, as CPUs with AVX2 do it.

A product of two f32 is exact in f64: what adds a third to it there, and rounds, stands for a fused
multiplication and addition, which PyTorch's kernels do where they are to give the same bits. Fused
it is rounded once, and vectors have twice the elements.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from plumbline.bindings.walk import constant_float, defining_operation, operations_named


def fuse_products(module: ir.Operation) -> None:
    """Replaces f32 roundings of sums of products in f64, of numbers that are f32 themselves."""
    with module.context:
        for op in operations_named(module, "arith.truncf"):
            if isinstance(op.results[0].type, ir.F32Type):
                _fuse(op)


def _fuse(rounding: ir.Operation) -> None:
    total = _defined_by(rounding.operands[0], "arith.addf")
    if total is None or not isinstance(total.results[0].type, ir.F64Type):
        return
    for place, summand in enumerate(total.operands):
        product = _defined_by(summand, "arith.mulf")
        if product is None:
            continue
        with ir.InsertionPoint(rounding), rounding.location:
            left, right = map(_narrow, product.operands)
            addend = _narrow(total.operands[1 - place])
            if left is not None and right is not None and addend is not None:
                fused = math.fma(left, right, addend)
                rounding.results[0].replace_all_uses_with(fused)
                rounding.erase()
                return


def _defined_by(value: ir.Value, name: str) -> ir.Operation | None:
    op = defining_operation(value)
    return op if op is not None and op.name == name else None


def _narrow(value: ir.Value) -> ir.Value | None:
    """The f32 that an f64 was, if it was one."""
    widened = _defined_by(value, "arith.extf")
    if widened is not None and isinstance(widened.operands[0].type, ir.F32Type):
        return widened.operands[0]
    number = constant_float(value)
    if number is None or ir.FloatAttr.get(ir.F32Type.get(), number).value != number:
        return None
    return arith.constant(ir.F32Type.get(), number)
