"""Finds causal masks: scores of keys that come after the query are -inf, whatever they were."""

import math

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.linalg_to_kernels.softmax import Element, Elements, is_number, number_of

_Predicate = arith.CmpIPredicate

_SAME_COUNT = ("arith.extsi", "arith.index_cast", "arith.trunci")
"""A count of elements fits in all types that it is cast to."""


def is_causal(elements: Elements, scores: Element, query: int, key: int) -> bool:
    """Whether scores are -inf where loop `key` is past loop `query`, and the first of a row is not.

    No other mask is looked through: one that hides whole rows would leave no greatest element.
    """
    return without_causal_mask(elements, scores, query, key) is not None


def without_causal_mask(
    elements: Elements, scores: Element, query: int, key: int
) -> Element | None:
    """What scores are elsewhere that are -inf where loop `key` is past loop `query`."""
    selected = elements.operands(scores, "arith.select")
    if selected is None or len(selected[1]) != 3:
        return None
    condition, if_true, if_false = selected[1]
    compared = elements.operands(condition, "arith.cmpi")
    if compared is None or len(compared[1]) != 2:
        return None
    predicate = ir.IntegerAttr(compared[0].body_ops[-1].attributes["predicate"]).value
    places = [_place(elements, side) for side in compared[1]]
    if any(place is None for place in places):
        return None
    of_query, of_key = (ir.AffineDimExpr.get(loop) for loop in (query, key))
    hides = {
        ("on_true", int(_Predicate.sgt)): [of_key, of_query],
        ("on_true", int(_Predicate.slt)): [of_query, of_key],
        ("on_false", int(_Predicate.sle)): [of_key, of_query],
        ("on_false", int(_Predicate.sge)): [of_query, of_key],
    }
    for branch, hidden, shown in (("on_true", if_true, if_false), ("on_false", if_false, if_true)):
        if is_number(number_of(hidden), -math.inf) and hides.get((branch, predicate)) == places:
            return shown
    return None


def _place(elements: Elements, element: Element) -> ir.AffineExpr | None:
    """Where an element is along an axis, if that is what its value tells."""
    producer, place = elements.producer(element)
    if producer is None or producer.is_reduction or len(producer.results) != 1:
        return None
    (value,) = producer.yielded
    while not isinstance(value.owner, ir.Block) and value.owner.name in _SAME_COUNT:
        value = value.owner.operands[0]
    loops = producer.loops_for(place.indices)
    if isinstance(value.owner, ir.Block):
        arguments = list(producer.body.arguments)
        if value not in arguments[: len(producer.inputs)]:
            return None
        number = arguments.index(value)
        source = producer.inputs[number]
        return _place(elements, Element(source, elements.composed(producer.maps[number], loops)))
    if value.owner.name != "linalg.index":
        return None
    return loops[ir.IntegerAttr(value.owner.attributes["dim"]).value]
