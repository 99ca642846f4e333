"""Has sums of products of bytes be made of what multiplies the halves of registers of integers.

LLVM has intrinsics for these instructions of Armv7E-M, and makes them of nothing else that kernels
could say.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, vector

from plumbline.bindings.walk import defining_operation, operations_named

_BYTES = 4
"""Of a register."""

_SUM = "#vector.kind<add>"


def multiply_halves(module: ir.Operation) -> None:
    """Puts them in the place of sums, in `module`, of products of four bytes with a sign."""
    with module.context:
        for op in operations_named(module, "vector.reduction"):
            operands = _bytes_multiplied(op)
            if operands is None:
                continue
            with ir.InsertionPoint(op), op.location:
                sum_ = op.operands[1]
                for pair in zip(*map(_halves, operands), strict=True):
                    sum_ = _called("smlad", *pair, sum_)
            op.results[0].replace_all_uses_with(sum_)
            op.erase()


def _bytes_multiplied(reduction: ir.Operation) -> list[ir.Value] | None:
    """The two vectors of bytes whose products are added to a number, if it is such a sum."""
    products = defining_operation(reduction.operands[0])
    adds = str(reduction.attributes["kind"]) == _SUM and len(reduction.operands) == 2
    if not adds or products is None or products.name != "arith.muli":
        return None
    widened = [defining_operation(each) for each in products.operands]
    operands = [op.operands[0] for op in widened if op is not None and op.name == "arith.extsi"]
    of_bytes = ir.VectorType.get([_BYTES], ir.IntegerType.get_signless(8))
    are_bytes = len(operands) == len(widened) and all(each.type == of_bytes for each in operands)
    return operands if are_bytes else None


def _halves(bytes_: ir.Value) -> list[ir.Value]:
    """The even and the odd bytes, each with its sign in a half of a register."""
    word = ir.IntegerType.get_signless(32)
    even = vector.extract(vector.bitcast(ir.VectorType.get([1], word), bytes_), [], [0])
    places = [arith.constant(word, bits) for bits in (8, 24)]
    # It is a part of the instruction that takes them apart.
    turned = arith.ori(arith.shrui(even, places[0]), arith.shli(even, places[1]))
    return [_called("sxtb16", each) for each in (even, turned)]


def _called(instruction: str, *operands: ir.Value) -> ir.Value:
    name = ir.StringAttr.get(f"llvm.arm.{instruction}")
    return llvm.call_intrinsic(operands[0].type, name, list(operands), [], [])
