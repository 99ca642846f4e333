"""Carries ops of the Torch dialect that TCP has no op for into TCP as `tcp.custom_op`.

Tensors and numbers that are computed at run time are its operands, in the order of PyTorch's
arguments, whose names `torch_operand_names` lists; constants become attributes of the argument's
name. A list that is not all constants has its entries as operands, under its name and their places:
`size_0`. Attributes that the op has itself stay.
"""

from dataclasses import dataclass, field
from typing import Any

from torch_mlir import ir

from plumbline.bindings.pipeline import Option, Pass
from plumbline.bindings.torch_c import FROM_BUILTIN_TENSOR, TO_F64, TO_I1, TO_I64
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.ops.structure import CustomOp
from plumbline.torch_to_tcp.pattern import tensor, tensor_type
from plumbline.torch_to_tcp.torch_ops import computing_ops, full_name, full_names, is_constant

_NUMBERS = ("torch.constant.bool", "torch.constant.int", "torch.constant.float")
_TO_NUMBER = {
    "!torch.bool": (TO_I1, "i1"),
    "!torch.int": (TO_I64, "i64"),
    "!torch.float": (TO_F64, "f64"),
}
"""What casts a number to a builtin type, and to which, by the number's own type."""


@dataclass
class _Arguments:
    """What an op is called with, sorted."""

    operands: list[ir.Value] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    attributes: dict[str, ir.Attribute] = field(default_factory=dict)


def _convert(operation: ir.Operation, convert_torch_ops: tuple[str, ...]) -> None:
    wanted = full_names(convert_torch_ops)
    for op in computing_ops(operation):
        # A literal is a constant, and no op of PyTorch's.
        if op.name != "torch.vtensor.literal" and (not wanted or full_name(op) in wanted):
            try:
                _convert_one(op)
            except Unsupported:
                continue


def _convert_one(op: ir.Operation) -> None:
    types = [tensor_type(result).builtin() for result in op.results]
    if not types or op.regions:
        raise Unsupported("no tensor as a result")
    arguments = _sort(op)
    with ir.InsertionPoint(op), op.location:
        operands = [_builtin(value) for value in arguments.operands]
        custom = CustomOp(operands, op_name=full_name(op), results=types).operation
        for attribute in op.attributes:
            if (op.name, attribute) != ("torch.operator", "name"):
                custom.attributes[attribute] = op.attributes[attribute]
        names = [ir.StringAttr.get(name) for name in arguments.names]
        custom.attributes["torch_operand_names"] = ir.ArrayAttr.get(names)
        for name, attribute in arguments.attributes.items():
            custom.attributes[name] = attribute
        for old, new in zip(op.results, custom.results, strict=True):
            cast = ir.Operation.create(FROM_BUILTIN_TENSOR, results=[old.type], operands=[new])
            old.replace_all_uses_with(cast.result)
    op.erase()


def _sort(op: ir.Operation) -> _Arguments:
    """The arguments of `op`.

    Raises:
      Unsupported: one is neither a tensor, nor a number, nor constant. Nothing is built by then.
    """
    arguments = _Arguments()
    for name, value in zip(_argument_names(op), op.operands, strict=True):
        if is_constant(value):
            attribute = _attribute(value)
            if attribute is not None:
                arguments.attributes[name] = attribute
            continue
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.name != "torch.prim.ListConstruct":
            entries = [(name, value)]
        else:
            entries = [(f"{name}_{place}", entry) for place, entry in enumerate(owner.operands)]
        for entry_name, entry in entries:
            if str(entry.type) == "!torch.none":
                continue
            if str(entry.type) not in _TO_NUMBER:
                tensor_type(entry)
            arguments.operands.append(entry)
            arguments.names.append(entry_name)
    return arguments


def _builtin(value: ir.Value) -> ir.Value:
    """A tensor or a number of the Torch dialect as one of a builtin type."""
    cast, type_ = _TO_NUMBER.get(str(value.type), ("", ""))
    if not cast:
        return tensor(value).value
    return ir.Operation.create(cast, results=[ir.Type.parse(type_)], operands=[value]).result


def _argument_names(op: ir.Operation) -> list[str]:
    """PyTorch's names of the arguments, as far as the bindings know them."""
    view: Any = type(op.opview)
    # The accessors of operands come first in a class that the bindings generate, in order.
    known = [
        name.removesuffix("_")
        for name, member in vars(view).items()
        if isinstance(member, property) and op.name != "torch.operator"
    ]
    count = len(op.operands)
    return known[:count] if len(known) >= count else [f"arg{index}" for index in range(count)]


def _attribute(value: ir.Value) -> ir.Attribute | None:
    """The constant that `value` is, as an attribute; None for PyTorch's None.

    Raises:
      Unsupported: it is one that no attribute stands for.
    """
    owner = value.owner
    if owner.name == "torch.constant.none":
        return None
    if owner.name in _NUMBERS or owner.name == "torch.constant.str":
        return owner.attributes["value"]
    if owner.name == "torch.prim.ListConstruct":
        entries = [_attribute(entry) for entry in owner.operands]
        return ir.ArrayAttr.get(
            [ir.UnitAttr.get() if entry is None else entry for entry in entries]
        )
    raise Unsupported(f"a constant of type {value.type}")


CONVERT_TORCH_TO_TCP_CUSTOM_OP = Pass(
    "convert-torch-to-tcp-custom-op",
    "Convert ops of the Torch dialect to tcp.custom_op",
    _convert,
    (Option("convert-torch-ops", "the ops to convert, such as aten.sort; all if empty"),),
)
