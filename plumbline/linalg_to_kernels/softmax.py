"""Finds softmax: of each row of x the weights are exp(x - max x), divided by their sum.

Rows of which all elements are -inf, masked as a whole, may be told to have weights of zero.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import constant_float
from plumbline.linalg_to_kernels.computations import (
    Computation,
    Indices,
    composed,
    is_copy,
    is_tensor,
    is_zero,
    number_everywhere,
    reshaped_from,
)
from plumbline.linalg_to_kernels.group import Group


@dataclass(frozen=True)
class Element:
    """An element of a tensor, by some loops."""

    value: ir.Value
    indices: Indices


@dataclass(frozen=True)
class Softmax:
    """What a softmax is taken of, and how."""

    x: Element
    is_safe: bool
    """Whether rows that are masked as a whole have weights of zero."""
    reductions: tuple[Computation, Computation]
    """What finds the greatest element of a row, and what adds its exponentials up."""


class Elements:
    """Follows elements through the members of a group, by the loops of a step."""

    def __init__(self, group: Group, step: Computation) -> None:
        self._group, self._step = group, step
        self._count = len(step.reduces)

    def operand(self, number: int) -> Element:
        """What the step reads of an input in an iteration."""
        # Loops that run once are told apart from the first element by some reshapes only.
        loops = [
            ir.AffineConstantExpr.get(0) if size == 1 else loop
            for loop, size in zip(self._step.loops, self._step.sizes, strict=True)
        ]
        return Element(self._step.inputs[number], self.composed(self._step.maps[number], loops))

    def composed(self, map_: ir.AffineMap, loops: Sequence[ir.AffineExpr]) -> Indices:
        """Where a computation reads an operand when its loops are these expressions."""
        return composed(map_, loops, self._count)

    def producer(self, element: Element) -> tuple[Computation | None, Element]:
        """What computes an element, copies and reshapes apart."""
        value, indices = element.value, element.indices
        while True:
            value, indices = reshaped_from(value, indices)
            producer = self._group.producer(value)
            if producer is None or not is_copy(producer) or len(producer.inputs) != 1:
                return producer, Element(value, indices)
            if not is_tensor(producer.inputs[0]):
                return producer, Element(value, indices)
            loops = producer.loops_for(indices)
            value = producer.inputs[0]
            indices = self.composed(producer.maps[0], loops)

    def operands(
        self, element: Element, body: str, key: ir.AffineExpr | None = None
    ) -> tuple[Computation, list[Element]] | None:
        """What a computation of one operation reads for an element, in the operation's order.

        With a `key` it is a reduction, whose one reduced loop is at that place.
        """
        producer, place = self.producer(element)
        if producer is None or len(producer.results) != 1 or producer.body_names[-1:] != (body,):
            return None
        if producer.is_reduction != (key is not None):
            return None
        loops = list(producer.loops_for(place.indices))
        reduced = [loop for loop, reduces in enumerate(producer.reduces) if reduces]
        if key is not None:
            if len(reduced) != 1:
                return None
            loops[reduced[0]] = key
        arguments = dict(zip(producer.body.arguments, producer.inputs, strict=False))
        maps = dict(zip(producer.body.arguments, producer.maps, strict=False))
        last = producer.body_ops[-1]
        if list(producer.yielded) != list(last.results):
            return None
        found = []
        for operand in last.operands:
            # A sum may be of widened elements.
            owner = None if isinstance(operand.owner, ir.Block) else operand.owner.operation
            if owner is not None and owner.name == "arith.extf":
                operand = owner.operands[0]
            if operand in arguments:
                indices = self.composed(maps[operand], loops)
                found.append(Element(arguments[operand], indices))
        return producer, found


def softmax_of(elements: Elements, weights: Element, key_loop: int) -> Softmax | None:
    """The softmax that weights are, along a loop; None if they are none."""
    key = ir.AffineDimExpr.get(key_loop)
    is_safe = False
    selected = elements.operands(weights, "arith.select")
    masked = None
    if selected is not None:
        if len(selected[1]) != 3 or not is_zero(number_of(selected[1][1])):
            return None
        masked, weights, is_safe = selected[1][0], selected[1][2], True
    quotient = _quotient(elements, weights)
    if quotient is None:
        return None
    power, total = quotient
    exponential = elements.operands(power, "math.exp")
    difference = exponential and elements.operands(exponential[1][0], "arith.subf")
    if not exponential or not difference or len(difference[1]) != 2:
        return None
    x = elements.producer(difference[1][0])[1]
    most = elements.operands(difference[1][1], "arith.maximumf", key)
    if most is None or [elements.producer(one)[1] for one in most[1]] != [x]:
        return None
    if not _begins_with(most[0], -math.inf):
        return None
    narrowed = elements.operands(total, "arith.truncf")
    if narrowed is not None:
        total = narrowed[1][0]
    added = elements.operands(total, "arith.addf", key)
    weight = elements.producer(power)[1]
    if added is None or [elements.producer(one)[1] for one in added[1]] != [weight]:
        return None
    if not _begins_with(added[0], 0.0):
        return None
    if masked is not None and not _is_all_masked(elements, masked, difference[1][1]):
        return None
    return Softmax(x, is_safe, (most[0], added[0]))


def _quotient(elements: Elements, weights: Element) -> tuple[Element, Element] | None:
    """What is divided by what, be it by way of a reciprocal."""
    divided = elements.operands(weights, "arith.divf")
    if divided is not None:
        return (divided[1][0], divided[1][1]) if len(divided[1]) == 2 else None
    multiplied = elements.operands(weights, "arith.mulf")
    if multiplied is None or len(multiplied[1]) != 2:
        return None
    power, factor = multiplied[1]
    reciprocal = elements.operands(factor, "arith.divf")
    if reciprocal is None or not reciprocal[1]:
        return None
    *ones, total = reciprocal[1]
    one = constant_float(reciprocal[0].body_ops[-1].operands[0])
    return (power, total) if one == 1.0 or [*map(_is_one, ones)] == [True] else None


def _is_one(element: Element) -> bool:
    return is_number(number_of(element), 1.0)


def _is_all_masked(elements: Elements, element: Element, most: Element) -> bool:
    """Whether it is told that the largest of a row is minus infinity."""
    equal = elements.operands(element, "arith.cmpf")
    if equal is None or not equal[1]:
        return False
    compared = equal[0].body_ops[-1]
    if ir.IntegerAttr(compared.attributes["predicate"]).value != int(arith.CmpFPredicate.OEQ):
        return False
    left, *numbers = equal[1]
    inside = constant_float(compared.operands[1])
    is_infinite = inside == -math.inf or [
        is_number(number_of(number), -math.inf) for number in numbers
    ] == [True]
    return is_infinite and elements.producer(left)[1] == elements.producer(most)[1]


def number_of(element: Element) -> ir.Attribute | None:
    """The number that an element is wherever it is, if it is one."""
    return number_everywhere(reshaped_from(element.value, element.indices)[0])


def _begins_with(reduction: Computation, number: float) -> bool:
    return is_number(number_everywhere(reduction.inits[0]), number)


def is_number(attribute: ir.Attribute | None, number: float) -> bool:
    """Whether an attribute is that number."""
    if not isinstance(attribute, ir.FloatAttr | ir.IntegerAttr | ir.BoolAttr):
        return False
    return bool(attribute.value == number)
