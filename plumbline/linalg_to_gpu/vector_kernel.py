"""Builds what is done to each element by itself: a thread reads and writes 16 bytes at a time.

Of tensors whose elements are contiguous along the last axis of the result it reads as many at once
as it computes, of others one after the other. A warp so moves 512 contiguous bytes.
"""

from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES
from plumbline.linalg_to_gpu.launches import THREADS, Thread, delinearized, launch, strided
from plumbline.linalg_to_kernels.building import FlatView, index, product, total
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    is_in_memory,
    is_tensor,
)
from plumbline.linalg_to_kernels.evaluation import Evaluation, index_value
from plumbline.linalg_to_kernels.group import Group
from plumbline.linalg_to_kernels.layouts import is_contiguous, layout_of
from plumbline.linalg_to_kernels.loop_order import Access
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.sizes import loop_size

Values = Mapping[ir.Value, ir.Value]


Read = tuple[ir.Value, Indices]
"""A tensor of which an element is read, and where, by the loops of the root."""


def is_elementwise(group: Group) -> bool:
    """Whether each element of the results is computed by itself, and all lie alike."""
    root = group.root
    axes = root.result_loops(0)
    if len(group.steps) != 1 or root.is_reduction or not axes:
        return False
    return group.outputs == frozenset(root.results) and all(
        root.result_loops(number) == axes for number in range(len(root.results))
    )


def vector_length(group: Group) -> int:
    """How many elements of its results a thread computes at a time; 1 if they are no vectors."""
    if not is_elementwise(group):
        return 1
    root = group.root
    axes = root.result_loops(0)
    assert axes is not None
    types = [ir.RankedTensorType(result.type).element_type for result in root.results]
    reads = _vector_reads(group, axes[-1])
    types += [ir.RankedTensorType(source.type).element_type for source, _ in reads]
    if not all(map(_is_whole, types)):
        return 1
    length = VECTOR_BYTES // max(map(element_bytes, types))
    size = root.sizes[axes[-1]]
    return length if length > 1 and size != DYNAMIC and size and size % length == 0 else 1


def _is_whole(type_: ir.Type) -> bool:
    """Whether elements in memory are as they are in a vector."""
    return isinstance(type_, ir.FloatType | ir.IntegerType) and type_.width >= 8


def reads_of(group: Group) -> list[Read]:
    """What a group of one step reads that is in memory."""
    found: dict[Read, None] = {}
    pending: list[tuple[Computation, Indices]] = [(group.root, group.root.loops)]
    seen = set()
    while pending:
        member, loops = pending.pop()
        for source, indices in member.reads(loops, len(group.root.reduces)):
            producer = group.producer(source)
            if producer is not None and len(producer.results) == 1:
                read = producer, producer.loops_for(indices)
                if read not in seen:
                    seen.add(read)
                    pending.append(read)
            elif producer is None and is_tensor(source) and is_in_memory(source):
                found[source, indices] = None
    return list(found)


def _vector_reads(group: Group, loop: int) -> list[Read]:
    """Those elements that are contiguous along a loop of the root."""
    return [read for read in reads_of(group) if _is_run(*read, loop)]


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


def build_vector_kernel(group: Group, given: Values, outputs: Values, length: int) -> None:
    """Builds the launch of a kernel that does a group by vectors of that length.

    Args:
      group: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar.
      outputs: for each output of the group the buffer that takes it.
      length: as `vector_length` gives it.
    """
    root = group.root
    axes = root.result_loops(0)
    assert axes is not None
    sizes = [loop_size(root, loop, given) for loop in axes]
    sizes[-1] = index(root.sizes[axes[-1]] // length)
    count = product(sizes)

    def build(thread: Thread) -> None:
        views = {source: FlatView(given[source]) for source, _ in _vector_reads(group, axes[-1])}
        targets = {result: FlatView(buffer) for result, buffer in outputs.items()}

        def work(number: ir.Value) -> None:
            at = dict(zip(axes, delinearized(number, sizes), strict=True))
            at[axes[-1]] = arith.muli(at[axes[-1]], index(length))
            _build_vector(group, given, at, (views, targets), length)

        first = arith.addi(arith.muli(thread.block, index(THREADS)), thread.number)
        strided(first, count, arith.muli(thread.blocks, index(THREADS)), work)

    launch(arith.ceildivui(count, index(THREADS)), THREADS, build)


def _build_vector(
    group: Group,
    given: Values,
    at: Mapping[int, ir.Value],
    views: tuple[Mapping[ir.Value, FlatView], Mapping[ir.Value, FlatView]],
    length: int,
) -> None:
    """Builds what a thread does at a time, from the loops at the first element on."""
    root = group.root
    axes = root.result_loops(0)
    assert axes is not None
    loops = dict.fromkeys(range(len(root.reduces)), index(0)) | dict(at)
    loaded = {
        (source, indices): _load(views[0][source], indices, loops, source, length)
        for source, indices in _vector_reads(group, axes[-1])
    }
    columns: list[list[ir.Value]] = []
    for lane in range(length):
        evaluation = Evaluation(group, root, given, no_other_step)
        evaluation.loops = {**loops, axes[-1]: arith.addi(loops[axes[-1]], index(lane))}
        for (source, indices), values in loaded.items():
            evaluation.know(source, indices, vector.extract(values, [], [lane]))
        inits = evaluation.needed_inits(root, root.loops)
        columns.append(evaluation.results(root, root.loops, inits))
    for result, values in zip(root.results, zip(*columns, strict=True), strict=True):
        type_ = ir.VectorType.get([length], values[0].type)
        whole = vector.from_elements(type_, list(values))
        view = views[1][result]
        places = [loops[loop] for loop in axes]
        alignment = length * element_bytes(type_.element_type)
        vector.StoreOp(whole, view.elements, [_place(view, places)], alignment=alignment)


def _load(
    view: FlatView,
    indices: Indices,
    loops: Mapping[int, ir.Value],
    source: ir.Value,
    length: int,
) -> ir.Value:
    element = ir.RankedTensorType(source.type).element_type
    places = [index_value(at, loops) for at in indices]
    return vector.LoadOp(
        ir.VectorType.get([length], element),
        view.elements,
        [_place(view, places)],
        alignment=length * element_bytes(element),
    ).result


def _place(view: FlatView, places: list[ir.Value]) -> ir.Value:
    return total([arith.muli(at, stride) for at, stride in zip(places, view.strides, strict=True)])


def no_other_step(producer: Computation, source: ir.Value, indices: Indices) -> ir.Value:
    """What gives elements of other steps, in a group that has none."""
    raise NotImplementedError("a group of one step has no other")
