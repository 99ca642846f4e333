"""Says of loops how many elements their vectors are to have, and how many vectors are done at once.

LLVM takes as many elements as a register holds of the widest type. Of a loop that computes
exponentials in f32 and adds them up in f64, half of each register would be empty most of the time.

It does vectors one by one where several would need more registers than there are, as polynomials
have many coefficients. But an iteration of those is a chain of operations that wait for each other,
longer than a CPU looks ahead: to load coefficients anew takes less time than that.
"""

from torch_mlir import ir

from plumbline.bindings.walk import operations_named
from plumbline.linalg_to_kernels.work import is_function, known_trips
from plumbline.target.vector_unit import VectorUnit

_ANNOTATION = "llvm.loop_annotation"

_MOSTLY = 4
"""How many operations there are in the narrower type for each in the wider one."""

_CHAIN = 16
"""Operations on floats, each of what the one before gave, from which on that is so. Stencils have
more operations side by side, which vectors done at once slow down."""

_SIDE_BY_SIDE = 3
"""So many results of an iteration are enough at once, such as those of windows that overlap. With 4
of each, sums of 7x7 products took twice as long with the 16 registers of AVX2 (AMD Zen 4)."""

INTERLEAVED = 4
"""Vectors of such a loop. Of 2 a sigmoid takes 1.2 times as long, of 1 1.3 times (AMD Zen 3)."""

_ROUNDS = 2
"""How often a loop has to take so many, or nothing is gained for code that is twice as long."""


def choose_vector_widths(module: ir.Operation, unit: VectorUnit) -> None:
    """Annotates innermost loops of `module`.

    Those that compute mostly in f32, and else in f64, and those of long chains of operations.
    """
    with module.context:
        for op in operations_named(module, "scf.for"):
            if _has_vectors(op):
                continue
            # Where it does not pay, LLVM makes no vectors and says nothing, as it is not told to.
            said = []
            # Where vectors may be scalable, it says aloud that these are not to be; of a loop with
            # too few iterations for one, that it makes none.
            lanes = unit.lanes(32)
            if is_mostly_narrow(op) and not unit.scalable and _may_take(op, lanes):
                said.append(f"vectorize = <width = {lanes} : i32>")
            if is_chain(op) and _may_take(op, _ROUNDS * INTERLEAVED * lanes):
                said.append(f"interleave = <count = {INTERLEAVED} : i32>")
            if said:
                annotation = f"#llvm.loop_annotation<{', '.join(said)}>"
                op.attributes[_ANNOTATION] = ir.Attribute.parse(annotation)


def _has_vectors(loop: ir.Operation) -> bool:
    """Whether an innermost loop has vectors: LLVM, told a width, says aloud that it makes none."""
    results = [result for op in loop.regions[0].blocks[0].operations for result in op.results]
    return any(isinstance(result.type, ir.VectorType) for result in results)


def _may_take(loop: ir.Operation, iterations: int) -> bool:
    """Whether a loop has so many iterations, as far as is known."""
    known = known_trips(loop)
    return known is None or known >= iterations


def is_chain(loop: ir.Operation) -> bool:
    """Whether an iteration of an innermost loop is a long chain, and none waits for another.

    It may be some, but not many side by side.
    For what loops carry LLVM takes several vectors by itself.
    """
    ops = [view.operation for view in loop.regions[0].blocks[0].operations]
    if loop.results or any(op.regions for op in ops):
        return False
    lengths: dict[ir.Value, int] = {}
    for op in ops:
        length = max((lengths.get(operand, 0) for operand in op.operands), default=0)
        if op.name.startswith("arith."):
            length += any(isinstance(result.type, ir.FloatType) for result in op.results)
        lengths |= dict.fromkeys(op.results, length)
    results = sum(op.name == "memref.store" for op in ops)
    return max(lengths.values(), default=0) >= _CHAIN and results < _SIDE_BY_SIDE


def is_mostly_narrow(loop: ir.Operation) -> bool:
    """Whether an innermost loop computes mostly in f32, and else in f64."""
    ops = [view.operation for view in loop.regions[0].blocks[0].operations]
    if any(op.regions for op in ops):
        return False
    types = [result.type for op in ops for result in op.results]
    narrow = sum(isinstance(type_, ir.F32Type) for type_ in types)
    wide = sum(isinstance(type_, ir.F64Type) for type_ in types)
    functions = sum(is_function(op) and isinstance(op.results[0].type, ir.F32Type) for op in ops)
    return wide > 0 and (functions > 0 or narrow >= _MOSTLY * wide)
