"""What a warp does of a block's tile: it multiplies and adds up what lies in shared memory.

The sums stay in registers, as vectors that a loop carries. There are two kinds: each thread does
rows and columns of its own by `fma`, or the warp does them together on tensor cores.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch_mlir import ir
from torch_mlir.dialects import arith, nvgpu, vector

from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES, TileProduct
from plumbline.linalg_to_gpu.launches import WARP, Thread
from plumbline.linalg_to_gpu.tile_copies import SharedTile
from plumbline.linalg_to_kernels.building import for_each, index
from plumbline.linalg_to_kernels.planned_memory import element_bytes

WORDS = 4
"""Of 4 bytes, that a lane has of a fragment of the left operand, or of two of the right one."""

_DEPTHS = 4
"""Summed elements whose products a thread adds up between one jump and the next, at most."""

Put = Callable[[ir.Value, ir.Value, ir.Value], object]
"""Takes a vector of sums, and the row of a part and the column at which it begins."""


@dataclass(frozen=True)
class Staged:
    """A stage of an operand in shared memory."""

    buffer: ir.Value
    number: ir.Value


Fragments = Sequence[Sequence[ir.Value]]
"""A stage of the left operand in the registers of a warp, as its products take it in turn."""

Left = Staged | Fragments


@dataclass(frozen=True)
class Lines:
    """The rows or the columns of a tile of which a thread has sums."""

    first: ir.Value
    offsets: Sequence[int]
    """How far each of them is from the first."""


class WarpTile(Protocol):
    """How a warp computes its part of a tile."""

    @property
    def shared(self) -> tuple[SharedTile, SharedTile]:
        """How it wants the left and the right operand."""

    @property
    def part_rows(self) -> int:
        """How many rows of a warp's a part of the sums has."""

    def start(self) -> list[ir.Value]:
        """Zeros."""

    def add(self, left: Left, right: Staged, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """The sums with the products of a stage added."""

    def loaded(self, left: Staged) -> Left:
        """A stage of the left operand that is used often: in registers, if that is of use."""

    @property
    def left_room(self) -> ir.MemRefType | None:
        """What `as_left` needs in shared memory."""

    def as_left(self, values: Sequence[Sequence[ir.Value]], room: ir.Value | None) -> Left:
        """A stage of the left operand that is made of the sums of another product, by rows.

        That has the same rows, and its columns are what this one sums over.
        """

    @property
    def rows(self) -> Lines:
        """The rows that a thread has sums of."""

    @property
    def columns(self) -> Lines:
        """The columns that it has of each of these."""

    @property
    def lanes_of_row(self) -> int:
        """How many lanes, which are neighbours, have sums of the same rows."""

    def by_rows(self, sums: Sequence[ir.Value]) -> list[list[ir.Value]]:
        """Of each row of a thread's the sum in each column."""

    def scaled(self, sums: Sequence[ir.Value], factors: Sequence[ir.Value]) -> list[ir.Value]:
        """The sums, with those of each row of a thread's multiplied by a factor."""

    def put(self, part: int, sums: Sequence[ir.Value], put: Put) -> None:
        """Puts a part of the sums where others find it."""


@dataclass(frozen=True)
class Warp:
    """Where a warp is, and a thread in it."""

    row: ir.Value
    """Of the tile, the first of the warp's."""
    column: ir.Value
    part_row: ir.Value
    """Of a part of the sums, the first of the warp's."""
    lane: ir.Value


def warp_of(product: TileProduct, thread: Thread) -> Warp:
    """The warp of a thread, whose part of the tile is the next one along columns, then rows."""
    tile = product.tile
    number = arith.divui(thread.number, index(WARP))
    across = tile.columns // tile.warp_columns
    row, column = arith.divui(number, index(across)), arith.remui(number, index(across))
    return Warp(
        arith.muli(row, index(tile.warp_rows)),
        arith.muli(column, index(tile.warp_columns)),
        arith.muli(row, index(tile.warp_rows // product.parts)),
        arith.remui(thread.number, index(WARP)),
    )


class Threads:
    """Each thread multiplies some rows by some columns: 8 by 8 of f32.

    Of a warp's rows a thread has 4 next to one another, and as many further on for each group of
    16; of the columns so too, for each 32. So a warp reads 64 or 128 contiguous bytes at a time.
    """

    _ROWS, _COLUMNS = 4, 8
    """How many threads a warp has along rows, and along columns."""

    def __init__(self, product: TileProduct, thread: Thread) -> None:
        self._product, self._warp, self._thread = product, warp_of(product, thread), thread
        self._type = product.summed_in
        self._length = 4 if self._type.width <= 32 else 2
        tile = product.tile
        self._row_groups = tile.warp_rows // (self._ROWS * self._length)
        self._column_groups = tile.warp_columns // (self._COLUMNS * self._length)
        self._row = arith.muli(
            arith.divui(self._warp.lane, index(self._COLUMNS)), index(self._length)
        )
        self._column = arith.muli(
            arith.remui(self._warp.lane, index(self._COLUMNS)), index(self._length)
        )

    @property
    def shared(self) -> tuple[SharedTile, SharedTile]:
        """As `WarpTile` says: lines are contiguous."""
        product, tile = self._product, self._product.tile
        left, right = (
            # Four more, so that a column is written to as many banks as it has elements.
            SharedTile(lines, product.depth, False, 4 if along_sums else 0, element)
            for lines, along_sums, element in zip(
                (tile.rows, tile.columns), product.along_sums, product.elements, strict=True
            )
        )
        return left, right

    @property
    def part_rows(self) -> int:
        """As `WarpTile` says."""
        return self._product.tile.warp_rows // self._product.parts

    def start(self) -> list[ir.Value]:
        """As `WarpTile` says: for each row of a thread's a vector for each group of columns."""
        zero = arith.ConstantOp(self._vector(self._type), _zeros(self._vector(self._type))).result
        return [zero] * (self._row_groups * self._length * self._column_groups)

    def loaded(self, left: Staged) -> Left:
        """As `WarpTile` says: it stays where it is."""
        return left

    @property
    def left_room(self) -> ir.MemRefType | None:
        """As `WarpTile` says: a stage."""
        return self.shared[0].type(1)

    def as_left(self, values: Sequence[Sequence[ir.Value]], room: ir.Value | None) -> Left:
        """As `WarpTile` says: each thread puts its own into shared memory."""
        assert room is not None
        vector_type = self._vector(self._product.elements[0])
        lane = arith.remui(self._warp.lane, index(self._COLUMNS))
        first_column = arith.muli(lane, index(self._length))
        rows = self.rows
        columns = self._offsets(self._product.depth // self._COLUMNS // self._length, self._COLUMNS)
        for first in range(0, len(values), self._length):
            row = arith.addi(rows.first, index(rows.offsets[first]))
            for number, column in enumerate(columns):
                elements = [line[number] for line in values[first : first + self._length]]
                vector.StoreOp(
                    vector.from_elements(vector_type, elements),
                    room,
                    [index(0), arith.addi(first_column, index(column)), row],
                    alignment=self._length * element_bytes(vector_type.element_type),
                )
        self._thread.wait()
        return Staged(room, index(0))

    def add(self, left: Left, right: Staged, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """As `WarpTile` says; the left operand is in shared memory."""
        assert isinstance(left, Staged)

        def add(depth: ir.Value, sums: Sequence[ir.Value]) -> list[ir.Value]:
            rows = self._fragments(
                left, depth, (self._warp.row, self._row), self._ROWS, self._row_groups
            )
            columns = self._fragments(
                right,
                depth,
                (self._warp.column, self._column),
                self._COLUMNS,
                self._column_groups,
            )
            results = []
            for number, row in enumerate(
                vector.extract(group, [], [at]) for group in rows for at in range(self._length)
            ):
                factor = vector.broadcast(self._vector(self._type), row)
                for group, column in enumerate(columns):
                    so_far = sums[number * len(columns) + group]
                    results.append(_fused(factor, column, so_far))
            return results

        def body(depth: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            results = list(sums)
            for number in range(step):
                results = add(arith.addi(depth, index(number)), results)
            return results

        step = math.gcd(_DEPTHS, self._product.depth)
        return for_each(index(0), index(self._product.depth), step, body, sums)

    @property
    def rows(self) -> Lines:
        """As `WarpTile` says."""
        first = arith.addi(self._warp.row, self._row)
        return Lines(first, self._offsets(self._row_groups, self._ROWS))

    @property
    def columns(self) -> Lines:
        """As `WarpTile` says."""
        first = arith.addi(self._warp.column, self._column)
        return Lines(first, self._offsets(self._column_groups, self._COLUMNS))

    def _offsets(self, groups: int, threads: int) -> list[int]:
        length = self._length
        return [group * threads * length + at for group in range(groups) for at in range(length)]

    @property
    def lanes_of_row(self) -> int:
        """As `WarpTile` says."""
        return self._COLUMNS

    def by_rows(self, sums: Sequence[ir.Value]) -> list[list[ir.Value]]:
        """As `WarpTile` says."""
        groups = self._column_groups
        return [
            [
                vector.extract(part, [], [at])
                for part in sums[first : first + groups]
                for at in range(self._length)
            ]
            for first in range(0, len(sums), groups)
        ]

    def scaled(self, sums: Sequence[ir.Value], factors: Sequence[ir.Value]) -> list[ir.Value]:
        """As `WarpTile` says."""
        results = []
        for number, factor in enumerate(factors):
            times = vector.broadcast(self._vector(self._type), factor)
            first = number * self._column_groups
            results += [
                arith.mulf(value, times) for value in sums[first : first + self._column_groups]
            ]
        return results

    def put(self, part: int, sums: Sequence[ir.Value], put: Put) -> None:
        """As `WarpTile` says."""
        groups = self._row_groups // self._product.parts
        for group in range(groups):
            for at in range(self._length):
                number = (part * groups + group) * self._length + at
                row = arith.addi(
                    arith.addi(self._warp.part_row, self._row),
                    index(group * self._ROWS * self._length + at),
                )
                for columns in range(self._column_groups):
                    column = arith.addi(
                        arith.addi(self._warp.column, self._column),
                        index(columns * self._COLUMNS * self._length),
                    )
                    put(sums[number * self._column_groups + columns], row, column)

    def _vector(self, element: ir.Type) -> ir.VectorType:
        return ir.VectorType.get([self._length], element)

    def _fragments(
        self,
        staged: Staged,
        depth: ir.Value,
        first: tuple[ir.Value, ir.Value],
        threads: int,
        groups: int,
    ) -> list[ir.Value]:
        """The rows or columns of a thread, for one summed element."""
        element = ir.MemRefType(staged.buffer.type).element_type
        alignment = self._length * element_bytes(element)
        line = arith.addi(*first)
        found = []
        for group in range(groups):
            at = arith.addi(line, index(group * threads * self._length))
            loaded = vector.LoadOp(
                self._vector(element),
                staged.buffer,
                [staged.number, depth, at],
                alignment=alignment,
            ).result
            found.append(_widened(loaded, self._vector(self._type)))
        return found


class TensorCores:
    """A warp multiplies 16 rows by 8 columns at a time, of 32 bytes along the sums.

    Which thread has which elements is said in NVIDIA's PTX ISA, "Matrix Fragments for mma"; it is
    the same for all types, counted in parts of 4 bytes, and `ldmatrix` gives operands so.
    """

    _ROWS, _COLUMNS, _BYTES = 16, 8, 32

    def __init__(self, product: TileProduct, thread: Thread) -> None:
        self._product, self._warp = product, warp_of(product, thread)
        self._element = product.elements[0]
        bytes_ = element_bytes(self._element)
        self._depth = self._BYTES // bytes_
        """Summed elements of an instruction."""
        self._word = 4 // bytes_
        """Elements in a part of 4 bytes."""
        self._chunk = VECTOR_BYTES // bytes_
        tile = product.tile
        self._row_groups = tile.warp_rows // self._ROWS
        self._column_groups = tile.warp_columns // self._COLUMNS
        self._sums = ir.VectorType.get([2, 2], product.summed_in)

    @property
    def shared(self) -> tuple[SharedTile, SharedTile]:
        """As `WarpTile` says: as they lie in memory, if `ldmatrix` can transpose such elements."""
        product, tile = self._product, self._product.tile
        left, right = (
            SharedTile(lines, product.depth, along_sums or self._word != 2, self._chunk, element)
            for lines, along_sums, element in zip(
                (tile.rows, tile.columns), product.along_sums, product.elements, strict=True
            )
        )
        return left, right

    @property
    def part_rows(self) -> int:
        """As `WarpTile` says."""
        return self._product.tile.warp_rows // self._product.parts

    def start(self) -> list[ir.Value]:
        """As `WarpTile` says: a fragment for each 16 rows and 8 columns."""
        zero = arith.ConstantOp(self._sums, _zeros(self._sums)).result
        return [zero] * (self._row_groups * self._column_groups)

    def loaded(self, left: Staged) -> Left:
        """As `WarpTile` says."""
        return [self._rows_of(left, depth) for depth in self._depths]

    @property
    def left_room(self) -> ir.MemRefType | None:
        """As `WarpTile` says: nothing."""
        return None

    def as_left(self, values: Sequence[Sequence[ir.Value]], room: ir.Value | None) -> Left:
        """As `WarpTile` says: a lane has those sums of which it has to give the operand."""
        type_ = ir.VectorType.get([WORDS, self._word], self._element)
        columns = 2 * self._word

        def fragment(rows: Sequence[Sequence[ir.Value]]) -> ir.Value:
            elements = [
                arith.truncf(self._element, row[half + at])
                for half in range(0, columns, self._word)
                for row in rows
                for at in range(self._word)
            ]
            return vector.from_elements(type_, elements)

        return [
            [
                fragment([row[first : first + columns] for row in values[group : group + 2]])
                for group in range(0, len(values), 2)
            ]
            for first in range(0, len(values[0]), columns)
        ]

    @property
    def _depths(self) -> range:
        """The first summed element of each instruction."""
        return range(0, self._product.depth, self._depth)

    def _rows_of(self, left: Staged, depth: int) -> list[ir.Value]:
        of_left, _ = self.shared
        return [
            self._matrices(left, of_left, (self._warp.row, group * self._ROWS), depth, 0)
            for group in range(self._row_groups)
        ]

    def add(self, left: Left, right: Staged, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """As `WarpTile` says."""
        results = list(sums)
        _, of_right = self.shared
        shape = ir.ArrayAttr.get(
            [
                ir.IntegerAttr.get(ir.IntegerType.get_signless(64), size)
                for size in (self._ROWS, self._COLUMNS, self._depth)
            ]
        )
        is_tf32 = self._element == ir.F32Type.get()
        for number, depth in enumerate(self._depths):
            rows = self._rows_of(left, depth) if isinstance(left, Staged) else left[number]
            columns = []
            for group in range(0, self._column_groups, 2):
                # Two groups of columns at once.
                first = (self._warp.column, group * self._COLUMNS)
                pair = self._matrices(right, of_right, first, depth, 1)
                columns += [self._half(pair, 0), self._half(pair, 1)]
            for row, rows_of_left in enumerate(rows):
                for column, columns_of_right in enumerate(columns):
                    at = row * len(columns) + column
                    results[at] = nvgpu.MmaSyncOp(
                        self._sums,
                        rows_of_left,
                        columns_of_right,
                        results[at],
                        shape,
                        tf32Enabled=is_tf32 or None,
                    ).res
        return results

    @property
    def rows(self) -> Lines:
        """As `WarpTile` says."""
        first = arith.addi(self._warp.row, arith.divui(self._warp.lane, index(4)))
        groups = range(self._row_groups)
        return Lines(first, [g * self._ROWS + half * 8 for g in groups for half in range(2)])

    @property
    def columns(self) -> Lines:
        """As `WarpTile` says."""
        own = arith.muli(arith.remui(self._warp.lane, index(4)), index(2))
        groups = range(self._column_groups)
        return Lines(
            arith.addi(self._warp.column, own),
            [g * self._COLUMNS + at for g in groups for at in range(2)],
        )

    @property
    def lanes_of_row(self) -> int:
        """As `WarpTile` says."""
        return 4

    def by_rows(self, sums: Sequence[ir.Value]) -> list[list[ir.Value]]:
        """As `WarpTile` says."""
        groups = self._column_groups
        return [
            [
                vector.extract(fragment, [], [half, at])
                for fragment in sums[group * groups : (group + 1) * groups]
                for at in range(2)
            ]
            for group in range(self._row_groups)
            for half in range(2)
        ]

    def scaled(self, sums: Sequence[ir.Value], factors: Sequence[ir.Value]) -> list[ir.Value]:
        """As `WarpTile` says."""
        results = []
        type_ = ir.VectorType.get([2], self._sums.element_type)
        for group in range(self._row_groups):
            times = [vector.broadcast(type_, factors[2 * group + half]) for half in range(2)]
            first = group * self._column_groups
            for value in sums[first : first + self._column_groups]:
                for half in range(2):
                    scaled = arith.mulf(vector.extract(value, [], [half]), times[half])
                    value = vector.insert(scaled, value, [], [half])
                results.append(value)
        return results

    def put(self, part: int, sums: Sequence[ir.Value], put: Put) -> None:
        """As `WarpTile` says."""
        groups = self._row_groups // self._product.parts
        lane = self._warp.lane
        row_of_lane = arith.divui(lane, index(4))
        column_of_lane = arith.muli(arith.remui(lane, index(4)), index(2))
        for group in range(groups):
            for column in range(self._column_groups):
                fragment = sums[(part * groups + group) * self._column_groups + column]
                at_column = arith.addi(
                    arith.addi(self._warp.column, column_of_lane), index(column * self._COLUMNS)
                )
                for half in range(2):
                    at_row = arith.addi(
                        arith.addi(self._warp.part_row, row_of_lane),
                        index(group * self._ROWS + half * 8),
                    )
                    put(vector.extract(fragment, [], [half]), at_row, at_column)

    def _matrices(
        self,
        staged: Staged,
        tile: SharedTile,
        first: tuple[ir.Value, int],
        depth: int,
        second: int,
    ) -> ir.Value:
        """Four matrices of 8 lines by 16 bytes: 16 lines by 32 bytes.

        The second of them is that of the next lines, if `second` is 0, or else the next along the
        sums. Lanes 8 n to 8 n + 7 say where the lines of matrix n lie.
        """
        lane = self._warp.lane
        number = arith.divui(lane, index(8))
        halves = arith.remui(number, index(2)), arith.divui(number, index(2))
        along_lines, along_sums = halves[second], halves[1 - second]
        line = arith.addi(first[0], arith.muli(along_lines, index(8)))
        sums = arith.muli(along_sums, index(self._chunk))
        # Of a tile that is transposed a line of a matrix is one summed element.
        own = arith.remui(lane, index(8))
        if tile.along_sums:
            line = arith.addi(line, own)
        else:
            sums = arith.addi(sums, own)
        type_ = ir.VectorType.get([WORDS, self._word], self._element)
        whole, rest = tile.parted(depth)
        if rest:
            sums = arith.addi(sums, index(rest))
        buffer, place = tile.moved(staged.buffer, first[1], whole), tile.place(line, sums)
        return nvgpu.LdMatrixOp(
            type_, buffer, [staged.number, *place], not tile.along_sums, WORDS
        ).res

    def _half(self, pair: ir.Value, number: int) -> ir.Value:
        type_ = ir.VectorType.get([2, self._word], self._element)
        i64 = ir.IntegerType.get_signless(64)
        offsets, sizes, strides = (
            ir.ArrayAttr.get([ir.IntegerAttr.get(i64, value) for value in values])
            for values in ((2 * number, 0), (2, self._word), (1, 1))
        )
        return vector.ExtractStridedSliceOp(type_, pair, offsets, sizes, strides).result


def into(buffer: ir.Value) -> Put:
    """Puts sums into a buffer in shared memory, whose rows begin where a vector may."""

    def put(sums: ir.Value, row: ir.Value, column: ir.Value) -> None:
        type_ = ir.VectorType(sums.type)
        alignment = type_.shape[0] * element_bytes(type_.element_type)
        vector.StoreOp(sums, buffer, [row, column], alignment=alignment)

    return put


def _zeros(type_: ir.VectorType) -> ir.Attribute:
    element = type_.element_type
    if isinstance(element, ir.FloatType):
        return ir.DenseElementsAttr.get_splat(type_, ir.FloatAttr.get(element, 0.0))
    return ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(element, 0))


def _fused(left: ir.Value, right: ir.Value, so_far: ir.Value) -> ir.Value:
    """A product and a sum; of floats rounded once."""
    if isinstance(ir.VectorType(so_far.type).element_type, ir.FloatType):
        return vector.FMAOp(left, right, so_far).result
    return arith.addi(so_far, arith.muli(left, right))


def _widened(value: ir.Value, type_: ir.VectorType) -> ir.Value:
    if value.type == type_:
        return value
    if isinstance(type_.element_type, ir.FloatType):
        return arith.extf(type_, value)
    return arith.extsi(type_, value)
