"""A node of a graph of ONNX, as the patterns see it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import torch
from onnx import AttributeProto, NodeProto, OperatorSetIdProto, TensorProto, helper

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.values import Value, integers

DEFAULT_DOMAIN = ""
"""Where the ops of ONNX itself are; others that have patterns are named in `patterns.py`."""

_T = TypeVar("_T")


def domain_of(proto: NodeProto | OperatorSetIdProto) -> str:
    """Where the operator is from; the domain of ONNX itself has two names."""
    return DEFAULT_DOMAIN if proto.domain == "ai.onnx" else proto.domain


@dataclass(frozen=True, eq=False)
class Node:
    """An op, its attributes, and where it stands."""

    op_type: str
    domain: str
    opset: int
    """The version of the operators of its domain that the model asks for."""
    name: str
    """What the model calls it, or the first of its outputs."""
    inputs: tuple[str, ...]
    """What each input is called; nothing where it is left out."""
    outputs: tuple[str, ...]
    """Likewise."""
    attributes: Mapping[str, Any]
    """Numbers, strings, lists, `torch.Tensor`s, and `onnx.GraphProto`s."""
    element_types: tuple[int, ...]
    """The `TensorProto.DataType` of each input that is one of the model, or a constant; else 0."""
    constants: tuple[torch.Tensor | None, ...]
    """What each input is, if it is a constant of the model; else None."""

    def element_type(self, index: int) -> int:
        """That of an input, or 0 where it is not known, or left out.

        Tensors do not say it of all: PyTorch has none of less than 8 bits.
        """
        return self.element_types[index] if index < len(self.element_types) else 0

    def attribute(self, name: str, default: _T) -> _T:
        """An attribute, or the default that ONNX gives it, which is of the same type."""
        return self.attributes.get(name, default)  # type: ignore[no-any-return]

    def optional(self, name: str) -> Any:
        """An attribute, or None."""
        return self.attributes.get(name)

    def required(self, name: str) -> Any:
        """An attribute without a default.

        Raises:
          Unsupported: it is not there.
        """
        if name not in self.attributes:
            raise Unsupported(f"attribute {name} is missing")
        return self.attributes[name]

    def integers(self, name: str, value: Value) -> list[Any] | None:
        """What older versions have as an attribute, and newer ones as an input; or None of both.

        Raises:
          Unsupported: the input cannot be known.
        """
        if value is not None:
            return integers(value)
        given = self.attributes.get(name)
        return None if given is None else list(given)

    def has_output(self, index: int) -> bool:
        """Whether anything may ask for an output."""
        return index < len(self.outputs) and bool(self.outputs[index])


Pattern: TypeAlias = Callable[..., Any]
"""Takes a `Node` and a `Value` for each of its inputs; gives the value of its first output, or a
tuple of those of all. It raises `Unsupported` where it cannot. Of a node with graphs as attributes
it takes these too, by name, and the values of all that is around the node, before the inputs.

What is a class of modules is one that a node's own is made of as the model is read, of the node:
its buffers are tables that are made of attributes, or of constants."""


def node_of(
    proto: NodeProto,
    domain: str,
    name: str,
    opset: int,
    constant: Callable[[TensorProto], torch.Tensor],
    element_types: Mapping[str, int],
    constants: Mapping[str, torch.Tensor],
) -> Node:
    """The node that `proto` describes; `constant` makes tensors of those among its attributes.

    `element_types` has those that are known of tensors, and `constants` these, by their names.

    Raises:
      Unsupported: it has an attribute that has no meaning here.
    """
    attributes = {each.name: _attribute(each, constant) for each in proto.attribute}
    return Node(
        proto.op_type,
        domain,
        opset,
        name,
        tuple(proto.input),
        tuple(proto.output),
        attributes,
        tuple(element_types.get(each, 0) for each in proto.input),
        tuple(constants.get(each) for each in proto.input),
    )


def _attribute(proto: AttributeProto, constant: Callable[[TensorProto], torch.Tensor]) -> Any:
    if proto.ref_attr_name:
        raise Unsupported(f"attribute {proto.name} is one of a function around it")
    value = helper.get_attribute_value(proto)
    if proto.type == AttributeProto.TENSOR:
        return constant(value)
    if proto.type == AttributeProto.STRING:
        return value.decode(errors="replace")
    if proto.type == AttributeProto.STRINGS:
        return [each.decode(errors="replace") for each in value]
    return list(value) if proto.type in (AttributeProto.INTS, AttributeProto.FLOATS) else value
