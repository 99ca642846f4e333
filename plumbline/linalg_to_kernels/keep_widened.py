"""Keeps LLVM from computing in half precision what kernels compute in f32.

It does so where it sees that the result is the same: of what is widened, an extreme, or the integer
that it is rounded to. CPUs that only convert half precision, as nearly all do, then convert to and
fro around each operation, and vectors of it are taken apart first: a maximum over windows of
channels took 7 times as long as PyTorch's, and `floor` 5 times (AMD Zen 4).

So there is something between that LLVM leaves alone, and that changes nothing: the sign of what is
rounded is put to what it is rounded to, which has it; and 0 is added to one of two numbers of which
either zero may be the extreme.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from plumbline.bindings.walk import defining_operation, operations_named
from plumbline.linalg_to_kernels.vectors import element_of, splat

_TO_INTEGERS = ("math.ceil", "math.floor", "math.round", "math.roundeven", "math.trunc")
_EXTREMES = ("arith.maximumf", "arith.minimumf")
_EITHER_ZERO = "nsz"


def keep_widened(module: ir.Operation) -> None:
    """Has such functions of `module` whose operands are widened stay in f32."""
    with module.context:
        for op in operations_named(module, *_TO_INTEGERS):
            (number,) = op.operands
            if _is_widened(number):
                rounded = op.results[0]
                with ir.InsertionPoint.after(op), op.location:
                    signed = math.copysign(rounded, number)
                rounded.replace_all_uses_except(signed, signed.owner.operation)
        for op in operations_named(module, *_EXTREMES):
            if all(map(_is_widened, op.operands)) and _may_give_either_zero(op):
                _add_zero(op)


def _is_widened(value: ir.Value) -> bool:
    """Whether a value is f16, or vectors of it, as f32.

    LLVM knows nothing of bf16, which is widened as integers.
    """
    op = defining_operation(value)
    if op is None or op.name != "arith.extf":
        return False
    return isinstance(element_of(op.operands[0].type), ir.F16Type)


def _may_give_either_zero(op: ir.Operation) -> bool:
    flags = op.attributes.get("fastmath")
    return flags is not None and _EITHER_ZERO in str(flags)


def _add_zero(op: ir.Operation) -> None:
    """Adds 0 to an operand of an extreme, which then must say that it has to be the right zero."""
    number = op.operands[0]
    with ir.InsertionPoint(op), op.location:
        op.operands[0] = arith.addf(number, splat(number.type, 0.0))
    op.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<none>")
