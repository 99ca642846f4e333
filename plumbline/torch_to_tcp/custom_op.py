"""Carries ops of the Torch dialect that TCP has no op for into TCP as `tcp.custom_op`.

Tensors are its operands, in the order of PyTorch's arguments, whose names `torch_operand_names`
lists; constants become attributes of the argument's name.
"""

from dataclasses import dataclass, field
from typing import Any

from torch_mlir import ir

from plumbline.pipeline import Option, Pass
from plumbline.tcp.ops.structure import CustomOp
from plumbline.torch_to_tcp.pattern import tensor, tensor_type
from plumbline.torch_to_tcp.torch_ops import computing_ops, full_name, full_names
from plumbline.unsupported_ops import Unsupported

_FROM_BUILTIN = "torch_c.from_builtin_tensor"
_NUMBERS = ("torch.constant.bool", "torch.constant.int", "torch.constant.float")


@dataclass
class _Arguments:
    """What an op is called with, sorted."""

    tensors: list[ir.Value] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    attributes: dict[str, ir.Attribute] = field(default_factory=dict)


def _convert(operation: ir.Operation, convert_torch_ops: tuple[str, ...]) -> None:
    wanted = full_names(convert_torch_ops)
    for op in computing_ops(operation):
        if not wanted or full_name(op) in wanted:
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
        operands = [tensor(value).value for value in arguments.tensors]
        custom = CustomOp(operands, op_name=full_name(op), results=types).operation
        names = [ir.StringAttr.get(name) for name in arguments.names]
        custom.attributes["torch_operand_names"] = ir.ArrayAttr.get(names)
        for name, attribute in arguments.attributes.items():
            custom.attributes[name] = attribute
        for old, new in zip(op.results, custom.results, strict=True):
            cast = ir.Operation.create(_FROM_BUILTIN, results=[old.type], operands=[new])
            old.replace_all_uses_with(cast.result)
    op.erase()


def _sort(op: ir.Operation) -> _Arguments:
    """The arguments of `op`.

    Raises:
      Unsupported: one is neither a tensor nor constant. Nothing is built by then.
    """
    arguments = _Arguments()
    for name, value in zip(_argument_names(op), op.operands, strict=True):
        if str(value.type).startswith("!torch.vtensor"):
            tensor_type(value)
            arguments.tensors.append(value)
            arguments.names.append(name)
            continue
        attribute = _attribute(value)
        if attribute is not None:
            arguments.attributes[name] = attribute
    return arguments


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
      Unsupported: it is computed at run time.
    """
    owner = value.owner
    if not isinstance(owner, ir.Block):
        if owner.name == "torch.constant.none":
            return None
        if owner.name in _NUMBERS or owner.name == "torch.constant.str":
            return owner.attributes["value"]
        if owner.name == "torch.prim.ListConstruct":
            entries = [_attribute(entry) for entry in owner.operands]
            return ir.ArrayAttr.get(
                [ir.UnitAttr.get() if entry is None else entry for entry in entries]
            )
    raise Unsupported("an argument that is computed at run time")


CONVERT_TORCH_TO_TCP_CUSTOM_OP = Pass(
    "convert-torch-to-tcp-custom-op",
    "Convert ops of the Torch dialect to tcp.custom_op",
    _convert,
    (Option("convert-torch-ops", "the ops to convert, such as aten.sort; all if empty"),),
)
