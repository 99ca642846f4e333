"""Which elements of a row lie next to one another, so that a thread reads and writes them at once.

They do so along the innermost loop that a step has within a row: of tensors in memory, and of what
other steps have computed of the row, in shared memory.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.linalg_to_gpu.element_runs import (
    Read,
    are_along,
    common_length,
    is_whole,
    reads_of_steps,
    runs_of,
)
from plumbline.linalg_to_gpu.launches import WARP
from plumbline.linalg_to_gpu.row_loops import buffer_axes, own_order
from plumbline.linalg_to_kernels.computations import DYNAMIC, Computation
from plumbline.linalg_to_kernels.group import Group


@dataclass(frozen=True)
class RowRuns:
    """Elements of a row that a thread does at once."""

    loop: int | None = None
    """Along which they lie, innermost of those that run within a row; None: there are no such."""
    length: int = 1
    given: Sequence[Read] = ()
    """What is read of them that is from before the group."""
    computed: Sequence[Read] = ()
    """What is read of them that other steps have computed."""


def row_runs(group: Group, step: Computation, *, is_shared: bool) -> RowRuns:
    """Those of a step.

    Args:
      group: of which it is one.
      step: all that it computes of a row, or reduces to a number, a thread does so many at a time.
      is_shared: whether the threads of a block have a row together, of which none is to be idle.
    """
    parallel, reductions = own_order(group, step)
    loops = reductions or parallel
    if not loops:
        return RowRuns()
    loop = loops[-1]
    given = runs_of(group, step, loop)
    computed = [read for read in reads_of_steps(group, step) if _is_run(group, read, loop, step)]
    stored = [] if reductions else [*range(len(step.results))]
    if any(buffer_axes(group, step, number)[-1] != loop for number in stored):
        return RowRuns()
    results = [step.results[number] for number in stored]
    # What is in shared memory a thread reads and writes by several vectors, if need be.
    in_memory = [source for source, _ in given] + [one for one in results if one in group.outputs]
    values = in_memory or [*results, *(source for source, _ in computed)]
    if not values:
        return RowRuns()
    types = [ir.RankedTensorType(value.type).element_type for value in values]
    length = common_length(types, step.sizes[loop])
    if is_shared and not (parallel and reductions):
        length = _for_a_warp(length, [step.sizes[loop] for loop in loops])
    return RowRuns(loop, length, given, computed) if length > 1 else RowRuns()


def _is_run(group: Group, read: Read, loop: int, step: Computation) -> bool:
    """Whether what is read of another step lies along a loop, from the first to the last."""
    source, indices = read
    producer = group.producer(source)
    assert producer is not None
    number = producer.results.index(source)
    axes = buffer_axes(group, producer, number)
    loops = producer.loops_for(indices, number)
    return (
        is_whole(ir.RankedTensorType(source.type).element_type)
        and are_along(tuple(loops[axis] for axis in axes), loop)
        and producer.sizes[axes[-1]] == step.sizes[loop]
    )


def _for_a_warp(length: int, sizes: Sequence[int]) -> int:
    """The most of such a length that leaves something to do to each thread of a warp."""
    elements = math.prod(size for size in sizes if size != DYNAMIC)
    while length > 1 and elements // length < WARP:
        length //= 2
    return length
