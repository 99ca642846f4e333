"""What four warps do together of a block's tile: a warp group, by `wgmma`.

Tensor cores read both operands from shared memory, where descriptors say how they lie, and go on
while the warps copy what comes next. Instructions, descriptors and layouts are told in NVIDIA's PTX
ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from collections.abc import Sequence
from functools import partial
from itertools import product

from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, memref, nvvm, vector

from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES, TileProduct
from plumbline.linalg_to_gpu.launches import WARP, Thread, shared_type
from plumbline.linalg_to_gpu.tile_copies import SharedTile
from plumbline.linalg_to_gpu.warp_tiles import Left, Put, Staged, TensorCores
from plumbline.linalg_to_kernels.building import index
from plumbline.target.gpu_chip import SHARED_ALIGNMENT

_LINE_BYTES = 128
"""Of which eight follow one another in a swizzle."""

_LINES = SHARED_ALIGNMENT // _LINE_BYTES

_ELEMENT_BYTES = 2

_CHUNK = VECTOR_BYTES // _ELEMENT_BYTES
"""Elements that stay together."""

_LINE = _LINE_BYTES // _ELEMENT_BYTES

_WARPS = 4

_ROWS, _DEPTH = 64, 16
"""Of an instruction."""

_SWIZZLED = 1 << 62
"""The kind of layout in a descriptor: swizzled by 128 bytes."""

_LEADING, _STRIDE = 16, 32
"""The bits of a descriptor from which on two distances lie: from a line's worth of lines to the
next, for what is not contiguous along the sums, and from eight lines to the next."""

_ADDRESS_BITS = 14
_UNIT = 16
"""Bytes in which a descriptor counts."""


class SwizzledTile(SharedTile):
    """A tile in lines of 128 bytes, eight of which have their parts of 16 bytes in eight orders.

    So neither who reads eight lines nor who reads one finds two parts in the same bank. A line is
    of one row or column, or of 64 of these for one summed element.
    """

    def type(self, stages: int) -> ir.MemRefType:
        """As `SharedTile` says."""
        if self.along_sums:
            return shared_type([stages, self.lines, _LINE], self.element)
        return shared_type([stages, self.lines // _LINE, self.depth, _LINE], self.element)

    def place(self, line: ir.Value, depth: ir.Value) -> list[ir.Value]:
        """As `SharedTile` says."""
        if self.along_sums:
            return [line, _swizzled(depth, line)]
        block, within = arith.divui(line, index(_LINE)), arith.remui(line, index(_LINE))
        return [block, depth, _swizzled(within, depth)]

    def moved(self, buffer: ir.Value, line: int, depth: int) -> ir.Value:
        """As `SharedTile` says: by lines of which the orders are those of the first."""
        outer, inner = (line, depth) if self.along_sums else (depth, line)
        assert outer % _LINES == 0
        assert inner == 0
        if not outer:
            return buffer
        type_ = ir.MemRefType(buffer.type)
        axis = type_.rank - 2
        offsets = [outer if at == axis else 0 for at in range(type_.rank)]
        sizes = [size - offset for size, offset in zip(type_.shape, offsets, strict=True)]
        strides, _ = type_.get_strides_and_offset()
        layout = ir.StridedLayoutAttr.get(outer * _LINE, list(strides))
        moved = ir.MemRefType.get(sizes, type_.element_type, layout, type_.memory_space)
        return memref.SubViewOp(moved, buffer, [], [], [], offsets, sizes, [1] * len(sizes)).result

    @property
    def stage_bytes(self) -> int:
        """Of a stage."""
        return self.lines * self.depth * _ELEMENT_BYTES

    @property
    def step_bytes(self) -> int:
        """From the elements that an instruction takes to those that the next one does."""
        return _DEPTH * (_ELEMENT_BYTES if self.along_sums else _LINE_BYTES)

    @property
    def descriptor(self) -> int:
        """What descriptors say of it but for the address."""
        # Lines of 64 rows or columns follow one another for each summed element of the stage.
        leading = self.depth * _LINE_BYTES // _UNIT
        return _SWIZZLED | leading << _LEADING | SHARED_ALIGNMENT // _UNIT << _STRIDE


def _swizzled(place: ir.Value, line: ir.Value) -> ir.Value:
    """Where in a line of that number what lies at a place is put."""
    order = arith.remui(line, index(_LINES))
    return arith.xori(place, arith.muli(order, index(_CHUNK)))


class WarpGroups(TensorCores):
    """Four warps multiply 64 rows by all columns of the tile at a time.

    Each of them has the sums of 16 of these rows, by threads as `mma` has them.
    """

    def __init__(self, product: TileProduct, thread: Thread) -> None:
        super().__init__(product, thread)
        assert product.tile.warp_columns == product.tile.columns
        self._thread = thread
        self._columns = product.tile.columns
        self._sums_type = _sums_type(self._columns)

    @property
    def shared(self) -> tuple[SharedTile, SharedTile]:
        """As `WarpTile` says: as they lie in memory."""
        return self._tiles

    @property
    def _tiles(self) -> tuple[SwizzledTile, SwizzledTile]:
        product, tile = self._product, self._product.tile
        left, right = (
            SwizzledTile(lines, product.depth, along_sums, 0, element)
            for lines, along_sums, element in zip(
                (tile.rows, tile.columns), product.along_sums, product.elements, strict=True
            )
        )
        return left, right

    @property
    def stages_behind(self) -> int:
        """As `WarpTile` says: while one is multiplied, the products of the next are begun."""
        return 1

    def start(self) -> list[ir.Value]:
        """As `WarpTile` says: all of a thread's in one structure, as instructions take them."""
        return [llvm.mlir_zero(self._sums_type)]

    def add(self, left: Left, right: Staged, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """As `WarpTile` says; they are complete when the products have been waited for."""
        assert isinstance(left, Staged)
        (so_far,) = sums
        of_left, of_right = self._tiles
        group = arith.divui(self._thread.number, index(WARP * _WARPS))
        # A group's rows are lines, or a line for each summed element: as many bytes either way.
        first = arith.muli(group, index(_ROWS * _LINE_BYTES))
        starts = [
            _descriptor(of_left, left, first),
            _descriptor(of_right, right, index(0)),
        ]
        name = _name(self._columns, self._element, self._product.along_sums)
        self._thread.begin_products()
        for number in range(self._product.depth // _DEPTH):
            at = [
                arith.addi(start, arith.constant(start.type, number * tile.step_bytes // _UNIT))
                for start, tile in zip(starts, self._tiles, strict=True)
            ]
            (so_far,) = self._thread.call(name, [so_far, *at], [self._sums_type])
        self._thread.commit_products()
        self._thread.wait_for_products(self.stages_behind)
        return [so_far]

    def put(self, part: int, sums: Sequence[ir.Value], put: Put) -> None:
        """As `WarpTile` says."""
        (all_,) = sums
        f32 = self._product.summed_in
        fragments = []
        for first in range(0, self._columns // 2, 4):
            elements = [llvm.extractvalue(f32, all_, [first + at]) for at in range(4)]
            fragments.append(vector.from_elements(self._sums, elements))
        super().put(part, fragments, put)


def _descriptor(tile: SwizzledTile, staged: Staged, further: ir.Value) -> ir.Value:
    """Of a stage, from so many bytes on."""
    start = memref.extract_aligned_pointer_as_index(staged.buffer)
    stage = arith.muli(staged.number, index(tile.stage_bytes))
    address = arith.addi(arith.addi(start, stage), further)
    i64 = ir.IntegerType.get_signless(64)
    units = arith.divui(arith.index_cast(i64, address), arith.constant(i64, _UNIT))
    mask = arith.constant(i64, (1 << _ADDRESS_BITS) - 1)
    return arith.ori(arith.andi(units, mask), arith.constant(i64, tile.descriptor))


def _sums_type(columns: int) -> ir.Type:
    """Of what a thread has of 64 rows by so many columns."""
    return llvm.StructType.get_literal([ir.F32Type.get()] * (columns // 2))


_TYPES = "f16", "bf16"

_LAYOUTS = ("row", "col"), ("col", "row")
"""Of the left and of the right operand, which is along the sums and which is not."""


def _layouts(along_sums: Sequence[bool]) -> list[str]:
    return [names[not along] for names, along in zip(_LAYOUTS, along_sums, strict=True)]


def _name(columns: int, element: object, along_sums: Sequence[bool]) -> str:
    """Of the function that stands for an instruction."""
    layouts = "_".join(_layouts(along_sums))
    return f"plumbline_wgmma_m{_ROWS}n{columns}k{_DEPTH}_{element}_{layouts}"


def _product(
    columns: int, element: str, along_sums: Sequence[bool], sums: ir.Value, *operands: ir.Value
) -> nvvm.WgmmaMmaAsyncOp:
    def attribute(text: str) -> ir.Attribute:
        return ir.Attribute.parse(f"#nvvm.{text}")

    operand, one = attribute(f"wgmma_type<{element}>"), attribute("wgmma_scale_in<one>")
    return nvvm.WgmmaMmaAsyncOp(
        sums.type,
        sums,
        *operands,
        attribute(f"shape<m = {_ROWS}, n = {columns}, k = {_DEPTH}>"),
        operand,
        operand,
        attribute("wgmma_type<f32>"),
        attribute("wgmma_scale_out<one>"),
        one,
        one,
        *(attribute(f"mma_layout<{layout}>") for layout in _layouts(along_sums)),
    )


PRODUCT_STAND_INS = {
    _name(columns, element, along_sums): partial(_product, columns, element, along_sums)
    for columns in range(8, 257, 8)
    for element in _TYPES
    for along_sums in product((True, False), repeat=2)
}
"""Functions that stand for instructions, as `launches.STAND_INS`."""
