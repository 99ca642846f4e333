"""Computes what is cheap where it is gathered from, rather than all of it beforehand.

An image that gets other sizes is read between its elements along one axis, and what that gives
along the next: on a GPU two launches, of which one writes to memory what the other reads. Done
where it is read, each new element is of the old ones around it, as many as all axes have together,
which other threads read, too, and the caches have.
"""

from torch_mlir import ir

from plumbline.bindings.walk import operations_of
from plumbline.linalg_to_kernels.computations import (
    GENERIC,
    Computation,
    computation,
    computation_of,
    erase_unused,
    is_copy,
    is_tensor,
)
from plumbline.linalg_to_kernels.extracted_elements import computed_at
from plumbline.linalg_to_kernels.group import COSTLY, cost_of

_MOST_OPERATIONS = 256
"""Of what is computed at a place, by then: a cubic image is of 4x4 elements, each with a place and
a weight along both axes."""

_CHEAP = 4
"""What an element may cost that is computed for each place that it is gathered to."""

_EXTRACT = "tensor.extract"


def compute_gathered(module: ir.Operation) -> None:
    """Moves computations of `module` that gather to those that gather from what they give."""
    with module.context:
        for op in operations_of(module, "linalg"):
            if op.name == GENERIC:
                while (gathered := _gathered(computation(op))) is not None:
                    _move(gathered)


def _gathered(reader: Computation | None) -> Computation | None:
    """What a computation gathers from that can be computed there."""
    sources = reader.read_anywhere if reader is not None else ()
    found = (computation_of(source) for source in dict.fromkeys(sources))
    suited = (each for each in found if each and (is_copy(each) or _gathers(each)))
    return next(filter(_may_move, suited), None)


def _gathers(found: Computation) -> bool:
    """Whether elements are gathered, be it by what they are computed of, and cost little."""
    # Each is asked once: what is computed of one thing twice may be hundreds of steps long.
    pending, seen = [found], {found.op}
    while pending:
        member = pending.pop()
        if not _is_elementwise(member):
            continue
        if member.read_anywhere:
            return True
        for producer in map(computation_of, filter(is_tensor, member.inputs)):
            if producer is not None and producer.op not in seen:
                seen.add(producer.op)
                pending.append(producer)
    return False


def _is_elementwise(found: Computation) -> bool:
    """Whether it is little for each element, by itself."""
    is_alone = len(found.results) == 1 and not found.is_reduction and not found.reads_inits[0]
    return is_alone and cost_of(found) <= _CHEAP + COSTLY * found.body_names.count(_EXTRACT)


def _may_move(gathered: Computation) -> bool:
    """Whether all that read it gather, and go on doing little."""
    uses = [use.owner.operation for use in gathered.results[0].uses]
    if any(use.name != _EXTRACT for use in uses):
        return False
    more = len(gathered.body_ops) + len(gathered.inputs)
    for reader in dict.fromkeys(use.parent.operation for use in uses):
        own = len(reader.regions[0].blocks[0].operations)
        if reader.name != GENERIC or own + len(uses) * more > _MOST_OPERATIONS:
            return False
    return all(
        isinstance(place.maybe_downcast(), ir.AffineDimExpr | ir.AffineConstantExpr)
        for map_ in gathered.maps
        for place in map_.results
    )


def _move(gathered: Computation) -> None:
    (result,) = gathered.results
    for use in list(result.uses):
        extract = use.owner.operation
        with ir.InsertionPoint(extract), extract.location:
            element, _ = computed_at(gathered, list(extract.operands)[1:])
            extract.results[0].replace_all_uses_with(element)
        extract.erase()
    erase_unused(result)
