"""Booleans in memory as the bytes that they are, alone and in vectors.

LLVM takes a vector of i1 in memory for one of bits, so that where all elements have a byte each it
loads and stores them one by one.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_named

# With which operand is written, or stands for what is not read.
_LOADS = {"llvm.load": None, "llvm.intr.masked.load": 2, "llvm.intr.masked.gather": 2}
_STORES = {"llvm.store": 0, "llvm.intr.masked.store": 0, "llvm.intr.masked.scatter": 0}


def _move_booleans_as_bytes(operation: ir.Operation) -> None:
    with operation.context:
        for op in operations_named(operation, *_LOADS, *_STORES):
            if op.name in _LOADS and _is_boolean(loaded := op.results[0].type):
                _extend(op, _LOADS[op.name])
                op.results[0].set_type(_in_bytes(loaded))
                with ir.InsertionPoint.after(op), op.location:
                    zero = arith.ConstantOp(_in_bytes(loaded), _zero(loaded)).result
                    # Any byte but 0 is true, as in C.
                    is_set = arith.cmpi(arith.CmpIPredicate.ne, op.results[0], zero)
                op.results[0].replace_all_uses_except(is_set, is_set.owner.operation)
            elif op.name in _STORES and _is_boolean(op.operands[_STORES[op.name]].type):
                _extend(op, _STORES[op.name])


def _is_boolean(type_: ir.Type) -> bool:
    element = type_.element_type if isinstance(type_, ir.VectorType) else type_
    return bool(element == ir.IntegerType.get_signless(1))


def _in_bytes(type_: ir.Type) -> ir.Type:
    byte = ir.IntegerType.get_signless(8)
    return ir.VectorType.get(type_.shape, byte) if isinstance(type_, ir.VectorType) else byte


def _zero(type_: ir.Type) -> ir.Attribute:
    """Of booleans' type in bytes."""
    zero = ir.IntegerAttr.get(ir.IntegerType.get_signless(8), 0)
    if not isinstance(type_, ir.VectorType):
        return zero
    return ir.DenseElementsAttr.get_splat(_in_bytes(type_), zero)


def _extend(op: ir.Operation, number: int | None) -> None:
    if number is not None:
        with ir.InsertionPoint(op), op.location:
            boolean = op.operands[number]
            op.operands[number] = arith.extui(_in_bytes(boolean.type), boolean)


MOVE_BOOLEANS_AS_BYTES = Pass(
    "move-booleans-as-bytes",
    "Have loads and stores of i1 in the LLVM dialect move bytes",
    _move_booleans_as_bytes,
)
