"""Sequences and optional values of ONNX.

A sequence is a list of Python's: which tensors it has is known as the program is exported.
"""

from collections.abc import Mapping

import torch

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.graph import Graph, Values
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import (
    Numbers,
    Value,
    integer,
    integers,
    numbers,
    shape_of,
    tensor,
    tensors,
)


def _sequence(value: Value) -> list[Value]:
    if not isinstance(value, list):
        raise Unsupported("a sequence is to be there")
    return value


def _place(position: Value) -> int:
    """Where an element lies in a sequence.

    Raises:
      Unsupported: that is not known as the program is exported.
    """
    place = integer(position) if isinstance(position, Numbers) else None
    if not isinstance(place, int):
        raise Unsupported("which tensor of the sequence it is for depends on the program's inputs")
    return place


def _construct(node: Node, *elements: Value) -> list[Value]:
    return [*elements]


def _empty(node: Node) -> list[Value]:
    return []


def _at(node: Node, sequence: Value, position: Value) -> Value:
    elements, place = _sequence(sequence), _place(position)
    if not -len(elements) <= place < len(elements):
        raise Unsupported(f"there is no element {place} in a sequence of {len(elements)}")
    return elements[place]


def _insert(node: Node, sequence: Value, element: Value, position: Value = None) -> list[Value]:
    elements = [*_sequence(sequence)]
    place = len(elements) if position is None else _place(position)
    if not -len(elements) <= place <= len(elements):
        raise Unsupported(f"there is no place {place} in a sequence of {len(elements)}")
    elements.insert(place, element)
    return elements


def _erase(node: Node, sequence: Value, position: Value = None) -> list[Value]:
    elements = [*_sequence(sequence)]
    place = -1 if position is None else _place(position)
    if not -len(elements) <= place < len(elements):
        raise Unsupported(f"there is no element {place} in a sequence of {len(elements)}")
    del elements[place]
    return elements


def _length(node: Node, sequence: Value) -> Numbers:
    return numbers(len(_sequence(sequence)), torch.int64)


def _split(node: Node, data: Value, split: Value = None) -> list[Value]:
    x, axis = tensor(data), node.attribute("axis", 0)
    if split is None:
        parts = torch.split(x, 1, axis)
        return [*parts] if node.attribute("keepdims", 1) else [part.squeeze(axis) for part in parts]
    sizes = integer(split) if len(shape_of(split)) == 0 else integers(split)
    return [*torch.split(x, sizes, axis)]


def _concat(node: Node, sequence: Value) -> torch.Tensor:
    function = torch.stack if node.attribute("new_axis", 0) else torch.cat
    return function(tensors(_sequence(sequence)), node.required("axis"))


def _map(
    node: Node, graphs: Mapping[str, Graph], around: Values, sequence: Value, *others: Value
) -> tuple[Value, ...]:
    body = graphs["body"]
    made = []
    for place, element in enumerate(_sequence(sequence)):
        each = [other[place] if isinstance(other, list) else other for other in others]
        named = dict(zip(body.input_names, [element, *each], strict=True))
        made.append(body.run({**around, **named}))
    return tuple([*each] for each in zip(*made, strict=True)) or ([],) * len(body.output_names)


def _optional(node: Node, element: Value = None) -> Value:
    return element


def _element(node: Node, optional: Value) -> Value:
    if optional is None:
        raise Unsupported("it asks for what an optional value has not")
    return optional


def _has_element(node: Node, optional: Value = None) -> Numbers:
    return numbers(optional is not None, torch.bool)


PATTERNS: Mapping[str, Pattern] = {
    "ConcatFromSequence": _concat,
    "Optional": _optional,
    "OptionalGetElement": _element,
    "OptionalHasElement": _has_element,
    "SequenceAt": _at,
    "SequenceConstruct": _construct,
    "SequenceEmpty": _empty,
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
    "SequenceLength": _length,
    "SequenceMap": _map,
    "SplitToSequence": _split,
}
