"""Spells remainders of floats in arithmetic of integers, as a GPU has no instructions for them.

Its threads branch each by itself: none waits for the greatest quotient of all. Of doubles, of which
a CPU makes vectors, many GPUs do few at a time.
"""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.bindings.walk import all_operations
from plumbline.elementary_functions.arithmetic import Float
from plumbline.elementary_functions.remainder import remf_of_integers


def expand_remainders(root: ir.Operation) -> None:
    """Spells each `arith.remf`, on single numbers and on vectors."""
    with root.context:
        for op in all_operations(root):
            if op.name == "arith.remf":
                with ir.InsertionPoint(op), op.location:
                    op.results[0].replace_all_uses_with(_of_each(op, _remainder_of_any))
                op.erase()


def _of_each(op: ir.Operation, build: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """What there is of numbers, or for each element of vectors of one axis."""
    left, right = op.operands
    if not isinstance(left.type, ir.VectorType):
        return build(left, right)
    none = ir.DenseI64ArrayAttr
    (length,) = ir.VectorType(left.type).shape
    elements = [
        build(*(vector.extract(value, [], none.get([at])) for value in (left, right)))
        for at in range(length)
    ]
    return vector.from_elements(left.type, elements)


def _remainder_of_any(x: ir.Value, y: ir.Value) -> ir.Value:
    """That of half precision is computed in f32, and rounded: PyTorch does so."""
    type_ = x.type
    if isinstance(type_, ir.F16Type | ir.BF16Type):
        wide = [Float(arith.extf(ir.F32Type.get(), value)) for value in (x, y)]
        return arith.truncf(type_, remf_of_integers(*wide).value)
    return remf_of_integers(Float(x), Float(y)).value
