"""Contractions by register tiles.

A tile of the result stays in vector registers while all products are added to it: the loop over
summed elements loads a row of a panel of the right operand, and one element of each row of the left
operand, which it multiplies it with (Goto and van de Geijn, "Anatomy of High-Performance Matrix
Multiplication", ACM TOMS 34, 2008). The left operand is read in place, unless it is of another type
or no two of its elements lie side by side: packing others never paid.

Summed elements are done block by block, each for all tiles of a chunk of rows before the next, so
that the block's part of the panel is in the first cache, and what the rows read is in the second.
The sums so far wait in a small buffer, from which an epilogue takes them row by row, and which
is a place to transpose where the result lies the other way. Where it does not, whole tiles are
finished in their registers with the last block, and written where they belong: for a sum of 64
products the way by the buffer takes a tenth of the time, and with an epilogue a fifth.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_kernels.building import (
    ALIGNMENT,
    LoopBody,
    either,
    for_each,
    if_else,
    index,
    least,
    mark_scratch,
    product,
    rounded_up,
    total,
)
from plumbline.linalg_to_kernels.contraction_loops import (
    Epilogue,
    LoopNest,
    Place,
    Region,
    finished,
)
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan, RightOperand
from plumbline.linalg_to_kernels.dot_instructions import DotInstruction
from plumbline.linalg_to_kernels.packing import (
    PanelPacking,
    element_of_panels,
    panel_size,
    row_of_panel,
)
from plumbline.linalg_to_kernels.read_ahead import RunAhead, Share, prefetch_row, rows_ahead
from plumbline.linalg_to_kernels.strides import Groups
from plumbline.linalg_to_kernels.vectors import (
    add,
    cast,
    lane_offsets,
    like,
    mask_of_first,
    masked_load,
    masked_store,
    multiply_add,
    splat,
    transpose,
)
from plumbline.linalg_to_kernels.window_zeros import WindowZeros

_Loop = Callable[[ir.Value, ir.Value, LoopBody, Sequence[ir.Value]], list[ir.Value]]
"""Builds a loop from a number to another, that carries values."""


@dataclass(frozen=True)
class Scratch:
    """What a chunk of rows needs between its products and its epilogue."""

    sums: ir.Value
    """[rows][columns of a panel]"""
    turned: ir.Value
    """Of a block of these rows the same transposed, if the result lies along rows."""
    rows: ir.Value
    """Where each row begins in the left operand."""
    bounds: ir.Value | None
    """[tiles][loops within windows][2]: the first element that not all rows of a tile have on
    zeros, and the one after the last; None if no windows lie on zeros."""


def allocate_scratch(plan: ContractionPlan, summed_in: ir.Type) -> Scratch:
    """Builds the stack space that `build_register_tiles` needs, which loops must not."""

    def buffer(size: int, type_: ir.Type) -> ir.Value:
        type_ = ir.MemRefType.get([size], type_)
        place = memref.alloca(type_, [], [], alignment=ALIGNMENT)
        # Loops over whole panels and the last one are two.
        mark_scratch(place)
        return place

    rows = plan.chunk
    sums = buffer(rows * plan.tile.columns, summed_in)
    turned = sums if plan.stores_columns else buffer(plan.block * plan.tile.columns, summed_in)
    index_ = ir.IndexType.get()
    count = len(plan.bounded) * (rows // plan.tile.rows)
    bounds = buffer(2 * count, index_) if count else None
    return Scratch(sums, turned, buffer(rows, index_), bounds)


def build_register_tiles(
    plan: ContractionPlan,
    arguments: Sequence[ir.Value],
    summed_in: ir.Type,
    epilogue: Epilogue | None,
    scratch: Scratch | None = None,
    panel_rows: ir.Value | None = None,
) -> None:
    """Builds the body of a kernel as `build_contraction` does, for `Strategy.REGISTER_TILES`.

    Within loops it takes the scratch that was allocated before them; then buffers are near already.
    Packed panels may have more rows than are summed.
    """
    tiles = RegisterTiles(
        plan,
        arguments,
        summed_in,
        epilogue,
        scratch or allocate_scratch(plan, summed_in),
        panel_rows,
        are_near=scratch is not None,
    )
    tiles.build()


@dataclass(frozen=True)
class Panel:
    """Some columns of the right operand."""

    column: ir.Value
    """The first one."""
    masks: Sequence[ir.Value]
    """Of each vector of columns those that there are."""
    is_whole: ir.Value
    """Whether there are all."""
    right: ir.Value
    """Where the panel begins."""


@dataclass(frozen=True)
class Rows:
    """A chunk of rows."""

    region: Region
    first: ir.Value
    count: ir.Value


@dataclass(frozen=True)
class Block:
    """Summed elements that are done at once."""

    lower: ir.Value
    """The bounds of the outermost loop."""
    upper: ir.Value
    is_first: ir.Value
    is_last: ir.Value


@dataclass(frozen=True)
class _Tile:
    """What all products of a tile are taken of."""

    rows: Sequence[ir.Value]
    """Where each row begins in the left operand."""
    masks: Sequence[ir.Value]
    """Of each vector of columns those that there are."""
    bounds: Mapping[int, tuple[ir.Value, ir.Value]]
    """Where summed loops begin and end that do not run from 0 to their size."""
    on_zeros: frozenset[int] = frozenset()
    """The rows with which nothing is multiplied."""

    @property
    def multiplied(self) -> list[tuple[int, ir.Value]]:
        """The other rows, by their numbers."""
        return [row for row in enumerate(self.rows) if row[0] not in self.on_zeros]


class RegisterTiles:
    """Builds the body of a kernel."""

    def __init__(
        self,
        plan: ContractionPlan,
        arguments: Sequence[ir.Value],
        summed_in: ir.Type,
        epilogue: Epilogue | None,
        scratch: Scratch,
        panel_rows: ir.Value | None,
        *,
        are_near: bool,
    ) -> None:
        self._plan, self._tile, self._epilogue = plan, plan.tile, epilogue
        self._block, self._chunk, self._scratch = plan.block, plan.chunk, scratch
        self._panel_rows = panel_rows
        self._fetches_ahead = plan.fetches_ahead and not are_near
        self._nest = LoopNest(plan, arguments)
        self._type = summed_in
        self._vector = ir.VectorType.get([self._tile.lanes], summed_in)

    def build(self) -> None:
        """Builds it at the insertion point."""
        plan = self._plan
        self._rows, self._columns, self._summed = (
            self._nest.size(loops) for loops in (plan.rows, plan.columns, plan.summed)
        )
        self._ahead = rows_ahead(self._nest, plan) if self._fetches_ahead else None
        self._panel: ir.Value | None = None
        if plan.packs_right:
            of_panel = element_of_panels(self._nest, plan, self._type)
            self._panel = self._buffer(self._packed_size(), of_panel)
            self._packing = PanelPacking(self._nest, plan, self._panel)
        self._copied = self._buffer_of_left()
        nothing = Region((index(0), index(0), index(0)), {})
        self._nest.over(plan.batches, nothing, self._batch)

    def _packed_size(self) -> ir.Value:
        """How much is packed of the right operand at a time."""
        return panel_size(self._nest, self._plan)

    def _buffer_of_left(self) -> ir.Value | None:
        """Where the left operand is copied to, if it is."""
        plan = self._plan
        left = ir.MemRefType(self._nest.left.elements.type).element_type
        # Where rows are windows the converted ones would be many times as much as the image.
        are_windows = len(plan.summed_of_both) > 1 or plan.row_batches
        if plan.dots is not None:
            converts = plan.dots.prepares(left)
            self._left_type = like(left, plan.dots.bits) if converts else left
        else:
            self._left_type, converts = self._type, left != self._type and not are_windows
        if not (plan.copies_left or converts):
            return None
        return self._buffer(arith.muli(self._rows, self._summed), self._left_type)

    def _buffer(self, count: ir.Value, type_: ir.Type) -> ir.Value:
        dynamic = ir.ShapedType.get_dynamic_size()
        return memref.alloc(ir.MemRefType.get([dynamic], type_), [count], [], alignment=ALIGNMENT)

    def _batch(self, region: Region) -> None:
        if self._copied is not None:
            self._copy_left(region)
        self._panels(region)

    def _copy_left(self, region: Region) -> None:
        """Copies the left operand as it is multiplied: each panel needs all of it.

        Of one whose elements lie scattered several rows at once, for these share cache lines.
        """
        plan = self._plan
        count = self._tile.rows if plan.copies_left else 1
        last = arith.subi(self._rows, index(1))

        def block(first: ir.Value) -> list[ir.Value]:
            ways = []
            for row in range(count):
                at = least(arith.addi(first, index(row)), last)
                offset = self._nest.offset(plan.left, plan.rows_of_left, at)
                base = arith.addi(region.bases[plan.left], offset)
                ways.append((base, arith.muli(at, self._summed)))

            def one(place: ir.Value, position: ir.Value) -> None:
                for base, to in ways:
                    value = memref.load(self._nest.left.elements, [arith.addi(base, place)])
                    dots = plan.dots
                    value = cast(value, self._type) if dots is None else dots.prepared(value)
                    memref.store(value, self._copied, [arith.addi(to, position)])

            self._nest.each_summed(plan.left, plan.summed_of_both, one)
            return []

        for_each(index(0), self._rows, count, block, parallel=True)

    def _panels(self, region: Region) -> None:
        """All panels, one after the other for all rows, or all of them for each chunk of rows."""
        if self._plan.rows_outermost:
            self._over_chunks(
                region,
                lambda rows: self._over_panels(
                    region, lambda panel: self._products_of(rows, panel)
                ),
            )
        else:
            self._over_panels(
                region,
                lambda panel: self._over_chunks(
                    region, lambda rows: self._products_of(rows, panel)
                ),
            )

    def _over_panels(self, region: Region, inside: Callable[[Panel], None]) -> None:
        plan, tile = self._plan, self._tile
        width_of_panels = index(tile.columns)

        def panel(number: ir.Value, *, is_whole: bool = False) -> list[ir.Value]:
            column = arith.muli(number, width_of_panels)
            width = width_of_panels if is_whole else arith.subi(self._columns, column)
            offsets = lane_offsets(index(0), tile.lanes, tile.vectors)
            masks = [mask_of_first(arith.subi(width, offset), tile.lanes) for offset in offsets]
            base = region.bases[plan.right]
            if plan.right_operand is RightOperand.PACKED:
                rows = self._panel_rows or self._summed
                right = arith.addi(base, arith.muli(number, arith.muli(rows, width_of_panels)))
            elif plan.right_operand is RightOperand.IN_PLACE:
                right = arith.addi(base, column)
            else:
                right = self._pack_panel(base, column)
            is_whole_panel = arith.cmpi(arith.CmpIPredicate.uge, width, width_of_panels)
            inside(Panel(column, masks, is_whole_panel, right))
            return []

        panels = arith.ceildivui(self._columns, width_of_panels)
        if plan.right_operand is RightOperand.IN_PLACE:
            # Each product loads the right operand: whole panels do it without masks, which are slow
            # on Zen 3 (see `depthwise.py`).
            whole = arith.divui(self._columns, width_of_panels)
            for_each(index(0), whole, 1, partial(panel, is_whole=True), parallel=True)
            for_each(whole, panels, 1, panel, parallel=True)
        else:
            for_each(index(0), panels, 1, panel, parallel=True)

    def _pack_panel(self, base: ir.Value, column: ir.Value) -> ir.Value:
        """Packs the panel that begins at a column, unless that is done by blocks; gives its place.

        `base` is where the right operand's first element lies.
        """
        place = index(0)
        if not self._plan.packs_blocks:
            self._packing.pack(base, column, place)
        return place

    def _over_chunks(self, region: Region, inside: Callable[[Rows], None]) -> None:
        # As few chunks as there must be, alike: what is brought for a short one serves few tiles.
        chunks = arith.ceildivui(self._rows, index(self._chunk))
        length = arith.ceildivui(self._rows, arith.maxui(chunks, index(1)))
        length = rounded_up(length, self._block)

        def batch(region: Region) -> None:
            def chunk(number: ir.Value) -> list[ir.Value]:
                first = arith.muli(number, length)
                count = least(arith.subi(self._rows, first), length)
                self._find_rows(region, first, count)
                inside(Rows(region, first, count))
                return []

            for_each(index(0), chunks, 1, chunk, parallel=True)

        self._nest.over(self._plan.row_batches, region, batch)

    # The products.

    def _products_of(self, rows: Rows, panel: Panel) -> None:
        """Does a panel of a chunk of rows."""
        self._multiply(rows, panel)
        if self._plan.stores_columns:
            self._store_rows(rows, panel)
            return

        def block(row: ir.Value) -> list[ir.Value]:
            count = least(arith.subi(rows.count, row), index(self._block))
            self._turn(row, count)
            self._store_columns(rows.region, arith.addi(rows.first, row), count, panel.column)
            return []

        for_each(index(0), rows.count, self._block, block)

    def _find_rows(self, region: Region, first: ir.Value, inside: ir.Value) -> None:
        """Notes where the rows of a chunk begin in the left operand, to the end of its last tile.

        Beyond the last row it is read again, for sums that are not stored.
        """
        plan = self._plan
        last = arith.subi(self._rows, index(1))

        def row(at: ir.Value) -> list[ir.Value]:
            number = least(arith.addi(first, at), last)
            if self._copied is not None:
                place = arith.muli(number, self._summed)
            else:
                offset = self._nest.offset(plan.left, plan.rows_of_left, number)
                place = arith.addi(region.bases[plan.left], offset)
            memref.store(place, self._scratch.rows, [at])
            return []

        for_each(index(0), rounded_up(inside, self._tile.rows), 1, row)
        if plan.bounded:
            for_each(index(0), inside, self._tile.rows, partial(self._find_bounds, region, first))

    def _find_bounds(self, region: Region, first: ir.Value, row: ir.Value) -> list[ir.Value]:
        """Notes the bounds of loops within windows of the tile that begins at a row of a chunk.

        From memory they are numbers of which LLVM knows nothing. Else it computes them anew, with
        their divisions, for each row in each turn of the loop around: twice the time (ResNet-50).
        """
        begin = arith.addi(first, row)
        end = arith.addi(begin, index(self._tile.rows - 1))
        end = least(end, arith.subi(self._rows, index(1)))
        for zeros, places in zip(self._plan.bounded, self._places_of_bounds(row), strict=True):
            bounds = self._bounds_along(zeros, region, (begin, end))
            for bound, place in zip(bounds, places, strict=True):
                memref.store(bound, self._scratch.bounds, [place])
        return []

    def _places_of_bounds(self, row: ir.Value) -> list[tuple[ir.Value, ir.Value]]:
        """Where the bounds of each loop are noted for the tile that begins at a row of a chunk."""
        bounded = self._plan.bounded
        base = arith.muli(arith.divui(row, index(self._tile.rows)), index(2 * len(bounded)))
        return [
            (arith.addi(base, index(2 * loop)), arith.addi(base, index(2 * loop + 1)))
            for loop in range(len(bounded))
        ]

    @property
    def _finishes_tiles(self) -> bool:
        """Whether whole tiles of whole panels are finished with their last block.

        Their sums do not wait in the buffer then.
        """
        return self._plan.stores_columns and bool(self._plan.summed_of_both)

    @property
    def _reads_ahead(self) -> bool:
        """Whether tiles ask for the next block of a packed panel."""
        is_packed = self._plan.right_operand is RightOperand.PACKED
        return self._fetches_ahead and is_packed and not self._plan.rows_outermost

    def _blocks(self, groups: Groups) -> tuple[ir.Value, ir.Value]:
        """Of the outermost loop over summed elements how much a block is, and how many there are.

        Without a summed element there is one block still, of sums that are 0.
        """
        outer, *inner = groups
        within = product([self._nest.size(group) for group in inner])
        step = arith.maxui(arith.divui(index(self._plan.summed_at_once), within), index(1))
        return step, arith.maxui(arith.ceildivui(self._nest.size(outer), step), index(1))

    def _multiply(self, rows: Rows, panel: Panel) -> None:
        """Leaves the sums of a chunk of rows in the scratch buffer, or where they belong."""
        groups = self._plan.summed_of_both
        if not groups:
            self._tiles(rows, panel, None)
            return
        size = self._nest.size(groups[0])
        step, count = self._blocks(groups)
        last = arith.subi(count, index(1))

        def block(number: ir.Value) -> list[ir.Value]:
            first = arith.muli(number, step)
            end = least(arith.addi(first, step), size)
            part = panel
            if self._plan.packs_blocks:
                part = self._packed_block(rows.region, panel, first, end)
            self._tiles(
                rows,
                part,
                Block(
                    first,
                    end,
                    arith.cmpi(arith.CmpIPredicate.eq, number, index(0)),
                    arith.cmpi(arith.CmpIPredicate.eq, number, last),
                ),
            )
            return []

        for_each(index(0), count, 1, block)

    def _packed_block(self, region: Region, panel: Panel, first: ir.Value, end: ir.Value) -> Panel:
        """Packs a block of summed elements of a panel, where those of the one before were."""
        right = arith.subi(index(0), arith.muli(first, self._width))
        base = region.bases[self._plan.right]
        self._packing.pack(base, panel.column, right, (first, end))
        return replace(panel, right=right)

    def _tiles(self, rows: Rows, panel: Panel, block: Block | None) -> None:
        """All tiles of a chunk, for a block of summed elements, or for none if there are none."""
        tile, scratch = self._tile, self._scratch
        starts = self._starts(panel, block) * tile.rows
        finishes = None
        if block is not None and self._finishes_tiles:
            finishes = arith.andi(panel.is_whole, block.is_last)

        def one(first: ir.Value) -> list[ir.Value]:
            groups = self._plan.summed_of_both
            left = self._rows_of_left(first)
            loop = None
            if block is not None and self._reads_ahead:
                loop = self._read_ahead(rows, first, panel, block)
            if finishes is not None and self._fetches_ahead:
                if_else(finishes, lambda: self._ask_for_result(rows, first, panel))
            factors = _Tile(left, panel.masks, self._bounds(first))

            def multiplied(factors: _Tile) -> list[ir.Value]:
                return self._summed_loops(
                    groups, factors, index(0), panel.right, index(0), starts, block, loop
                )

            sums = self._of_whole_or_half(factors, arith.subi(rows.count, first), multiplied)
            targets = lane_offsets(
                arith.muli(first, index(tile.columns)), tile.lanes, tile.rows * tile.vectors
            )

            def totals() -> list[ir.Value]:
                so_far = [vector.load(self._vector, scratch.sums, [at]) for at in targets]
                return [add(before, value) for before, value in zip(so_far, sums, strict=True)]

            def keep(values: Sequence[ir.Value]) -> None:
                for value, target in zip(values, targets, strict=True):
                    vector.store(value, scratch.sums, [target])

            def finish(values: Sequence[ir.Value]) -> None:
                for value, place in zip(values, self._places(rows, first, panel), strict=True):
                    value = finished(self._epilogue, value, place)
                    vector.store(value, self._nest.out.elements, [place.offset])

            if block is not None:
                types = [self._vector] * len(sums)
                sums = either(types, block.is_first, lambda: sums, totals)
            if finishes is None:
                keep(sums)
            else:
                beyond = arith.addi(first, index(tile.rows))
                is_whole = arith.cmpi(arith.CmpIPredicate.ule, beyond, rows.count)
                finishes_tile = arith.andi(is_whole, finishes)
                if_else(finishes_tile, lambda: finish(sums), lambda: keep(sums))
            return []

        for_each(index(0), rows.count, tile.rows, one)

    def _of_whole_or_half(
        self, factors: _Tile, count: ir.Value, multiplied: Callable[[_Tile], list[ir.Value]]
    ) -> list[ir.Value]:
        """The sums of a tile with so many rows, or more."""
        half = self._tile.rows // 2
        if not (self._plan.halves_tiles and half):
            return multiplied(factors)
        first_rows = replace(factors, on_zeros=frozenset(range(half, self._tile.rows)))
        return either(
            [self._vector] * (self._tile.rows * self._tile.vectors),
            arith.cmpi(arith.CmpIPredicate.ule, count, index(half)),
            lambda: multiplied(first_rows),
            lambda: multiplied(factors),
        )

    def _starts(self, panel: Panel, block: Block | None) -> list[ir.Value]:
        """What the sums of each row begin with: 0, less what was added to what they are made of."""
        dots = self._plan.dots
        zeros = [splat(self._vector, 0)] * self._tile.vectors
        if dots is None or not dots.left_offset or block is None:
            return zeros
        added = dots.offsets(self._tile.lanes)

        def body(at: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            place = arith.addi(panel.right, arith.muli(at, self._width))
            columns = self._lanes_of_right(dots, place)
            return [dots.add_products(added, *each) for each in zip(columns, sums, strict=True)]

        # A panel has the elements of all inner loops one after the other.
        within = product([self._nest.size(group) for group in self._plan.summed_of_both[1:]])
        lower, upper = (arith.muli(bound, within) for bound in (block.lower, block.upper))
        sums = for_each(lower, upper, self._step, body, zeros)
        return [arith.subi(zero, sum_) for zero, sum_ in zip(zeros, sums, strict=True)]

    def _ask_for_result(self, rows: Rows, first: ir.Value, panel: Panel) -> None:
        """Has near what the next tile's result is made of, and where it is written.

        It takes longer to come than a tile of few products. What is asked for beyond the last one
        does no harm.
        """
        tile = self._tile
        next_ = arith.addi(first, index(tile.rows))
        places = [*self._places(rows, next_, panel)]
        if self._epilogue is not None:
            for place in places:
                self._epilogue.prefetch(place)
        for place in places[:: tile.vectors]:
            prefetch_row(self._nest.out, place.offset, tile.columns, is_written=True)

    def _read_ahead(self, rows: Rows, first: ir.Value, panel: Panel, block: Block) -> _Loop:
        """What builds a loop that asks for the share of a tile that begins at a row of a chunk."""
        plan, tile = self._plan, self._tile
        inner = [self._nest.size(group) for group in plan.summed_of_both[1:]]
        step = product([*inner, index(tile.columns)])
        next_block = arith.addi(panel.right, arith.muli(block.upper, step))
        height = index(tile.rows)
        share = Share(arith.divui(first, height), arith.ceildivui(rows.count, height))
        return RunAhead(
            self._nest.right,
            next_block,
            arith.muli(arith.subi(block.upper, block.lower), step),
            share,
            is_by_rows=not inner,
            step=1 if inner else self._step,
        ).loop

    def _places(self, rows: Rows, first: ir.Value, panel: Panel) -> Iterator[Place]:
        """Where the vectors of a whole tile belong that begins at a row of a chunk."""
        tile = self._tile
        whole = mask_of_first(index(tile.lanes), tile.lanes)
        for row in range(tile.rows):
            position = total([rows.first, first, index(row)])
            base = self._row_of_result(rows.region, position, panel.column)
            offsets = lane_offsets(base, tile.lanes, tile.vectors)
            columns = lane_offsets(panel.column, tile.lanes, tile.vectors)
            for column, offset in zip(columns, offsets, strict=True):
                yield self._nest.place(rows.region, position, column, offset, whole)

    def _row_of_result(self, region: Region, position: ir.Value, column: ir.Value) -> ir.Value:
        """Where a row of the result has its element of a column."""
        offset = self._nest.offset(2, self._plan.rows_of_result, position)
        return total([region.bases[2], offset, column])

    def _rows_of_left(self, first: ir.Value) -> list[ir.Value]:
        """Where the rows of a tile begin in the left operand."""
        plan = self._plan
        rows: list[ir.Value] = []
        for row in range(self._tile.rows):
            within = row % plan.rows_in_line
            if within:
                step = arith.muli(index(within), self._nest.stride(plan.left, plan.rows[-1]))
                rows.append(arith.addi(rows[row - within], step))
            else:
                rows.append(memref.load(self._scratch.rows, [arith.addi(first, index(row))]))
        return rows

    def _bounds(self, first: ir.Value) -> dict[int, tuple[ir.Value, ir.Value]]:
        """What is noted of loops within windows for the tile that begins at a row of a chunk."""
        bounded, bounds = self._plan.bounded, self._scratch.bounds
        return {
            zeros.within[0]: (memref.load(bounds, [lower]), memref.load(bounds, [upper]))
            for zeros, (lower, upper) in zip(bounded, self._places_of_bounds(first), strict=True)
        }

    def _bounds_along(
        self, zeros: WindowZeros, region: Region, rows: tuple[ir.Value, ir.Value]
    ) -> tuple[ir.Value, ir.Value]:
        """Of a loop within windows the bounds outside which all rows of a tile lie on zeros."""
        nest, loops = self._nest, self._plan.rows
        over, _ = zeros.over
        size, window = nest.left.sizes[zeros.axis], nest.size([zeros.within[0]])
        if over not in loops:
            # There is none over one window.
            at = region.loops[over]() if over in region.loops else index(0)
            return zeros.bounds((at, at), size, window)
        depth = loops.index(over)
        first, last = (nest.value_of(loops, depth, row)() for row in rows)
        bounds = zeros.bounds((first, last), size, window)
        if depth == 0:
            return bounds
        # A tile that goes on in the next plane has windows from all places of some.
        planes = [arith.divui(row, nest.size(loops[depth:])) for row in rows]
        is_one = arith.cmpi(arith.CmpIPredicate.eq, *planes)
        lower, upper = bounds
        return arith.select(is_one, lower, index(0)), arith.select(is_one, upper, window)

    def _summed_loops(
        self,
        groups: Groups,
        tile: _Tile,
        left: ir.Value,
        right: ir.Value,
        position: ir.Value,
        sums: Sequence[ir.Value],
        block: Block | None = None,
        loop: _Loop | None = None,
    ) -> list[ir.Value]:
        """The loops over summed elements, with the sums in their registers.

        Of the outermost loop they are those of a block, if not all; `loop` builds it, if given.
        """
        plan = self._plan
        in_place = plan.right_operand is RightOperand.IN_PLACE
        if not groups:
            if not in_place:
                right = arith.addi(right, arith.muli(position, self._width))
            return self._products(tile, left, right, sums)
        group, *rest = groups
        size = self._nest.size(group)
        stride = index(1) if self._copied else self._nest.stride(plan.left, group[-1])
        right_stride = self._nest.stride(plan.right, group[-1]) if in_place else None

        def step(tile: _Tile, at: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            return self._summed_loops(
                tuple(rest),
                tile,
                arith.addi(left, arith.muli(at, stride)),
                right if right_stride is None else arith.addi(right, arith.muli(at, right_stride)),
                arith.addi(arith.muli(position, size), at),
                sums,
            )

        on_zeros = next(
            (zeros.on_zeros for zeros in plan.zeros if (zeros.within[0],) == group), None
        )
        if on_zeros is not None and block is None:
            for at, rows in enumerate(on_zeros):
                sums = step(replace(tile, on_zeros=rows), index(at), *sums)
            return [*sums]
        body = partial(step, tile)
        lower, upper = (block.lower, block.upper) if block else (index(0), size)
        if len(group) == 1 and group[0] in tile.bounds:
            lower, upper = tile.bounds[group[0]]
            if block is not None:
                lower, upper = arith.maxsi(lower, block.lower), least(upper, block.upper)
        if loop is not None:
            return loop(lower, upper, body, sums)
        return for_each(lower, upper, 1 if rest else self._step, body, sums)

    @property
    def _width(self) -> ir.Value:
        """How far the columns of a summed element lie from those of the next one in a panel."""
        return index(row_of_panel(self._plan, are_elements=self._panel is None))

    @property
    def _step(self) -> int:
        """How many summed elements are multiplied at once."""
        return self._plan.summed_in_lane

    def _products(
        self, factors: _Tile, left: ir.Value, right: ir.Value, sums: Sequence[ir.Value]
    ) -> list[ir.Value]:
        plan, tile = self._plan, self._tile
        if plan.dots is not None:
            return self._dots(plan.dots, factors, left, right, sums)
        offsets = lane_offsets(right, tile.lanes, tile.vectors)
        match plan.right_operand:
            case RightOperand.IN_PLACE:
                type_ = self._nest.vector_of(self._nest.right)
                if self._ahead is not None:
                    ahead = arith.addi(right, self._ahead)
                    prefetch_row(self._nest.right, ahead, tile.columns, is_written=False)
                loaded = [
                    masked_load(type_, self._nest.right.elements, offset, mask)
                    for offset, mask in zip(offsets, factors.masks, strict=True)
                ]
            case RightOperand.PACKED:
                type_ = self._nest.vector_of(self._nest.right)
                loaded = [vector.load(type_, self._nest.right.elements, [at]) for at in offsets]
            case _:
                loaded = [vector.load(self._vector, self._panel, [at]) for at in offsets]
        row_of_right = [cast(value, self._type) for value in loaded]
        result = list(sums)
        elements = self._nest.left.elements if self._copied is None else self._copied
        for number, row in factors.multiplied:
            element = memref.load(elements, [arith.addi(row, left)])
            factor = vector.broadcast(self._vector, cast(element, self._type))
            for place, other in enumerate(row_of_right, number * tile.vectors):
                result[place] = multiply_add(factor, other, sums[place])
        return result

    def _dots(
        self,
        dots: DotInstruction,
        factors: _Tile,
        left: ir.Value,
        right: ir.Value,
        sums: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """The same, of as many summed elements as a lane of the instruction's operands holds."""
        tile = self._tile
        elements = self._nest.left.elements if self._copied is None else self._copied
        several = ir.VectorType.get([dots.elements], self._left_type)
        row_of_right = self._lanes_of_right(dots, right)
        result = list(sums)
        for number, row in factors.multiplied:
            loaded = vector.load(several, elements, [arith.addi(row, left)])
            factor = dots.broadcast(loaded, tile.lanes)
            for place, other in enumerate(row_of_right, number * tile.vectors):
                result[place] = dots.add_products(factor, other, sums[place])
        return result

    def _lanes_of_right(self, dots: DotInstruction, first: ir.Value) -> list[ir.Value]:
        """What a panel has for as many summed elements, in the lanes of its columns."""
        tile = self._tile
        if self._panel is not None and not dots.has_one_sum:
            type_ = ir.VectorType.get([tile.lanes], ir.IntegerType.get_signless(32))
            places = lane_offsets(first, tile.lanes, tile.vectors)
            return [vector.load(type_, self._panel, [at]) for at in places]
        count, elements = dots.elements * tile.lanes, self._panel or self._nest.right.elements
        type_ = ir.VectorType.get([count], ir.MemRefType(elements.type).element_type)
        places = lane_offsets(first, count, tile.vectors)
        return [dots.lanes(vector.load(type_, elements, [at])) for at in places]

    # The epilogue.

    def _turn(self, first: ir.Value, inside: ir.Value) -> None:
        """Transposes a block of rows of the sums: [block][columns] to [columns][block]."""
        tile = self._tile
        lanes = tile.lanes

        def down(row: ir.Value) -> list[ir.Value]:
            def across(column: ir.Value) -> list[ir.Value]:
                number = arith.addi(first, row)
                place = arith.addi(arith.muli(number, index(tile.columns)), column)
                rows = [
                    vector.load(
                        self._vector,
                        self._scratch.sums,
                        [arith.addi(place, index(lane * tile.columns))],
                    )
                    for lane in range(lanes)
                ]
                place = arith.addi(arith.muli(column, index(self._block)), row)
                for lane, value in enumerate(transpose(rows)):
                    to = arith.addi(place, index(lane * self._block))
                    vector.store(value, self._scratch.turned, [to])
                return []

            for_each(index(0), index(tile.columns), lanes, across)
            return []

        for_each(index(0), inside, lanes, down)

    def _store_rows(self, rows: Rows, panel: Panel) -> None:
        """Finishes rows of sums that wait in the buffer."""
        tile = self._tile

        def row(at: ir.Value) -> list[ir.Value]:
            position = arith.addi(rows.first, at)
            base = self._row_of_result(rows.region, position, panel.column)
            source = arith.muli(at, index(tile.columns))
            self._store_vectors(
                rows.region, source, base, panel.masks, position, panel.column, panel.is_whole
            )
            return []

        start = index(0)
        if self._finishes_tiles:
            # Whole tiles are there already.
            rest = arith.remui(rows.count, index(tile.rows))
            start = arith.select(panel.is_whole, arith.subi(rows.count, rest), start)
        for_each(start, rows.count, 1, row)

    def _store_columns(
        self, region: Region, first: ir.Value, inside: ir.Value, column: ir.Value
    ) -> None:
        plan, tile = self._plan, self._tile
        vectors = self._block // tile.lanes
        offsets = lane_offsets(index(0), tile.lanes, vectors)
        masks = [mask_of_first(arith.subi(inside, offset), tile.lanes) for offset in offsets]
        whole = arith.cmpi(arith.CmpIPredicate.eq, inside, index(self._block))

        def one(at: ir.Value) -> list[ir.Value]:
            position = arith.addi(column, at)
            base = total(
                [region.bases[2], self._nest.offset(2, plan.columns_of_result, position), first]
            )
            self._store_vectors(
                region, arith.muli(at, index(self._block)), base, masks, first, position, whole
            )
            return []

        width = least(arith.subi(self._columns, column), index(tile.columns))
        for_each(index(0), width, 1, one)

    def _store_vectors(
        self,
        region: Region,
        source: ir.Value,
        target: ir.Value,
        masks: Sequence[ir.Value],
        row: ir.Value,
        column: ir.Value,
        whole: ir.Value,
    ) -> None:
        """Finishes and stores the vectors of one row of the result, or what of them is inside."""
        lanes = self._tile.lanes
        values, targets = [], []
        for number, mask in enumerate(masks):
            offset = index(number * lanes)
            value = vector.load(self._vector, self._scratch.turned, [arith.addi(source, offset)])
            to = arith.addi(target, offset)
            if self._plan.stores_columns:
                place = self._nest.place(region, row, arith.addi(column, offset), to, mask)
            else:
                place = self._nest.place(region, arith.addi(row, offset), column, to, mask)
            values.append(finished(self._epilogue, value, place))
            targets.append(to)

        def store_whole() -> None:
            for value, to in zip(values, targets, strict=True):
                vector.store(value, self._nest.out.elements, [to])

        def store_masked() -> None:
            for value, to, mask in zip(values, targets, masks, strict=True):
                masked_store(value, self._nest.out.elements, to, mask)

        if_else(whole, store_whole, store_masked)
