"""Contractions by AMX, whose registers hold 16 rows of 64 bytes: a matrix each.

One instruction multiplies two such matrices and adds the product to a third one, of 16 x 16 sums
(Intel 64 and IA-32 Architectures Optimization Reference Manual, chapter on AMX). A tile of the
result is 2 x 2 of these, so that each row of a register that is loaded is multiplied twice; of few
rows it is 1 x 4. The right operand is packed as for instructions that add up the products in lanes.
The left one is copied as well: rows that are a page of memory apart share few places in a cache.

Sums wait in the buffer that those of vectors wait in, from which an epilogue takes them.
"""

import struct
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_kernels.building import (
    ALIGNMENT,
    for_each,
    if_else,
    index,
    least,
    mark_scratch,
    rounded_down,
    rounded_up,
)
from plumbline.linalg_to_kernels.contraction_loops import Epilogue, Region
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan
from plumbline.linalg_to_kernels.dot_instructions import (
    LANE_BITS,
    REGISTER_ROW,
    REGISTER_ROWS,
    TileInstruction,
    run_assembly,
)
from plumbline.linalg_to_kernels.micro_kernel import (
    Panel,
    RegisterTiles,
    Rows,
    Scratch,
    allocate_scratch,
)
from plumbline.linalg_to_kernels.packing import panel_size
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.products import DYNAMIC
from plumbline.linalg_to_kernels.vectors import cast, mask_of_first, masked_load, splat

_REGISTERS = 8
_LANE_BYTES = LANE_BITS // 8
_BYTES_OF_ROWS, _COUNTS_OF_ROWS = 4, 12
"""The words of the configuration from which on registers have 16 and 8 bits each."""

_SUMS = 4
"""How many registers hold sums: the first ones."""


@dataclass(frozen=True)
class AmxScratch(Scratch):
    """What a kernel by AMX needs beside."""

    configuration: ir.Value
    """What the CPU reads of its registers' sizes."""
    copied: ir.Value | None = None
    """Where rows of the left operand are copied to; None if that is allocated where it is needed.
    """


def allocate_amx_scratch(
    plan: ContractionPlan, summed_in: ir.Type, copied: tuple[int, ir.Value] | None = None
) -> AmxScratch:
    """Builds the space that `build_amx_tiles` needs, which loops must not.

    There is some for a copy of so many rows, of so many summed elements, if that is given.
    """
    words = ir.MemRefType.get([REGISTER_ROW // _LANE_BYTES], ir.IntegerType.get_signless(32))
    configuration = memref.alloca(words, [], [], alignment=ALIGNMENT)
    mark_scratch(configuration)
    scratch = allocate_scratch(plan, summed_in)
    space = None
    if copied is not None:
        assert isinstance(plan.dots, TileInstruction)
        rows, summed = copied
        rows = -(-rows // REGISTER_ROWS) * REGISTER_ROWS
        count = arith.muli(index(rows), _row_of_copy(plan.dots, summed))
        type_ = ir.MemRefType.get([DYNAMIC], ir.Type.parse(plan.dots.of))
        space = memref.alloc(type_, [count], [], alignment=ALIGNMENT)
    return AmxScratch(
        scratch.sums, scratch.turned, scratch.rows, scratch.bounds, configuration, space
    )


def build_amx_tiles(
    plan: ContractionPlan,
    arguments: Sequence[ir.Value],
    summed_in: ir.Type,
    epilogue: Epilogue | None,
    scratch: AmxScratch | None = None,
    panel_rows: ir.Value | None = None,
) -> None:
    """Builds the body of a kernel as `build_contraction` does, for `Strategy.AMX_TILES`.

    Within loops it takes the scratch that was allocated before them, as `build_register_tiles`
    does. The left operand may be of another type than what is multiplied.
    """
    scratch = scratch or allocate_amx_scratch(plan, summed_in)
    _AmxTiles(plan, arguments, summed_in, epilogue, scratch, panel_rows, are_near=True).build()


def _row_of_copy(product: TileInstruction, summed: ir.Value) -> ir.Value:
    """How many elements there are from a row of the copy to the next: an odd number of lines.

    Of rows that are powers of 2 apart the lines of a register share few places in a cache. Beyond
    the last summed element there are zeros to the end of a line.
    """
    at_once = index(product.at_once)
    lines = arith.ceildivui(arith.addi(summed, index(1)), at_once)
    return arith.muli(arith.ori(lines, index(1)), at_once)


class _AmxTiles(RegisterTiles):
    @property
    def _own(self) -> AmxScratch:
        assert isinstance(self._scratch, AmxScratch)
        return self._scratch

    @property
    def _product(self) -> TileInstruction:
        assert isinstance(self._plan.dots, TileInstruction)
        return self._plan.dots

    # The left operand.

    def _buffer_of_left(self) -> ir.Value:
        plan = self._plan
        if self._own.copied is not None:
            return self._own.copied
        if not plan.copies_left:
            rows = index(self._tile.rows)
        else:
            rows = index(plan.chunk) if plan.rows_outermost else self._rows
            rows = rounded_up(rows, REGISTER_ROWS)
        type_ = ir.Type.parse(self._product.of)
        return self._buffer(arith.muli(rows, _row_of_copy(self._product, self._summed)), type_)

    def _copy_left(self, region: Region) -> None:
        if not self._plan.copies_left:
            # Those of the last tile, if it has fewer than others.
            whole = rounded_down(self._rows, self._tile.rows)
            self._copy_rows(region, whole, arith.subi(self._rows, whole))
        elif not self._plan.rows_outermost:
            self._copy_rows(region, index(0), self._rows, parallel=True)

    # The order of chunks of rows and panels.

    def _packed_size(self) -> ir.Value:
        panel = super()._packed_size()
        return arith.muli(panel, self._panel_count) if self._plan.rows_outermost else panel

    @property
    def _panel_count(self) -> ir.Value:
        return arith.ceildivui(self._columns, index(self._tile.columns))

    def _pack_panel(self, base: ir.Value, column: ir.Value) -> ir.Value:
        if not self._plan.rows_outermost:
            return super()._pack_panel(base, column)
        # All are packed.
        number = arith.divui(column, index(self._tile.columns))
        return arith.muli(number, panel_size(self._nest, self._plan))

    def _panels(self, region: Region) -> None:
        """Takes a chunk of rows at a time where the copy of all of them would be far.

        So would be that of all windows, which is many times an image.
        """
        if not self._plan.rows_outermost:
            super()._panels(region)
            return

        def pack(number: ir.Value) -> list[ir.Value]:
            column = arith.muli(number, index(self._tile.columns))
            place = self._pack_panel(region.bases[self._plan.right], column)
            self._packing.pack(region.bases[self._plan.right], column, place)
            return []

        def chunk(rows: Rows) -> None:
            if self._plan.copies_left:
                self._copy_rows(rows.region, rows.first, rows.count)
            self._over_panels(region, lambda panel: self._products_of(rows, panel))

        if self._plan.packs_right:
            for_each(index(0), self._panel_count, 1, pack, parallel=True)
        self._over_chunks(region, chunk)

    # The copy.

    def _copy_rows(
        self, region: Region, first: ir.Value, count: ir.Value, *, parallel: bool = False
    ) -> None:
        """Copies rows to the beginning of the copy.

        Beyond the last row it is copied again, for sums that are not stored.
        """
        plan, product = self._plan, self._product
        last = arith.subi(self._rows, index(1))
        elements, copied = self._nest.left.elements, self._copied
        element = ir.MemRefType(elements.type).element_type
        of_product = ir.Type.parse(product.of)

        def as_multiplied(loaded: ir.Value) -> ir.Value:
            value = cast(loaded, of_product)
            if not product.is_turned:
                return value
            return arith.xori(value, splat(value.type, -1 << (product.bits - 1)))

        def copy(place: ir.Value, to: ir.Value, count: int) -> None:
            """Copies so many elements."""
            loaded = vector.load(ir.VectorType.get([count], element), elements, [place])
            vector.store(as_multiplied(loaded), copied, [to])

        def copy_run(place: ir.Value, to: ir.Value, count: int | None) -> None:
            """Copies a run of them, be it known how many, or zeros beyond to the end of a line."""
            at_once = product.at_once
            size = self._summed if count is None else index(count)
            whole = rounded_down(size, at_once)

            def line(at: ir.Value) -> list[ir.Value]:
                copy(arith.addi(place, at), arith.addi(to, at), at_once)
                return []

            for_each(index(0), whole, at_once, line)
            place, to = (arith.addi(start, whole) for start in (place, to))
            if count is not None and product.fills_lanes:
                if count % at_once:
                    copy(place, to, count % at_once)
                return
            mask = mask_of_first(arith.subi(size, whole), at_once)
            loaded = masked_load(ir.VectorType.get([at_once], element), elements, place, mask)
            vector.store(as_multiplied(loaded), copied, [to])

        def row(at: ir.Value) -> list[ir.Value]:
            number = least(arith.addi(first, at), last)
            offset = self._nest.offset(plan.left, plan.rows_of_left, number)
            base = arith.addi(region.bases[plan.left], offset)
            to = self._row(at)

            def one(place: ir.Value, position: ir.Value) -> None:
                value = memref.load(elements, [arith.addi(base, place)])
                memref.store(as_multiplied(value), copied, [arith.addi(to, position)])

            def run(place: ir.Value, number: ir.Value) -> None:
                position = arith.muli(number, index(product.run or 0))
                length = product.count if product.run is None else product.run
                copy_run(arith.addi(base, place), arith.addi(to, position), length)

            if product.run == 1:
                self._nest.each_summed(plan.left, plan.summed_of_both, one)
                if not product.fills_lanes:
                    zero = splat(of_product, 0)
                    memref.store(zero, copied, [arith.addi(to, self._summed)])
            else:
                self._nest.each_summed(plan.left, plan.summed_of_both[:-1], run)
            return []

        for_each(index(0), rounded_up(count, REGISTER_ROWS), 1, row, parallel=parallel)

    def _row(self, number: ir.Value) -> ir.Value:
        """Where the copy has a row."""
        return arith.muli(number, _row_of_copy(self._product, self._summed))

    def _find_rows(self, region: Region, first: ir.Value, inside: ir.Value) -> None:
        """Nothing: they lie in the copy one after the other."""

    # The products.

    @property
    def _finishes_tiles(self) -> bool:
        return False

    def _multiply(self, rows: Rows, panel: Panel) -> None:
        at_once, count = self._product.at_once, self._product.count
        whole = rounded_down(self._summed if count is None else index(count), at_once)
        rest = arith.subi(self._summed, whole)

        def block(first: ir.Value, last: ir.Value = whole) -> list[ir.Value]:
            end = least(arith.addi(first, index(self._plan.summed_at_once)), last)
            is_first = arith.cmpi(arith.CmpIPredicate.eq, first, index(0))
            part = panel
            if self._plan.packs_blocks:
                part = self._packed_block(rows.region, panel, first, end)
            self._multiply_block(rows, part, _Block(first, end, is_first, last is not whole))
            return []

        def all_of_rest() -> None:
            self._configure(rest if count is None else count % at_once)
            block(whole, self._summed)

        if count is None or count >= at_once:
            self._configure(at_once)
            # Of none the sums are 0 still.
            is_none = arith.cmpi(arith.CmpIPredicate.eq, self._summed, index(0))
            end = arith.select(is_none, index(1), whole)
            for_each(index(0), end, self._plan.summed_at_once, block)
        if count is None:
            if_else(arith.cmpi(arith.CmpIPredicate.ne, rest, index(0)), all_of_rest)
        elif count % at_once:
            all_of_rest()
        run_assembly("tilerelease")

    def _configure(self, at_once: int | ir.Value) -> None:
        """Tells the CPU how many rows of how many bytes each register has.

        It reads that from memory: from a buffer that is written thereafter. Registers of the left
        operand have so many elements in a row, and those of the right one as many rows as these
        fill lanes.
        """
        elements, is_known = self._product.elements, isinstance(at_once, int)
        known = -(-at_once // elements) if isinstance(at_once, int) else 0
        palette, start = 1, 0
        rows = [REGISTER_ROWS] * _REGISTERS
        row_bytes = [REGISTER_ROW] * _REGISTERS
        for register in self._of_left:
            row_bytes[register] = known * _LANE_BYTES
        for register in self._of_right:
            rows[register] = known
        text = struct.pack("<BB14x8H16x8B8x", palette, start, *row_bytes, *rows)
        words = struct.unpack(f"<{REGISTER_ROW // _LANE_BYTES}i", text)
        word = ir.IntegerType.get_signless(32)
        type_ = ir.VectorType.get([len(words)], word)
        attributes = [ir.IntegerAttr.get(word, number) for number in words]
        numbers = arith.constant(type_, ir.DenseElementsAttr.get(attributes, type_))
        vector.store(numbers, self._own.configuration, [index(0)])
        if not is_known:
            lanes = arith.index_cast(word, arith.ceildivui(at_once, index(elements)))
            for place, factor in self._words_by_lanes().items():
                number = arith.muli(lanes, arith.constant(word, factor))
                number = arith.addi(arith.constant(word, words[place]), number)
                memref.store(number, self._own.configuration, [index(place)])
        memory = _Matrix.of(self._own.configuration, index(0), index(0))
        address = arith.index_cast(ir.IntegerType.get_signless(64), memory.address)
        run_assembly("ldtilecfg ($0)", address)

    def _words_by_lanes(self) -> dict[int, int]:
        """The words of the configuration that count lanes, with what a lane is in each."""
        factors: dict[int, int] = defaultdict(int)
        for register in self._of_left:
            factors[_BYTES_OF_ROWS + register // 2] += _LANE_BYTES << 16 * (register % 2)
        for register in self._of_right:
            factors[_COUNTS_OF_ROWS + register // 4] += 1 << 8 * (register % 4)
        return factors

    @property
    def _of_left(self) -> range:
        return range(_SUMS, _SUMS + self._tile.rows // REGISTER_ROWS)

    @property
    def _of_right(self) -> range:
        return range(self._of_left.stop, _REGISTERS)

    def _multiply_block(self, rows: Rows, panel: Panel, block: "_Block") -> None:
        """All tiles of a chunk, for a block of summed elements."""
        down = self._tile.rows // REGISTER_ROWS

        def tile(first: ir.Value) -> list[ir.Value]:
            left = self._left(rows, first)
            place = arith.muli(first, index(self._tile.columns))

            def multiply(down: int) -> None:
                self._multiply_tile(_Tile(left, place, down), panel, block)

            if down == 1:
                multiply(1)
                return []
            count = arith.subi(rows.count, first)
            is_half = arith.cmpi(arith.CmpIPredicate.ule, count, index(REGISTER_ROWS))
            if_else(is_half, lambda: multiply(down // 2), lambda: multiply(down))
            return []

        for_each(index(0), rows.count, self._tile.rows, tile)

    def _left(self, rows: Rows, first: ir.Value) -> "_Matrix":
        """The left operand of a tile from its first summed element on."""
        plan = self._plan
        bytes_ = self._product.bits // 8
        chunk = index(0) if plan.rows_outermost else rows.first
        place = self._row(arith.addi(chunk, first)) if plan.copies_left else index(0)
        copied = _Matrix.of(
            self._copied,
            place,
            arith.muli(_row_of_copy(self._product, self._summed), index(bytes_)),
        )
        if plan.copies_left:
            return copied
        row = arith.addi(rows.first, first)
        elements = self._nest.left.elements
        place = arith.addi(
            rows.region.bases[plan.left], self._nest.offset(plan.left, plan.rows_of_left, row)
        )
        stride = self._nest.stride(plan.left, plan.rows[-1])
        in_place = _Matrix.of(elements, place, arith.muli(stride, index(bytes_)))
        end = arith.addi(row, index(self._tile.rows))
        is_whole = arith.cmpi(arith.CmpIPredicate.ule, end, self._rows)
        return in_place.or_else(is_whole, copied)

    def _multiply_tile(self, tile: "_Tile", panel: Panel, block: "_Block") -> None:
        product, vectors = self._product, self._tile.vectors
        row_of_panel = index(REGISTER_ROW * vectors)
        of_sums = _Matrix.of(self._scratch.sums, tile.sums, row_of_panel)
        sums = [
            (row * vectors + column, of_sums.below(row).beside(column))
            for row in range(tile.down)
            for column in range(vectors)
        ]

        def begin() -> None:
            for register, _ in sums:
                run_assembly(f"tilezero %tmm{register}")

        def go_on() -> None:
            for register, matrix in sums:
                matrix.load(register)

        def step(at: ir.Value) -> list[ir.Value]:
            lefts = self._of_left[: tile.down]
            beyond = arith.muli(at, index(product.bits // 8))
            for row, left in enumerate(lefts):
                tile.left.below(row).beyond(beyond).load(left)
            place = arith.addi(panel.right, arith.muli(at, self._width))
            of_panel = self._panel or self._nest.right.elements
            rows_of_right = _Matrix.of(of_panel, place, row_of_panel)
            for column in range(vectors):
                right = self._of_right[column % len(self._of_right)]
                rows_of_right.beside(column).load(right)
                for row, left in enumerate(lefts):
                    product.multiply(left, right, row * vectors + column)
            return []

        if_else(block.is_first, begin, go_on)
        if block.is_rest:
            step(block.lower)
        else:
            for_each(block.lower, block.upper, product.at_once, step)
        for register, matrix in sums:
            matrix.store(register)


@dataclass(frozen=True)
class _Block:
    """Summed elements that are done at once for all tiles of a chunk."""

    lower: ir.Value
    upper: ir.Value
    is_first: ir.Value
    is_rest: bool
    """Whether they are the last ones, fewer than a register has in a row."""


@dataclass(frozen=True)
class _Matrix:
    """What of memory a register may hold: its address, and how many bytes are from row to row."""

    address: ir.Value
    row_bytes: ir.Value

    @classmethod
    def of(cls, buffer: ir.Value, place: ir.Value, row_bytes: ir.Value) -> "_Matrix":
        """That which begins with an element of a buffer."""
        metadata = memref.ExtractStridedMetadataOp(buffer).results
        bytes_ = index(element_bytes(ir.MemRefType(buffer.type).element_type))
        offset = arith.muli(arith.addi(metadata[1], place), bytes_)
        first = memref.extract_aligned_pointer_as_index(buffer)
        return cls(arith.addi(first, offset), row_bytes)

    def beyond(self, bytes_: ir.Value) -> "_Matrix":
        """That which is so many bytes further on."""
        return replace(self, address=arith.addi(self.address, bytes_))

    def beside(self, count: int) -> "_Matrix":
        """That which is so many registers further right."""
        return self.beyond(index(count * REGISTER_ROW))

    def below(self, count: int) -> "_Matrix":
        """That which is so many registers further down."""
        return self.beyond(arith.muli(index(count * REGISTER_ROWS), self.row_bytes))

    def or_else(self, condition: ir.Value, other: "_Matrix") -> "_Matrix":
        """This one, or another where a condition does not hold."""
        return _Matrix(
            arith.select(condition, self.address, other.address),
            arith.select(condition, self.row_bytes, other.row_bytes),
        )

    def load(self, register: int) -> None:
        """Loads it into the register of that number."""
        run_assembly(f"tileloadd ($0,$1), %tmm{register}", *self._operands)

    def store(self, register: int) -> None:
        """Stores it out of the register of that number."""
        run_assembly(f"tilestored %tmm{register}, ($0,$1)", *self._operands)

    @property
    def _operands(self) -> list[ir.Value]:
        word = ir.IntegerType.get_signless(64)
        return [arith.index_cast(word, value) for value in (self.address, self.row_bytes)]


@dataclass(frozen=True)
class _Tile:
    """A tile, or half of one."""

    left: _Matrix
    """Its first register of the left operand, from the first summed element on."""
    sums: ir.Value
    """Where its sums wait."""
    down: int
    """How many registers of rows it has."""
