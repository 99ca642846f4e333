"""Functions whose arguments and results are carried by tensors of other types."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from plumbline.bindings.walk import all_operations
from plumbline.stablehlo_to_tcp.pattern import is_carried, recast, tensor_type_of


def carrier(type_: ir.Type) -> ir.Type:
    """The type by which TCP carries values of a type: their own, but for unsigned integers."""
    return tensor_type_of(type_).builtin() if is_carried(type_) else type_


def convert_signatures(root: ir.Operation) -> None:
    """Has functions in `root`, calls and returns take and give the types that TCP has."""
    for op in all_operations(root):
        with op.location:
            if op.name == "func.func":
                _convert_function(op)
            elif op.name == "func.return":
                with ir.InsertionPoint(op):
                    for index, operand in enumerate(list(op.operands)):
                        op.operands[index] = recast(operand, carrier(operand.type))
    for op in all_operations(root):
        if op.name == "func.call" and any(is_carried(value.type) for value in _values(op)):
            with ir.InsertionPoint(op), op.location:
                results = call(op.attributes["callee"], list(op.operands), list(op.results))
            for old, new in zip(list(op.results), results, strict=True):
                old.replace_all_uses_with(new)
            op.erase()


def _values(op: ir.Operation) -> list[ir.Value]:
    return [*op.operands, *op.results]


def call(
    callee: ir.Attribute, operands: Sequence[ir.Value], results: Sequence[ir.Value]
) -> list[ir.Value]:
    """Calls a function whose signature is converted, in the place of a call that was for another.

    `results` are those of that call.
    """
    values = [recast(operand, carrier(operand.type)) for operand in operands]
    types = [carrier(result.type) for result in results]
    made = func.CallOp(types, ir.FlatSymbolRefAttr(callee), values)
    return [recast(new, old.type) for new, old in zip(made.results, results, strict=True)]


def _convert_function(op: ir.Operation) -> None:
    type_ = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
    inputs, results = (list(map(carrier, types)) for types in (type_.inputs, type_.results))
    if (inputs, results) == (list(type_.inputs), list(type_.results)):
        return
    op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
    for block in list(op.regions[0].blocks)[:1]:
        with ir.InsertionPoint.at_block_begin(block):
            for argument, new_type in zip(block.arguments, inputs, strict=True):
                old_type = argument.type
                if new_type == old_type:
                    continue
                argument.set_type(new_type)
                # Ops of TCP take it as it is carried.
                uses = [use for use in argument.uses if not use.owner.name.startswith("tcp.")]
                value = recast(argument, old_type)
                for use in uses:
                    use.owner.operands[use.operand_number] = value
