"""Values of bf16 as integers of its size, which is how LLVM moves them well.

No CPU of ours computes with bf16: `arith` does so in f32, and what is left are moves. LLVM takes
vectors of bf16 apart to move them, element by element, or, where AVX512-BF16 makes the vectors
legal but not their elements, fails an assertion over some ("Unexpected illegal type!", LLVM 22).
"""

import functools
import re

from torch_mlir import ir

from plumbline.pipeline import Pass
from plumbline.walk import all_operations

# What hands values on as they are, of whatever type.
_MOVES = frozenset(
    f"llvm.{name}"
    for name in (
        "bitcast",
        "br",
        "call",
        "cond_br",
        "extractelement",
        "extractvalue",
        "func",
        "insertelement",
        "insertvalue",
        "intr.masked.load",
        "intr.masked.store",
        "load",
        "mlir.poison",
        "mlir.undef",
        "mlir.zero",
        "return",
        "select",
        "shufflevector",
        "store",
        "switch",
    )
)

# Of a vector it follows the size and an x.
_BF16 = re.compile(r"(?:\b|(?<=\dx))bf16\b")


def _move_bf16_as_integers(operation: ir.Operation) -> None:
    operations = [op for op in all_operations(operation) if op.name.startswith("llvm.")]
    others = [op for op in operations if op.name not in _MOVES]
    # A module has few types, and to print one takes long.
    holds_bf16 = functools.cache(_holds_bf16)
    in_integers = functools.cache(_in_integers)
    with operation.context:
        taken = [
            (op, place, value.type)
            for op in others
            for place, value in enumerate(op.operands)
            if holds_bf16(value.type)
        ]
        for op in operations:
            if op.name == "llvm.func":
                type_ = ir.TypeAttr(op.attributes["function_type"]).value
                op.attributes["function_type"] = ir.TypeAttr.get(in_integers(type_))
            for argument in (a for r in op.regions for block in r for a in block.arguments):
                argument.set_type(in_integers(argument.type))
            if op.name in _MOVES:
                for result in op.results:
                    result.set_type(in_integers(result.type))
        for op in others:
            for result in filter(lambda result: holds_bf16(result.type), op.results):
                with ir.InsertionPoint.after(op), op.location:
                    cast = _bitcast(result, in_integers(result.type))
                result.replace_all_uses_except(cast, cast.owner.operation)
        for op, place, type_ in taken:
            with ir.InsertionPoint(op), op.location:
                op.operands[place] = _bitcast(op.operands[place], type_)


def _holds_bf16(type_: ir.Type) -> bool:
    return _BF16.search(str(type_)) is not None


def _in_integers(type_: ir.Type) -> ir.Type:
    return ir.Type.parse(_BF16.sub("i16", str(type_))) if _holds_bf16(type_) else type_


def _bitcast(value: ir.Value, to: ir.Type) -> ir.Value:
    return ir.Operation.create("llvm.bitcast", results=[to], operands=[value]).result


MOVE_BF16_AS_INTEGERS = Pass(
    "move-bf16-as-integers",
    "Make values of bf16 in the LLVM dialect integers but where something computes with them",
    _move_bf16_as_integers,
)
