"""Says of loops that add up in a wider type how many elements their vectors are to have.

LLVM takes as many as a register holds of the widest type. Of a loop that computes exponentials in
f32 and adds them up in f64, half of each register would be empty most of the time.
"""

from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.target.vector_unit import VectorUnit

_ANNOTATION = "llvm.loop_annotation"

_MOSTLY = 4
"""How many operations there are in the narrower type for each in the wider one."""


def choose_vector_widths(module: ir.Operation, unit: VectorUnit) -> None:
    """Annotates the innermost loops of `module` that compute mostly in f32, and else in f64."""
    with module.context:
        for op in all_operations(module):
            if op.name == "scf.for" and is_mostly_narrow(op):
                # Where it cannot, LLVM makes no vectors and says nothing, as it is not told to.
                lanes = unit.lanes(32)
                op.attributes[_ANNOTATION] = ir.Attribute.parse(
                    f"#llvm.loop_annotation<vectorize = <width = {lanes} : i32>>"
                )


def is_mostly_narrow(loop: ir.Operation) -> bool:
    """Whether an innermost loop computes mostly in f32, and else in f64."""
    ops = [view.operation for view in loop.regions[0].blocks[0].operations]
    if any(op.regions for op in ops):
        return False
    types = [result.type for op in ops for result in op.results]
    narrow = sum(isinstance(type_, ir.F32Type) for type_ in types)
    wide = sum(isinstance(type_, ir.F64Type) for type_ in types)
    return wide > 0 and narrow >= _MOSTLY * wide
