"""What four warps do together of a block's tile: a warp group, by `wgmma`.

Tensor cores read both operands from shared memory, where descriptors say how they lie, and go on
while the warps copy what comes next. Instructions, descriptors and layouts are told in NVIDIA's PTX
ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, memref, nvvm, vector

from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES, TileProduct
from plumbline.linalg_to_gpu.launches import WARP, Thread, shared_type
from plumbline.linalg_to_gpu.tile_copies import SharedTile, moved_by
from plumbline.linalg_to_gpu.warp_tiles import WORDS, Left, Put, Staged, TensorCores
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

_FEW_COLUMNS = 64

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

    So neither who reads eight lines nor who reads one finds two parts in the same bank. Along a
    line are elements that are contiguous in memory: 64 along the sums, or 64 rows or columns; line
    by line the other direction, and then come the next 64.
    """

    @property
    def _shape(self) -> tuple[int, int]:
        """How many elements there are line by line, and how many along lines."""
        return (self.lines, self.depth) if self.along_sums else (self.depth, self.lines)

    def type(self, stages: int) -> ir.MemRefType:
        """As `SharedTile` says."""
        outer, inner = self._shape
        assert inner % _LINE == 0
        return shared_type([stages, inner // _LINE, outer, _LINE], self.element)

    def place(self, line: ir.Value, depth: ir.Value) -> list[ir.Value]:
        """As `SharedTile` says."""
        outer, inner = (line, depth) if self.along_sums else (depth, line)
        within = arith.remui(inner, index(_LINE))
        order = arith.muli(arith.remui(outer, index(_LINES)), index(_CHUNK))
        return [arith.divui(inner, index(_LINE)), outer, arith.xori(within, order)]

    def parted(self, depth: int) -> tuple[int, int]:
        """As `SharedTile` says: by whole lines, or by eight of them."""
        within = depth % (_LINE if self.along_sums else _LINES)
        return depth - within, within

    def moved(self, buffer: ir.Value, line: int, depth: int) -> ir.Value:
        """As `SharedTile` says: by lines of which the orders are those of the first."""
        outer, inner = (line, depth) if self.along_sums else (depth, line)
        assert outer % _LINES == 0
        assert inner % _LINE == 0
        return moved_by(buffer, [0, inner // _LINE, outer, 0])

    @property
    def stage_bytes(self) -> int:
        """Of a stage."""
        return self.lines * self.depth * _ELEMENT_BYTES

    def distance(self, line: int, depth: int) -> int:
        """How many bytes after the first element that of a line lies, where no order differs."""
        outer, inner = (line, depth) if self.along_sums else (depth, line)
        assert outer % _LINES == 0
        block, within = divmod(inner, _LINE)
        return (block * self._shape[0] + outer) * _LINE_BYTES + within * _ELEMENT_BYTES

    @property
    def descriptor(self) -> int:
        """What descriptors say of it but for the address."""
        leading = self._shape[0] * _LINE_BYTES // _UNIT
        return _SWIZZLED | leading << _LEADING | SHARED_ALIGNMENT // _UNIT << _STRIDE


@dataclass(frozen=True)
class Prepared:
    """What the instructions take that multiply a stage."""

    name: str
    """Of the function that stands for one."""
    operands: Sequence[tuple[ir.Value, ir.Value]]
    """For each of them, but for the sums."""


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
        self._left, self._right = (
            SwizzledTile(lines, product.depth, along_sums, 0, element)
            for lines, along_sums, element in zip(
                (product.tile.rows, self._columns),
                product.along_sums,
                product.elements,
                strict=True,
            )
        )

    @property
    def shared(self) -> tuple[SharedTile, SharedTile]:
        """As `WarpTile` says: as they lie in memory."""
        return self._left, self._right

    def start(self) -> list[ir.Value]:
        """As `WarpTile` says: all of a thread's in one structure, as instructions take them."""
        return [llvm.mlir_zero(self._sums_type)]

    def loaded(self, left: Staged) -> Left:
        """As `WarpTile` says: with few columns it takes as long to read as the right one.

        On an H100 attention by 128 took 0.97 of the time so, and with 128 columns 1.1.
        """
        return left if self._columns > _FEW_COLUMNS else super().loaded(left)

    def add(self, left: Left, right: Staged, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """As `WarpTile` says; stages behind they are complete when these were waited for."""
        results = self.begin(self.prepared(left, right), sums)
        self._thread.wait_for_products(self._product.behind)
        return results

    def prepared(self, left: Left, right: Staged) -> Prepared:
        """What instructions take to multiply a stage."""
        depths = range(0, self._product.depth, _DEPTH)
        rights = _descriptors(self._right, right, index(0), depths)
        if isinstance(left, Staged):
            group = arith.divui(self._thread.number, index(WARP * _WARPS))
            own_rows = arith.muli(group, index(self._left.distance(_ROWS, 0)))
            lefts = _descriptors(self._left, left, own_rows, depths)
            name = _name(self._columns, self._element, self._product.along_sums)
        else:
            lefts = [fragment for (fragment,) in left]
            name = _name(self._columns, self._element, (None, self._product.along_sums[1]))
        return Prepared(name, list(zip(lefts, rights, strict=True)))

    def begin(self, prepared: Prepared, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """Begins to multiply a stage; the sums are complete when that was waited for.

        What instructions take may not be computed while others are under way: ptxas then has each
        of them wait for the one before.
        """
        (so_far,) = sums
        self._thread.begin_products()
        for operands in prepared.operands:
            (so_far,) = self._thread.call(prepared.name, [so_far, *operands], [self._sums_type])
        self._thread.commit_products()
        return [so_far]

    def by_rows(self, sums: Sequence[ir.Value]) -> list[list[ir.Value]]:
        """As `WarpTile` says."""
        return super().by_rows(self._fragments(sums))

    def scaled(self, sums: Sequence[ir.Value], factors: Sequence[ir.Value]) -> list[ir.Value]:
        """As `WarpTile` says."""
        (all_,) = sums
        for number in range(self._columns // 2):
            value = llvm.extractvalue(self._product.summed_in, all_, [number])
            factor = factors[number // 2 % 2]
            all_ = llvm.insertvalue(all_, arith.mulf(value, factor), [number])
        return [all_]

    def put(self, part: int, sums: Sequence[ir.Value], put: Put) -> None:
        """As `WarpTile` says."""
        super().put(part, self._fragments(sums), put)

    def _fragments(self, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """The sums of each 8 columns."""
        (all_,) = sums
        values = [
            llvm.extractvalue(self._product.summed_in, all_, [number])
            for number in range(self._columns // 2)
        ]
        return [
            vector.from_elements(self._sums, values[first : first + 4])
            for first in range(0, len(values), 4)
        ]


def _descriptors(
    tile: SwizzledTile, staged: Staged, further: ir.Value, depths: Iterable[int]
) -> list[ir.Value]:
    """Of a stage, from so many bytes on, where the summed elements of each instruction begin."""
    start = memref.extract_aligned_pointer_as_index(staged.buffer)
    stage = arith.muli(staged.number, index(tile.stage_bytes))
    address = arith.addi(arith.addi(start, stage), further)
    i64 = ir.IntegerType.get_signless(64)
    units = arith.divui(arith.index_cast(i64, address), arith.constant(i64, _UNIT))
    mask = arith.constant(i64, (1 << _ADDRESS_BITS) - 1)
    first = arith.ori(arith.andi(units, mask), arith.constant(i64, tile.descriptor))
    return [
        arith.addi(first, arith.constant(i64, tile.distance(0, depth) // _UNIT)) for depth in depths
    ]


def _sums_type(columns: int) -> ir.Type:
    """Of what a thread has of 64 rows by so many columns."""
    return llvm.StructType.get_literal([ir.F32Type.get()] * (columns // 2))


_TYPES = "f16", "bf16"

_LAYOUTS = {True: "row", False: "col", None: "registers"}, {True: "col", False: "row"}
"""Of the left and of the right operand, which is along the sums, is not, or is in registers."""


def _layouts(along_sums: Sequence[bool | None]) -> list[str]:
    return [names[along] for names, along in zip(_LAYOUTS, along_sums, strict=True)]  # type: ignore[index]


def _name(columns: int, element: object, along_sums: Sequence[bool | None]) -> str:
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


def _product_of_registers(
    columns: int, element: str, along_sums: bool, sums: ir.Value, left: ir.Value, right: ir.Value
) -> llvm.InlineAsmOp:
    """The same of a left operand in registers, for which NVVM has no operation."""
    f32, i32 = ir.F32Type.get(), ir.IntegerType.get_signless(32)
    count = columns // 2
    values = [llvm.extractvalue(f32, sums, [number]) for number in range(count)]
    words = vector.bitcast(ir.VectorType.get([WORDS, 1], i32), left)
    values += [vector.extract(words, [], [number, 0]) for number in range(WORDS)]
    places = [f"${number}" for number in range(2 * count + WORDS + 1)]
    results, (*lefts, descriptor) = places[:count], places[2 * count :]
    text = (
        f"wgmma.mma_async.sync.aligned.m{_ROWS}n{columns}k{_DEPTH}.f32.{element}.{element} "
        f"{{{', '.join(results)}}}, {{{', '.join(lefts)}}}, {descriptor}, 1, 1, 1, "
        f"{int(not along_sums)};"
    )
    constraints = ["=f"] * count + [str(number) for number in range(count)] + ["r"] * WORDS
    return llvm.InlineAsmOp(
        sums.type, [*values, right], text, ",".join([*constraints, "l"]), has_side_effects=True
    )


PRODUCT_STAND_INS = {
    **{
        _name(columns, element, along_sums): partial(_product, columns, element, along_sums)
        for columns in range(8, 257, 8)
        for element in _TYPES
        for along_sums in product((True, False), repeat=2)
    },
    **{
        _name(columns, element, (None, along)): partial(
            _product_of_registers, columns, element, along
        )
        for columns in range(8, 257, 8)
        for element in _TYPES
        for along in (True, False)
    },
}
"""Functions that stand for instructions, as `launches.STAND_INS`."""
