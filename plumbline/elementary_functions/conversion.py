"""Spells elementary functions in arithmetic, of which LLVM can make loops over vectors.

A call of libm takes one number at a time.
"""

import functools
from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import math

from plumbline.bindings.pipeline import Option, Pass
from plumbline.bindings.walk import constant_float, defining_operation, operations_named
from plumbline.elementary_functions import hyperbolic, pieces
from plumbline.elementary_functions.arithmetic import Float
from plumbline.elementary_functions.exponential import exp_to_1
from plumbline.elementary_functions.functions import EXACT_FUNCTIONS, FUNCTIONS
from plumbline.elementary_functions.lookups import fits_registers
from plumbline.elementary_functions.orders import is_at_most_0
from plumbline.elementary_functions.pieces import FUNCTIONS_IN_PIECES
from plumbline.elementary_functions.trigonometric import REDUCTIONS, Reduction, reduced_small

_Function = Callable[..., Float]

_F16 = "f16"

PERIODIC = ("math.cos", "math.sin", "math.tan")

OF_SMALL_ANGLE = "plumbline.small_angle"
"""The attribute of one of these whose angle is less than `trigonometric.SMALL` says, or none."""


def expand_elementary_functions(
    root: ir.Operation, but: Sequence[str] = (), later: Sequence[str] = ()
) -> None:
    """Spells ops of the math dialect in arithmetic, on single numbers and on vectors.

    And remainders, which are one operation, but a call of libm as well. Those called `but` stay
    where they are of f32, and so do those that may be approximate, as a GPU's own are; those called
    `later` stay of all types.
    """
    known = {**FUNCTIONS, **EXACT_FUNCTIONS}
    with root.context:
        for view in operations_named(root, "math.powf", *known):
            op = _exp2_of(view) or view
            build = known.get(op.name)
            if build is None or op.name in later:
                continue
            type_ = op.results[0].type
            element = type_.element_type if isinstance(type_, ir.VectorType) else type_
            if not isinstance(element, ir.F32Type | ir.F64Type):
                continue
            if (op.name in but or is_approximate(op)) and isinstance(element, ir.F32Type):
                continue
            reduced = _reduction_for(op) if op.name in PERIODIC else None
            if reduced is not None:
                build = functools.partial(build, reduced=reduced)
            if op.name == "math.exp" and is_at_most_0(op.operands[0]):
                build = exp_to_1
            _spell(op, build, hyperbolic.one_plus_tanh)


def is_approximate(op: ir.Operation) -> bool:
    """Whether an operation says that its function may be approximate: `fastmath<afn>`."""
    return "afn" in str(op.attributes["fastmath"]) if "fastmath" in op.attributes else False


def look_up_functions(root: ir.Operation) -> None:
    """Has functions of vectors that fill registers of AVX-512 look up polynomials there."""
    with root.context:
        for op in operations_named(root, *FUNCTIONS_IN_PIECES):
            build = FUNCTIONS_IN_PIECES[op.name]
            if fits_registers(op.results[0].type):
                _spell(op, build, pieces.one_plus_tanh)


def _reduction_for(op: ir.Operation) -> Reduction | None:
    """What takes right angles away for less than from any float, if something does."""
    narrow = _widened_from(op.operands[0])
    if narrow == _F16:
        return REDUCTIONS[_F16]
    if OF_SMALL_ANGLE in op.attributes:
        return reduced_small
    return REDUCTIONS.get(narrow)


def has_own_reduction(angle: ir.Value) -> bool:
    """Whether a float is of a type whose numbers are all small angles."""
    return _widened_from(angle) == _F16


def _widened_from(value: ir.Value) -> str:
    """The type of fewer bits that a float was widened from; empty if it was not."""
    op = defining_operation(value)
    if op is None or op.name != "arith.extf":
        return ""
    type_ = op.operands[0].type
    return str(type_.element_type if isinstance(type_, ir.VectorType) else type_)


def _exp2_of(op: ir.Operation) -> ir.Operation | None:
    """What replaces a power of 2, as which PyTorch spells exp2: that takes a third of the time."""
    if op.name != "math.powf" or constant_float(op.operands[0]) != 2.0:
        return None
    with ir.InsertionPoint(op), op.location:
        power = math.exp2(op.operands[1])
    op.results[0].replace_all_uses_with(power)
    op.erase()
    return power.owner.operation


def _spell(op: ir.Operation, build: _Function, one_plus_tanh: _Function) -> None:
    """Replaces an operation by what `build` makes, or a tanh and what adds 1 to that."""
    following = _sum_with_one(op) if op.name == "math.tanh" else None
    if following is not None:
        build = one_plus_tanh
    with ir.InsertionPoint(op), op.location:
        result = build(*map(Float, op.operands))
    for replaced in filter(None, (following, op)):
        replaced.results[0].replace_all_uses_with(result.value)
        replaced.erase()


def _sum_with_one(op: ir.Operation) -> ir.Operation | None:
    """What adds 1 to the result of an operation, if nothing else is done with that."""
    uses = list(op.results[0].uses)
    if len(uses) != 1 or uses[0].owner.name != "arith.addf":
        return None
    following = uses[0].owner.operation
    left, right = following.operands
    other = right if left == op.results[0] else left
    return following if constant_float(other) == 1.0 else None


EXPAND_ELEMENTARY_FUNCTIONS = Pass(
    "expand-elementary-functions",
    "Spell elementary functions, such as exp and sin, in arithmetic",
    expand_elementary_functions,
    (
        Option("but", "ops that stay where they are of f32"),
        Option("later", "ops that stay whatever they are of"),
    ),
)

LOOK_UP_FUNCTIONS = Pass(
    "look-up-functions",
    "Have exp, exp2, erf and tanh of vectors look up short polynomials in registers of AVX-512",
    look_up_functions,
)
