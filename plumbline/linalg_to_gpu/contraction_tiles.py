"""Which contractions are done by tiles in shared memory, and of what tiles.

A contraction is a product of matrices, or a batch of such: rows of the result move the left
operand, columns the right one, and both are summed along a third direction. Each of these is a
number of loops, so that convolutions are of this kind too, as implicit products: what would be a
matrix of all windows is read from the image where it lies.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from torch_mlir import ir

from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    composed,
    is_copy,
    is_in_memory,
    is_tensor,
    is_widening,
    loops_in,
    number_everywhere,
    seen_through,
)
from plumbline.linalg_to_kernels.contraction_groups import (
    is_large_sum_of_products,
    root_axes,
    sum_at_root,
)
from plumbline.linalg_to_kernels.group import Group
from plumbline.linalg_to_kernels.layouts import is_contiguous, layout_of
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.products import Access, access_of
from plumbline.signature.signature import DEVICE_ALIGNMENT
from plumbline.target.gpu_chip import GpuChip

VECTOR_BYTES = DEVICE_ALIGNMENT
"""The most that a thread reads or writes at once: buffers begin where it may."""

ASYNCHRONOUS_BYTES = (16, 8, 4)
"""What a thread can have copied to shared memory by itself."""

_USUAL = 1024
"""What sizes that are not known are taken for."""

FEW = 16
"""Rows or columns below which a tile is too much,"""

_LEAST, _MANY = 4, 64
"""unless they are so many next to so many, each of which is then read once for all of them, and no
windows, which are read from caches."""

_CACHED = 64 << 20
"""What is read again comes from a cache, by up to so many bytes: that is as fast as the products of
a tile by `fma` most of whose rows are not there."""


_SCHEDULERS = 4
"""Of a multiprocessor: as many warps are executed at once."""


_PARTS = 2
"""So that a part of the sums takes no more shared memory than the operands did."""


class Instruction(Enum):
    """What multiplies and adds."""

    FMA = "fma"
    """Of each thread, for the products of its own rows and columns."""
    MMA = "mma"
    """Of the tensor cores, for a warp."""
    WGMMA = "wgmma"
    """Of the tensor cores, for four warps, which go on meanwhile."""


_LEAST_SUMMED = 64
"""Elements that a part of the sums has at least."""


@dataclass(frozen=True)
class Tile:
    """What a block of threads does at once: a part of the result, and a part of the sums."""

    rows: int
    columns: int
    warp_rows: int
    """A warp's part of it."""
    warp_columns: int
    efficiency: float
    """How fast many of them are, next to one of 128 by 128 by `fma`."""

    @property
    def threads(self) -> int:
        """Of a block."""
        return 32 * (self.rows // self.warp_rows) * (self.columns // self.warp_columns)


TILES = {
    Instruction.FMA: (
        Tile(128, 128, 32, 64, 1.0),
        Tile(128, 64, 32, 64, 0.85),
        Tile(64, 128, 32, 64, 0.85),
        Tile(64, 64, 32, 64, 0.7),
        Tile(32, 64, 32, 64, 0.5),
    ),
    Instruction.MMA: (
        # The largest that have their sums in registers, as those of cuBLAS for large matrices.
        Tile(128, 256, 64, 64, 1.2),
        Tile(256, 128, 64, 64, 1.2),
        Tile(128, 128, 64, 64, 1.08),
        Tile(128, 128, 64, 32, 0.85),
        Tile(128, 64, 64, 32, 0.8),
        Tile(64, 128, 64, 32, 0.8),
        Tile(64, 64, 32, 32, 0.65),
        Tile(32, 64, 32, 32, 0.5),
    ),
    Instruction.WGMMA: (
        Tile(128, 256, 16, 256, 1.0),
        Tile(256, 128, 16, 128, 0.97),
        Tile(128, 128, 16, 128, 0.8),
        Tile(128, 64, 16, 64, 0.47),
        Tile(64, 128, 16, 128, 0.5),
        Tile(64, 64, 16, 64, 0.45),
    ),
}
"""The tiles that there are, the one that reads each element the least often first.

Efficiencies of large ones are those of products of 4096 by 4096, and 8192 by 1024 by 4096, on an
H100; of those of warp groups the former, on an H200.
"""

_SUMMED_BYTES = {Instruction.FMA: 32, Instruction.MMA: 64, Instruction.WGMMA: 128}
"""How much of a line a tile has in the direction of the sums."""

_DEEP_STAGES = 3
"""If there is shared memory for so many stages of twice that depth, a tile has these: it waits for
others half as often, which made products on tensor cores a tenth faster."""

_ALONE = 1.3
"""How much longer a warp takes that its scheduler has no other beside."""

_PRODUCTS = {Instruction.FMA: 4e4, Instruction.MMA: 2.8e5, Instruction.WGMMA: 7.8e5}
"""How many of rows, columns and summed elements a warp does in a microsecond, of four that run at
once: at an efficiency of 1, on an H100."""

_LAUNCH = 2.0
"""How many microseconds a further launch takes."""

_BYTES = 3e6
"""How many go to memory, or come from there, in a microsecond."""


@dataclass(frozen=True)
class Operand:
    """An operand as it lies in memory."""

    value: ir.Value
    indices: Indices
    """Where an element is, by the loops of the contraction,"""
    offsets: tuple[int, ...]
    """and what is added to each of these."""
    lines: tuple[int, ...]
    """The loops along its rows, of the left operand, or columns, of the right one."""
    along_sums: bool
    """Whether its elements are contiguous along the sums, rather than from line to line."""
    vector: int
    """How many elements are contiguous, and aligned as one."""
    factor: float
    """What the products are multiplied by, as each element was to be."""
    scattered: frozenset[int]
    """The loops that it does not go by one stride along."""

    @property
    def element(self) -> ir.Type:
        """The type of an element."""
        return ir.RankedTensorType(self.value.type).element_type


@dataclass(frozen=True)
class TileProduct:
    """The product of a block's tiles, as its warps take it."""

    instruction: Instruction
    tile: Tile
    elements: tuple[ir.Type, ir.Type]
    """Of the left and the right operand."""
    along_sums: tuple[bool, bool]
    """Whether elements are contiguous along the sums in memory, rather than from line to line."""
    summed_in: ir.Type
    """The type that products are added up in."""
    parts: int
    """In how many parts the sums go to shared memory."""
    summed: int | None = None
    """How many summed elements a stage has, if not as many as is usual."""
    behind: int = 0
    """How many stages before may still be multiplied when the products of one are begun."""

    @property
    def depth(self) -> int:
        """How many summed elements a stage has."""
        if self.summed is not None:
            return self.summed
        widest = max(map(element_bytes, self.elements))
        return max(_SUMMED_BYTES[self.instruction] // widest, 4)


@dataclass(frozen=True)
class TiledContraction:
    """A group that is a contraction, and the tiles that it is done by."""

    group: Group
    contraction: Computation
    axes: tuple[int | None, ...]
    """For each axis of the root's result the loop of the contraction along it."""
    left: Operand
    right: Operand
    batches: tuple[int, ...]
    summed: tuple[int, ...]
    product: TileProduct
    parts: int
    """In how many parts the sums are done, each by other blocks: so there are enough of these."""
    shared_bytes: int
    """How much shared memory a block may take."""

    @property
    def rounds(self) -> int | None:
        """How many stages a block adds up; None if that is not known."""
        sizes = [self.contraction.sizes[loop] for loop in self.summed]
        if DYNAMIC in sizes:
            return None
        return math.ceil(math.prod(sizes) / self.parts / self.product.depth)

    @property
    def partials_type(self) -> ir.MemRefType:
        """Of what the parts come to: by part, batch, row and column, all of which are known."""
        lines = (self.batches, self.left.lines, self.right.lines)
        shape = [usual_product(self.contraction.sizes, loops) for loops in lines]
        return ir.MemRefType.get([self.parts, *shape], self.product.summed_in)


def tiled_contraction(group: Group, chip: GpuChip) -> TiledContraction | None:
    """How a group is done by tiles; None if it is not a contraction, or too small a one."""
    contraction = group.steps[0]
    if not chip.has_asynchronous_copies or not is_large_sum_of_products(contraction):
        return None
    if len(group.steps) > 2 or group.outputs != frozenset(group.root.results):
        return None
    axes = root_axes(group, contraction) if len(group.root.results) == 1 else None
    if axes is None:
        return None
    count = len(contraction.reduces)
    origins = []
    for value, map_ in zip(contraction.inputs, contraction.maps, strict=False):
        origin = origin_of(group, value, composed(map_, contraction.loops, count), count)
        if origin is None:
            return None
        origins.append(origin)
    sum_ = sum_at_root(contraction, (origins[0].access, origins[1].access), axes)
    # Bytes without a sign are for instructions of CPUs.
    if sum_ is None or sum_.turned is not None:
        return None
    if not all(
        origin.is_apart(sum_.batches, lines, sum_.summed)
        for origin, lines in ((origins[sum_.left], sum_.rows), (origins[sum_.right], sum_.columns))
    ):
        return None
    sizes = [
        usual_product(contraction.sizes, loops) for loops in (sum_.batches, sum_.rows, sum_.columns)
    ]
    result = ir.RankedTensorType(contraction.results[0].type).element_type
    instruction = instruction_for(contraction, [origin.element for origin in origins], chip)
    if instruction is None:
        return None
    are_windows = any(origin.access.has_windows for origin in origins)
    if min(sizes[1:]) < FEW and (
        are_windows or not _is_worth_few(contraction, instruction, sizes, sum_.summed)
    ):
        return None
    summed, (left, right) = best_order(
        contraction.sizes,
        sum_.summed,
        (origins[sum_.left], sum_.rows),
        (origins[sum_.right], sum_.columns),
    )
    is_half = isinstance(result, ir.FloatType) and result.width == 16
    loops = (*sum_.batches, *left.lines, *right.lines, *summed)
    is_known = all(contraction.sizes[loop] != DYNAMIC for loop in loops)
    length = usual_product(contraction.sizes, summed)
    instructions = [instruction]
    if suits_warp_groups(instruction, (left, right), chip):
        instructions.append(Instruction.WGMMA)
    instruction, tile, parts = _tile_and_parts(instructions, sizes, length, chip, in_parts=is_known)
    product = TileProduct(
        instruction,
        tile,
        (left.element, right.element),
        (left.along_sums, right.along_sums),
        ir.F32Type.get() if is_half else result,
        1 if instruction is Instruction.WGMMA else _PARTS,
        _deep(instruction, tile, (left, right), chip),
        int(instruction is Instruction.WGMMA),
    )
    return TiledContraction(
        group,
        contraction,
        axes,
        left,
        right,
        sum_.batches,
        summed,
        product,
        parts,
        chip.shared_bytes,
    )


def _is_worth_few(
    contraction: Computation, instruction: Instruction, sizes: Sequence[int], summed: Sequence[int]
) -> bool:
    """Whether a few rows or columns are done by tiles."""
    few, many = sorted(sizes[1:])
    if few < _LEAST or many < _MANY:
        return False
    element = ir.RankedTensorType(contraction.results[0].type).element_type
    elements = sizes[0] * few * many * usual_product(contraction.sizes, summed)
    return instruction is Instruction.MMA or elements * element_bytes(element) > _CACHED


_FACTORS = 2
"""Of a product. A square may have one."""


def scaling(member: Computation) -> tuple[ir.Value, ir.AffineMap, float] | None:
    """What a computation multiplies by one number, if it does nothing else, and by which."""
    if member.is_reduction or member.body_names != ("arith.mulf",) or len(member.results) != 1:
        return None
    if set(member.body_ops[0].operands) != set(member.body.arguments[: len(member.inputs)]):
        return None
    if len(member.inputs) != _FACTORS:
        return None
    for number, value in enumerate(member.inputs):
        factor = number_everywhere(value)
        other = member.inputs[1 - number]
        if factor is not None and is_tensor(other):
            return other, member.maps[1 - number], ir.FloatAttr(factor).value
    return None


def is_free(member: Computation) -> bool:
    """Whether a contraction's tiles do to their operands for nothing what a computation does."""
    return is_copy(member) or is_widening(member) or scaling(member) is not None


@dataclass(frozen=True)
class Origin:
    """The tensor in memory that an operand is made of, for nothing."""

    value: ir.Value
    indices: Indices
    """Where an element is, by loops,"""
    offsets: tuple[int, ...]
    """and what is added to each of these, as of parts of a tensor."""
    access: Access
    scattered: frozenset[int]
    """The loops that elements are not one stride apart along, but by quotients: heads that share
    keys."""
    factor: float
    """What elements are multiplied by."""

    @property
    def chunks(self) -> Mapping[int, int]:
        """Of scattered loops those along which so many elements are contiguous, and more elsewhere.

        So do the rows of heads that attention gives.
        """
        *others, last = self.indices
        match last.maybe_downcast():
            case ir.AffineModExpr(
                lhs=ir.AffineDimExpr() as dim, rhs=ir.AffineConstantExpr() as size
            ):
                pass
            case _:
                return {}
        used = [at for at in others if dim.position in loops_in(at)]
        is_chunk = all(_is_quotient(at, dim, size.value) for at in used)
        return {dim.position: size.value} if is_chunk else {}

    def is_apart(self, *loops: tuple[int, ...]) -> bool:
        """Whether each place along an axis is by loops of one of these kinds, or a sum of such."""
        kinds = [frozenset(some) for some in loops]
        return all(
            not self.scattered & loops_in(at) or any(loops_in(at) <= kind for kind in kinds)
            for at in self.indices
        )

    @property
    def element(self) -> ir.Type:
        """The type of an element in memory."""
        return ir.RankedTensorType(self.value.type).element_type


def _is_quotient(expression: ir.AffineExpr, dim: ir.AffineDimExpr, size: int) -> bool:
    """Whether an expression is the same for `size` iterations of a loop, and then another one."""
    match expression.maybe_downcast():
        case ir.AffineFloorDivExpr(lhs=lhs, rhs=ir.AffineConstantExpr() as divisor):
            return bool(lhs == dim) and divisor.value % size == 0
    return False


def origin_of(group: Group, value: ir.Value, indices: Indices, count: int) -> Origin | None:
    """Where an operand comes from, of which `indices` are by `count` loops; None if it costs."""
    is_widened, factor = False, 1.0
    while True:
        # Of some reshapes places are quotients: such an operand is read as it is reshaped.
        reshaped = value, indices
        value, indices = seen_through(value, indices)
        producer = group.producer(value)
        if producer is None:
            for source, places in ((value, indices), reshaped):
                terms, offsets = zip(*map(_without_offset, places), strict=True)
                access, scattered = _access(terms, count)
                if is_in_memory(value) and (not scattered or source == reshaped[0]):
                    return Origin(source, terms, offsets, access, scattered, factor)
            return None
        if not is_free(producer):
            return None
        loops = producer.loops_for(indices)
        if scaled := scaling(producer):
            value, map_, times = scaled
            factor *= times
        else:
            widens = is_widening(producer)
            if (widens and is_widened) or len(producer.inputs) != 1:
                return None
            is_widened = is_widened or widens
            value, map_ = producer.inputs[0], producer.maps[0]
        if not is_tensor(value):
            return None
        indices = composed(map_, loops, count)


def _without_offset(expression: ir.AffineExpr) -> tuple[ir.AffineExpr, int]:
    """A place by loops alone, and what else is added to it."""
    match expression.maybe_downcast():
        case ir.AffineConstantExpr() as constant:
            return ir.AffineConstantExpr.get(0), int(constant.value)
        case ir.AffineAddExpr() as both:
            (left, one), (right, other) = map(_without_offset, (both.lhs, both.rhs))
            return left + right, one + other
    return expression, 0


def _access(indices: Indices, count: int) -> tuple[Access, frozenset[int]]:
    """How loops move through a tensor, and by which of them that is through quotients."""
    axes: list[tuple[tuple[int, int], ...]] = []
    scattered: set[int] = set()
    for at in indices:
        plain = access_of(ir.AffineMap.get(count, 0, [at]))
        if plain is None:
            scattered |= loops_in(at)
        axes += plain.axes if plain else [tuple((loop, 1) for loop in sorted(loops_in(at)))]
    return Access(tuple(axes)), frozenset(scattered)


def usual_product(sizes: Sequence[int], loops: Sequence[int]) -> int:
    """How many iterations loops have together, with a usual number for what is not known."""
    return math.prod(_USUAL if sizes[loop] == DYNAMIC else sizes[loop] for loop in loops)


def instruction_for(
    contraction: Computation, types: Sequence[ir.Type], chip: GpuChip
) -> Instruction | None:
    """What multiplies elements of such types for a contraction; None if no tile can."""
    result = ir.RankedTensorType(contraction.results[0].type).element_type
    if any(name == "arith.truncf" for name in contraction.body_names):
        return None
    if any(element_bytes(type_) * 8 != type_.width for type_ in (*types, result)):
        return None
    if not chip.has_tensor_cores or types[0] != types[1]:
        return Instruction.FMA
    sums_up = (types[0], result)
    f32, i32 = ir.F32Type.get(), ir.IntegerType.get_signless(32)
    if types[0] in (ir.F16Type.get(), ir.BF16Type.get()) and result in (types[0], f32):
        return Instruction.MMA
    if sums_up == (ir.IntegerType.get_signless(8), i32):
        return Instruction.MMA
    if sums_up == (f32, f32) and chip.allows_tf32:
        return Instruction.MMA
    return Instruction.FMA


def suits_warp_groups(instruction: Instruction, operands: Sequence[Operand], chip: GpuChip) -> bool:
    """Whether four warps can multiply together what one could.

    Elements of 2 bytes may lie either way in shared memory, to which they go by themselves.
    """
    if instruction is not Instruction.MMA or not chip.has_warp_group_products:
        return False
    are_half = all(element_bytes(operand.element) == 2 for operand in operands)
    return are_half and _least_at_once(operands) == VECTOR_BYTES


def _least_at_once(operands: Sequence[Operand]) -> int:
    """How many bytes are contiguous, and aligned as one, of each operand at least."""
    return min(operand.vector * element_bytes(operand.element) for operand in operands)


def _tile_and_parts(
    instructions: Sequence[Instruction],
    sizes: Sequence[int],
    summed: int,
    chip: GpuChip,
    *,
    in_parts: bool,
) -> tuple[Instruction, Tile, int]:
    """What a contraction takes the least time by: instruction, tile, and parts of the sums.

    Args:
      instructions: what can multiply.
      sizes: how many batches, rows and columns there are.
      summed: how many elements are summed.
      chip: what it is done on.
      in_parts: whether there may be several parts, each by other blocks.
    """
    elements = math.prod(sizes)

    def microseconds(choice: tuple[Instruction, Tile, int]) -> float:
        instruction, tile, parts = choice
        blocks = math.ceil(_tiles(tile, sizes) * parts / chip.multiprocessors)
        turns = math.ceil(blocks * tile.threads / 32 / _SCHEDULERS)
        once = tile.warp_rows * tile.warp_columns / tile.efficiency * (_ALONE if turns == 1 else 1)
        products = turns * once * math.ceil(summed / parts)
        # What parts come to is written, and read once more.
        further = _LAUNCH + 2 * parts * elements * 4 / _BYTES if parts > 1 else 0
        return products / _PRODUCTS[instruction] + further

    return min(
        (
            (instruction, tile, parts)
            for instruction in instructions
            for tile in TILES[instruction]
            for parts in range(1, 1 + (_most_parts(tile, sizes, summed, chip) if in_parts else 1))
        ),
        key=microseconds,
    )


def _tiles(tile: Tile, sizes: Sequence[int]) -> int:
    """How many tiles a result has."""
    batches, rows, columns = sizes
    return batches * math.ceil(rows / tile.rows) * math.ceil(columns / tile.columns)


def _most_parts(tile: Tile, sizes: Sequence[int], summed: int, chip: GpuChip) -> int:
    """In how many parts sums may be done, so that no multiprocessor has two."""
    idle = chip.multiprocessors // _tiles(tile, sizes)
    return max(min(idle, summed // _LEAST_SUMMED), 1)


def _deep(
    instruction: Instruction, tile: Tile, operands: Sequence[Operand], chip: GpuChip
) -> int | None:
    """How many summed elements a stage has, if it is to have twice as many as is usual.

    So it is where stages find room, and are copied by few instructions.
    """
    if instruction is not Instruction.MMA or _least_at_once(operands) < VECTOR_BYTES:
        return None
    line = 2 * _SUMMED_BYTES[instruction]
    stage = (tile.rows + tile.columns) * (line + VECTOR_BYTES)
    widest = max(element_bytes(operand.element) for operand in operands)
    return line // widest if _DEEP_STAGES * stage <= chip.shared_bytes else None


def best_order(
    sizes: Sequence[int],
    summed: tuple[int, ...],
    left: tuple[Origin, tuple[int, ...]],
    right: tuple[Origin, tuple[int, ...]],
) -> tuple[tuple[int, ...], tuple[Operand, Operand]]:
    """The summed loops in an order in which most elements are read at once, and both operands.

    Args:
      sizes: of all loops.
      summed: those along the sums.
      left: where the left operand is from, and its loops along rows.
      right: the same of the right one, and columns.
    """
    best: tuple[int, tuple[int, ...], tuple[Operand, Operand]] | None = None
    for order in _orders(summed):
        operands = _operand(sizes, *left, order), _operand(sizes, *right, order)
        score = sum(operand.vector * element_bytes(operand.element) for operand in operands)
        if best is None or score > best[0]:
            best = score, order, operands
    assert best is not None
    return best[1:]


def _orders(summed: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """As they are, and with each of the others last."""
    yield summed
    for loop in summed[:-1]:
        yield (*(other for other in summed if other != loop), loop)


def _operand(
    sizes: Sequence[int], origin: Origin, lines: tuple[int, ...], summed: tuple[int, ...]
) -> Operand:
    factors = _factors(origin)
    found = []
    for along_sums, loops in ((True, summed), (False, lines)):
        run = _run(sizes, origin, factors, loops)
        vector = _vector(sizes, origin, run) if run else 1
        found.append((vector, usual_product(sizes, run), along_sums))
    vector, _, along_sums = max(found)
    return Operand(
        origin.value,
        origin.indices,
        origin.offsets,
        lines,
        along_sums,
        vector,
        origin.factor,
        origin.scattered,
    )


def _run(
    sizes: Sequence[int], origin: Origin, factors: dict[int, int | None], loops: Sequence[int]
) -> list[int]:
    """Those of nested loops, the inner ones, that go through contiguous elements together.

    Loops that run once move nowhere.
    """
    run: list[int] = []
    length = 1
    for loop in reversed([loop for loop in loops if sizes[loop] != 1]):
        if loop in origin.scattered:
            return run or ([loop] if loop in origin.chunks else [])
        if factors.get(loop) != length or (run and sizes[loop] == DYNAMIC):
            break
        run.append(loop)
        if sizes[loop] == DYNAMIC:
            break
        length *= sizes[loop]
    return run


def _factors(origin: Origin) -> dict[int, int | None]:
    """By how many elements each loop moves; None where that is not known."""
    strides, _ = layout_of(origin.value).get_strides_and_offset()
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    factors: dict[int, int | None] = {}
    for terms, stride in zip(origin.access.axes, strides, strict=True):
        for loop, times in terms:
            before = factors.get(loop, 0)
            is_known = stride != unknown and before is not None
            factors[loop] = before + times * stride if is_known and before is not None else None
    return factors


def _steps(origin: Origin, *, but_last: bool = False) -> dict[int, int]:
    """Of each loop a number that divides by how many elements it moves, in a contiguous tensor.

    Where sizes are not known, strides are still multiples of those that are. With `but_last` it is
    of moves along all axes but the last.
    """
    steps: dict[int, int] = {}
    axes = [*zip(origin.access.axes, _axis_steps(origin), strict=True)]
    for terms, step in axes[:-1] if but_last else axes:
        for loop, times in terms:
            steps[loop] = math.gcd(steps.get(loop, 0), times * step)
    return steps


def _first(origin: Origin) -> int:
    """A number that divides where the first element is, as `_steps` has it of others."""
    offsets = zip(origin.offsets, _axis_steps(origin), strict=True)
    return math.gcd(*(offset * step for offset, step in offsets))


def _axis_steps(origin: Origin) -> list[int]:
    """Of each axis its stride, or where that is not known what it is a multiple of."""
    strides, _ = layout_of(origin.value).get_strides_and_offset()
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    steps: list[int] = []
    known = 1
    shape = list(ir.RankedTensorType(origin.value.type).shape)
    for stride, size in zip(reversed(strides), reversed(shape), strict=True):
        steps.append(known if stride == unknown else stride)
        known *= 1 if size == DYNAMIC else size
    return steps[::-1]


def _vector(sizes: Sequence[int], origin: Origin, run: Sequence[int]) -> int:
    """How many elements along a run of loops can be copied as one: never a part of them."""
    lengths = [origin.chunks.get(loop, sizes[loop]) for loop in run]
    if DYNAMIC in lengths or not is_contiguous(layout_of(origin.value)):
        return 1
    others = [step for loop, step in _steps(origin).items() if loop not in run and sizes[loop] != 1]
    # From one of its chunks to the next, a loop of the run moves as well.
    chunks = _steps(origin, but_last=True)
    others += [step for loop, step in chunks.items() if loop in run and loop in origin.chunks]
    others.append(_first(origin))
    for whole in ASYNCHRONOUS_BYTES:
        count = whole // element_bytes(origin.element)
        if count > 1 and not any(amount % count for amount in (math.prod(lengths), *others)):
            return count
    return 1
