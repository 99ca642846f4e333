"""Which plan a contraction is done by, where that depends on sizes that are known in a call only.

A kernel has two plans then, and asks the size once: products of matrices with one row, or images
whose rows are long.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.contraction_plan import (
    ContractionPlan,
    plan_for_long_lines,
    plan_for_one_row,
)
from plumbline.target.vector_unit import VectorUnit

_PARTS = 64
"""Of a cycle, to compare times by integers."""


@dataclass(frozen=True)
class OtherPlan:
    """A plan, and for which sizes of a loop it is."""

    plan: ContractionPlan
    loop: int
    cycles: tuple[int, int] | None = None
    """How long one of its panels takes, and how long an element does otherwise; None: it is for
    size 1."""

    def suits(self, result: ir.Value) -> ir.Value:
        """Builds whether it is for the sizes of a result's buffer."""
        axes = self.plan.sum.accesses[2].axes
        size = memref.dim(result, index(axes.index(((self.loop, 1),))))
        if self.cycles is None:
            return arith.cmpi(arith.CmpIPredicate.eq, size, index(1))
        of_panel, of_element = map(index, self.cycles)
        panels = arith.ceildivui(size, index(self.plan.tile.columns))
        return arith.cmpi(
            arith.CmpIPredicate.ule, arith.muli(panels, of_panel), arith.muli(size, of_element)
        )


def other_plan(
    plan: ContractionPlan,
    types: Sequence[ir.MemRefType],
    sizes: Sequence[int],
    unit: VectorUnit,
    summed_in: ir.Type,
) -> OtherPlan | None:
    """The plan for some of the sizes that are not known, if it is another; as `plan_contraction`.

    Threads share the outermost loops of kernels alone, so that theirs have one plan.
    """
    if unit.is_shared:
        return None
    single = plan_for_one_row(plan, types, sizes, unit, summed_in)
    if single is not None:
        return OtherPlan(single, plan.rows[0])
    found = plan_for_long_lines(plan, types, sizes, unit, summed_in)
    if found is None:
        return None
    long, of_panel, of_element = found
    return OtherPlan(long, plan.rows[-1], (round(_PARTS * of_panel), round(_PARTS * of_element)))
