"""Values of bf16 as integers of its size, which is how LLVM moves them well.

No CPU of ours computes with bf16: `arith` does so in f32, and what is left are moves. LLVM takes
vectors of bf16 apart to move them, element by element, or, where AVX512-BF16 makes the vectors
legal but not their elements, fails an assertion over some ("Unexpected illegal type!", LLVM 22).
"""

import itertools
from collections.abc import Iterable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import defining_operation, operations_of

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


def _move_bf16_as_integers(operation: ir.Operation) -> None:
    operations = operations_of(operation, "llvm")
    with operation.context:
        # A module has few types, and nearly no program has any of bf16.
        in_integers = {
            type_: other
            for type_ in {value.type for value in _values(operations)}
            if (other := _in_integers(type_)) != type_
        }
        if not in_integers:
            return
        held = [
            (value, type_) for value in _values(operations) if (type_ := value.type) in in_integers
        ]
        # As long as casts are not among them.
        uses = [
            (use.owner.operation, use.operand_number, type_)
            for value, type_ in held
            for use in value.uses
        ]
        for op in operations:
            if op.name == "llvm.func":
                type_ = ir.TypeAttr(op.attributes["function_type"]).value
                op.attributes["function_type"] = ir.TypeAttr.get(_in_integers(type_))
        for value, type_ in held:
            op = defining_operation(value)
            if op is None or op.name in _MOVES:
                value.set_type(in_integers[type_])
            else:
                with ir.InsertionPoint.after(op), op.location:
                    cast = _bitcast(value, in_integers[type_])
                value.replace_all_uses_except(cast, cast.owner.operation)
        for op, place, type_ in uses:
            if op.name not in _MOVES:
                with ir.InsertionPoint(op), op.location:
                    op.operands[place] = _bitcast(op.operands[place], type_)


def _values(operations: Sequence[ir.Operation]) -> Iterable[ir.Value]:
    """The results of operations, and the arguments of their blocks."""
    results = (result for op in operations for result in op.results)
    # To ask each operation for its regions takes as long again, and no other has any with blocks
    # that take arguments.
    functions = (op for op in operations if op.name == "llvm.func")
    arguments = (each for op in functions for block in op.regions[0] for each in block.arguments)
    return itertools.chain(results, arguments)


def _in_integers(type_: ir.Type) -> ir.Type:
    """The type with i16 in the place of each bf16."""
    match type_:
        case ir.BF16Type():
            return ir.IntegerType.get_signless(16)
        case ir.VectorType():
            return ir.VectorType.get(type_.shape, _in_integers(type_.element_type))
        case llvm.ArrayType():
            return llvm.ArrayType.get(_in_integers(type_.element_type), type_.num_elements)
        case llvm.StructType():
            return llvm.StructType.get_literal([*map(_in_integers, type_.body)])
        case llvm.FunctionType():
            inputs = [*map(_in_integers, type_.inputs)]
            result = _in_integers(type_.return_type)
            return llvm.FunctionType.get(result, inputs, is_var_arg=type_.is_var_arg)
        case _:
            return type_


def _bitcast(value: ir.Value, to: ir.Type) -> ir.Value:
    return ir.Operation.create("llvm.bitcast", results=[to], operands=[value]).result


MOVE_BF16_AS_INTEGERS = Pass(
    "move-bf16-as-integers",
    "Make values of bf16 in the LLVM dialect integers but where something computes with them",
    _move_bf16_as_integers,
)
