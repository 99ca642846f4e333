"""Builds what is done to each element by itself: a thread reads and writes 16 bytes at a time.

Of tensors whose elements are contiguous along the last axis of the result it reads as many at once
as it computes, of others one after the other. A warp so moves 512 contiguous bytes.
"""

from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.linalg_to_gpu.element_runs import common_length, load_run, runs_of, store_run
from plumbline.linalg_to_gpu.launches import THREADS, Thread, delinearized, launch, strided
from plumbline.linalg_to_kernels.building import FlatView, index, product
from plumbline.linalg_to_kernels.computations import Computation, Indices
from plumbline.linalg_to_kernels.evaluation import Evaluation, index_value
from plumbline.linalg_to_kernels.group import Group
from plumbline.linalg_to_kernels.sizes import loop_size

Values = Mapping[ir.Value, ir.Value]


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
    values = [*root.results, *(source for source, _ in runs_of(group, root, axes[-1]))]
    types = [ir.RankedTensorType(value.type).element_type for value in values]
    return common_length(types, root.sizes[axes[-1]])


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
        views = {source: FlatView(given[source]) for source, _ in runs_of(group, root, axes[-1])}
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
        (source, indices): load_run(
            views[0][source], [index_value(at, loops) for at in indices], length
        )
        for source, indices in runs_of(group, root, axes[-1])
    }
    columns: list[list[ir.Value]] = []
    for lane in range(length):
        evaluation = Evaluation(group, root, given, no_other_step)
        evaluation.loops = {**loops, axes[-1]: arith.addi(loops[axes[-1]], index(lane))}
        for (source, indices), values in loaded.items():
            evaluation.know(source, indices, values[lane])
        inits = evaluation.needed_inits(root, root.loops)
        columns.append(evaluation.results(root, root.loops, inits))
    for result, lanes in zip(root.results, zip(*columns, strict=True), strict=True):
        store_run(views[1][result], [loops[loop] for loop in axes], lanes)


def no_other_step(producer: Computation, source: ir.Value, indices: Indices) -> ir.Value:
    """What gives elements of other steps, in a group that has none."""
    raise NotImplementedError("a group of one step has no other")
