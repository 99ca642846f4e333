"""Sums of products as kernels over register tiles.

A tile of the result stays in vector registers while products are added to it: a few rows, of a few
vectors each. What it needs of both operands is first copied ("packed") to where it will be read one
element after the other, in pieces that fit the caches (Goto and van de Geijn, "Anatomy of
High-Performance Matrix Multiplication", ACM TOMS 34, 2008). Packing reads through tables of the
places of rows, columns and summed elements, so that transposed operands and the windows of
convolutions need no copy of their own (compare Huang, Matthews and van de Geijn, "Strassen's
Algorithm for Tensor Contraction", SIAM J. Sci. Comput. 40, 2018, on block-scatter matrices).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from plumbline.linalg_to_kernels.building import (
    FlatView,
    for_each,
    if_else,
    index,
    least,
    product,
    rounded_up,
    total,
)
from plumbline.linalg_to_kernels.products import Access, SumOfProducts
from plumbline.vector_unit import VectorUnit

_SUMMED_AT_ONCE = 256
_ROWS_AT_ONCE = 192
_COLUMNS_AT_ONCE = 2048
"""How much is packed at once: rows times summed elements fit the second cache, and a tile's columns
times summed elements the first."""

_TRANSPOSED_AT_ONCE = 16
"""How many elements of an operand that lies the other way are packed in one go: a cache line."""


@dataclass(frozen=True)
class Tile:
    """The part of the result that stays in registers: rows of some vectors of some lanes."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        """How many columns it has."""
        return self.vectors * self.lanes


def tile_for(unit: VectorUnit, type_: ir.Type, columns: int | None) -> Tile:
    """The tile for results of an element type with that many columns, None if not known.

    It takes all registers but those for a row of the right operand and an element of the left one.
    """
    lanes = unit.lanes(type_.width)
    tiles = []
    for vectors in (3, 2, 1) if unit.registers > 16 else (2, 1):
        rows = min((unit.registers - vectors - 1) // vectors, 14)
        tiles.append(Tile(rows, vectors, lanes))
    if columns is None:
        return tiles[0]
    # The least waste in the last tile of a row; of equals the widest.
    return min(tiles, key=lambda tile: -(-columns // tile.columns) * tile.columns)


@dataclass(frozen=True)
class _Side:
    """An operand as it is packed: places by row or column, and by summed element."""

    view: FlatView
    across: ir.Value
    along: ir.Value
    width: int
    base: ir.Value
    summed_first: bool
    """Whether summed elements lie one beside the other."""


def build_contraction(
    sum_: SumOfProducts,
    arguments: Sequence[ir.Value],
    tile: Tile,
    lies_along_summed: tuple[bool, bool],
) -> None:
    """Builds the kernel's body: operands 0 and 1, and the result, are `arguments`.

    `lies_along_summed` says of the left and the right operand what the function of that name does.
    """
    _Kernel(sum_, arguments, tile, lies_along_summed).build()


def lies_along_summed(access: Access, type_: ir.MemRefType, summed: Sequence[int]) -> bool:
    """Whether summed elements of an operand lie one beside the other, and no others do."""
    others = access.loops - set(summed)
    return any(access.moves_by_one(type_, loop) for loop in summed) and not any(
        access.moves_by_one(type_, loop) for loop in others
    )


class _Kernel:
    def __init__(
        self,
        sum_: SumOfProducts,
        arguments: Sequence[ir.Value],
        tile: Tile,
        lies_along_summed: tuple[bool, bool],
    ) -> None:
        self._sum, self._tile, self._lies_along_summed = sum_, tile, lies_along_summed
        self._views = [FlatView(argument) for argument in arguments]
        self._sizes = self._loop_sizes()
        self._type = ir.MemRefType(arguments[2].type).element_type
        self._vector = ir.VectorType.get([tile.lanes], self._type)

    def build(self) -> None:
        """Builds it at the insertion point."""
        tile = self._tile
        self._remainder = memref.alloca(
            ir.MemRefType.get([tile.rows * tile.columns], self._type), [], [], alignment=64
        )
        self._rows, self._columns, self._summed = (
            product([self._sizes[loop] for loop in loops])
            for loops in (self._sum.rows, self._sum.columns, self._sum.summed)
        )
        left, right = self._sum.left, self._sum.right
        self._left_rows = self._table(left, self._sum.rows, self._rows, tile.rows)
        self._left_summed = self._table(left, self._sum.summed, self._summed, 1)
        self._right_columns = self._table(right, self._sum.columns, self._columns, tile.columns)
        self._right_summed = self._table(right, self._sum.summed, self._summed, 1)
        self._out_rows = self._table(2, self._sum.rows, self._rows, tile.rows)
        self._out_columns = self._table(2, self._sum.columns, self._columns, tile.columns)
        self._right_adjacent = self._adjacent(self._right_columns)
        self._out_adjacent = self._adjacent(self._out_columns)
        summed = least(self._summed, index(_SUMMED_AT_ONCE))
        rows = least(rounded_up(self._rows, tile.rows), index(self._rows_at_once))
        columns = least(rounded_up(self._columns, tile.columns), index(self._columns_at_once))
        self._packed_left = self._buffer(arith.muli(rows, summed), self._type)
        self._packed_right = self._buffer(arith.muli(columns, summed), self._type)
        self._over_batches(list(self._sum.batches), [index(0)] * 3)

    @property
    def _rows_at_once(self) -> int:
        return _ROWS_AT_ONCE // self._tile.rows * self._tile.rows

    @property
    def _columns_at_once(self) -> int:
        return _COLUMNS_AT_ONCE // self._tile.columns * self._tile.columns

    def _loop_sizes(self) -> list[ir.Value]:
        sizes: dict[int, ir.Value] = {}
        for view, access in zip(self._views, self._sum.accesses, strict=True):
            for size, terms in zip(view.sizes, access.axes, strict=True):
                if len(terms) == 1 and terms[0][1] == 1:
                    sizes.setdefault(terms[0][0], size)
        return [sizes[loop] for loop in range(self._sum.loops)]

    def _stride(self, operand: int, loop: int) -> ir.Value:
        """How far a step of `loop` leads in an operand."""
        access: Access = self._sum.accesses[operand]
        steps = [
            arith.muli(self._views[operand].strides[axis], index(factor))
            for axis, terms in enumerate(access.axes)
            for other, factor in terms
            if other == loop
        ]
        return total(steps)

    def _buffer(self, count: ir.Value, type_: ir.Type) -> ir.Value:
        dynamic = ir.ShapedType.get_dynamic_size()
        return memref.alloc(ir.MemRefType.get([dynamic], type_), [count], [], alignment=64)

    def _table(self, operand: int, loops: Sequence[int], count: ir.Value, step: int) -> ir.Value:
        """The places in an operand for all values of `loops`, the last of which runs fastest.

        It is filled up to a multiple of `step` with place 0, which is there to be read.
        """
        padded = rounded_up(count, step)
        table = self._buffer(padded, ir.IndexType.get())
        strides = [self._stride(operand, loop) for loop in loops]
        sizes = [self._sizes[loop] for loop in loops]

        def fill(depth: int, place: ir.Value, written: ir.Value) -> ir.Value:
            if depth == len(loops):
                memref.store(place, table, [written])
                return arith.addi(written, index(1))

            def body(at: ir.Value, written: ir.Value) -> list[ir.Value]:
                there = arith.addi(place, arith.muli(at, strides[depth]))
                return [fill(depth + 1, there, written)]

            return for_each(index(0), sizes[depth], 1, body, [written])[0]

        written = fill(0, index(0), index(0))

        def pad(at: ir.Value) -> list[ir.Value]:
            memref.store(index(0), table, [at])
            return []

        for_each(written, padded, 1, pad)
        return table

    def _adjacent(self, columns: ir.Value) -> ir.Value:
        """For each vector of columns whether these lie one beside the other."""
        lanes = self._tile.lanes
        vectors = arith.divui(memref.dim(columns, index(0)), index(lanes))
        i1 = ir.IntegerType.get_signless(1)
        flags = self._buffer(vectors, i1)

        def body(at: ir.Value) -> list[ir.Value]:
            first = arith.muli(at, index(lanes))

            def step(lane: ir.Value, so_far: ir.Value) -> list[ir.Value]:
                here = arith.addi(first, lane)
                move = arith.subi(
                    memref.load(columns, [here]),
                    memref.load(columns, [arith.subi(here, index(1))]),
                )
                by_one = arith.cmpi(arith.CmpIPredicate.eq, move, index(1))
                return [arith.andi(so_far, by_one)]

            (all_,) = for_each(index(1), index(lanes), 1, step, [arith.constant(i1, 1)])
            memref.store(all_, flags, [at])
            return []

        for_each(index(0), vectors, 1, body)
        return flags

    def _over_batches(self, loops: list[int], bases: Sequence[ir.Value]) -> None:
        if not loops:
            self._one_batch(bases)
            return
        loop, *rest = loops
        strides = [self._stride(operand, loop) for operand in range(3)]

        def body(at: ir.Value) -> list[ir.Value]:
            moved = [
                arith.addi(base, arith.muli(at, stride))
                for base, stride in zip(bases, strides, strict=True)
            ]
            self._over_batches(rest, moved)
            return []

        for_each(index(0), self._sizes[loop], 1, body)

    def _one_batch(self, bases: Sequence[ir.Value]) -> None:
        tile = self._tile
        left = _Side(
            self._views[self._sum.left],
            self._left_rows,
            self._left_summed,
            tile.rows,
            bases[self._sum.left],
            self._lies_along_summed[0],
        )
        right = _Side(
            self._views[self._sum.right],
            self._right_columns,
            self._right_summed,
            tile.columns,
            bases[self._sum.right],
            self._lies_along_summed[1],
        )
        pack_right = self._pack if right.summed_first else self._pack_vectors

        def columns_block(first_column: ir.Value) -> list[ir.Value]:
            columns = least(arith.subi(self._columns, first_column), index(self._columns_at_once))

            def summed_block(first_summed: ir.Value) -> list[ir.Value]:
                summed = least(arith.subi(self._summed, first_summed), index(_SUMMED_AT_ONCE))
                pack_right(right, self._packed_right, first_column, columns, first_summed, summed)

                def rows_block(first_row: ir.Value) -> list[ir.Value]:
                    rows = least(arith.subi(self._rows, first_row), index(self._rows_at_once))
                    self._pack(left, self._packed_left, first_row, rows, first_summed, summed)
                    self._tiles(bases[2], (first_row, rows), (first_column, columns), summed)
                    return []

                for_each(index(0), self._rows, self._rows_at_once, rows_block)
                return []

            for_each(index(0), self._summed, _SUMMED_AT_ONCE, summed_block)
            return []

        for_each(index(0), self._columns, self._columns_at_once, columns_block)

    def _pack(
        self,
        side: _Side,
        packed: ir.Value,
        first: ir.Value,
        count: ir.Value,
        first_summed: ir.Value,
        summed: ir.Value,
    ) -> None:
        """Copies element by element; of each row or column a cache line at a time."""

        def panel(at: ir.Value) -> list[ir.Value]:
            to = arith.muli(at, summed)

            def lines(line: ir.Value) -> list[ir.Value]:
                end = least(arith.addi(line, index(_TRANSPOSED_AT_ONCE)), summed)

                def one(lane: ir.Value) -> list[ir.Value]:
                    place = memref.load(side.across, [total([first, at, lane])])
                    base = arith.addi(side.base, place)

                    def element(along: ir.Value) -> list[ir.Value]:
                        place = memref.load(side.along, [arith.addi(first_summed, along)])
                        value = memref.load(side.view.elements, [arith.addi(base, place)])
                        place = total([to, arith.muli(along, index(side.width)), lane])
                        memref.store(self._cast(value), packed, [place])
                        return []

                    for_each(line, end, 1, element)
                    return []

                for_each(index(0), index(side.width), 1, one)
                return []

            for_each(index(0), summed, _TRANSPOSED_AT_ONCE, lines)
            return []

        for_each(index(0), count, side.width, panel)

    def _pack_vectors(
        self,
        side: _Side,
        packed: ir.Value,
        first: ir.Value,
        count: ir.Value,
        first_summed: ir.Value,
        summed: ir.Value,
    ) -> None:
        """Copies vector by vector where columns lie one beside the other."""
        lanes = self._tile.lanes
        type_ = ir.MemRefType(side.view.elements.type).element_type
        vector_type = ir.VectorType.get([lanes], type_)

        def one(at: ir.Value) -> list[ir.Value]:
            panel = arith.divui(at, index(side.width))
            within = arith.remui(at, index(side.width))
            to = arith.addi(arith.muli(arith.muli(panel, index(side.width)), summed), within)
            column = arith.addi(first, at)

            def each(copy: Callable[[ir.Value, ir.Value], None]) -> Sequence[ir.Value]:
                def element(along: ir.Value) -> list[ir.Value]:
                    place = memref.load(side.along, [arith.addi(first_summed, along)])
                    copy(
                        arith.addi(side.base, place),
                        arith.addi(to, arith.muli(along, index(side.width))),
                    )
                    return []

                for_each(index(0), summed, 1, element)
                return []

            def copy_adjacent(of: ir.Value, to: ir.Value) -> None:
                place = arith.addi(of, memref.load(side.across, [column]))
                value = vector.load(vector_type, side.view.elements, [place])
                vector.store(self._cast(value), packed, [to])

            def copy_scattered(of: ir.Value, to: ir.Value) -> None:
                for lane in range(lanes):
                    place = memref.load(side.across, [arith.addi(column, index(lane))])
                    value = memref.load(side.view.elements, [arith.addi(of, place)])
                    memref.store(self._cast(value), packed, [arith.addi(to, index(lane))])

            flag = memref.load(self._right_adjacent, [arith.divui(column, index(lanes))])
            if_else(flag, lambda: each(copy_adjacent), lambda: each(copy_scattered))
            return []

        for_each(index(0), rounded_up(count, side.width), lanes, one)

    def _tiles(
        self,
        base: ir.Value,
        rows: tuple[ir.Value, ir.Value],
        columns: tuple[ir.Value, ir.Value],
        summed: ir.Value,
    ) -> None:
        tile = self._tile

        def column_panel(column: ir.Value) -> list[ir.Value]:
            def row_panel(row: ir.Value) -> list[ir.Value]:
                sums = self._multiply(arith.muli(row, summed), arith.muli(column, summed), summed)
                self._add_to_result(
                    base,
                    arith.addi(rows[0], row),
                    least(arith.subi(rows[1], row), index(tile.rows)),
                    arith.addi(columns[0], column),
                    least(arith.subi(columns[1], column), index(tile.columns)),
                    sums,
                )
                return []

            for_each(index(0), rows[1], tile.rows, row_panel)
            return []

        for_each(index(0), columns[1], tile.columns, column_panel)

    def _multiply(self, left: ir.Value, right: ir.Value, summed: ir.Value) -> list[ir.Value]:
        """The sums of products of one tile, row by row, from packed operands."""
        tile = self._tile
        zero = arith.constant(self._vector, self._splat_zero())

        def body(at: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            of_right = arith.addi(right, arith.muli(at, index(tile.columns)))
            of_left = arith.addi(left, arith.muli(at, index(tile.rows)))
            row = [
                vector.load(
                    self._vector,
                    self._packed_right,
                    [arith.addi(of_right, index(number * tile.lanes))],
                )
                for number in range(tile.vectors)
            ]
            result = []
            for number in range(tile.rows):
                element = memref.load(self._packed_left, [arith.addi(of_left, index(number))])
                factor = vector.broadcast(self._vector, element)
                for place, other in enumerate(row):
                    so_far = sums[number * tile.vectors + place]
                    result.append(self._add(so_far, self._times(factor, other)))
            return result

        return for_each(index(0), summed, 1, body, [zero] * (tile.rows * tile.vectors))

    def _add_to_result(
        self,
        base: ir.Value,
        row: ir.Value,
        rows: ir.Value,
        column: ir.Value,
        columns: ir.Value,
        sums: Sequence[ir.Value],
    ) -> None:
        """Adds a tile to the result, or what of it is inside."""
        tile, out = self._tile, self._views[2].elements
        adjacent = arith.cmpi(arith.CmpIPredicate.eq, columns, index(tile.columns))
        panel = arith.divui(column, index(tile.lanes))
        for number in range(tile.vectors):
            flag = memref.load(self._out_adjacent, [arith.addi(panel, index(number))])
            adjacent = arith.andi(adjacent, flag)

        def as_vectors() -> Sequence[ir.Value]:
            places = [
                memref.load(self._out_columns, [arith.addi(column, index(number * tile.lanes))])
                for number in range(tile.vectors)
            ]
            for number in range(tile.rows):

                def one_row(number: int = number) -> Sequence[ir.Value]:
                    start = memref.load(self._out_rows, [arith.addi(row, index(number))])
                    for part, place in enumerate(places):
                        at = [total([base, start, place])]
                        so_far = vector.load(self._vector, out, at)
                        more = sums[number * tile.vectors + part]
                        vector.store(self._add(so_far, more), out, at)
                    return []

                inside = arith.cmpi(arith.CmpIPredicate.slt, index(number), rows)
                if_else(inside, one_row)
            return []

        def one_by_one() -> Sequence[ir.Value]:
            for number, value in enumerate(sums):
                vector.store(value, self._remainder, [index(number * tile.lanes)])

            def each_row(down: ir.Value) -> list[ir.Value]:
                start = arith.addi(base, memref.load(self._out_rows, [arith.addi(row, down)]))

                def each(across: ir.Value) -> list[ir.Value]:
                    place = memref.load(self._out_columns, [arith.addi(column, across)])
                    at = [arith.addi(start, place)]
                    more = memref.load(
                        self._remainder,
                        [arith.addi(arith.muli(down, index(tile.columns)), across)],
                    )
                    memref.store(self._add(memref.load(out, at), more), out, at)
                    return []

                for_each(index(0), columns, 1, each)
                return []

            for_each(index(0), rows, 1, each_row)
            return []

        if_else(adjacent, as_vectors, one_by_one)

    @property
    def _is_float(self) -> bool:
        return isinstance(self._type, ir.FloatType)

    def _splat_zero(self) -> ir.Attribute:
        zero = (
            ir.FloatAttr.get(self._type, 0.0)
            if self._is_float
            else ir.IntegerAttr.get(self._type, 0)
        )
        return ir.DenseElementsAttr.get_splat(self._vector, zero)

    def _times(self, left: ir.Value, right: ir.Value) -> ir.Value:
        if not self._is_float:
            return arith.muli(left, right)
        # One operation with the sum, where the CPU has such.
        return arith.mulf(left, right, fastmath=arith.FastMathFlags.contract)

    def _add(self, left: ir.Value, right: ir.Value) -> ir.Value:
        if not self._is_float:
            return arith.addi(left, right)
        return arith.addf(left, right, fastmath=arith.FastMathFlags.contract)

    def _cast(self, value: ir.Value) -> ir.Value:
        """An element or a vector of an operand, in the type that is summed in."""
        of = value.type.element_type if isinstance(value.type, ir.VectorType) else value.type
        if of == self._type:
            return value
        to = (
            ir.VectorType.get(value.type.shape, self._type)
            if isinstance(value.type, ir.VectorType)
            else self._type
        )
        if self._is_float:
            return (arith.extf if of.width < self._type.width else arith.truncf)(to, value)
        return arith.extsi(to, value)
