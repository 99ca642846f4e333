"""Chooses how a contraction is computed, from what is known of it before it runs.

The plan is plain data, so that contractions with equal plans share one kernel.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from torch_mlir import ir

from plumbline.linalg_to_kernels.building import LINE
from plumbline.linalg_to_kernels.dot_instructions import (
    REGISTER_ROWS,
    DotInstruction,
    TileInstruction,
    dot_instruction,
    tile_instruction,
)
from plumbline.linalg_to_kernels.pads import Pads
from plumbline.linalg_to_kernels.plane_strips import Strip, strip_of_windows
from plumbline.linalg_to_kernels.planned_memory import buffer_bytes
from plumbline.linalg_to_kernels.products import DYNAMIC, Access, SumOfProducts, product_of
from plumbline.linalg_to_kernels.register_tile import (
    RegisterTile,
    amx_tile,
    cycles,
    register_tile,
    rows_in_line,
    streaming_tile,
)
from plumbline.linalg_to_kernels.strides import Groups, groups_of, static_stride
from plumbline.linalg_to_kernels.window_zeros import WindowZeros, window_zeros
from plumbline.signature.packed_layout import PackedLayout
from plumbline.target.vector_unit import VectorUnit


class RightOperand(Enum):
    """How the micro-kernel finds the right operand."""

    IN_PLACE = "in place"
    PACKED = "packed"
    """In panels, before the program runs, as `ContractionPlan.packed_layout` says."""
    COPIED = "copied"
    """It is packed by the kernel, panel by panel, by vectors along columns; an image, by strips."""
    TRANSPOSED = "transposed"
    """So too, by squares of vectors along the innermost summed elements."""
    GATHERED = "gathered"
    """So too, element by element."""


class Strategy(Enum):
    """The builder."""

    REGISTER_TILES = "register tiles"
    AMX_TILES = "AMX tiles"
    """Register tiles of what registers for matrices hold."""
    DOT_PRODUCTS = "dot products"
    """Vectors along the summed elements, for few rows: the right operand is read once, in place."""
    WEIGHTED_ROWS = "weighted rows"
    """Sums of rows of the right operand, for few rows: it is read once, in place, along columns."""
    DEPTHWISE = "depthwise"
    """Several rows of a plane at once; there `rows` and `columns` both move the right operand. It
    is read in place, or copied if it is padded, strided or converted."""


_FEW_ROWS, _FEW_OF_CONVERTED = 6, 2
"""Up to how many rows dot products win, where the right operand lies along the summed elements; the
second where its elements are of another type, as each row converts them anew. Of 4 rows by 768x768
they take 0.46 of the time of tiles, for which that operand is transposed, of 6 rows 0.70, of 4 rows
of bf16 1.3 (AMD Zen 1)."""

_FEW_BITS = 10 * 32
"""Up to how many bits of a column of the result sums of rows win, where the right operand lies
along columns. Of the time of tiles 1 row of f32 by 768x3072 takes 0.6, 4 rows half, 8 and 10 rows
0.9, 12 rows 1.2; by 4096x1024, each row of which is a page of memory, 8 rows half; 5 rows of f64
take less than half (AMD Zen 1). Of what stays in a second cache tiles win: by 16x16 sums of 5 rows
took 1.4 times as long."""

_UNPACKED_ROWS, _UNPACKED_ROWS_OF_LINES = 2, 10
"""Up to how many tiles of rows a right operand is read in place rather than copied: the second
where a row of a panel is several cache lines, or windows of an image. By 768x3072, 1024x1024 and
4096x1024, 18 rows take 0.72 to 0.86 of the time so, 48 rows 0.92 to 0.98, and 96 rows 1.04 to 1.09
(AMD Zen 5, AVX-512); with AVX2, where it is one line, 24 rows take 1.2 to 1.3. Convolutions of 16
channels to 32, by 3x3 or 9 elements, take 0.81 to 0.84, with AVX2 0.95 to 1.0."""

_SEVERAL_LINES = 3
"""How many of a row of a panel."""

_WINDOW_ROWS, _SHORT_WINDOW_ROWS = 4, 8
"""How many rows of a plane are computed at once, at most; the second where rows are short.

More of long rows are more than are fetched ahead: 8 of 112 elements took 1.5 times as long. Of 14
elements, with windows of 7x7, it was 4 rows that took 1.2 times as long.
"""

_SHORT = 2
"""How many vectors a short row is, at most."""

_WINDOW_STRIDE = 4
"""The most elements from one window to the next."""

_USUAL, _USUAL_OF_SEVERAL = 256, 14
"""What a size that is not known is taken for, and each of several of rows or columns: of images.

What suits planes of 14x14 is good for larger ones as well; what suits those of 256x256 took twice
as long for 7x7, of 960 channels or more, and 1.25 times as long for 14x14; windows of 3x3 for 5x5
planes took 11 times as long (AMD EPYC, AVX-512).
"""

_FEW, _NO_LONGER = 8, 1.25
"""What a single size that is not known is taken for as well, where plans take no longer than that
for the usual one.

Its rows in the lanes of a vector, a linear layer of 400 to 300 takes as long for 2 rows as for 64:
25 times as long as by rows (AMD Zen 5, AVX-512).
"""

_LINE_OF_IMAGE, _MASKED = 160, 1.3
"""How long a row of an image that is not small is taken to be, which the least panels of tiles are
to waste; and how much longer products take where panels lie along rows than tiles of them do, as
the last one of each row has lanes that are none of the row's: convolutions of 3x3 elements of 16
channels are as fast by panels from rows of 48 on, of 8 channels, in groups, from 20 on (AMD Zen 5,
AVX-512)."""

_LINES = 2048
"""Of how many cache lines a tile may use a part before they are gone when the next tile comes."""

_FAR_APART = 2.5
"""How much longer products take if more elements of the left operand are each in such a line.

Not those of windows, which share their lines with windows beside them: of 3x3 elements that are 2
apart, of 256 channels of 33x33, panels of whole rows of windows took 2.2 times as long (AMD EPYC,
AVX-512), of 6x8 planes 6 times.
"""

_FAR, _FROM_FAR = 1 << 20, 1.3
"""From how many bytes on of a left operand that is read for each panel, a piece of a cache line at
a time, products take so much longer. Those of 32 to 128 rows by 512x1024, 768x3072, 1000x1000 and
1024x1024 take 1.2 to 1.7 times as long where the matrix is the left operand, transposed, by 512x512
as long (AMD Zen 1)."""

_UNPACKED_FROM_FAR = 1.1
"""How much longer products take if so large a left operand could lie packed as a right one: of 64
rows by weights of 4096x1024, 1024x4096 and 768x3072 they take 1.1 to 1.2 times as long where the
weights are read row by row (AMD Zen 5, AVX-512 and AVX2)."""

_SUMMED_AT_ONCE = 256
"""How many products are added up one after the other: of sums of sums the error is less. Of 4096
added up one after the other it was five times PyTorch's."""

_SUMMED_BY_AMX = 256
"""The same by AMX: their part of a panel takes a third of a first cache."""

_COPIED_FOR = 8
"""From how many panels on AMX has the left operand copied even if it is at hand row by row."""

_SUMMED_IN_LINES = 128
"""The same where each is in a cache line of its own of the left operand, so that a tile of them and
their part of a panel are in the first cache: of 256 a 1x1 convolution of 7x7 planes took 1.2 times
as long (AMD Zen 3)."""

SUM_BYTES = 4
"""Of one of the sums of a chunk of rows that wait for their next block. There are as many as a
kernel may have on the stack: those of some tens of tiles, by which what it takes to bring the
block's part of a panel is shared."""

_WINDOWS_AT_ONCE = 3 << 17
"""Bytes of windows that stay in a second cache, of at least 512 kB, until the next panel comes to
them. A 3x3 convolution with stride 2 of 128 channels of 56x56 takes 0.95 of the time by chunks of
half as many rows (AMD Zen 3)."""

_NEAR = 1 << 18
"""Bytes of an operand that stay in a second cache until it is gone over again."""

_LEAST_CHUNKS = 4
"""Fewer leave threads without work, if chunks are what they share."""

_LEAST_USES = 4
"""For how many panels a left operand is copied of which each element has a cache line of its own,
or half of one: such are images that a 1x1 convolution goes over with a stride. That of 14x14 planes
of 1024 channels takes 0.7 of the time, of 56x56 of 256 channels 0.85 (AMD Zen 3)."""

_LEAST_USES_AT_ONCE = 2
"""The same where that has summed elements lie side by side which are multiplied several at once."""

_COPYING = 1.5
"""Cycles for an element of the left operand, if it is copied."""

_COPYING_FROM_FAR = 8
"""The same for a line of one that AMX takes, if it is so large that it is not near."""

_BEGINNING, _CONFIGURING = 1000, 250
"""Cycles that a kernel by AMX takes for memory of its copy, and to tell the CPU of its registers'
sizes for each panel of a chunk."""

_CONVERTING = 0.5
"""The same, if it is only converted."""

_TRANSPOSING = 6
"""Cycles for a vector that is loaded, transposed among others, and stored."""

_PACKING: dict[RightOperand, Callable[[int], float]] = {
    RightOperand.IN_PLACE: lambda lanes: 0,
    RightOperand.PACKED: lambda lanes: 0,
    RightOperand.COPIED: lambda lanes: 1.5 / lanes,
    RightOperand.TRANSPOSED: lambda lanes: _TRANSPOSING / lanes,
    RightOperand.GATHERED: lambda lanes: 2,
}
"""Cycles for an element of the right operand, by how many a vector holds."""


@dataclass(frozen=True)
class ContractionPlan:
    """What a kernel for a contraction is built from.

    `left` and `right` are operand numbers. A tile's rows run along the loops `rows`, its columns
    along `columns`. Loops of one turn are in neither.
    """

    sum: SumOfProducts
    left: int
    right: int
    strategy: Strategy
    tile: RegisterTile
    right_operand: RightOperand
    batches: tuple[int, ...]
    """The loops outside panels."""
    row_batches: tuple[int, ...]
    """The loops within a panel and outside of rows."""
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    summed: tuple[int, ...]
    summed_at_once: int
    """How many summed elements are done for all tiles of some rows before the next ones."""
    sums_at_once: int
    """How many sums of a chunk of rows wait for their next block, at most."""
    copies_left: bool
    """Whether the left operand is copied first, so that summed elements lie side by side."""
    rows_outermost: bool
    """Whether a chunk of rows is done for all panels before the next one, rather than a panel for
    all rows."""
    static_sizes: tuple[tuple[int, int], ...]
    """Loops, with how often they run, that no axis of the left operand tells of: windows that move
    over it, and one that lies on a part of it and does not move."""
    stores_columns: bool
    """Whether the result is contiguous along the tile's columns, and not along its rows."""
    rows_of_left: Groups
    columns_of_right: Groups
    summed_of_right: Groups
    summed_of_both: Groups
    """How summed elements count through the left operand, and the right one if read in place."""
    rows_of_result: Groups
    columns_of_result: Groups
    packs_blocks: bool = False
    """Whether of a panel that is packed by the kernel some summed elements are at once, for which
    there has to be one chunk of rows only."""
    strip: Strip | None = None
    """What is copied at once of the right operand, if `Strategy.DEPTHWISE` has it copied."""
    fetches_ahead: bool = True
    """Whether tiles ask memory for what the next ones read."""
    dots: DotInstruction | None = None
    """What multiplies several summed elements at once, for which columns are packed."""
    rows_in_line: int = 1
    """How many rows lie one beside the other in the left operand, from the first one of a tile on,
    and from each one that is so many later."""
    zeros: tuple[WindowZeros, ...] = ()
    """Where windows of the left operand lie on zeros, with which nothing is multiplied."""
    halves_tiles: bool = False
    """Whether a tile with no more than half of its rows is multiplied as half a tile."""

    @property
    def summed_in_lane(self) -> int:
        """How many summed elements are multiplied at once."""
        return 1 if self.dots is None else self.dots.elements

    @property
    def bounded(self) -> tuple[WindowZeros, ...]:
        """The zeros that it depends on the tile whether its rows lie on."""
        return tuple(zeros for zeros in self.zeros if zeros.on_zeros is None)

    @property
    def packs_right(self) -> bool:
        """Whether the kernel packs the right operand, panel by panel."""
        return self.right_operand not in (RightOperand.PACKED, RightOperand.IN_PLACE)

    @property
    def block(self) -> int:
        """Rows of a tile, or of as many tiles as fill vectors along rows."""
        tile = self.tile
        return tile.rows if self.stores_columns else math.lcm(tile.rows, tile.lanes)

    @property
    def chunk(self) -> int:
        """Rows of which some summed elements are done before the next ones: whole blocks."""
        return self.block * max(self.sums_at_once // (self.block * self.tile.columns), 1)

    @property
    def packed_layout(self) -> PackedLayout:
        """How the right operand lies if it is packed: [batches..., panels, summed..., columns].

        A panel has as many columns as the tile, and for each summed element the elements of these
        columns side by side. Axes of size 1 stand before the columns of a panel.
        """
        axes = {terms[0][0]: axis for axis, terms in enumerate(self._axes_of_right) if terms}
        order = [axes[loop] for loop in (*self.batches, *self.columns, *self.summed)]
        order += [axis for axis in range(len(self._axes_of_right)) if axis not in order]
        tile = self.tile.columns
        return PackedLayout(tuple(order), axes[self.columns[0]], tile, self.summed_in_lane)

    @property
    def _axes_of_right(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        return self.sum.accesses[self.right].axes

    @property
    def lanes_along(self) -> tuple[int, ...]:
        """The axes of the result that a vector of it may run along, the last one fastest."""
        return self._axes_of_result(self.columns if self.stores_columns else self.rows)

    @property
    def rows_along(self) -> tuple[int, ...]:
        """The axes of the result that rows of a tile run along."""
        return self._axes_of_result(self.rows)

    @property
    def contiguous_from(self) -> int:
        """The axis of the result from which on its elements have to be contiguous.

        Loops that are as one for it go through several axes by one stride.
        """
        if not self.sum.rows:
            return 0
        as_one = [
            self._axes_of_result(group)[0]
            for group in (*self.rows_of_result, *self.columns_of_result)
            if len(group) > 1
        ]
        return min((*as_one, *self.lanes_along), default=0)

    def _axes_of_result(self, loops: Sequence[int]) -> tuple[int, ...]:
        axes = self.sum.accesses[2].axes
        return tuple(axis for axis, terms in enumerate(axes) if {*loops} & {*dict(terms)})


def plan_contraction(
    sum_: SumOfProducts,
    types: Sequence[ir.MemRefType],
    sizes: Sequence[int],
    unit: VectorUnit,
    summed_in: ir.Type,
    constants: frozenset[int] = frozenset(),
    pads: Pads = (),
    zeros: tuple[Pads, Pads] = ((), ()),
) -> ContractionPlan | None:
    """How to compute a contraction; None if the result's rows and columns are not contiguous.

    Args:
      sum_: the contraction.
      types: of the operands 0 and 1 and the result, before anything is packed.
      sizes: how often each loop runs, or DYNAMIC.
      unit: the CPU's vectors.
      summed_in: the type of the sums.
      constants: the numbers of operands that can be packed before the program runs. Where the plan
        says `RightOperand.PACKED`, the kernel is to be called with the operand as
        `ContractionPlan.packed_layout` says.
      pads: how many zeros the kernel is to lay before and after the right operand along each of its
        axes, if any; None is the result where it cannot.
      zeros: how many there are already before and after the operands 0 and 1 along each axis.
    """
    planner = _Planner(sum_, types, sizes, unit, summed_in, constants, zeros)
    depthwise = planner.depthwise(pads)
    if depthwise or pads:
        return depthwise
    plans = [*filter(None, (planner.plan(swapped=False), planner.plan(swapped=True)))]
    # Of equals the first.
    best = min(plans, key=planner.cycles, default=None)
    if best is None or not planner.counts_may_be_few:
        return best
    most = planner.cycles(best) * _NO_LONGER
    as_good = [plan for plan in plans if planner.cycles(plan) <= most]
    return min(as_good, key=lambda plan: planner.cycles(plan, _FEW))


def plan_for_one_row(
    plan: ContractionPlan,
    types: Sequence[ir.MemRefType],
    sizes: Sequence[int],
    unit: VectorUnit,
    summed_in: ir.Type,
) -> ContractionPlan | None:
    """The plan where the one loop over rows, of a size that is not known, turns out to run once.

    None where that packs the right operand all the same, or `plan` has no need to: it is packed
    already, or is read in place.
    """
    if len(plan.rows) != 1 or sizes[plan.rows[0]] != DYNAMIC or not plan.packs_right:
        return None
    single = [1 if loop in plan.rows else size for loop, size in enumerate(sizes)]
    found = _Planner(plan.sum, types, single, unit, summed_in, frozenset(), ((), ())).plan(
        swapped=plan.left != plan.sum.left
    )
    if found is None or (found.strategy is Strategy.REGISTER_TILES and found.packs_right):
        return None
    return found


def plan_for_long_lines(
    plan: ContractionPlan,
    types: Sequence[ir.MemRefType],
    sizes: Sequence[int],
    unit: VectorUnit,
    summed_in: ir.Type,
) -> tuple[ContractionPlan, float, float] | None:
    """The plan where a row of an image of unknown size is long: panels of it, rather than tiles.

    With it goes how long a panel takes, and how long an element of a row does by the other plan;
    None if panels are never faster. It reads what the other one takes packed as that lies.
    """
    planner = _Planner(plan.sum, types, sizes, unit, summed_in, frozenset(), ((), ()))
    return planner.for_long_lines(plan)


def packed_while_running(
    plan: ContractionPlan, types: Sequence[ir.MemRefType], sizes: Sequence[int]
) -> ContractionPlan:
    """The plan to pack the right operand by that another plan takes packed."""
    access, type_ = plan.sum.accesses[plan.right], types[plan.right]
    if _is_one_run(plan.columns, access, type_, sizes):
        return replace(plan, right_operand=RightOperand.COPIED)
    if _ends_in_run(plan.summed, access, type_, sizes, plan.tile.lanes):
        return replace(plan, right_operand=RightOperand.TRANSPOSED)
    return replace(plan, right_operand=RightOperand.GATHERED)


@dataclass(frozen=True)
class _Planner:
    sum: SumOfProducts
    types: Sequence[ir.MemRefType]
    sizes: Sequence[int]
    unit: VectorUnit
    summed_in: ir.Type
    constants: frozenset[int]
    zeros: tuple[Pads, Pads]

    @property
    def summed_bits(self) -> int:
        """The width of the elements that are summed in."""
        return int(self.summed_in.width)

    @property
    def _registers(self) -> VectorUnit:
        """Those that sums are in: of integers others than of floats, on a microcontroller."""
        if isinstance(self.summed_in, ir.FloatType) or self.unit.lanes(self.summed_bits) > 1:
            return self.unit
        return self.unit.of_integers if self.unit.dots else self.unit

    def for_long_lines(self, plan: ContractionPlan) -> tuple[ContractionPlan, float, float] | None:
        """As `plan_for_long_lines` says."""
        channels = self._count(plan.columns)
        are_tiles = plan.strategy is Strategy.REGISTER_TILES and not plan.stores_columns
        if not are_tiles or plan.dots is not None or self._along_windows.isdisjoint(plan.rows[-1:]):
            return None
        if self.sizes[plan.rows[-1]] != DYNAMIC or channels is None or len(plan.columns) != 1:
            return None
        planner, static = self, plan.static_sizes
        if plan.right_operand is RightOperand.PACKED:
            if channels > plan.tile.columns:
                # Channels are in several panels, which no one stride leads through.
                return None
            # A panel may have more columns than there are channels.
            static = (*static, (plan.columns[0], channels))
            planner = self._of_one_panel(plan)
        swapped = plan.left == plan.sum.left
        found = planner.plan(swapped=swapped, line=_LINE_OF_IMAGE)
        if found is None or found.columns != plan.rows[-1:] or not found.stores_columns:
            return None
        if found.strategy is not Strategy.REGISTER_TILES or found.dots is not None:
            return None
        # Panels of windows that are apart are gathered.
        if found.right_operand not in (RightOperand.IN_PLACE, RightOperand.COPIED):
            return None
        of_panel = _MASKED * cycles(found.tile, channels, found.tile.columns)
        of_element = cycles(plan.tile, plan.tile.rows, channels) / plan.tile.rows
        if of_panel >= of_element * found.tile.columns:
            return None
        known = dict(found.static_sizes) | dict(static)
        return replace(found, static_sizes=tuple(known.items())), of_panel, of_element

    def _of_one_panel(self, plan: ContractionPlan) -> "_Planner":
        """The planner of what a plan packs in one panel, as it lies then."""
        layout, right = plan.packed_layout, plan.right
        axes = self.sum.accesses[right].axes
        tiled = layout.inner_dims_pos
        outer = [() if axis == tiled else axes[axis] for axis in layout.outer_dims_perm]
        accesses, types = [*self.sum.accesses], [*self.types]
        accesses[right] = Access((*outer, axes[tiled]))
        shape = layout.shape(self.types[right].shape)
        types[right] = ir.MemRefType.get(shape, self.types[right].element_type)
        sum_ = replace(self.sum, accesses=(accesses[0], accesses[1], accesses[2]))
        return replace(self, sum=sum_, types=types)

    def plan(self, *, swapped: bool, line: int | None = None) -> ContractionPlan | None:
        """The plan with operands in their places, or the right one as the left one.

        Of columns whose number is not known there are about as many as is a `line`, if one is
        given.
        """
        batches, rows, columns, summed = (
            tuple(loop for loop in loops if self.sizes[loop] != 1)
            for loops in (self.sum.batches, self.sum.rows, self.sum.columns, self.sum.summed)
        )
        left, right = self.sum.left, self.sum.right
        if swapped:
            left, right, rows, columns = right, left, columns, rows
        if rows and not columns:
            return None
        row_batches: tuple[int, ...] = ()
        stores_columns = self._are_contiguous(2, columns)
        if stores_columns:
            run = self._run(2, columns)
            if len(self._groups(right, run)) > 1:
                run = tuple(loop for loop in run if loop in self._run(right, run))
            batches += tuple(loop for loop in columns if loop not in run)
            columns = run
        elif self._are_contiguous(2, rows):
            run = self._run(2, rows)
            row_batches = tuple(loop for loop in rows if loop not in run)
            rows = run
        else:
            return None
        row_count, column_count = self._count(rows), self._count(columns)
        are_windows = len(self._groups(left, summed)) > 1
        rows_of_line = self._count(rows[-1:]) if rows and are_windows else None
        tile_for = functools.partial(
            register_tile,
            self._registers,
            self.summed_bits,
            row_count,
            line if column_count is None else column_count,
            are_windows=are_windows,
            are_scattered=not self._are_contiguous(left, summed),
            line=rows_of_line,
        )
        tile = tile_for()
        strategy, right_operand = Strategy.REGISTER_TILES, RightOperand.GATHERED
        unseen = [
            (loop, self.sizes[loop])
            for loop in summed
            if self.sizes[loop] != DYNAMIC and not self._is_whole_axis(left, loop)
        ]
        if right in self.constants and self._is_packable(right, columns, batches):
            right_operand = RightOperand.PACKED
        elif self._is_one_run(right, columns):
            # A vector of 512 bits is a line by itself.
            at_once = (column_count or 0) if self.unit.looks_up else 0
            at_once = max(at_once, tile.columns)
            is_lines = at_once * self.summed_bits >= _SEVERAL_LINES * LINE * 8
            # Panels of windows that move along columns have elements of an image again and again.
            are_images = not self._along_windows.isdisjoint(columns)
            is_lines = is_lines or are_images
            most = _UNPACKED_ROWS_OF_LINES if is_lines else _UNPACKED_ROWS
            few = row_count is not None and row_count <= most * tile.rows
            of_right = self.types[right].element_type
            if of_right.width != self.summed_bits:
                # Each row would convert it anew. Of integers, several are multiplied at once.
                few = row_count is not None and row_count <= _FEW_OF_CONVERTED
                few = few and isinstance(of_right, ir.FloatType)
            right_operand = RightOperand.IN_PLACE if few else RightOperand.COPIED
            if stores_columns and self._adds_rows(row_count, (left, right), summed, columns):
                strategy, right_operand = Strategy.WEIGHTED_ROWS, RightOperand.IN_PLACE
                tile = RegisterTile(max(row_count or 0, 1), 1, tile.lanes)
            elif few and row_count is not None and row_count <= tile.rows:
                rows_of_tile = max(row_count, 1)
                tile = streaming_tile(self._registers, self.summed_bits, rows_of_tile, column_count)
            elif few and not (are_windows or are_images):
                tile = tile_for(is_in_place=True)
        elif self._ends_in_run(right, summed, tile.lanes):
            right_operand = RightOperand.TRANSPOSED
            is_converted = self.types[right].element_type.width != self.summed_bits
            most = _FEW_OF_CONVERTED if is_converted else _FEW_ROWS
            few = row_count is not None and row_count <= most
            are_runs = self._is_one_run(left, summed) and self._is_one_run(right, summed)
            if stores_columns and few and are_runs:
                strategy = Strategy.DOT_PRODUCTS
        of_both = self._groups(left, summed)
        if right_operand is RightOperand.IN_PLACE:
            of_both = _finest(of_both, self._groups(right, summed))
        are_tiles = strategy is Strategy.REGISTER_TILES
        is_packed = right_operand is RightOperand.PACKED
        # What is multiplied several at once does not lie side by side in place.
        has_dots = are_tiles and right_operand is not RightOperand.IN_PLACE
        dots = self._dots(left, summed, is_packed=is_packed) if has_dots else None
        if dots is not None and row_batches and dots.prepares(self.types[left].element_type):
            # A copy has the rows of one turn of the batches outside of panels.
            dots = None
        is_run = self._is_one_run(left, summed)
        # What several are multiplied at once of is copied sooner.
        uses = _LEAST_USES_AT_ONCE if dots else _LEAST_USES
        copies_left = (
            are_tiles
            and len(of_both) == 1
            and not row_batches
            and (column_count is None or column_count >= uses * tile.columns)
            and (self._is_scattered(left, rows, summed) or (dots is not None and not is_run))
        )
        if not (is_run or copies_left or len(summed) > 1):
            dots = None
        if dots is None and self.sum.turned is not None:
            return None
        if dots is not None and dots.has_one_sum:
            integers = self.unit.of_integers
            tile = register_tile(integers, self.summed_bits, row_count, column_count)
        plan = ContractionPlan(
            sum=self.sum,
            left=left,
            right=right,
            strategy=strategy,
            tile=tile,
            right_operand=right_operand,
            batches=batches,
            row_batches=row_batches,
            rows=rows,
            columns=columns,
            summed=summed,
            summed_at_once=self._at_once(left, summed),
            sums_at_once=self.unit.scratch_bytes // SUM_BYTES,
            copies_left=copies_left,
            rows_outermost=False,
            static_sizes=tuple(unseen),
            stores_columns=stores_columns,
            rows_of_left=self._groups(left, rows),
            columns_of_right=self._groups(right, columns),
            summed_of_right=self._groups(right, summed),
            summed_of_both=of_both,
            rows_of_result=self._groups(2, rows),
            columns_of_result=self._groups(2, columns),
            fetches_ahead=self.unit.fetches_ahead,
            dots=dots,
            rows_in_line=rows_in_line(tile, self._registers, row_count, rows_of_line),
            halves_tiles=row_count is None and not (are_windows or row_batches),
        )
        plan = replace(plan, zeros=self._zeros(plan))
        halved = replace(plan, sums_at_once=plan.sums_at_once // 2)
        if self._bytes_at_once(halved) <= _WINDOWS_AT_ONCE < self._bytes_at_once(plan):
            plan = halved
        plan = replace(
            plan, rows_outermost=self._rows_outermost(plan), packs_blocks=self._packs_blocks(plan)
        )
        of_amx = self._by_amx(plan)
        return min(filter(None, (of_amx, plan)), key=self.cycles)

    def _by_amx(self, plan: ContractionPlan) -> ContractionPlan | None:
        """The same by registers for matrices, where the CPU has such for these elements."""
        left, summed, groups = plan.left, plan.summed, plan.summed_of_both
        if plan.strategy is not Strategy.REGISTER_TILES or self.sum.turned not in (None, left):
            return None
        product = tile_instruction(
            [type_.element_type for type_ in self.types[:2]], self.summed_in, self.unit
        )
        if product is None or not (plan.rows and groups):
            return None
        count = self._count(summed)
        product = replace(product, count=count)
        is_contiguous = self._are_contiguous(left, groups[-1])
        are_windows = len(groups) > 1 or bool(plan.row_batches)
        is_packed = plan.right_operand is RightOperand.PACKED
        # Weights were packed for whole lanes, and windows are copied run by run of such.
        if not product.fills_lanes if is_packed else are_windows:
            return None
        run = None if is_contiguous else 1
        if len(summed) > 1:
            run = self._count(groups[-1])
            if not (are_windows and is_contiguous and run) or run % product.elements:
                return None
        rows, columns = self._count(plan.rows), self._count(plan.columns)
        tile = amx_tile(rows, columns)
        # Beyond a row that does not fill lanes there have to be zeros.
        is_row = run is None and product.fills_lanes and not are_windows
        is_in_place = is_row and len(plan.rows_of_left) == 1
        few_panels = columns is not None and columns <= _COPIED_FOR * tile.columns
        bits = self.types[left].element_type.width
        is_far = rows is not None and count is not None and rows * count * bits > 8 * _FAR
        is_unpacked = plan.right_operand is RightOperand.IN_PLACE
        amx = replace(
            plan,
            strategy=Strategy.AMX_TILES,
            tile=tile,
            right_operand=RightOperand.COPIED if is_unpacked else plan.right_operand,
            dots=replace(product, run=run, is_turned=self.sum.turned is not None),
            sums_at_once=(2 if are_windows else 4) * plan.sums_at_once,
            summed_at_once=_SUMMED_BY_AMX,
            copies_left=not (is_in_place and few_panels) or self.sum.turned is not None,
            rows_outermost=are_windows or (plan.packs_right and is_far),
            zeros=(),
            rows_in_line=1,
            halves_tiles=False,
        )
        return replace(amx, packs_blocks=self._packs_blocks(amx))

    def _zeros(self, plan: ContractionPlan) -> tuple[WindowZeros, ...]:
        """The zeros that windows lie on; none where elements are copied, or added to for `dots`."""
        if plan.strategy is not Strategy.REGISTER_TILES or plan.copies_left:
            return ()
        if plan.dots is not None and plan.dots.left_offset:
            return ()
        zeros = window_zeros(
            self.sum.accesses[plan.left],
            self.zeros[plan.left],
            self.types[plan.left].shape,
            plan.summed,
            self.sizes,
            (plan.rows, plan.tile.rows),
        )
        if plan.dots is not None:
            # They go along the innermost loops several elements at a time.
            innermost = plan.summed_of_both[-1]
            zeros = tuple(each for each in zeros if each.within[0] not in innermost)
        if self.unit.fetches_ahead:
            return zeros
        # A microcontroller has too few registers for places that no instruction has in it: a
        # ResNet-8 takes 1.5 times the instructions where loops within windows have bounds.
        return tuple(each for each in zeros if each.on_zeros is not None)

    def _packs_blocks(self, plan: ContractionPlan) -> bool:
        """Whether panels are packed block by block, so that they stay near."""
        rows, summed = self._count(plan.rows), self._count(plan.summed)
        return (
            plan.strategy in (Strategy.AMX_TILES, Strategy.REGISTER_TILES)
            and plan.packs_right
            and not plan.rows_outermost
            and len(plan.summed_of_right) == len(plan.summed_of_both) == 1
            and not plan.row_batches
            and rows is not None
            and rows <= plan.chunk
            and (summed is None or summed > plan.summed_at_once)
        )

    def _adds_rows(
        self,
        row_count: int | None,
        operands: tuple[int, int],
        summed: Sequence[int],
        columns: Sequence[int],
    ) -> bool:
        """Whether few rows are best done as sums of rows of the right operand, which is far.

        Threads share columns of the result, of which pieces of a page leave them too few.
        """
        left, right = operands
        groups = _finest(self._groups(left, summed), self._groups(right, summed))
        bits = self._usual_count((*summed, *columns)) * self.types[right].element_type.width
        return (
            row_count is not None
            and not self.unit.is_shared
            and row_count * self.summed_bits <= _FEW_BITS
            and bits > 8 * _NEAR
            and len(groups) <= 1
            and self.unit.lanes(self.summed_bits) > 1
            and self._dots(left, summed, is_packed=False) is None
        )

    def _dots(self, left: int, summed: Sequence[int], *, is_packed: bool) -> DotInstruction | None:
        """What multiplies several summed elements at once, where these lie side by side.

        Of one loop they are copied so if they do not. Of several the last ones do, and no element
        of the left operand has to be prepared: it may be in several windows.
        """
        types = [type_.element_type for type_ in self.types[:2]]
        dots = dot_instruction(types, self.summed_in, self.unit)
        if dots is None or not summed:
            return None
        if self.sum.turned is not None:
            if self.sum.turned != left or not dots.left_offset:
                return None
            dots = replace(dots, is_prepared=True)
        last = summed if len(summed) == 1 else self._run(left, summed)
        count = self._count(last)
        dots = None if count is None else dots.for_count(count)
        if dots is None:
            return None
        is_taken = not dots.prepares(self.types[left].element_type)
        # Lanes that are packed while the program runs hold elements of one loop.
        is_packed = is_packed or dots.for_count(self.sizes[summed[-1]]) == dots
        lie_so = is_packed and is_taken and self._are_contiguous(left, summed)
        return dots if len(summed) == 1 or lie_so else None

    def _bytes_at_once(self, plan: ContractionPlan) -> float:
        """What a chunk of rows reads of windows; 0 if that is not known, and of what is none."""
        type_, access = self.types[plan.left], self.sum.accesses[plan.left]
        over = (*plan.batches, *plan.row_batches, *plan.rows)
        rows = self._count([loop for loop in over if loop in access.loops])
        if len(plan.summed_of_both) <= 1 or not type_.has_static_shape or not rows:
            return 0
        return buffer_bytes(type_) / rows * plan.chunk

    def _is_scattered(self, operand: int, rows: Sequence[int], summed: Sequence[int]) -> bool:
        """Whether no element of an operand lies beside the next row's or the next summed one."""
        step = rows and static_stride(self.sum.accesses[operand], self.types[operand], rows[-1])
        return bool(step) and step != 1 and not self._are_contiguous(operand, summed)

    def _rows_outermost(self, plan: ContractionPlan) -> bool:
        """Whether the right operand is gone over for each chunk of rows, not the left one again.

        The smaller one is, as far as is known, as it is rather in a cache that is shared. By how
        often each is gone over a linear layer of 512 rows, 2048 to 5632, takes 1.15 times as long,
        one of 197 rows, 768 to 3072, 1.13 times, and of 4096 rows, 1024 to 1024, 1.12 (AMD Zen 5).
        """
        if plan.packs_right:
            # Panels are packed one after the other.
            return False
        rows = self._count(plan.rows)
        left, right = self._far_bytes(plan.left), self._far_bytes(plan.right)
        if rows is None or left is None or right is None:
            return False
        return -(-rows // plan.chunk) >= _LEAST_CHUNKS and right < left

    def _returns_from_far(self, plan: ContractionPlan) -> bool:
        """Whether each panel reads a batch of the left operand from memory, as far as is known."""
        type_, loops = self.types[plan.left], self.sum.accesses[plan.left].loops
        batches = self._count([*loops.intersection((*plan.batches, *plan.row_batches))])
        if not plan.packs_right or not type_.has_static_shape or not batches:
            return False
        return buffer_bytes(type_) / batches > _FAR

    def _far_bytes(self, operand: int) -> int | None:
        """What it takes to go over an operand once more: nothing if it stays in a near cache."""
        type_ = self.types[operand]
        if not type_.has_static_shape:
            return None
        bytes_ = buffer_bytes(type_)
        return bytes_ if bytes_ > _NEAR else 0

    def depthwise(self, pads: Pads) -> ContractionPlan | None:
        """The plan for windows of planes, padded so, that have weights of their own."""
        batches, rows, columns = (
            [loop for loop in loops if self.sizes[loop] != 1]
            for loops in (self.sum.batches, self.sum.rows, self.sum.columns)
        )
        left, right = self.sum.left, self.sum.right
        if self.sum.turned is not None or rows or not columns:
            return None
        if self._count(self.sum.summed) is None:
            return None
        *outside, across = columns
        if not self._are_contiguous(2, columns):
            return None
        axes = [set(dict(terms)) for terms in self.sum.accesses[right].axes]
        summed = set(self.sum.summed)
        windows = [axis for axis in axes if axis & summed and axis & {*columns}]
        strides, _ = self.types[right].get_strides_and_offset()
        step = dict(self.sum.accesses[right].axes[-1]).get(across, 0)
        if not windows or strides[-1] != 1 or not 1 <= step <= _WINDOW_STRIDE:
            return None
        # Rows of the plane, be they of windows of one row, over which there is no loop.
        planes = [*windows, *axes[-2:-1]]
        down = [loop for loop in outside[-1:] if any(loop in axis for axis in planes)]
        count = self._count([across])
        lanes = self.unit.lanes(self.summed_bits)
        while count is not None and lanes >= 2 * count and lanes > 1:
            lanes //= 2
        is_short = count is not None and count <= _SHORT * self.unit.lanes(self.summed_bits)
        most = _SHORT_WINDOW_ROWS if is_short else _WINDOW_ROWS
        height = (self._count(down) or most) if down else 1
        # As few blocks of rows as there must be, alike.
        rows_at_once = -(-height // -(-height // most))
        window = {loop: self.sizes[loop] for loop in self.sum.summed}
        is_cast = self.types[right].element_type.width != self.summed_bits
        strip = None
        if pads or step > 1 or is_cast:
            strip = strip_of_windows(
                self.sum.accesses[right],
                (down[0] if down else None, across),
                window,
                pads,
                (rows_at_once, lanes),
                self.summed_bits,
                self.unit.scratch_bytes,
            )
        if strip is None and (pads or step > 1):
            return None
        return ContractionPlan(
            sum=self.sum,
            left=left,
            right=right,
            strategy=Strategy.DEPTHWISE,
            tile=RegisterTile(rows_at_once, 1, lanes),
            right_operand=RightOperand.COPIED if strip else RightOperand.IN_PLACE,
            batches=(*batches, *(loop for loop in outside if loop not in down)),
            row_batches=(),
            rows=tuple(down),
            columns=(across,),
            summed=self.sum.summed,
            summed_at_once=self._at_once(left, self.sum.summed),
            sums_at_once=self.unit.scratch_bytes // SUM_BYTES,
            copies_left=False,
            rows_outermost=False,
            static_sizes=tuple(window.items()),
            stores_columns=True,
            rows_of_left=(),
            columns_of_right=self._groups(right, (across,)),
            summed_of_right=self._groups(right, self.sum.summed),
            summed_of_both=self._groups(left, self.sum.summed),
            rows_of_result=self._groups(2, down),
            columns_of_result=self._groups(2, (across,)),
            strip=strip,
        )

    @property
    def counts_may_be_few(self) -> bool:
        """Whether a single size of the result is not known, which is none of an image."""
        unknown = [
            loop for loop in (*self.sum.rows, *self.sum.columns) if self.sizes[loop] == DYNAMIC
        ]
        return len(unknown) == 1 and self._along_windows.isdisjoint(unknown)

    def cycles(self, plan: ContractionPlan, usual: int = _USUAL) -> float:
        """How long one turn of the batches takes, roughly; a size not known is as is `usual`."""
        row_batches, rows, columns, summed = (
            self._usual_count(loops, usual)
            for loops in (plan.row_batches, plan.rows, plan.columns, plan.summed)
        )
        outside = self._usual_count([loop for loop in plan.batches if loop not in self.sum.batches])
        lanes = plan.tile.lanes
        if plan.strategy in (Strategy.DOT_PRODUCTS, Strategy.WEIGHTED_ROWS):
            # A vector of the right operand is one load and one multiplication.
            return outside * row_batches * rows * columns * summed / lanes
        if plan.strategy is Strategy.AMX_TILES:
            return outside * self._cycles_of_amx(plan, (rows, columns, summed))
        products = row_batches * summed * cycles(plan.tile, rows, columns) / plan.summed_in_lane
        of_left = self.types[plan.left].element_type
        if plan.dots is not None:
            is_converted = plan.dots.prepares(of_left)
        else:
            is_converted = of_left.width != self.summed_bits
        converting = _CONVERTING if is_converted else 0
        copying = row_batches * summed * rows * (_COPYING if plan.copies_left else converting)
        is_run = plan.copies_left or self._are_contiguous(plan.left, plan.summed)
        if summed > _LINES and not is_run and len(plan.summed_of_both) <= 1:
            products *= _FAR_APART
        elif not is_run and not is_converted and self._returns_from_far(plan):
            products *= _FROM_FAR
        elif is_run and plan.left in self.constants and self._returns_from_far(plan):
            products *= _UNPACKED_FROM_FAR
        storing = (
            row_batches * rows * columns / lanes * (1 if plan.stores_columns else _TRANSPOSING)
        )
        if plan.right_operand is RightOperand.TRANSPOSED and plan.summed_of_right:
            lanes = min(lanes, self._usual_count(plan.summed_of_right[-1]))
        packing = summed * columns * _PACKING[plan.right_operand](lanes) / plan.summed_in_lane
        return outside * (products + copying + packing + storing)

    def _cycles_of_amx(self, plan: ContractionPlan, counts: tuple[int, int, int]) -> float:
        """The same for so many rows, columns and summed elements."""
        assert isinstance(plan.dots, TileInstruction)
        rows, columns, summed = counts
        steps = -(-summed // plan.dots.at_once)
        run = plan.dots.run or summed
        pieces = summed / run * -(-run // plan.dots.at_once)
        registers = -(-rows // REGISTER_ROWS) * -(-columns // plan.tile.columns)
        products = registers * plan.tile.vectors * steps * REGISTER_ROWS
        bytes_ = rows * summed * plan.dots.bits // 8
        copying = (_COPYING_FROM_FAR if bytes_ > _FAR else _COPYING) * rows * pieces
        if not plan.copies_left:
            copying = 0
        chunks = -(-rows // plan.chunk)
        configuring = _BEGINNING + _CONFIGURING * chunks * -(-columns // plan.tile.columns)
        lanes = plan.tile.lanes
        storing = rows * columns / lanes * (1 if plan.stores_columns else _TRANSPOSING)
        packing = summed * columns * _PACKING[plan.right_operand](lanes) / plan.summed_in_lane
        return configuring + products + copying + storing + packing

    def _at_once(self, left: int, summed: Sequence[int]) -> int:
        return _SUMMED_AT_ONCE if self._are_contiguous(left, summed) else _SUMMED_IN_LINES

    def _groups(self, operand: int, loops: Sequence[int]) -> Groups:
        return groups_of(loops, self.sum.accesses[operand], self.types[operand], self.sizes)

    def _run(self, operand: int, loops: Sequence[int]) -> tuple[int, ...]:
        """The last of these loops that are as one for an operand."""
        groups = self._groups(operand, loops)
        return groups[-1] if groups else ()

    def _are_contiguous(self, operand: int, loops: Sequence[int]) -> bool:
        """Whether a step of the last loop leads to the next element."""
        return _are_contiguous(loops, self.sum.accesses[operand], self.types[operand])

    def _is_one_run(self, operand: int, loops: Sequence[int]) -> bool:
        return _is_one_run(loops, self.sum.accesses[operand], self.types[operand], self.sizes)

    def _ends_in_run(self, operand: int, loops: Sequence[int], lanes: int) -> bool:
        access, type_ = self.sum.accesses[operand], self.types[operand]
        return _ends_in_run(loops, access, type_, self.sizes, lanes)

    def _is_packable(self, operand: int, columns: Sequence[int], batches: Sequence[int]) -> bool:
        """Whether an operand can be packed that is known before the program runs."""
        access = self.sum.accesses[operand]
        return (
            len(columns) == 1
            and access.loops.issuperset(batches)
            and all(self._is_axis(operand, loop) for loop in access.loops)
            and all(len(terms) <= 1 for terms in access.axes)
        )

    def _is_axis(self, operand: int, loop: int) -> bool:
        return any(terms == ((loop, 1),) for terms in self.sum.accesses[operand].axes)

    def _is_whole_axis(self, operand: int, loop: int) -> bool:
        """Whether a loop runs along an axis from its beginning to its end."""
        shape, axes = self.types[operand].shape, self.sum.accesses[operand].axes
        return ((loop, 1),) in [
            terms for size, terms in zip(shape, axes, strict=True) if size == self.sizes[loop]
        ]

    def _count(self, loops: Sequence[int]) -> int | None:
        return product_of([self.sizes[loop] for loop in loops])

    def _usual_count(self, loops: Sequence[int], usual: int = _USUAL) -> int:
        """How often loops run, those that are not known as often as is usual."""
        return max(math.prod(self._usual_size(loop, usual) for loop in loops), 1)

    def _usual_size(self, loop: int, usual: int) -> int:
        if self.sizes[loop] != DYNAMIC:
            return self.sizes[loop]
        side = next((side for side in (self.sum.rows, self.sum.columns) if loop in side), ())
        if not side:
            return _USUAL
        along_windows = {*side} & self._along_windows
        if loop in along_windows:
            # How many images there are has no part in how large they are.
            side = tuple(along_windows)
        is_only_one = sum(self.sizes[other] == DYNAMIC for other in side) <= 1
        return usual if is_only_one else _USUAL_OF_SEVERAL

    @functools.cached_property
    def _along_windows(self) -> set[int]:
        """The loops that windows move by."""
        axes = [{*dict(terms)} for access in self.sum.accesses[:2] for terms in access.axes]
        summed = {*self.sum.summed}
        return set().union(*(axis - summed for axis in axes if axis & summed))


def _are_contiguous(loops: Sequence[int], access: Access, type_: ir.MemRefType) -> bool:
    """Whether a step of the last loop leads to the next element of a buffer."""
    return not loops or static_stride(access, type_, loops[-1]) == 1


def _is_one_run(
    loops: Sequence[int], access: Access, type_: ir.MemRefType, sizes: Sequence[int]
) -> bool:
    """Whether loops are as one that leads from each element of a buffer to the next."""
    groups = groups_of(loops, access, type_, sizes)
    return len(groups) <= 1 and _are_contiguous(loops, access, type_)


def _ends_in_run(
    loops: Sequence[int],
    access: Access,
    type_: ir.MemRefType,
    sizes: Sequence[int],
    lanes: int,
) -> bool:
    """Whether the innermost loops lead from each element to the next, for half a vector or longer.

    Loops that are as one may be as short as they are.
    """
    groups = groups_of(loops, access, type_, sizes)
    if not _are_contiguous(loops, access, type_):
        return False
    count = product_of([sizes[loop] for loop in groups[-1]]) if len(groups) > 1 else None
    return count is None or 2 * count >= lanes


def _finest(first: Groups, second: Groups) -> Groups:
    """The finest of both groupings of the same loops."""
    ends = {group[-1] for group in first} | {group[-1] for group in second}
    result: list[tuple[int, ...]] = []
    open_: tuple[int, ...] = ()
    for loop in (loop for group in first for loop in group):
        open_ = (*open_, loop)
        if loop in ends:
            result.append(open_)
            open_ = ()
    return tuple(result)
