"""Finds computations whose elements are told by where they are: counts, masks of triangles.

To compute such an element costs less than to read it, so that all that read one compute it anew.
"""

from collections.abc import Sequence

from plumbline.linalg_to_kernels.computations import (
    Computation,
    is_tensor,
    number_everywhere,
    viewed,
)
from plumbline.linalg_to_kernels.group import MOST_REPEATED, cost_of


def told_by_place(computations: Sequence[Computation]) -> set[Computation]:
    """Which of some computations, in the order of a program, read no memory and cost little."""
    costs: dict[Computation, int] = {}
    by_result = {result: member for member in computations for result in member.results}
    for member in computations:
        read = [
            by_result.get(viewed(value))
            for value in filter(is_tensor, member.inputs)
            if number_everywhere(value) is None
        ]
        if (
            member.is_reduction
            or member.read_anywhere
            or len(member.results) != 1
            or any(producer is None or producer not in costs for producer in read)
        ):
            continue
        cost = cost_of(member) + sum(costs[producer] for producer in read if producer is not None)
        if cost <= MOST_REPEATED:
            costs[member] = cost
    return set(costs)
