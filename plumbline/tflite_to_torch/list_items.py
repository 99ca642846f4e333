"""Items that are put into lists of tensors, as TensorFlow converts them for TensorFlow Lite.

A list, of what a recurrent layer gives in each step say, is one tensor. What is put at `i` comes
between the items before it and those after it:

    before = SLICE(list, 0, [i, -1, ...])
    after = SLICE(list, [i + 1, 0, ...], -1)
    CONCATENATION(before, item, after)

The sizes of both are known only as the program runs, but that of the list is not changed.
"""

import dataclasses
from collections.abc import Mapping

import torch

from plumbline.tflite_to_torch.model_file import NOTHING, Operator, Subgraph
from plumbline.tflite_to_torch.node import Node, Pattern, option_of
from plumbline.tflite_to_torch.tensors import Operand

_SET_ITEM = "TensorListSetItem"
"""What TensorFlow calls the op that such nodes stand for, of a list, a place and an item."""


def with_list_items(graph: Subgraph) -> Subgraph:
    """`graph` with one node for each item that is put, and without those that this needs not.

    Raises:
      Unsupported: an option of a node cannot be read.
    """
    found = _Places(graph)
    operators = [found.set_item(each) or each for each in graph.operators]
    if all(one is other for one, other in zip(operators, graph.operators, strict=True)):
        return graph
    read, kept = {*graph.outputs}, []
    for operator in reversed(operators):
        if not operator.outputs or read.intersection(operator.outputs):
            kept.append(operator)
            read.update(operator.inputs)
    return dataclasses.replace(graph, operators=kept[::-1])


class _Places:
    """What nodes of a graph compute of places in a list."""

    def __init__(self, graph: Subgraph) -> None:
        self._tensors = graph.tensors
        self._makers = {index: each for each in graph.operators for index in each.outputs}

    def set_item(self, operator: Operator) -> Operator | None:
        """The node that puts an item, if this one joins it with those before and after it.

        Raises:
          Unsupported: it is not known along which axis it joins.
        """
        if operator.name != "CONCATENATION" or len(operator.inputs) != 3:
            return None
        first, item, last = operator.inputs
        before, after = (self._made(index, "SLICE", 3) for index in (first, last))
        if before is None or after is None or before.inputs[0] != after.inputs[0]:
            return None
        rank = len(self._tensors[before.inputs[0]].shape)
        starts, sizes = [0] * rank, [-1] * rank
        if self._numbers(before.inputs[1]) != starts or self._numbers(after.inputs[2]) != sizes:
            return None
        place, next_place = (
            self._led(index, rest)
            for index, rest in ((before.inputs[2], sizes[1:]), (after.inputs[1], starts[1:]))
        )
        if place is None or next_place is None or not self._is_next(next_place, place):
            return None
        if option_of(operator.options, "Axis", 0) or self._tensors[item].shape[:1] != (1,):
            return None
        inputs = before.inputs[0], place, item
        return Operator(_SET_ITEM, None, inputs, operator.outputs)

    def _made(self, index: int, name: str, count: int) -> Operator | None:
        """The node of some op that makes a tensor, of so many operands."""
        maker = self._makers.get(index)
        if maker is None or maker.name != name or len(maker.inputs) != count:
            return None
        return None if NOTHING in maker.inputs else maker

    def _numbers(self, index: int) -> list[int] | None:
        constant = self._tensors[index].constant
        return None if constant is None else constant.reshape(-1).tolist()

    def _led(self, index: int, rest: list[int]) -> int | None:
        """The number that comes before a known rest."""
        joined = self._made(index, "CONCATENATION", 2)
        if joined is None or self._numbers(joined.inputs[1]) != rest:
            return None
        row = self._made(joined.inputs[0], "RESHAPE", 2)
        return None if row is None else row.inputs[0]

    def _is_next(self, number: int, other: int) -> bool:
        """Whether a number is one more than another."""
        total = self._made(number, "ADD", 2)
        if total is None:
            return False
        return any(
            term == other and self._numbers(added) == [1]
            for term, added in (total.inputs, total.inputs[::-1])
        )


def _set_item(node: Node, items: Operand, place: Operand, item: Operand) -> torch.Tensor:
    index = place.stored.reshape(1).to(torch.int64)
    return node.converted(items).index_copy(0, index, node.converted(item))


PATTERNS: Mapping[str, Pattern] = {_SET_ITEM: _set_item}
