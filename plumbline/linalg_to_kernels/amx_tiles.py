"""Contractions by AMX, whose registers hold 16 rows of 64 bytes: a matrix each.

One instruction multiplies two such matrices and adds the product to a third one, of 16 x 16 sums
(Intel 64 and IA-32 Architectures Optimization Reference Manual, chapter on AMX). A tile of the
result is 2 x 2 of these, so that each row of a register that is loaded is multiplied twice; of few
rows it is 1 x 4. The right operand is packed as for instructions that add up the products in lanes.
The left one is copied as well: rows that are a page of memory apart share few places in a cache.

Sums wait in the buffer that those of vectors wait in, from which an epilogue takes them.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_kernels.building import (
    ALIGNMENT,
    for_each,
    if_else,
    index,
    least,
    mark_scratch,
    rounded_up,
    total,
)
from plumbline.linalg_to_kernels.contraction_loops import Epilogue, Region
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan
from plumbline.linalg_to_kernels.dot_instructions import (
    REGISTER_ROW,
    REGISTER_ROWS,
    TileInstruction,
    run_assembly,
)
from plumbline.linalg_to_kernels.micro_kernel import (
    Panel,
    RegisterTiles,
    Rows,
    allocate_scratch,
)
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.vectors import splat

_REGISTERS = 8
_SUMS = 4
"""How many registers hold sums: the first ones."""


def build_amx_tiles(
    plan: ContractionPlan,
    arguments: Sequence[ir.Value],
    summed_in: ir.Type,
    epilogue: Epilogue | None,
) -> None:
    """Builds the body of a kernel as `build_contraction` does, for `Strategy.AMX_TILES`."""
    scratch = allocate_scratch(plan, summed_in)
    _AmxTiles(plan, arguments, summed_in, epilogue, scratch, None, are_near=False).build()


class _AmxTiles(RegisterTiles):
    @property
    def _product(self) -> TileInstruction:
        assert isinstance(self._plan.dots, TileInstruction)
        return self._plan.dots

    def build(self) -> None:
        """As `RegisterTiles` says."""
        words = ir.MemRefType.get([REGISTER_ROW // 4], ir.IntegerType.get_signless(32))
        self._configuration = memref.alloca(words, [], [], alignment=ALIGNMENT)
        mark_scratch(self._configuration)
        super().build()

    # The left operand.

    def _buffer_of_left(self) -> ir.Value:
        type_ = ir.MemRefType(self._nest.left.elements.type).element_type
        rows = index(self._plan.chunk) if self._copies_chunks else self._rows
        rows = rounded_up(rows, REGISTER_ROWS)
        return self._buffer(arith.muli(rows, index(self._row_of_copy)), type_)

    @property
    def _copies_chunks(self) -> bool:
        """Whether a chunk of rows is copied at a time: all windows would be many times an image."""
        return self._plan.rows_outermost

    @property
    def _row_of_copy(self) -> int:
        """How many elements there are from a row of the copy to the next: an odd number of lines.

        Of rows that are powers of 2 apart the lines of a register share few places in a cache.
        """
        lines = -(-self._product.count // self._product.at_once)
        return (lines | 1) * self._product.at_once

    def _copy_left(self, region: Region) -> None:
        if not self._copies_chunks:
            self._copy_rows(region, index(0), self._rows, parallel=True)

    def _panels(self, region: Region) -> None:
        if not self._copies_chunks:
            super()._panels(region)
            return

        def chunk(rows: Rows) -> None:
            self._copy_rows(rows.region, rows.first, rows.count)
            self._over_panels(region, lambda panel: self._products_of(rows, panel))

        self._over_chunks(region, chunk)

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
        *outer, _ = plan.summed_of_both
        # Of elements that lie apart a step of the innermost loop is one.
        runs = plan.summed_of_both if product.run == 1 else tuple(outer)

        def row(at: ir.Value) -> list[ir.Value]:
            number = least(arith.addi(first, at), last)
            offset = self._nest.offset(plan.left, plan.rows_of_left, number)
            base = arith.addi(region.bases[plan.left], offset)

            def copy(place: ir.Value, to: ir.Value, count: int) -> list[ir.Value]:
                type_ = ir.VectorType.get([count], element)
                loaded = vector.load(type_, elements, [place])
                if product.is_turned:
                    sign = -1 << (product.bits - 1)
                    loaded = arith.xori(loaded, splat(type_, sign))
                vector.store(loaded, copied, [to])
                return []

            def run(place: ir.Value, position: ir.Value) -> None:
                place = arith.addi(base, place)
                to = total([self._row(at), arith.muli(position, index(product.run))])
                whole = product.run // product.at_once * product.at_once

                def line(beyond: ir.Value) -> list[ir.Value]:
                    return copy(arith.addi(place, beyond), arith.addi(to, beyond), product.at_once)

                for_each(index(0), index(whole), product.at_once, line)
                if whole < product.run:
                    rest = index(whole)
                    copy(arith.addi(place, rest), arith.addi(to, rest), product.run - whole)

            self._nest.each_summed(plan.left, runs, run)
            return []

        for_each(index(0), rounded_up(count, REGISTER_ROWS), 1, row, parallel=parallel)

    def _row(self, number: ir.Value) -> ir.Value:
        """Where the copy has a row."""
        return arith.muli(number, index(self._row_of_copy))

    def _find_rows(self, region: Region, first: ir.Value, inside: ir.Value) -> None:
        """Nothing: they lie in the copy one after the other."""

    # The products.

    @property
    def _finishes_tiles(self) -> bool:
        return False

    def _multiply(self, rows: Rows, panel: Panel) -> None:
        for lower, upper, at_once in self._product.parts:
            self._configure(at_once)

            def block(
                first: ir.Value, upper: int = upper, at_once: int = at_once
            ) -> list[ir.Value]:
                end = least(arith.addi(first, index(self._plan.summed_at_once)), index(upper))
                is_first = arith.cmpi(arith.CmpIPredicate.eq, first, index(0))
                part = panel
                if self._plan.packs_blocks:
                    part = self._packed_block(rows.region, panel, first, end)
                self._multiply_block(rows, part, _Block(first, end, is_first, at_once))
                return []

            for_each(index(lower), index(upper), self._plan.summed_at_once, block)
        run_assembly("tilerelease")

    def _configure(self, at_once: int) -> None:
        """Tells the CPU how many rows of how many bytes each register has.

        It reads that from memory: from a buffer that is written thereafter.
        """
        product = self._product
        palette, start = 1, 0
        rows = [REGISTER_ROWS] * _REGISTERS
        row_bytes = [REGISTER_ROW] * _REGISTERS
        for register in self._of_left:
            row_bytes[register] = at_once * product.bits // 8
        for register in self._of_right:
            rows[register] = at_once // product.elements
        text = struct.pack("<BB14x8H16x8B8x", palette, start, *row_bytes, *rows)
        words = struct.unpack(f"<{REGISTER_ROW // 4}i", text)
        lanes = ir.VectorType.get([len(words)], ir.IntegerType.get_signless(32))
        attributes = [ir.IntegerAttr.get(lanes.element_type, word) for word in words]
        numbers = arith.constant(lanes, ir.DenseElementsAttr.get(attributes, lanes))
        vector.store(numbers, self._configuration, [index(0)])
        run_assembly("ldtilecfg ($0)", _address(self._configuration, index(0)))

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
            copied = first if self._copies_chunks else arith.addi(rows.first, first)
            place = arith.muli(first, index(self._tile.columns))

            def multiply(down: int) -> None:
                self._multiply_tile(_Tile(copied, place, down), panel, block)

            if down == 1:
                multiply(1)
                return []
            left = arith.subi(rows.count, first)
            is_half = arith.cmpi(arith.CmpIPredicate.ule, left, index(REGISTER_ROWS))
            if_else(is_half, lambda: multiply(down // 2), lambda: multiply(down))
            return []

        for_each(index(0), rows.count, self._tile.rows, tile)

    def _multiply_tile(self, tile: "_Tile", panel: Panel, block: "_Block") -> None:
        product, vectors = self._product, self._tile.vectors
        row_of_panel = REGISTER_ROW * vectors
        row_of_left = self._row_of_copy * product.bits // 8
        sums = [
            (row * vectors + column, _Matrix(self._scratch.sums, at, row_of_panel, column))
            for row in range(tile.down)
            for column in range(vectors)
            for at in [arith.addi(tile.sums, index(row * REGISTER_ROWS * self._tile.columns))]
        ]

        def begin() -> None:
            for register, _ in sums:
                run_assembly(f"tilezero %tmm{register}")

        def go_on() -> None:
            for register, matrix in sums:
                matrix.load(register)

        def step(at: ir.Value) -> list[ir.Value]:
            lefts = self._of_left[: tile.down]
            for row, left in enumerate(lefts):
                first = self._row(arith.addi(tile.row, index(row * REGISTER_ROWS)))
                _Matrix(self._copied, arith.addi(first, at), row_of_left).load(left)
            place = arith.addi(panel.right, arith.muli(at, self._width))
            of_panel = self._panel or self._nest.right.elements
            for column in range(vectors):
                right = self._of_right[column % len(self._of_right)]
                _Matrix(of_panel, place, row_of_panel, column).load(right)
                for row, left in enumerate(lefts):
                    product.multiply(left, right, row * vectors + column)
            return []

        if_else(block.is_first, begin, go_on)
        for_each(block.lower, block.upper, block.at_once, step)
        for register, matrix in sums:
            matrix.store(register)


@dataclass(frozen=True)
class _Block:
    """Summed elements that are done at once for all tiles of a chunk."""

    lower: ir.Value
    upper: ir.Value
    is_first: ir.Value
    at_once: int
    """How many of them an instruction adds up the products of."""


@dataclass(frozen=True)
class _Tile:
    """A tile, or half of one."""

    row: ir.Value
    """Which of the copy of the left operand is its first one."""
    sums: ir.Value
    """Where its sums wait."""
    down: int
    """How many registers of rows it has."""


@dataclass(frozen=True)
class _Matrix:
    """What of a buffer a register has."""

    buffer: ir.Value
    place: ir.Value
    row_bytes: int
    """How far a row is from the next one."""
    column: int = 0
    """How many matrices are to the left of it, in the same rows."""

    def load(self, register: int) -> None:
        """Loads it into the register of that number."""
        run_assembly(f"tileloadd ($0,$1), %tmm{register}", *self._place)

    def store(self, register: int) -> None:
        """Stores it out of the register of that number."""
        run_assembly(f"tilestored %tmm{register}, ($0,$1)", *self._place)

    @property
    def _place(self) -> tuple[ir.Value, ir.Value]:
        address = _address(self.buffer, self.place, self.column * REGISTER_ROW)
        return address, arith.constant(ir.IntegerType.get_signless(64), self.row_bytes)


def _address(buffer: ir.Value, place: ir.Value, beyond: int = 0) -> ir.Value:
    """Where an element of a buffer lies, or what is so many bytes beyond it."""
    metadata = memref.ExtractStridedMetadataOp(buffer).results
    bytes_ = index(element_bytes(ir.MemRefType(buffer.type).element_type))
    offset = arith.muli(arith.addi(metadata[1], place), bytes_)
    first = memref.extract_aligned_pointer_as_index(buffer)
    address = total([first, offset, index(beyond)])
    return arith.index_cast(ir.IntegerType.get_signless(64), address)
