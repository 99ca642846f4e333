"""What kernels do of mathematics that a GPU has instructions for.

All else has been spelled in arithmetic before (`plumbline/elementary_functions`). MLIR would make
calls of NVIDIA's libdevice of both, whose answers differ from those of the host.
"""

from collections.abc import Callable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, nvvm

from plumbline.bindings.pipeline import PassFailure
from plumbline.bindings.walk import all_operations

_INTRINSICS = {
    "math.absf": "llvm.fabs",
    "math.ceil": "llvm.ceil",
    "math.copysign": "llvm.copysign",
    "math.floor": "llvm.floor",
    "math.fma": "llvm.fma",
    "math.roundeven": "llvm.roundeven",
    "math.sqrt": "llvm.sqrt",
    "math.trunc": "llvm.trunc",
}

_LOWERED_LATER = frozenset({"math.ctlz", "math.ctpop", "math.cttz"})
"""By MLIR, to what is no call."""

_NO_KERNEL_DOES = frozenset({"arith.remf", "cf.assert", "func.call", "memref.alloc", "memref.copy"})
"""What would become calls of the C library's functions, or of the program's own."""


def call_intrinsics(kernels: ir.Operation) -> None:
    """Spells the operations of the math dialect in a `gpu.module` as intrinsics of LLVM.

    Raises:
      PassFailure: a kernel does what a GPU has no instructions for; all such has been reported.
    """
    refused = False
    with kernels.context:
        for op in all_operations(kernels):
            if op.name in _NO_KERNEL_DOES or _is_unknown_function(op):
                types = ", ".join(str(operand.type) for operand in op.operands)
                op.location.emit_error(
                    f"{op.name} on {types}: no kernel of a GPU does this yet; compile the program "
                    'for the host, with target = "host"'
                )
                refused = True
            elif op.name in _INTRINSICS or op.name in _SPELLED or _is_rounded_twice(op):
                with ir.InsertionPoint(op), op.location:
                    op.results[0].replace_all_uses_with(_built(op))
                op.erase()
    if refused:
        raise PassFailure


def _is_unknown_function(op: ir.Operation) -> bool:
    known = op.name in _INTRINSICS or op.name in _SPELLED or op.name in _LOWERED_LATER
    return op.name.startswith("math.") and not known


def _is_rounded_twice(op: ir.Operation) -> bool:
    """Whether a double becomes bf16, which PyTorch makes by way of f32, and LLVM at once."""
    if op.name != "arith.truncf":
        return False
    types = op.operands[0].type, op.results[0].type
    return types == (ir.F64Type.get(), ir.BF16Type.get())


def _built(op: ir.Operation) -> ir.Value:
    if _is_rounded_twice(op):
        once = arith.truncf(ir.F32Type.get(), op.operands[0])
        return arith.truncf(op.results[0].type, once)
    if op.name in _SPELLED:
        return _SPELLED[op.name](op)
    return _intrinsic(_INTRINSICS[op.name], op)


def _reciprocal_root(op: ir.Operation) -> ir.Value:
    """As on the host: a division and a square root, both rounded."""
    type_ = op.results[0].type
    one = arith.ConstantOp(type_, ir.FloatAttr.get(type_, 1.0)).result
    return arith.divf(one, _intrinsic("llvm.sqrt", op))


def _absolute(op: ir.Operation) -> ir.Value:
    """The least integer is its own absolute value, as its negative wraps around."""
    (operand,) = op.operands
    zero = arith.ConstantOp(operand.type, ir.IntegerAttr.get(operand.type, 0)).result
    return arith.maxsi(operand, arith.subi(zero, operand))


def _power_of_2(op: ir.Operation) -> ir.Value:
    """The GPU's own, of what may be approximate: within 2 units in the last place of f32."""
    return nvvm.ex2(op.operands[0], ftz=True)


_SPELLED: Mapping[str, Callable[[ir.Operation], ir.Value]] = {
    "math.absi": _absolute,
    "math.exp2": _power_of_2,
    "math.rsqrt": _reciprocal_root,
}


def _intrinsic(name: str, op: ir.Operation) -> ir.Value:
    type_ = op.results[0].type
    operands = list(op.operands)
    call = llvm.CallIntrinsicOp(type_, f"{name}.f{type_.width}", operands, [], [])
    return call.operation.results[0]
