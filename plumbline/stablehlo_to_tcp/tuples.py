"""Calls of libraries that give a tuple, as XLA writes them: each of its values is a result then."""

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import all_operations

_CALL = "stablehlo.custom_call"
_ELEMENT = "stablehlo.get_tuple_element"


def split_tuples(module: ir.Operation) -> None:
    """Has calls that give a tuple, of which only values are used, give these."""
    for op in all_operations(module):
        if op.name == _CALL and len(op.results) == 1 and _is_tuple(op.results[0].type):
            users = [use.owner.operation for use in op.results[0].uses]
            if all(user.name == _ELEMENT for user in users):
                _split(op, users)


def _is_tuple(type_: ir.Type) -> bool:
    return isinstance(type_, ir.TupleType)


def _split(call: ir.Operation, users: list[ir.Operation]) -> None:
    tuple_ = ir.TupleType(call.results[0].type)
    types = [tuple_.get_type(number) for number in range(tuple_.num_types)]
    attributes = {
        name: call.attributes[name]
        for name in call.attributes
        # Of how operands and results lie in memory, one for each of them.
        if name not in ("operand_layouts", "result_layouts")
    }
    with ir.InsertionPoint(call), call.location:
        made = ir.Operation.create(_CALL, types, list(call.operands), attributes)
    for user in users:
        number = ir.IntegerAttr(user.attributes["index"]).value
        user.results[0].replace_all_uses_with(made.results[number])
        user.erase()
    call.erase()


STABLEHLO_SPLIT_TUPLES = Pass(
    "stablehlo-split-tuples",
    "Have calls of libraries that give tuples give the values in these",
    split_tuples,
)
