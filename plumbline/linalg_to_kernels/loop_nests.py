"""Builds a group as loops: of each row, one step after the other.

A step without reductions computes an element and stores it. A reduction that runs innermost adds
up in values that the loop carries on; one that a parallel loop runs inside of (for contiguous
elements) adds to what is in the buffer. What a later step reads at once is computed in its loops,
and stored for those that read it after that.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as all_terms

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.building import (
    ALIGNMENT,
    collapsed,
    for_each,
    index,
    least,
    rounded_up,
)
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    composed,
    undivided,
)
from plumbline.linalg_to_kernels.constant_products import ConstantProduct, build_product
from plumbline.linalg_to_kernels.evaluation import Evaluation
from plumbline.linalg_to_kernels.group import DEEPEST, Block, Group
from plumbline.linalg_to_kernels.loop_order import (
    MOST_BESIDE,
    Order,
    innermost_costs,
    is_read_by_axes,
    order_of,
)
from plumbline.linalg_to_kernels.sizes import loop_size

_LANES = 64
"""How many rows are done at once where these are contiguous: some vectors."""

_FEWEST_LANES, _MOST_KEPT = 16, 1 << 18
"""Fewer are, down to a line of memory, where they would keep more elements than these, as many of
f32 as a second cache has room for, not counting the largest buffer: with one alone, it takes longer
to read memory by lines."""

_WIDE_LANES = 256
"""How many are where of each row a sum or an extreme is kept alone: memory is then read in longer
stretches. Of 4096 rows of 256 floats the sum took 1.8 times as long by 64."""

_MOST_READ_AGAIN = 1 << 16
"""But fewer, down to `_LANES`, where they would have more elements than these, which the root reads
once more, as it transposes them: as many of f32 as half a second cache holds."""

_SUMS = MOST_BESIDE
"""How many sums are added to at once, in a buffer."""

_ADDED_AT_ONCE = 8
"""How many terms are added to a sum in a buffer before it is stored again. LLVM stores what is
selected from a sum that it has just loaded by a mask, which takes AMD's CPUs ten times as long. Of
64x32 rows of 96 f32, which are added up in f64, 4 take twice as long as 8 (AMD Zen 4)."""

_FEW_TERMS = 9
"""How many terms are added up without a loop, as those of a window of 3x3. Of planes whose sizes
are not known the largest elements of such windows took twice as long by way of memory, and those of
2x2 where sizes are known, so that LLVM may unroll the loops, too."""

_FEW_PRODUCTS = 81
"""How many they may be as products of channels side by side, that is with no sum over these, as in
depthwise convolutions: of 7x7 that takes half the time of sums in memory, of 11x11 LLVM makes no
vectors (AMD Zen 4)."""

_MOST_READ_ANEW = 1 << 13
"""How many weights a row of channels may have to be done whole: as many of f32 as a first cache
has room for. By pieces 5x5 over 7x7 points of 960 channels take half the time (AMD Zen 4)."""

_ROWS_AT_ONCE = 4
"""How many rows of a block are done at once by a step that reads neighbours of each."""

_LENGTHS = 32
"""What the lengths of rows are multiples of that are not done whole: several vectors."""

_STACK = 1 << 14
"""How many elements a buffer on the stack may have; larger ones are allocated."""


@dataclass(frozen=True)
class RowBlock:
    """Some rows that are done at once."""

    first: ir.Value
    size: ir.Value
    rows: Mapping[int, ir.Value]
    """The values of the other row loops of the root."""
    buffers: Mapping[ir.Value, ir.Value]
    """Where the results of steps lie that other steps read; the block's first row comes first."""
    length: ir.Value | None
    """How many elements of each row there are, if not all."""


@dataclass(frozen=True)
class RowBlocks:
    """How rows are done block by block: some steps of all of its rows at once."""

    row: int
    """The row loop of the root that is cut into blocks, within all others."""
    size: int
    steps: Mapping[Computation, Callable[[RowBlock], None]]
    """What builds a step of a block."""
    before: Callable[[Mapping[int, ir.Value]], None]
    """Builds what comes before the blocks, by the values of the other row loops."""
    until: Mapping[Computation, int]
    """Of steps the loop that needs to go no further than to the number of a block's last row."""


def build_loop_nests(
    group: Group,
    given: Mapping[ir.Value, ir.Value],
    outputs: Mapping[ir.Value, ir.Value],
    blocks: RowBlocks | None = None,
) -> None:
    """Builds what a group does.

    Args:
      group: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar.
      outputs: for each output of the group the buffer that takes it.
      blocks: if rows are done so.
    """
    _LoopNests(group, given, outputs, blocks).build()


class _LoopNests:
    def __init__(
        self,
        group: Group,
        given: Mapping[ir.Value, ir.Value],
        outputs: Mapping[ir.Value, ir.Value],
        blocks: RowBlocks | None,
    ) -> None:
        self._group, self._given, self._outputs = group, dict(given), outputs
        self._blocks = blocks
        self._sizes = {
            step: [loop_size(step, loop, given) for loop in range(len(step.reduces))]
            for step in group.steps
        }
        self._lanes = self._contiguous_row()
        block = group.block.row if group.block else None
        self._rows = [row for row in group.rows if row not in (self._lanes, block)]
        self._runs = _runs(group.steps, blocks.steps if blocks else {})
        self._hosted = _hosted(group, self._may_be_hosted)
        self._buffers: dict[ir.Value, ir.Value] = {}
        self._values: dict[ir.Value, ir.Value] = {}
        self._stored: set[ir.Value] = set()
        self._row_values: dict[int, ir.Value] = {}
        self._lanes_done: tuple[ir.Value, ir.Value] | None = None
        self._first_of_block: ir.Value | None = None
        self._length_of_rows: ir.Value | None = None
        self._lane_count: int | None = self._lanes_at_once()

    def build(self) -> None:
        for step, number in self._kept():
            self._buffers[step.results[number]] = self._buffer(step, number)
        block_row = self._blocks.row if self._blocks else None
        rows = [row for row in self._rows if row != block_row]
        if self._reads_anew():
            self._lane_count = _LANES
            self._over_lanes(lambda: self._over_rows(rows, lambda: self._row(self._group.steps)))
            return
        self._over_rows(rows, self._within_rows)

    def _kept(self) -> list[tuple[Computation, int]]:
        """The results, by their numbers, that are in buffers of the kernel's own."""
        return [
            (step, number)
            for step in self._group.steps
            for number, result in enumerate(step.results)
            if not self._is_scalar(step, number)
            and (result not in self._outputs or self._is_divided(step, number))
        ]

    def _lanes_at_once(self) -> int:
        """How many contiguous rows are done at once: fewer where steps leave each other much."""
        if not self._keeps_elements():
            lanes, length = _WIDE_LANES, self._length_read_again()
            while lanes > _LANES and length * lanes > _MOST_READ_AGAIN:
                lanes //= 2
            return lanes
        kept = []
        for step, number in self._kept():
            lane = self.lane_loop(step)
            sizes = [step.sizes[loop] for loop in self._buffered(step, number) if loop != lane]
            kept.append(math.prod(size for size in sizes if size != DYNAMIC))
        lanes = _LANES
        while lanes > _FEWEST_LANES and (sum(kept) - max(kept)) * lanes > _MOST_KEPT:
            lanes //= 2
        return lanes

    def _length_read_again(self) -> int:
        """How many elements of a row the root transposes, once other steps have read them."""
        root = self._group.root
        lane, pieces = self.lane_loop(root), self.order(root).pieces
        along = [root.sizes[loop] for loop in pieces if loop != lane and lane in pieces]
        return _MOST_READ_AGAIN if DYNAMIC in along else max(along, default=0)

    def _is_divided(self, step: Computation, number: int) -> bool:
        """Whether a result is read at places that are quotients, as after a reshape, and small.

        Where that is an output, which may lie anywhere, LLVM would see no neighbours.
        """
        sizes = [step.sizes[loop] for loop in self._buffered(step, number)]
        is_small = DYNAMIC not in sizes and math.prod(sizes) <= _STACK
        return is_small and any(
            isinstance(at.maybe_downcast(), ir.AffineFloorDivExpr | ir.AffineModExpr)
            for site in self._group.sites(step.results[number])
            for at in site.indices
        )

    def _keeps_elements(self) -> bool:
        """Whether more than one element of a row is in a buffer."""
        return any(
            loop != self.lane_loop(step)
            for step, number in self._kept()
            for loop in self._buffered(step, number)
        )

    def _keeps_nothing(self) -> bool:
        """Whether no row leaves anything in memory that another step, or itself, reads again."""
        reductions = [step for step in self._group.steps if step.is_reduction]
        return all(map(self.has_few_terms, reductions)) and all(
            step in self._hosted and len(self._group.sites(step.results[number])) == 1
            for step, number in self._kept()
        )

    def _reads_anew(self) -> bool:
        """Whether weights of all channels, which each row reads, are more than a cache holds."""
        if self._lanes is None or not self._rows or not self._keeps_nothing():
            return False
        for step in self._group.steps:
            lane = self.lane_loop(step)
            if lane is not None and self._is_of_channels(step, lane):
                terms = math.prod(
                    size for size, reduces in zip(step.sizes, step.reduces, strict=True) if reduces
                )
                if step.sizes[lane] != DYNAMIC and terms * step.sizes[lane] > _MOST_READ_ANEW:
                    return True
        return False

    def _several(self, step: Computation) -> list[int]:
        """The loops of a step that have several iterations, one after the other."""
        at_once = self._group.at_once(step)
        return [loop for loop, size in enumerate(step.sizes) if size != 1 and loop not in at_once]

    # -- rows ---------------------------------------------------------------------------------

    def _contiguous_row(self) -> int | None:
        """The row along which elements are contiguous, if steps are best done so.

        That are the root's, or those that it transposes, which it does by pieces then.
        """
        group = self._group
        if self._blocks is not None or group.block is not None:
            return None
        order = order_of(group, group.root, self._several(group.root))
        steps = [step for step in group.steps if not (order.pieces and step is group.root)]
        for row in dict.fromkeys((*order.loops[-1:], *order.pieces)):
            if row in group.rows and self._suits_steps(row, steps):
                return row
        return None

    def _suits_steps(self, row: int, steps: Sequence[Computation]) -> bool:
        """Whether steps that have loops besides rows do as well with `row` as the innermost one."""
        along_row = within_row = 0
        for step in steps:
            rows = self._group.row_loops[step]
            own = [loop for loop in self._several(step) if loop not in rows.values()]
            if own:
                along_row += innermost_costs(self._group, step, [rows[row], *own], row)[rows[row]]
                costs = innermost_costs(self._group, step, [rows[row], *own])
                del costs[rows[row]]
                within_row += min(costs.values(), default=0)
        return along_row <= within_row

    def _over_rows(self, rows: Sequence[int], build: Callable[[], None]) -> None:
        if not rows:
            build()
            return
        row, *rest = rows

        def body(at: ir.Value) -> list[ir.Value]:
            self._row_values[row] = at
            self._over_rows(rest, build)
            return []

        for_each(index(0), self._sizes[self._group.root][row], 1, body, parallel=True)

    def _within_rows(self) -> None:
        if self._blocks is not None:
            self._over_row_blocks(self._blocks)
        elif self._group.block is not None:
            self._over_blocks(self._group.block)
        elif self._lanes is None:
            self._row(self._group.steps)
        else:
            if self._rows and self._keeps_nothing():
                self._lane_count = None
            self._over_lanes(lambda: self._row(self._group.steps))

    def _over_lanes(self, build: Callable[[], None]) -> None:
        """Builds what does contiguous rows, so many of them at once as are to be, or all."""
        assert self._lanes is not None
        count, size = self._lane_count, self._sizes[self._group.root][self._lanes]

        def body(first: ir.Value) -> list[ir.Value]:
            end = size if count is None else least(arith.addi(first, index(count)), size)
            self._lanes_done = first, end
            build()
            return []

        if count is None:
            body(index(0))
        else:
            for_each(index(0), size, count, body, parallel=True)

    def _over_row_blocks(self, blocks: RowBlocks) -> None:
        rows = dict(self._row_values)
        size = self._sizes[self._group.root][blocks.row]
        blocks.before(rows)

        def block(first: ir.Value) -> list[ir.Value]:
            self._first_of_block = first
            inside = least(arith.subi(size, first), index(blocks.size))
            self._length_of_rows = self._length_until(arith.addi(first, inside), blocks)
            for run in self._runs:
                if run[0] in blocks.steps:
                    length = self._length_of_rows
                    blocks.steps[run[0]](RowBlock(first, inside, rows, self._buffers, length))
                    continue

                def row(at: ir.Value, run: Sequence[Computation] = run) -> list[ir.Value]:
                    self._row_values[blocks.row] = at
                    self._row(run)
                    return []

                for_each(first, arith.addi(first, inside), 1, row)
            return []

        for_each(index(0), size, blocks.size, block, parallel=True)

    def _length_until(self, row: ir.Value, blocks: RowBlocks) -> ir.Value | None:
        """How many elements of each row a block does that ends before `row`, if not all."""
        if not blocks.until:
            return None
        # All are along the same rows.
        step, loop = next(iter(blocks.until.items()))
        return least(rounded_up(row, _LENGTHS), self._sizes[step][loop])

    def _over_blocks(self, block: Block) -> None:
        def body(at: ir.Value) -> list[ir.Value]:
            self._first_of_block = at
            self._row(self._group.steps)
            return []

        size = self._sizes[self._group.root][block.row]
        for_each(index(0), size, block.length, body, parallel=True)

    def _row(self, steps: Sequence[Computation]) -> None:
        for step in steps:
            if step not in self._hosted:
                _Step(self, step).build()

    # -- what steps know of each other --------------------------------------------------------

    def own_loops(self, step: Computation) -> list[int]:
        """The loops that a step has within a row."""
        rows = self._group.row_loops[step]
        outer = {rows[row] for row in self._rows}
        return [loop for loop in range(len(step.reduces)) if loop not in outer]

    def lane_loop(self, step: Computation) -> int | None:
        """The loop of a step that runs over contiguous rows."""
        return None if self._lanes is None else self._group.row_loops[step][self._lanes]

    def row_loops(self, step: Computation) -> dict[int, ir.Value]:
        """The values of those loops of a step that are rows, or run once."""
        rows = self._group.row_loops[step]
        once = {loop: index(0) for loop, size in enumerate(step.sizes) if size == 1}
        return once | {rows[row]: self._row_values[row] for row in self._rows}

    def lanes(self) -> tuple[ir.Value, ir.Value]:
        """Between which values the contiguous rows are that are done at once."""
        assert self._lanes_done is not None
        return self._lanes_done

    def parts_loop(self, step: Computation) -> int | None:
        """The loop of a step over parts that are done at once."""
        return self._group.parts_loop(step)

    def constant_product(self, step: Computation) -> ConstantProduct | None:
        """How a step is a product with a known matrix, if it is one."""
        return self._group.constant_product(step)

    def block_loop(self, step: Computation) -> int | None:
        """The loop of a step that runs over a block of rows."""
        block = self._group.block
        return None if block is None else self._group.row_loops[step][block.row]

    def neighbouring_rows(self, step: Computation) -> int | None:
        """The loop over a block's rows of a step that reads several rows of a buffer for each."""
        reads = [
            sum(site.step is step for site in self._group.sites(result)) for result in self._buffers
        ]
        return self.block_loop(step) if max(reads, default=0) > 1 else None

    def rows_of_block(self, step: Computation) -> tuple[ir.Value, ir.Value]:
        """Between which values the rows are that a step does of a block."""
        block = self._group.block
        assert block is not None
        assert self._first_of_block is not None
        loop = self.block_loop(step)
        assert loop is not None
        low, high = block.halos[step]
        first = arith.addi(self._first_of_block, index(low))
        end = arith.addi(self._first_of_block, index(block.length + high))
        return first, least(end, self._sizes[step][loop])

    def evaluation(self, step: Computation) -> Evaluation:
        """Elements within the loops of a step."""
        evaluation: Evaluation

        def load(producer: Computation, source: ir.Value, indices: Indices) -> ir.Value:
            if self._hosted.get(producer) is step and source not in self._stored:
                return self._compute_and_store(evaluation, producer, indices)
            return self._load(evaluation, producer, source, indices)

        evaluation = Evaluation(self._group, step, self._given, load)
        return evaluation

    def size(self, step: Computation, loop: int) -> ir.Value:
        """How often a loop of a step runs."""
        if self._blocks is not None and self._blocks.until.get(step) == loop:
            assert self._length_of_rows is not None
            return self._length_of_rows
        return self._sizes[step][loop]

    def order(self, step: Computation) -> Order:
        """The order of the loops that a step has within a row."""
        several = self._several(step)
        own = [loop for loop in self.own_loops(step) if loop in several]
        lane = self.lane_loop(step)
        if lane is None:
            order = order_of(self._group, step, own)
            return order if self._group.block is None else Order(order.loops)
        if step is self._group.root and lane in (order := order_of(self._group, step, own)).pieces:
            return order
        outer = sorted((loop for loop in own if loop != lane), key=lambda at: step.reduces[at])
        return Order((*outer, lane))

    def store(
        self, evaluation: Evaluation, step: Computation, loops: Indices, values: Sequence[ir.Value]
    ) -> None:
        """Stores the results of a step in an iteration, in which its loops are these."""
        for number, (result, value) in enumerate(zip(step.results, values, strict=True)):
            if result in self._buffers:
                memref.store(value, *self._location(evaluation, step, number, loops))
            if result in self._outputs:
                memref.store(value, *self._in_output(evaluation, step, number, loops))
            if self._is_scalar(step, number):
                self._values[result] = value

    def previous(self, evaluation: Evaluation, step: Computation, loops: Indices) -> list[ir.Value]:
        """What the results of a step are so far."""
        return [
            memref.load(*self._location(evaluation, step, number, loops))
            for number in range(len(step.results))
        ]

    def _location(
        self, evaluation: Evaluation, step: Computation, number: int, loops: Indices
    ) -> tuple[ir.Value, list[ir.Value]]:
        """The buffer that a result of a step lies in, and where in it for such an iteration."""
        result = step.results[number]
        if result not in self._buffers:
            return self._in_output(evaluation, step, number, loops)
        buffer, buffered = self._buffers[result], self._buffered(step, number)
        moved = {self.lane_loop(step), self._row_of_block(step), self.block_loop(step)}
        if moved.isdisjoint(buffered):
            at = [loops[loop] for loop in buffered]
            groups = undivided(ir.MemRefType(buffer.type).shape, at)
            if len(groups) < len(at):
                buffer = collapsed(buffer, [axes for axes, _ in groups])
            return buffer, [evaluation.at(index) for _, index in groups]
        return buffer, self._places(evaluation, step, number, loops)

    def _in_output(
        self, evaluation: Evaluation, step: Computation, number: int, loops: Indices
    ) -> tuple[ir.Value, list[ir.Value]]:
        """The same of the output that a result is."""
        axes = step.result_loops(number)
        assert axes is not None
        output = self._outputs[step.results[number]]
        return output, [evaluation.at(loops[loop]) for loop in axes]

    def _compute_and_store(
        self, evaluation: Evaluation, producer: Computation, indices: Indices
    ) -> ir.Value:
        loops = producer.loops_for(indices)
        values = self.all_terms_added(evaluation, producer, loops)
        self.store(evaluation, producer, loops, values)
        return values[0]

    def has_few_terms(self, step: Computation) -> bool:
        """Whether terms are as few as are added up at once, for contiguous elements."""
        loops = self.order(step).loops
        terms = [step.sizes[loop] for loop in loops if step.reduces[loop]]
        if not terms or step.reduces[loops[-1]] or self.constant_product(step) is not None:
            return False
        most = _FEW_PRODUCTS if self._is_of_channels(step, loops[-1]) else _FEW_TERMS
        return DYNAMIC not in terms and math.prod(terms) <= most

    @staticmethod
    def _is_of_channels(step: Computation, innermost: int) -> bool:
        """Whether a step adds up products of what lies along a loop, for each element by itself."""
        sum_ = step.sum_of_products
        return sum_ is not None and innermost in sum_.batches

    def all_terms_added(
        self, evaluation: Evaluation, step: Computation, loops: Indices
    ) -> list[ir.Value]:
        """The results of a step at a place, of which each term has code of its own."""
        values = evaluation.needed_inits(step, loops)
        sizes = [
            range(size) if reduces else range(1)
            for size, reduces in zip(step.sizes, step.reduces, strict=True)
        ]
        for term in all_terms(*sizes):
            places = tuple(
                ir.AffineConstantExpr.get(at) if reduces else loop
                for at, reduces, loop in zip(term, step.reduces, loops, strict=True)
            )
            values = evaluation.results(step, places, values)
        return values

    def finished(self, step: Computation) -> None:
        """Notes that a step, with what is computed in its loops, is built."""
        self._stored |= set(step.results)
        for producer, host in self._hosted.items():
            if host is step:
                self._stored |= set(producer.results)

    def _load(
        self, evaluation: Evaluation, producer: Computation, source: ir.Value, indices: Indices
    ) -> ir.Value:
        if source in self._values:
            return self._values[source]
        number = producer.results.index(source)
        loops = producer.loops_for(indices, number)
        return memref.load(*self._location(evaluation, producer, number, loops))

    def _places(
        self, evaluation: Evaluation, step: Computation, number: int, loops: Indices
    ) -> list[ir.Value]:
        places = []
        for loop in self._buffered(step, number):
            place = evaluation.at(loops[loop])
            if loop == self.lane_loop(step):
                place = arith.subi(place, self.lanes()[0])
            elif loop == self._row_of_block(step):
                assert self._first_of_block is not None
                place = arith.subi(place, self._first_of_block)
            elif loop == self.block_loop(step):
                place = arith.subi(place, self.rows_of_block(step)[0])
            places.append(place)
        return places

    def _buffered(self, step: Computation, number: int) -> list[int]:
        """The loops along the axes of the buffer for a result, that over contiguous rows last.

        In their own order, where something reads the result as it is reshaped.
        """
        axes = step.result_loops(number)
        assert axes is not None
        own = {loop for loop in self.own_loops(step) if step.sizes[loop] != 1}
        block = self._row_of_block(step) if self._outlives_its_run(step, number) else None
        buffered = [loop for loop in axes if loop in own or loop == block]
        if not is_read_by_axes(self._group, step.results[number]):
            return buffered
        return sorted(buffered, key=lambda loop: loop == self.lane_loop(step))

    def _row_of_block(self, step: Computation) -> int | None:
        """The loop of a step over the rows of a block."""
        return self._group.row_loops[step][self._blocks.row] if self._blocks else None

    def _outlives_its_run(self, step: Computation, number: int) -> bool:
        """Whether other steps read a result than those that are done row by row beside it."""
        (run,) = (run for run in self._runs if step in run)
        return self._blocks is not None and any(
            site.step not in run for site in self._group.sites(step.results[number])
        )

    def _is_scalar(self, step: Computation, number: int) -> bool:
        """Whether a result is one value in each row."""
        return not self._buffered(step, number) and step is not self._group.root

    def _may_be_hosted(self, step: Computation, reader: Computation) -> bool:
        """Whether a step may be done in the loops of one that reads it."""
        if step.is_reduction:
            can_be = not reader.is_reduction and self.has_few_terms(step)
        else:
            can_be = self.lane_loop(step) is None
        return can_be and any(step in run and reader in run for run in self._runs)

    def _buffer(self, step: Computation, number: int) -> ir.Value:
        shape, sizes = [], []
        for loop in self._buffered(step, number):
            if loop == self.lane_loop(step):
                assert self._lane_count is not None
                shape.append(self._lane_count)
            elif self._blocks and loop == self._row_of_block(step):
                shape.append(self._blocks.size)
            elif self._group.block is not None and loop == self.block_loop(step):
                low, high = self._group.block.halos[step]
                shape.append(self._group.block.length + high - low)
            else:
                shape.append(step.sizes[loop])
                if step.sizes[loop] == DYNAMIC:
                    sizes.append(self._sizes[step][loop])
        element = ir.RankedTensorType(step.results[number].type).element_type
        count = 1
        for size in shape:
            count = DYNAMIC if DYNAMIC in (size, count) else count * size
        place = memref.alloc if count == DYNAMIC or count > _STACK else memref.alloca
        return place(ir.MemRefType.get(shape, element), sizes, [], alignment=ALIGNMENT)


def _runs(
    steps: Sequence[Computation], alone: Mapping[Computation, object]
) -> list[list[Computation]]:
    """Steps that follow one another, but those that are done `alone` each by itself."""
    runs: list[list[Computation]] = []
    for step in steps:
        if runs and step not in alone and runs[-1][0] not in alone:
            runs[-1].append(step)
        else:
            runs.append([step])
    return runs


def _hosted(
    group: Group, may_be_hosted: Callable[[Computation, Computation], bool]
) -> dict[Computation, Computation]:
    """For steps that are computed in the loops of the first step that reads them, that step.

    That may be in the loops of a later one by itself: nobody may read them before these. An
    evaluation goes down from one to the next as it does through what is inlined, and so not to more
    of them one below the other than to such members.
    """
    hosts: dict[Computation, Computation] = {}
    depths: dict[Computation, int] = {}
    # In another step's loops those are of all parts at once that the host's own ones become.
    at_once: dict[Computation, int | None] = {}
    positions = {step: position for position, step in enumerate(group.steps)}
    for step in reversed(group.steps[:-1]):
        if len(step.results) > 1:
            continue
        readers = [site.step for site in group.sites(step.results[0])]
        first = min(readers, key=positions.__getitem__, default=None)
        if first is None or not may_be_hosted(step, first):
            continue
        depth = depths.get(first, 0) + group.depth(step) + 1
        if depth > DEEPEST:
            continue
        sites = [site.indices for site in group.sites(step.results[0]) if site.step is first]
        host = hosts.get(first, first)
        earliest = min(positions[hosts.get(reader, reader)] for reader in readers)
        parts = at_once[first] if first in hosts else group.parts_loop(first)
        covers = _covers(step, first, sites[0], parts)
        if len(sites) == 1 and covers and positions[host] == earliest:
            hosts[step], depths[step] = host, depth
            at_once[step] = _loop_along(step, sites[0], parts)
    return hosts


def _loop_along(step: Computation, indices: Indices, loop: int | None) -> int | None:
    """The loop of a step that runs as one of a reader does, which reads it at such indices."""
    axes = step.result_loops(0)
    assert axes is not None
    for own, index_ in zip(axes, indices, strict=True):
        dim = index_.maybe_downcast()
        if isinstance(dim, ir.AffineDimExpr) and dim.position == loop:
            return own
    return None


def _covers(step: Computation, reader: Computation, indices: Indices, parts: int | None) -> bool:
    """Whether each iteration of a reader reads one element of a step, and all are read.

    Those of its loop over `parts` are done at once.
    """
    found = []
    for index_, size in zip(indices, ir.RankedTensorType(step.results[0].type).shape, strict=True):
        dim = index_.maybe_downcast()
        if isinstance(dim, ir.AffineDimExpr) and reader.sizes[dim.position] == size:
            found.append(dim.position)
        elif size != 1:
            return False
    rest = [
        loop
        for loop, size in enumerate(reader.sizes)
        if loop not in found and size != 1 and loop != parts
    ]
    return len(set(found)) == len(found) and not rest


class _Step:
    """The loops of one step within a row."""

    def __init__(self, nests: _LoopNests, step: Computation) -> None:
        self._nests, self._step = nests, step
        self._evaluation = nests.evaluation(step)
        self._order = nests.order(step)
        self._loops = step.loops

    def build(self) -> None:
        self._evaluation.loops |= self._nests.row_loops(self._step)
        loops = self._order.loops
        if (product := self._nests.constant_product(self._step)) is not None:
            self._nest(loops, lambda: self._multiply(product))
        elif self._order.pieces:
            self._build_in_pieces(self._order.pieces)
        elif not any(self._step.reduces[loop] for loop in loops):
            row = self._nests.neighbouring_rows(self._step)
            if row is None or row == loops[-1]:
                self._nest(loops, self._store_elements)
            else:
                self._build_rows_at_once(row)
        elif self._step.reduces[loops[-1]]:
            parallel = [loop for loop in loops if not self._step.reduces[loop]]
            self._nest(parallel, self._reduce)
        elif self._nests.has_few_terms(self._step):
            parallel = [loop for loop in loops if not self._step.reduces[loop]]
            self._nest(parallel, self._add_few_terms)
        else:
            self._reduce_in_memory()
        self._nests.finished(self._step)

    def _bounds(self, loop: int) -> tuple[ir.Value, ir.Value]:
        if loop == self._nests.lane_loop(self._step):
            return self._nests.lanes()
        if loop == self._nests.block_loop(self._step):
            return self._nests.rows_of_block(self._step)
        return index(0), self._nests.size(self._step, loop)

    def _nest(
        self,
        loops: Sequence[int],
        inner: Callable[[], None],
        bounds: Mapping[int, tuple[ir.Value, ir.Value]] | None = None,
    ) -> None:
        if not loops:
            inner()
            return
        loop, *rest = loops
        lower, upper = (bounds or {}).get(loop) or self._bounds(loop)

        def body(at: ir.Value) -> list[ir.Value]:
            with self._evaluation.scope():
                self._evaluation.loops[loop] = at
                self._nest(rest, inner, bounds)
            return []

        # Each iteration stores elements of its own.
        for_each(lower, upper, 1, body, parallel=not self._step.reduces[loop])

    def _store_elements(self) -> None:
        """An element, or one of each of a few parts."""
        parts = self._nests.parts_loop(self._step)
        count = 1 if parts is None else self._step.sizes[parts]
        self._store_all(
            [
                tuple(
                    ir.AffineConstantExpr.get(number) if loop == parts else at
                    for loop, at in enumerate(self._loops)
                )
                for number in range(count)
            ]
        )

    def _multiply(self, product: ConstantProduct) -> None:
        """All rows of a product with a known matrix."""
        value, dims = self._step.inputs[product.elements], len(self._loops)
        map_ = self._step.maps[product.elements]
        elements = [
            self._evaluation.element(value, composed(map_, loops, dims))
            for loops in product.columns
        ]
        results = build_product(product.matrix, elements)
        for loops, result in zip(product.rows, results, strict=True):
            self._nests.store(self._evaluation, self._step, loops, [result])

    def _build_rows_at_once(self, row: int) -> None:
        """Does rows of a block some at once, as far as they go; what several read is read once."""
        at_row = self._order.loops.index(row)
        outer, inner = self._order.loops[:at_row], self._order.loops[at_row + 1 :]

        def rows() -> None:
            first, end = self._bounds(row)
            left = arith.remui(arith.subi(end, first), index(_ROWS_AT_ONCE))
            middle = arith.subi(end, left)

            def some(at: ir.Value) -> list[ir.Value]:
                with self._evaluation.scope():
                    self._evaluation.loops[row] = at
                    self._nest(inner, lambda: self._store_rows(row))
                return []

            for_each(first, middle, _ROWS_AT_ONCE, some, parallel=True)
            self._nest([row, *inner], self._store_elements, {row: (middle, end)})

        self._nest(outer, rows)

    def _store_rows(self, row: int) -> None:
        """An element of each of the rows done at once."""
        self._store_all(
            [
                tuple(at + number if loop == row else at for loop, at in enumerate(self._loops))
                for number in range(_ROWS_AT_ONCE)
            ]
        )

    def _store_all(self, places: Sequence[Indices]) -> None:
        """The elements of some iterations; all is read before any is stored."""
        values = [
            self._evaluation.results(
                self._step, loops, self._evaluation.needed_inits(self._step, loops)
            )
            for loops in places
        ]
        for loops, found in zip(places, values, strict=True):
            self._nests.store(self._evaluation, self._step, loops, found)

    def _reduce(self) -> None:
        step = self._step
        inits = [
            self._evaluation.init(step, number, self._loops) for number in range(len(step.results))
        ]
        reductions = [loop for loop in self._order.loops if step.reduces[loop]]

        def add(loops: Sequence[int], sums: Sequence[ir.Value]) -> list[ir.Value]:
            if not loops:
                return self._evaluation.results(step, self._loops, sums)
            loop, *rest = loops

            def body(at: ir.Value, *sums: ir.Value) -> list[ir.Value]:
                with self._evaluation.scope():
                    self._evaluation.loops[loop] = at
                    return add(rest, sums)

            return for_each(*self._bounds(loop), 1, body, sums)

        self._nests.store(self._evaluation, step, self._loops, add(reductions, inits))

    def _add_few_terms(self) -> None:
        values = self._nests.all_terms_added(self._evaluation, self._step, self._loops)
        self._nests.store(self._evaluation, self._step, self._loops, values)

    def _reduce_in_memory(self) -> None:
        step, loops = self._step, self._order.loops
        reductions = [loop for loop in loops if step.reduces[loop]]
        within = loops.index(reductions[-1]) + 1
        parallel = [loop for loop in loops[:within] if not step.reduces[loop]]
        inner = loops[within:]

        def set_init() -> None:
            inits = [
                self._evaluation.init(step, number, self._loops)
                for number in range(len(step.results))
            ]
            self._nests.store(self._evaluation, step, self._loops, inits)

        *outer, last = reductions

        def add(terms: Sequence[ir.Value]) -> None:
            so_far = self._nests.previous(self._evaluation, step, self._loops)
            for term in terms:
                with self._evaluation.scope():
                    self._evaluation.loops[last] = term
                    so_far = self._evaluation.results(step, self._loops, so_far)
            self._nests.store(self._evaluation, step, self._loops, so_far)

        def over(bounds: Mapping[int, tuple[ir.Value, ir.Value]]) -> None:
            def some(at: ir.Value, count: int) -> list[ir.Value]:
                with self._evaluation.scope():
                    terms = [at, *(arith.addi(at, index(more)) for more in range(1, count))]
                    self._nest(inner, lambda: add(terms), bounds)
                return []

            def all_terms() -> None:
                first, end = self._bounds(last)
                left = arith.remui(arith.subi(end, first), index(_ADDED_AT_ONCE))
                middle = arith.subi(end, left)
                for_each(first, middle, _ADDED_AT_ONCE, lambda at: some(at, _ADDED_AT_ONCE))
                for_each(middle, end, 1, lambda at: some(at, 1))

            with self._evaluation.scope():
                self._nest(inner, set_init, bounds)
            with self._evaluation.scope():
                self._nest(outer, all_terms, bounds)

        def blocks() -> None:
            if len(inner) > 1 or inner[0] == self._nests.lane_loop(step):
                over({})
                return
            size = self._nests.size(step, inner[0])

            def block(first: ir.Value) -> list[ir.Value]:
                over({inner[0]: (first, least(arith.addi(first, index(_SUMS)), size))})
                return []

            for_each(index(0), size, _SUMS, block, parallel=True)

        self._nest(parallel, blocks)

    def _build_in_pieces(self, pieces: Mapping[int, int]) -> None:
        first, second = pieces
        rest = [loop for loop in self._order.loops if loop not in pieces]

        def piece(loop: int, at: ir.Value, length: int) -> tuple[ir.Value, ir.Value]:
            _, end = self._bounds(loop)
            return at, least(arith.addi(at, index(length)), end)

        def outer() -> None:
            def over_first(at: ir.Value) -> list[ir.Value]:
                def over_second(beside: ir.Value) -> list[ir.Value]:
                    bounds = {
                        first: piece(first, at, pieces[first]),
                        second: piece(second, beside, pieces[second]),
                    }
                    self._nest([first, second], self._store_elements, bounds)
                    return []

                for_each(*self._bounds(second), pieces[second], over_second, parallel=True)
                return []

            for_each(*self._bounds(first), pieces[first], over_first, parallel=True)

        self._nest(rest, outer)
