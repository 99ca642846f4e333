"""Booleans in memory as the bytes that they are, which is how LLVM makes vectors of them.

It takes a vector of i1 in memory for one of bits, so that where all elements have a byte each it
loads and stores them one by one.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith, llvm

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_of


def _move_booleans_as_bytes(operation: ir.Operation) -> None:
    with operation.context:
        bit, byte = (ir.IntegerType.get_signless(bits) for bits in (1, 8))
        for op in operations_of(operation, "llvm"):
            if op.name == "llvm.load" and op.results[0].type == bit:
                with ir.InsertionPoint(op), op.location:
                    loaded = llvm.LoadOp(byte, op.operands[0])
                    # Any byte but 0 is true, as in C.
                    zero = arith.constant(byte, 0)
                    is_set = arith.cmpi(arith.CmpIPredicate.ne, loaded.result, zero)
                op.results[0].replace_all_uses_with(is_set)
                op.erase()
            elif op.name == "llvm.store" and op.operands[0].type == bit:
                with ir.InsertionPoint(op), op.location:
                    op.operands[0] = arith.extui(byte, op.operands[0])


MOVE_BOOLEANS_AS_BYTES = Pass(
    "move-booleans-as-bytes",
    "Have loads and stores of i1 in the LLVM dialect move bytes",
    _move_booleans_as_bytes,
)
