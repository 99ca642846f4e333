"""Elements that are contiguous in memory, of which a thread reads or writes 16 bytes at once."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES
from plumbline.linalg_to_kernels.building import FlatView, total
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    is_in_memory,
    is_tensor,
)
from plumbline.linalg_to_kernels.evaluation import index_value
from plumbline.linalg_to_kernels.group import Group
from plumbline.linalg_to_kernels.layouts import is_contiguous, layout_of
from plumbline.linalg_to_kernels.loop_order import Access
from plumbline.linalg_to_kernels.planned_memory import element_bytes

Read = tuple[ir.Value, Indices]
"""A tensor of which an element is read, and where, by the loops of the root."""


def common_length(types: Sequence[ir.Type], size: int) -> int:
    """How many elements of such types are read and written at once along a loop of that size.

    1 if they are no vectors.
    """
    if not all(map(_is_whole, types)):
        return 1
    length = VECTOR_BYTES // max(map(element_bytes, types))
    return length if length > 1 and size != DYNAMIC and size and size % length == 0 else 1


def _is_whole(type_: ir.Type) -> bool:
    """Whether elements in memory are as they are in a vector."""
    return isinstance(type_, ir.FloatType | ir.IntegerType) and type_.width >= 8


def reads_of(group: Group, but: Computation | None = None) -> list[Read]:
    """What the root of a group reads that is in memory, and not for a step before it."""
    found: dict[Read, None] = {}
    pending: list[tuple[Computation, Indices]] = [(group.root, group.root.loops)]
    seen = set()
    while pending:
        member, loops = pending.pop()
        for source, indices in member.reads(loops, len(group.root.reduces)):
            producer = group.producer(source)
            if producer is not None and producer is but:
                continue
            if producer is not None and len(producer.results) == 1:
                read = producer, producer.loops_for(indices)
                if read not in seen:
                    seen.add(read)
                    pending.append(read)
            elif producer is None and is_tensor(source) and is_in_memory(source):
                found[source, indices] = None
    return list(found)


def runs_of(group: Group, loop: int, but: Computation | None = None) -> list[Read]:
    """Those elements that are contiguous along a loop of the root."""
    return [read for read in reads_of(group, but) if _is_run(*read, loop)]


def _is_run(source: ir.Value, indices: Indices, loop: int) -> bool:
    """Whether a tensor's last axis is along the loop, from its beginning to its end."""
    if not indices or not is_contiguous(layout_of(source)):
        return False
    last = indices[-1].maybe_downcast()
    type_ = ir.RankedTensorType(source.type)
    outer = Access((1,) * len(indices[:-1]), indices[:-1])
    return (
        isinstance(last, ir.AffineDimExpr)
        and last.position == loop
        and outer.stride(loop) == 0
        and _is_whole(type_.element_type)
    )


def load_run(
    view: FlatView,
    indices: Indices,
    loops: Mapping[int, ir.Value],
    source: ir.Value,
    length: int,
) -> ir.Value:
    """So many elements of a tensor as a vector, from a place on that loops tell."""
    element = ir.RankedTensorType(source.type).element_type
    places = [index_value(at, loops) for at in indices]
    return vector.LoadOp(
        ir.VectorType.get([length], element),
        view.elements,
        [_place(view, places)],
        alignment=length * element_bytes(element),
    ).result


def store_run(view: FlatView, places: list[ir.Value], values: Sequence[ir.Value]) -> None:
    """Stores elements next to one another, from a place on."""
    type_ = ir.VectorType.get([len(values)], values[0].type)
    whole = vector.from_elements(type_, list(values))
    alignment = len(values) * element_bytes(type_.element_type)
    vector.StoreOp(whole, view.elements, [_place(view, places)], alignment=alignment)


def _place(view: FlatView, places: list[ir.Value]) -> ir.Value:
    return total([arith.muli(at, stride) for at, stride in zip(places, view.strides, strict=True)])
