"""What a warp does of a block's tile: it multiplies and adds up what lies in shared memory.

The sums stay in registers, as vectors that a loop carries. There are two kinds: each thread does
rows and columns of its own by `fma`, or the warp does them together on tensor cores.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch_mlir import ir
from torch_mlir.dialects import arith, nvgpu, vector

from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES, Instruction, TileProduct
from plumbline.linalg_to_gpu.launches import WARP, Thread
from plumbline.linalg_to_gpu.tile_copies import SharedTile
from plumbline.linalg_to_kernels.building import for_each, index
from plumbline.linalg_to_kernels.planned_memory import element_bytes

Put = Callable[[ir.Value, ir.Value, ir.Value], object]
"""Takes a vector of sums, and the row of a part and the column at which it begins."""


Factor = Callable[[ir.Value], ir.Value]
"""Gives what the sums of a row of the tile are multiplied by."""


@dataclass(frozen=True)
class Staged:
    """A stage of an operand in shared memory."""

    buffer: ir.Value
    number: ir.Value


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

    def add(self, left: Staged, right: Staged, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """The sums with the products of a stage added."""

    def scaled(self, sums: Sequence[ir.Value], factor: Factor) -> list[ir.Value]:
        """The sums of each row multiplied by a factor of its own."""

    def put(self, part: int, sums: Sequence[ir.Value], put: Put) -> None:
        """Puts a part of the sums where others find it."""


def warp_tile(product: TileProduct, thread: Thread) -> WarpTile:
    """How warps do a product."""
    if product.instruction is Instruction.MMA:
        return _TensorCores(product, thread)
    return _Threads(product, thread)


@dataclass(frozen=True)
class _Warp:
    """Where a warp is, and a thread in it."""

    row: ir.Value
    """Of the tile, the first of the warp's."""
    column: ir.Value
    part_row: ir.Value
    """Of a part of the sums, the first of the warp's."""
    lane: ir.Value


def _warp(product: TileProduct, thread: Thread) -> _Warp:
    tile = product.tile
    number = arith.divui(thread.number, index(WARP))
    across = tile.columns // tile.warp_columns
    row, column = arith.divui(number, index(across)), arith.remui(number, index(across))
    return _Warp(
        arith.muli(row, index(tile.warp_rows)),
        arith.muli(column, index(tile.warp_columns)),
        arith.muli(row, index(tile.warp_rows // product.parts)),
        arith.remui(thread.number, index(WARP)),
    )


class _Threads:
    """Each thread multiplies some rows by some columns: 8 by 8 of f32.

    Of a warp's rows a thread has 4 next to one another, and as many further on for each group of
    16; of the columns so too, for each 32. So a warp reads 64 or 128 contiguous bytes at a time.
    """

    _ROWS, _COLUMNS = 4, 8
    """How many threads a warp has along rows, and along columns."""

    def __init__(self, product: TileProduct, thread: Thread) -> None:
        self._product, self._warp = product, _warp(product, thread)
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

    def add(self, left: Staged, right: Staged, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """As `WarpTile` says."""

        def body(depth: ir.Value, *sums: ir.Value) -> list[ir.Value]:
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

        return for_each(index(0), index(self._product.depth), 1, body, sums)

    def scaled(self, sums: Sequence[ir.Value], factor: Factor) -> list[ir.Value]:
        """As `WarpTile` says."""
        results = []
        for number in range(self._row_groups * self._length):
            group, at = divmod(number, self._length)
            row = arith.addi(
                arith.addi(self._warp.row, self._row),
                index(group * self._ROWS * self._length + at),
            )
            times = vector.broadcast(self._vector(self._type), factor(row))
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


class _TensorCores:
    """A warp multiplies 16 rows by 8 columns at a time, of 32 bytes along the sums.

    Which thread has which elements is said in NVIDIA's PTX ISA, "Matrix Fragments for mma"; it is
    the same for all types, counted in parts of 4 bytes, and `ldmatrix` gives operands so.
    """

    _ROWS, _COLUMNS, _BYTES = 16, 8, 32

    def __init__(self, product: TileProduct, thread: Thread) -> None:
        self._product, self._warp = product, _warp(product, thread)
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

    def add(self, left: Staged, right: Staged, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """As `WarpTile` says."""
        results = list(sums)
        of_left, of_right = self.shared
        shape = ir.ArrayAttr.get(
            [
                ir.IntegerAttr.get(ir.IntegerType.get_signless(64), size)
                for size in (self._ROWS, self._COLUMNS, self._depth)
            ]
        )
        is_tf32 = self._element == ir.F32Type.get()
        for depth in range(0, self._product.depth, self._depth):
            rows = [
                self._matrices(left, of_left, (self._warp.row, group * self._ROWS), depth, 0)
                for group in range(self._row_groups)
            ]
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

    def scaled(self, sums: Sequence[ir.Value], factor: Factor) -> list[ir.Value]:
        """As `WarpTile` says."""
        results = []
        own = arith.divui(self._warp.lane, index(4))
        for group in range(self._row_groups):
            times = []
            for half in range(2):
                row = arith.addi(
                    arith.addi(self._warp.row, own), index(group * self._ROWS + half * 8)
                )
                type_ = ir.VectorType.get([2], self._sums.element_type)
                times.append(vector.broadcast(type_, factor(row)))
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
        line = arith.addi(first[0], index(first[1]))
        line = arith.addi(line, arith.muli(along_lines, index(8)))
        sums = arith.addi(index(depth), arith.muli(along_sums, index(self._chunk)))
        # Of a tile that is transposed a line of a matrix is one summed element.
        own = arith.remui(lane, index(8))
        if tile.along_sums:
            line = arith.addi(line, own)
        else:
            sums = arith.addi(sums, own)
        type_ = ir.VectorType.get([4, self._word], self._element)
        return nvgpu.LdMatrixOp(
            type_, staged.buffer, [staged.number, *tile.place(line, sums)], not tile.along_sums, 4
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
