"""The loop nest of a contraction: sizes, offsets in its buffers, loops over batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.linalg_to_kernels.building import FlatView, for_each, index, product, total
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan, RightOperand
from plumbline.linalg_to_kernels.strides import Groups


@dataclass(frozen=True)
class Place:
    """Where a vector of the result lies."""

    offset: ir.Value
    """How far its first lane is from the result's first element; other lanes follow it."""
    mask: ir.Value
    """The lanes that are inside."""
    _loops: dict[int, Callable[[], ir.Value]]
    _axes: tuple[int | None, ...]

    def index(self, axis: int) -> ir.Value:
        """Where its first lane is along an axis of the result."""
        loop = self._axes[axis]
        return index(0) if loop is None else self._loops[loop]()


@dataclass(frozen=True)
class Epilogue:
    """What becomes of sums before they are stored."""

    finish: Callable[[ir.Value, Place], ir.Value]
    """Takes a vector of sums, and gives the vector to store, of the same lanes."""
    prefetch: Callable[[Place], None] = lambda place: None
    """Asks for the vectors that `finish` reads there, and not in the tile before; or for none."""


def finished(epilogue: Epilogue | None, value: ir.Value, place: Place) -> ir.Value:
    """What is stored of a vector of sums, with an epilogue or without."""
    return value if epilogue is None else epilogue.finish(value, place)


@dataclass(frozen=True)
class Region:
    """What is inside all loops over batches: the first elements, and the loops' values."""

    bases: tuple[ir.Value, ...]
    loops: dict[int, Callable[[], ir.Value]]


class LoopNest:
    """What the builders of kernels for contractions share."""

    def __init__(self, plan: ContractionPlan, arguments: Sequence[ir.Value]) -> None:
        self._plan = plan
        self.views = [FlatView(argument) for argument in arguments]
        self.left, self.right, self.out = (
            self.views[plan.left],
            self.views[plan.right],
            self.views[2],
        )
        self._sizes = self._loop_sizes()

    def size(self, loops: Sequence[int]) -> ir.Value:
        """How often loops run within one another."""
        return product([self._sizes[loop] for loop in loops])

    def _loop_sizes(self) -> dict[int, ir.Value]:
        plan = self._plan
        sizes = {loop: index(size) for loop, size in plan.static_sizes}
        for operand, (view, access) in enumerate(zip(self.views, plan.sum.accesses, strict=True)):
            if operand == plan.right and plan.right_operand is RightOperand.PACKED:
                continue
            for axis, (size, terms) in enumerate(zip(view.sizes, access.axes, strict=True)):
                if operand == plan.right and plan.strip and any(plan.strip.pads[axis]):
                    continue
                if len(terms) == 1 and terms[0][1] == 1:
                    sizes.setdefault(terms[0][0], size)
        return sizes

    def stride(self, operand: int, loop: int) -> ir.Value:
        """How far a step of `loop` leads in an operand."""
        return total(
            [
                arith.muli(self.views[operand].strides[axis], index(factor))
                for axis, terms in enumerate(self._plan.sum.accesses[operand].axes)
                for other, factor in terms
                if other == loop
            ]
        )

    def offset(self, operand: int, groups: Groups, position: ir.Value) -> ir.Value:
        """How far in an operand a position leads that counts through groups of loops."""
        parts = []
        for number, group in reversed([*enumerate(groups)]):
            within = position
            if number > 0:
                size = self.size(group)
                within = arith.remui(position, size)
                position = arith.divui(position, size)
            parts.append(arith.muli(within, self.stride(operand, group[-1])))
        return total(parts)

    def over(self, loops: Sequence[int], region: Region, inside: Callable[[Region], None]) -> None:
        """Loops over batches, outermost first, around what `inside` builds."""
        if not loops:
            inside(region)
            return
        loop, *rest = loops
        strides = [self._batch_stride(operand, loop) for operand in range(3)]

        def body(at: ir.Value) -> list[ir.Value]:
            moved = tuple(
                arith.addi(base, arith.muli(at, stride))
                for base, stride in zip(region.bases, strides, strict=True)
            )
            self.over(rest, Region(moved, {**region.loops, loop: lambda: at}), inside)
            return []

        for_each(index(0), self._sizes[loop], 1, body, parallel=True)

    def _batch_stride(self, operand: int, loop: int) -> ir.Value:
        plan = self._plan
        if operand == plan.right and plan.right_operand is RightOperand.PACKED:
            axis = [*plan.batches].index(loop) if loop in plan.batches else None
            return index(0) if axis is None else self.right.strides[axis]
        return self.stride(operand, loop)

    def place(
        self, region: Region, row: ir.Value, column: ir.Value, to: ir.Value, mask: ir.Value
    ) -> Place:
        """The place of a vector whose first lane is in that row and column of a tile's."""
        loops = dict(region.loops)
        for group, position in ((self._plan.rows, row), (self._plan.columns, column)):
            for depth, loop in enumerate(group):
                loops[loop] = self.value_of(group, depth, position)
        axes = [dict(terms) for terms in self._plan.sum.accesses[2].axes]
        return Place(
            to, mask, loops, tuple(next((at for at in axis if at in loops), None) for axis in axes)
        )

    def value_of(
        self, group: Sequence[int], depth: int, position: ir.Value
    ) -> Callable[[], ir.Value]:
        """What a loop has counted to where a group of loops has counted to `position`."""

        def build() -> ir.Value:
            value = position
            if group[depth + 1 :]:
                inner = self.size(group[depth + 1 :])
                value = arith.divui(value, inner)
            if depth > 0:
                value = arith.remui(value, self._sizes[group[depth]])
            return value

        return build

    def each_summed(
        self,
        operand: int,
        groups: Groups,
        one: Callable[[ir.Value, ir.Value], None],
        step: int = 1,
        part: tuple[ir.Value, ir.Value] | None = None,
    ) -> None:
        """For each summed element its offset in an operand, and its number.

        With a step for each so many of the innermost group, which are a multiple of it. With a part
        of one group only, from one number to another.
        """

        def nest(groups: Groups, place: ir.Value, position: ir.Value) -> None:
            if not groups:
                one(place, position)
                return
            group, *rest = groups
            size = self.size(group)
            first, last = part or (index(0), size)
            stride = self.stride(operand, group[-1])

            def body(at: ir.Value) -> list[ir.Value]:
                nest(
                    tuple(rest),
                    arith.addi(place, arith.muli(at, stride)),
                    arith.addi(arith.muli(position, size), at),
                )
                return []

            for_each(first, last, 1 if rest else step, body)

        nest(groups, index(0), index(0))

    def vector_of(self, view: FlatView) -> ir.VectorType:
        """A vector of as many elements of a buffer as lanes are summed in."""
        element = ir.MemRefType(view.elements.type).element_type
        return ir.VectorType.get([self._plan.tile.lanes], element)
