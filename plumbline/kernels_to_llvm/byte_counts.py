"""How many bytes an allocation has, as a product of 64 bits.

MLIR takes the address of an element of an array that begins at 0, which on a machine whose pointers
have 32 bits (WebAssembly) is the count without its upper half: too little memory, and no word.
"""

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import defining_operation, operations_named
from plumbline.kernels_to_llvm.building import integer

_BYTE_BITS = 8

_MOST = 2**63 - 1
"""What is more is no number of 64 bits, and nobody has so much memory."""


def _multiply_byte_counts(operation: ir.Operation) -> None:
    with operation.context:
        for op in operations_named(operation, "llvm.ptrtoint"):
            address = defining_operation(op.operands[0])
            if address is None or address.name != "llvm.getelementptr":
                continue
            base = defining_operation(address.operands[0])
            bytes_ = _bytes_of(ir.TypeAttr(address.attributes["elem_type"]).value)
            if base is None or base.name != "llvm.mlir.zero" or bytes_ is None:
                continue
            with ir.InsertionPoint(op), op.location:
                _, *indices = address.operands
                (constant,) = ir.DenseI32ArrayAttr(address.attributes["rawConstantIndices"])
                count = _number(indices[0]) if indices else constant
                if count is None:
                    flags = llvm.IntegerOverflowFlags.none
                    product = llvm.MulOp(indices[0], integer(bytes_), flags).result
                else:
                    product = integer(min(count * bytes_, _MOST))
                op.results[0].replace_all_uses_with(product)
            op.erase()


def _number(value: ir.Value) -> int | None:
    """What an integer is, if it is a constant."""
    op = defining_operation(value)
    if op is None or op.name != "llvm.mlir.constant":
        return None
    number: int = ir.IntegerAttr(op.attributes["value"]).value
    return number


def _bytes_of(type_: ir.Type) -> int | None:
    """Of one element in memory, if it is a number."""
    if not isinstance(type_, ir.IntegerType | ir.FloatType):
        return None
    bits: int = type_.width
    return max(bits // _BYTE_BITS, 1)


MULTIPLY_BYTE_COUNTS = Pass(
    "multiply-byte-counts",
    "Have the bytes of allocations be products, whatever size pointers have",
    _multiply_byte_counts,
)
