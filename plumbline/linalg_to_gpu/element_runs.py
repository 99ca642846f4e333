"""Elements that are contiguous in memory, of which a thread reads or writes 16 bytes at once."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES
from plumbline.linalg_to_kernels.building import FlatView, index, total
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    is_in_memory,
    is_tensor,
)
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
    if not all(map(is_whole, types)):
        return 1
    length = VECTOR_BYTES // max(map(element_bytes, types))
    return length if length > 1 and size != DYNAMIC and size and size % length == 0 else 1


def is_whole(type_: ir.Type) -> bool:
    """Whether elements in memory are as they are in a vector."""
    return isinstance(type_, ir.FloatType | ir.IntegerType) and type_.width >= 8


def reads_of(group: Group, step: Computation) -> list[Read]:
    """What a step reads that is in memory before the group begins."""
    return [(source, at) for source, at in _reads_of(group, step) if group.producer(source) is None]


def reads_of_steps(group: Group, step: Computation) -> list[Read]:
    """What a step reads that other steps have computed."""
    return [(source, at) for source, at in _reads_of(group, step) if group.producer(source)]


def _reads_of(group: Group, step: Computation) -> list[Read]:
    found: dict[Read, None] = {}
    pending: list[tuple[Computation, Indices]] = [(step, step.loops)]
    seen = set()
    while pending:
        member, loops = pending.pop()
        for source, indices in member.reads(loops, len(step.reduces)):
            producer = group.producer(source)
            if producer is not None and group.is_inlined(producer):
                read = producer, producer.loops_for(indices)
                if read not in seen:
                    seen.add(read)
                    pending.append(read)
            elif producer is not None or (is_tensor(source) and is_in_memory(source)):
                found[source, indices] = None
    return list(found)


def runs_of(group: Group, step: Computation, loop: int) -> list[Read]:
    """Those elements from before the group that are contiguous along a loop of a step."""
    size = step.sizes[loop]
    return [
        (source, indices)
        for source, indices in reads_of(group, step)
        if is_contiguous(layout_of(source)) and _is_run(source, indices, loop, size)
    ]


def _is_run(source: ir.Value, indices: Indices, loop: int, size: int) -> bool:
    """Whether a tensor's last axis alone is along the loop, and each line begins a vector.

    A part of a tensor may have lines of a size that the tensor's are not.
    """
    type_ = ir.RankedTensorType(source.type)
    if not is_whole(type_.element_type) or not are_along(indices, loop):
        return False
    line = type_.shape[-1]
    most = VECTOR_BYTES // element_bytes(type_.element_type)
    return bool(line == size or (line != DYNAMIC and line % most == 0))


def are_along(indices: Indices, loop: int) -> bool:
    """Whether the last axis of a tensor, and no other one, goes along the loop from its start."""
    if not indices:
        return False
    last = indices[-1].maybe_downcast()
    outer = Access((1,) * len(indices[:-1]), indices[:-1])
    is_last = isinstance(last, ir.AffineDimExpr) and last.position == loop
    return is_last and outer.stride(loop) == 0


def load_run(view: FlatView, places: list[ir.Value], length: int) -> list[ir.Value]:
    """So many elements next to one another, from a place on."""
    element = ir.MemRefType(view.elements.type).element_type
    at_once = min(length, VECTOR_BYTES // element_bytes(element))
    type_ = ir.VectorType.get([at_once], element)
    first = _place(view, places)
    elements: list[ir.Value] = []
    for start in range(0, length, at_once):
        place = [arith.addi(first, index(start)) if start else first]
        alignment = at_once * element_bytes(element)
        whole = vector.LoadOp(type_, view.elements, place, alignment=alignment).result
        elements += [vector.extract(whole, [], [lane]) for lane in range(at_once)]
    return elements


def store_run(view: FlatView, places: list[ir.Value], values: Sequence[ir.Value]) -> None:
    """Stores elements next to one another, from a place on."""
    element = values[0].type
    at_once = min(len(values), VECTOR_BYTES // element_bytes(element))
    type_ = ir.VectorType.get([at_once], element)
    first = _place(view, places)
    for start in range(0, len(values), at_once):
        place = [arith.addi(first, index(start)) if start else first]
        whole = vector.from_elements(type_, list(values[start : start + at_once]))
        alignment = at_once * element_bytes(element)
        vector.StoreOp(whole, view.elements, place, alignment=alignment)


def _place(view: FlatView, places: list[ir.Value]) -> ir.Value:
    return total([arith.muli(at, stride) for at, stride in zip(places, view.strides, strict=True)])
