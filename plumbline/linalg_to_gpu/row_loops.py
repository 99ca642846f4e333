"""The loops that the steps of a group have for its rows, and within these.

Rows are those loops that all steps of a group share, or of a single step all its parallel loops.
"""

from collections.abc import Sequence

from plumbline.linalg_to_kernels.computations import Computation
from plumbline.linalg_to_kernels.group import Group
from plumbline.linalg_to_kernels.loop_order import order_of


def row_loops(group: Group) -> dict[Computation, dict[int, int]]:
    """For each step its loop for each row loop of the root, in the order of the root's axes."""
    root = group.root
    axes = root.result_loops(0)
    assert axes is not None
    order = [*axes, *(loop for loop in range(len(root.reduces)) if loop not in axes)]
    if len(group.steps) == 1:
        return {root: {loop: loop for loop in order if not root.reduces[loop]}}
    rows = [loop for loop in order if loop in group.rows]
    return {step: {row: group.row_loops[step][row] for row in rows} for step in group.steps}


def own_loops(group: Group, step: Computation) -> list[int]:
    """The loops that a step has within a row, but for those that run once."""
    rows = set(row_loops(group)[step].values())
    return [loop for loop, size in enumerate(step.sizes) if loop not in rows and size != 1]


def buffered_axes(group: Group, step: Computation, number: int) -> list[int]:
    """The loops along the axes of what a step computes of a row, as its result of that number."""
    axes = step.result_loops(number)
    assert axes is not None
    own = own_loops(group, step)
    return [loop for loop in axes if loop in own]


def buffer_axes(group: Group, step: Computation, number: int) -> Sequence[int]:
    """The loops along the axes of the buffer that has the step's result of that number.

    That is the whole tensor if it is a result of the group, and else what there is of a row.
    """
    if step.results[number] not in group.outputs:
        return buffered_axes(group, step, number)
    axes = step.result_loops(number)
    assert axes is not None
    return axes


def own_order(group: Group, step: Computation) -> tuple[list[int], list[int]]:
    """The loops that a step has within a row, in the order of memory: parallel ones, and others.

    Along the others it reduces.
    """
    order = order_of(group, step, own_loops(group, step)).loops
    return (
        [loop for loop in order if not step.reduces[loop]],
        [loop for loop in order if step.reduces[loop]],
    )
