"""Computations over a nest of loops: `linalg.generic` in its full form."""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import linalg

PARALLEL, REDUCTION = "parallel", "reduction"

SCAN = "plumbline.scan"
"""The attribute of an `scf.for` that scans: what it carries last it combines with one element each
time, from what changes nothing on, and elements may be combined with one another first."""

Payload = Callable[[Sequence[ir.Value], Sequence[ir.Value]], ir.Value | Sequence[ir.Value]]
"""From elements of the inputs and what is in the outputs so far to what is in the outputs next."""


def loop_nest(
    outs: Sequence[ir.Value],
    inputs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    loops: Sequence[str],
    payload: Payload,
) -> list[ir.Value]:
    """A `linalg.generic` over `loops`, which run in that order, the last one innermost.

    `maps` say which place of each input and then of each output an iteration is about. What
    `payload` builds goes to the outputs.
    """
    op = linalg.GenericOp(
        [out.type for out in outs],
        list(inputs),
        list(outs),
        ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps]),
        ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{loop}>") for loop in loops]),
    )
    elements = [value.type.element_type for value in (*inputs, *outs)]
    block = op.regions[0].blocks.append(*elements, arg_locs=[op.location] * len(elements))
    with ir.InsertionPoint(block):
        arguments = list(block.arguments)
        results = payload(arguments[: len(inputs)], arguments[len(inputs) :])
        linalg.YieldOp([results] if isinstance(results, ir.Value) else list(results))
    return list(op.results)


def dims_map(rank: int, places: Sequence[int | ir.AffineExpr]) -> ir.AffineMap:
    """The map from `rank` loops to a place; a number stands for the loop of that number."""
    return ir.AffineMap.get(
        rank,
        0,
        [ir.AffineDimExpr.get(place) if isinstance(place, int) else place for place in places],
    )
