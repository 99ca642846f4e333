"""Packs a right operand into panels, as a kernel runs.

A panel has as many columns as the register tile, and for each summed element the elements of these
columns side by side; or, for instructions that multiply several at once, for so many a lane of each
column that holds them.
"""

from collections.abc import Callable, Sequence
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_kernels.building import for_each, if_else, index, least, total
from plumbline.linalg_to_kernels.contraction_loops import LoopNest
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan, RightOperand
from plumbline.linalg_to_kernels.dot_instructions import LANE_BITS, TileInstruction
from plumbline.linalg_to_kernels.read_ahead import prefetch_row, rows_ahead
from plumbline.linalg_to_kernels.vectors import (
    cast,
    edge_load,
    lane_offsets,
    mask_of_first,
    masked_load,
    splat,
    transpose,
)


def panel_size(nest: LoopNest, plan: ContractionPlan) -> ir.Value:
    """How many elements a panel may write; those beyond its last summed one are of no account.

    A square of vectors writes so many that begin with the last.
    """
    count = index(plan.summed_at_once) if plan.packs_blocks else nest.size(plan.summed)
    summed = arith.ceildivui(count, index(plan.summed_in_lane))
    rows = arith.addi(summed, index(plan.tile.lanes - 1))
    return arith.muli(rows, index(plan.tile.columns * _in_lane(plan)))


def element_of_panels(nest: LoopNest, plan: ContractionPlan, summed_in: ir.Type) -> ir.Type:
    """The type of what panels hold."""
    if plan.dots is None:
        return summed_in
    if plan.dots.has_one_sum:
        return ir.MemRefType(nest.right.elements.type).element_type
    return ir.IntegerType.get_signless(LANE_BITS)


def row_of_panel(plan: ContractionPlan, *, are_elements: bool) -> int:
    """How many elements, or lanes, a panel has for a summed element, of as many as a lane has."""
    columns = plan.tile.columns
    return columns if are_elements else columns * _in_lane(plan) // plan.summed_in_lane


def _in_lane(plan: ContractionPlan) -> int:
    """How many elements of a panel a lane is."""
    return plan.summed_in_lane if plan.dots is not None and plan.dots.has_one_sum else 1


class PanelPacking:
    """Packs panels of a contraction's right operand into a buffer, in the type of its elements.

    With `ContractionPlan.dots` these are lanes: of i32, or of their elements, which a buffer for
    lanes may be of as well.
    """

    def __init__(self, nest: LoopNest, plan: ContractionPlan, into: ir.Value) -> None:
        self._nest, self._plan, self._tile, self._into = nest, plan, plan.tile, into
        of_lanes = plan.dots is not None and not plan.dots.has_one_sum
        element = ir.MemRefType(into.type).element_type
        self._type = ir.IntegerType.get_signless(LANE_BITS) if of_lanes else element
        self._element = element
        self._columns, self._summed = nest.size(plan.columns), nest.size(plan.summed)
        self._in_lane, self._of_lane = plan.summed_in_lane, _in_lane(plan)
        self._present = self._in_lane

    def pack(
        self,
        base: ir.Value,
        column: ir.Value,
        at: ir.Value,
        part: tuple[ir.Value, ir.Value] | None = None,
    ) -> None:
        """Builds what packs the panel that begins at a column, into the buffer from `at` on.

        `base` is where the operand's first element lies. Of a panel of one group of summed elements
        it may be a part, from one of them to another; `at` is where the first one of all would be.
        """
        self._at, self._part = at, part
        inside = arith.subi(self._columns, column)
        match self._plan.right_operand:
            case RightOperand.COPIED | RightOperand.GATHERED if self._of_lane > 1:
                self._copy_elements(base, column)
            case RightOperand.COPIED:
                self._copy_panel(arith.addi(base, column), inside)
            case RightOperand.TRANSPOSED:
                self._transpose_panel(base, column)
            case _:
                self._gather_panel(base, column, inside)

    def _copy_panel(self, first: ir.Value, inside: ir.Value) -> None:
        tile, right = self._tile, self._nest.right
        vector_type = self._nest.vector_of(right)
        offsets = lane_offsets(index(0), tile.lanes, tile.vectors)
        masks = [mask_of_first(arith.subi(inside, offset), tile.lanes) for offset in offsets]
        ahead = rows_ahead(self._nest, self._plan) if self._plan.fetches_ahead else None

        def copy(load: Callable[[ir.Value, ir.Value], ir.Value]) -> None:
            def one(place: ir.Value, position: ir.Value) -> None:
                start = arith.addi(first, place)
                if ahead is not None:
                    for row in self._places(arith.addi(start, ahead)):
                        prefetch_row(right, row, tile.columns, is_written=False)
                sources = lane_offsets(start, tile.lanes, tile.vectors)
                targets = lane_offsets(self._row(position), tile.lanes, tile.vectors)
                for source, target, mask in zip(sources, targets, masks, strict=True):
                    loaded = [load(at, mask) for at in self._places(source)]
                    self._store(self._joined(loaded), target)

            self._each_summed(one)

        if_else(
            arith.cmpi(arith.CmpIPredicate.sge, inside, index(tile.columns)),
            lambda: copy(lambda at, mask: vector.load(vector_type, right.elements, [at])),
            lambda: copy(lambda at, mask: masked_load(vector_type, right.elements, at, mask)),
        )

    def _copy_elements(self, base: ir.Value, column: ir.Value) -> None:
        """Packs lanes that are of elements, one by one."""
        # Beyond the last column it is read again, into lanes that no one looks at.
        last = arith.subi(self._columns, index(1))
        columns = [
            self._nest.offset(
                self._plan.right,
                self._plan.columns_of_right,
                least(arith.addi(column, index(number)), last),
            )
            for number in range(self._tile.columns)
        ]

        def one(place: ir.Value, position: ir.Value) -> None:
            to = self._row(position)
            for number, offset in enumerate(columns):
                sources = self._places(total([base, place, offset]))
                targets = lane_offsets(
                    arith.addi(to, index(number * self._of_lane)), 1, self._of_lane
                )
                for source, target in zip(sources, targets, strict=True):
                    value = memref.load(self._nest.right.elements, [source])
                    memref.store(value, self._into, [target])

        self._each_summed(one)

    def _transpose_panel(self, base: ir.Value, column: ir.Value) -> None:
        tile = self._tile
        lanes = tile.lanes
        at_once = lanes * self._in_lane
        element = ir.MemRefType(self._nest.right.elements.type).element_type
        vector_type = ir.VectorType.get([at_once], element)
        groups = self._plan.columns_of_right
        last = arith.subi(self._columns, index(1))
        *outer, innermost = self._plan.summed_of_right or ((),)
        size = self._nest.size(innermost)
        start_of_part, end = self._part or (index(0), size)

        def across(offset: ir.Value) -> list[ir.Value]:
            # Beyond the last column it is read again, into lanes that no one looks at.
            sources = [
                arith.addi(
                    base,
                    self._nest.offset(
                        self._plan.right,
                        groups,
                        least(total([column, offset, index(lane)]), last),
                    ),
                )
                for lane in range(lanes)
            ]

            def run(start: ir.Value, number: ir.Value) -> None:
                first = arith.muli(number, size)

                def along(at: ir.Value) -> list[ir.Value]:
                    inside = arith.subi(size, at)
                    mask = mask_of_first(inside, at_once)
                    whole = arith.cmpi(arith.CmpIPredicate.sge, inside, index(at_once))
                    places = [arith.addi(source, arith.addi(start, at)) for source in sources]
                    loaded = [
                        edge_load(vector_type, self._nest.right.elements, place, mask, whole)
                        for place in places
                    ]
                    rows = [self._as_lanes(value) for value in loaded]
                    # What a run writes beyond its end the next one writes again.
                    to = total(
                        [
                            self._row(arith.addi(first, at)),
                            arith.muli(offset, index(self._of_lane)),
                        ]
                    )
                    for lane, value in enumerate(rows if lanes == 1 else transpose(rows)):
                        place = arith.addi(to, index(lane * tile.columns))
                        self._store(value, place)
                    return []

                for_each(start_of_part, end, at_once, along)

            self._nest.each_summed(self._plan.right, tuple(outer), run)
            return []

        for_each(index(0), index(tile.columns), lanes, across)

    def _gather_panel(self, base: ir.Value, column: ir.Value, inside: ir.Value) -> None:
        tile = self._tile
        zero = splat(self._type, 0)

        def one(place: ir.Value, position: ir.Value) -> None:
            to = self._row(position)

            def each(lane: ir.Value) -> list[ir.Value]:
                offset = self._nest.offset(
                    self._plan.right, self._plan.columns_of_right, arith.addi(column, lane)
                )
                loaded = [
                    memref.load(self._nest.right.elements, [at])
                    for at in self._places(total([base, place, offset]))
                ]
                self._store(self._joined(loaded), arith.addi(to, lane))
                return []

            def pad(lane: ir.Value) -> list[ir.Value]:
                self._store(zero, arith.addi(to, lane))
                return []

            width = least(inside, index(tile.columns))
            for_each(index(0), width, 1, each)
            for_each(width, index(tile.columns), 1, pad)

        self._each_summed(one)

    def _each_summed(self, one: Callable[[ir.Value, ir.Value], None]) -> None:
        """For each summed element, or as many as a lane holds, where it is and its number."""
        plan, groups = self._plan, self._plan.summed_of_right
        if not isinstance(plan.dots, TileInstruction) or plan.dots.fills_lanes:
            self._nest.each_summed(plan.right, groups, one, self._in_lane, self._part)
            return
        # Of the last lane some are left: of one loop, and of pairs one.
        first, last = self._part or (index(0), self._summed)
        rest = arith.remui(arith.subi(last, first), index(self._in_lane))
        whole = arith.subi(last, rest)
        self._nest.each_summed(plan.right, groups, one, self._in_lane, (first, whole))
        for count in range(1, self._in_lane):
            has_so_many = arith.cmpi(arith.CmpIPredicate.eq, rest, index(count))
            if_else(has_so_many, partial(self._last_lane, one, whole, count))

    def _last_lane(
        self, one: Callable[[ir.Value, ir.Value], None], position: ir.Value, count: int
    ) -> None:
        """Packs lanes that have so many elements, and zeros."""
        self._present = count
        stride = self._nest.stride(self._plan.right, self._plan.summed[-1])
        one(arith.muli(position, stride), position)
        self._present = self._in_lane

    def _places(self, first: ir.Value) -> list[ir.Value]:
        """Where an element is, and those of the same column that are in a lane with it."""
        if self._in_lane == 1:
            return [first]
        stride = self._nest.stride(self._plan.right, self._plan.summed[-1])
        return [
            arith.addi(first, arith.muli(stride, index(place))) for place in range(self._present)
        ]

    def _joined(self, loaded: Sequence[ir.Value]) -> ir.Value:
        """What a panel holds of elements, or of vectors of them."""
        if self._plan.dots is not None:
            return self._plan.dots.joined(loaded)
        (value,) = loaded
        return cast(value, self._type)

    def _store(self, value: ir.Value, place: ir.Value) -> None:
        """Stores what a panel holds of a column, or of columns side by side, from a lane on."""
        is_vector = isinstance(value.type, ir.VectorType)
        if self._element == self._type:
            if is_vector:
                vector.store(value, self._into, [place])
            else:
                memref.store(value, self._into, [place])
            return
        lanes = value if is_vector else vector.broadcast(ir.VectorType.get([1], value.type), value)
        (count,) = ir.VectorType(lanes.type).shape
        elements = ir.VectorType.get([count * self._in_lane], self._element)
        at = arith.muli(place, index(self._in_lane))
        vector.store(vector.bitcast(elements, lanes), self._into, [at])

    def _as_lanes(self, value: ir.Value) -> ir.Value:
        """The same of a vector of summed elements."""
        dots = self._plan.dots
        return cast(value, self._type) if dots is None else dots.lanes(value)

    def _row(self, position: ir.Value) -> ir.Value:
        """Where the columns of a summed element lie."""
        width = row_of_panel(self._plan, are_elements=False)
        return arith.addi(self._at, arith.muli(position, index(width)))
