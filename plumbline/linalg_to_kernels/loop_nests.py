"""Builds a group as loops: of each row, one step after the other.

A step without reductions computes an element and stores it. A reduction that runs innermost adds
up in values that the loop carries on; one that a parallel loop runs inside of (for contiguous
elements) adds to what is in the buffer. What a later step reads at once is computed in its loops,
and stored for those that read it after that.
"""

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.building import ALIGNMENT, for_each, index, least
from plumbline.linalg_to_kernels.computations import DYNAMIC, Computation, Indices
from plumbline.linalg_to_kernels.evaluation import Evaluation
from plumbline.linalg_to_kernels.group import Group
from plumbline.linalg_to_kernels.loop_order import PIECE, Order, order_of
from plumbline.linalg_to_kernels.sizes import loop_size

_LANES = 64
"""How many rows are done at once where these are contiguous: some vectors."""

_SUMS = 512
"""How many sums are added to at once, in a buffer."""

_STACK = 1 << 14
"""How many elements a buffer on the stack may have; larger ones are allocated."""


def build_loop_nests(
    group: Group, given: Mapping[ir.Value, ir.Value], outputs: Mapping[ir.Value, ir.Value]
) -> None:
    """Builds what a group does.

    Args:
      group: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar.
      outputs: for each output of the group the buffer that takes it.
    """
    _LoopNests(group, given, outputs).build()


class _LoopNests:
    def __init__(
        self, group: Group, given: Mapping[ir.Value, ir.Value], outputs: Mapping[ir.Value, ir.Value]
    ) -> None:
        self._group, self._given, self._outputs = group, dict(given), outputs
        self._sizes = {
            step: [loop_size(step, loop, given) for loop in range(len(step.reduces))]
            for step in group.steps
        }
        self._lanes = self._contiguous_row()
        self._rows = [row for row in group.rows if row != self._lanes]
        self._hosted = _hosted(group, self._is_whole)
        self._buffers: dict[ir.Value, ir.Value] = {}
        self._values: dict[ir.Value, ir.Value] = {}
        self._stored: set[ir.Value] = set()
        self._row_values: dict[int, ir.Value] = {}
        self._first_lane: ir.Value | None = None

    def build(self) -> None:
        for step in self._group.steps:
            for number, result in enumerate(step.results):
                if result not in self._outputs and not self._is_scalar(step, number):
                    self._buffers[result] = self._buffer(step, number)
        self._over_rows(self._rows)

    # -- rows ---------------------------------------------------------------------------------

    def _contiguous_row(self) -> int | None:
        """The row along which the root's elements are contiguous, if that is a row."""
        group = self._group
        long = [loop for loop, size in enumerate(group.root.sizes) if size != 1]
        inner = order_of(group, group.root, long).loops[-1:]
        return inner[0] if inner and inner[0] in group.rows else None

    def _over_rows(self, rows: Sequence[int]) -> None:
        if not rows:
            self._over_lanes()
            return
        row, *rest = rows

        def body(at: ir.Value) -> list[ir.Value]:
            self._row_values[row] = at
            self._over_rows(rest)
            return []

        for_each(index(0), self._sizes[self._group.root][row], 1, body, parallel=True)

    def _over_lanes(self) -> None:
        if self._lanes is None:
            self._row()
            return

        def body(at: ir.Value) -> list[ir.Value]:
            self._first_lane = at
            self._row()
            return []

        size = self._sizes[self._group.root][self._lanes]
        for_each(index(0), size, _LANES, body, parallel=True)

    def _row(self) -> None:
        for step in self._group.steps:
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

    def lanes(self, step: Computation) -> tuple[ir.Value, ir.Value]:
        """Between which values the contiguous rows are that are done at once."""
        assert self._first_lane is not None
        lane_loop = self.lane_loop(step)
        assert lane_loop is not None
        end = arith.addi(self._first_lane, index(_LANES))
        return self._first_lane, least(end, self._sizes[step][lane_loop])

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
        return self._sizes[step][loop]

    def order(self, step: Computation) -> Order:
        """The order of the loops that a step has within a row."""
        own = [loop for loop in self.own_loops(step) if step.sizes[loop] != 1]
        lane = self.lane_loop(step)
        if lane is None:
            return order_of(self._group, step, own)
        outer = sorted((loop for loop in own if loop != lane), key=lambda at: step.reduces[at])
        return Order((*outer, lane))

    def store(
        self, evaluation: Evaluation, step: Computation, loops: Indices, values: Sequence[ir.Value]
    ) -> None:
        """Stores the results of a step in an iteration, in which its loops are these."""
        for number, (result, value) in enumerate(zip(step.results, values, strict=True)):
            if result in self._outputs or result in self._buffers:
                memref.store(value, *self._location(evaluation, step, number, loops))
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
        result, axes = step.results[number], step.result_loops(number)
        assert axes is not None
        if result in self._outputs:
            return self._outputs[result], [evaluation.at(loops[loop]) for loop in axes]
        return self._buffers[result], self._places(evaluation, step, number, loops)

    def _compute_and_store(
        self, evaluation: Evaluation, producer: Computation, indices: Indices
    ) -> ir.Value:
        loops = producer.loops_for(indices)
        values = evaluation.results(producer, loops, evaluation.needed_inits(producer, loops))
        self.store(evaluation, producer, loops, values)
        return values[0]

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
                assert self._first_lane is not None
                place = arith.subi(place, self._first_lane)
            places.append(place)
        return places

    def _buffered(self, step: Computation, number: int) -> list[int]:
        """The loops along the axes of the buffer for a result."""
        axes = step.result_loops(number)
        assert axes is not None
        own = self.own_loops(step)
        return [loop for loop in axes if loop in own and step.sizes[loop] != 1]

    def _is_scalar(self, step: Computation, number: int) -> bool:
        """Whether a result is one value in each row."""
        return not self._buffered(step, number) and step is not self._group.root

    def _is_whole(self, step: Computation) -> bool:
        return self.lane_loop(step) is None

    def _buffer(self, step: Computation, number: int) -> ir.Value:
        shape, sizes = [], []
        for loop in self._buffered(step, number):
            if loop == self.lane_loop(step):
                shape.append(_LANES)
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


def _hosted(
    group: Group, is_whole: Callable[[Computation], bool]
) -> dict[Computation, Computation]:
    """For steps that are computed in the loops of the first step that reads them, that step."""
    hosts: dict[Computation, Computation] = {}
    for position, step in reversed(list(enumerate(group.steps[:-1]))):
        if step.is_reduction or len(step.results) > 1 or not is_whole(step):
            continue
        readers = [
            (reader, site)
            for reader in group.steps[position + 1 :]
            for site in group.sites(step.results[0])
            if site.step is reader
        ]
        first = readers[0][0] if readers else None
        if first is None:
            continue
        sites = [site.indices for reader, site in readers if reader is first]
        if len(sites) == 1 and _covers(step, first, sites[0]):
            hosts[step] = hosts.get(first, first)
    return hosts


def _covers(step: Computation, reader: Computation, indices: Indices) -> bool:
    """Whether each iteration of a reader reads one element of a step, and all are read."""
    found = []
    for index_, size in zip(indices, ir.RankedTensorType(step.results[0].type).shape, strict=True):
        dim = index_.maybe_downcast()
        if isinstance(dim, ir.AffineDimExpr):
            found.append(dim.position)
        elif size != 1:
            return False
    rest = [
        loop for loop in range(len(reader.reduces)) if loop not in found and reader.sizes[loop] != 1
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
        if self._order.pieces:
            self._build_in_pieces(self._order.pieces)
        elif not any(self._step.reduces[loop] for loop in loops):
            self._nest(loops, self._store_elements)
        elif self._step.reduces[loops[-1]]:
            parallel = [loop for loop in loops if not self._step.reduces[loop]]
            self._nest(parallel, self._reduce)
        else:
            self._reduce_in_memory()
        self._nests.finished(self._step)

    def _bounds(self, loop: int) -> tuple[ir.Value, ir.Value]:
        if loop == self._nests.lane_loop(self._step):
            return self._nests.lanes(self._step)
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
        inits = self._evaluation.needed_inits(self._step, self._loops)
        values = self._evaluation.results(self._step, self._loops, inits)
        self._nests.store(self._evaluation, self._step, self._loops, values)

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

    def _reduce_in_memory(self) -> None:
        step, loops = self._step, self._order.loops
        inner = loops[-1]
        parallel = [loop for loop in loops[:-1] if not step.reduces[loop]]
        reductions = [loop for loop in loops if step.reduces[loop]]

        def set_init() -> None:
            inits = [
                self._evaluation.init(step, number, self._loops)
                for number in range(len(step.results))
            ]
            self._nests.store(self._evaluation, step, self._loops, inits)

        def add() -> None:
            so_far = self._nests.previous(self._evaluation, step, self._loops)
            values = self._evaluation.results(step, self._loops, so_far)
            self._nests.store(self._evaluation, step, self._loops, values)

        def over(bounds: Mapping[int, tuple[ir.Value, ir.Value]]) -> None:
            with self._evaluation.scope():
                self._nest([inner], set_init, bounds)
            with self._evaluation.scope():
                self._nest([*reductions, inner], add, bounds)

        def blocks() -> None:
            if inner == self._nests.lane_loop(step):
                over({})
                return
            size = self._nests.size(step, inner)

            def block(first: ir.Value) -> list[ir.Value]:
                over({inner: (first, least(arith.addi(first, index(_SUMS)), size))})
                return []

            for_each(index(0), size, _SUMS, block, parallel=True)

        self._nest(parallel, blocks)

    def _build_in_pieces(self, pieces: tuple[int, int]) -> None:
        first, second = pieces
        rest = [loop for loop in self._order.loops if loop not in pieces]

        def piece(loop: int, at: ir.Value) -> tuple[ir.Value, ir.Value]:
            size = self._nests.size(self._step, loop)
            return at, least(arith.addi(at, index(PIECE)), size)

        def outer() -> None:
            def over_first(at: ir.Value) -> list[ir.Value]:
                def over_second(beside: ir.Value) -> list[ir.Value]:
                    bounds = {first: piece(first, at), second: piece(second, beside)}
                    self._nest([first, second], self._store_elements, bounds)
                    return []

                size = self._nests.size(self._step, second)
                for_each(index(0), size, PIECE, over_second, parallel=True)
                return []

            size = self._nests.size(self._step, first)
            for_each(index(0), size, PIECE, over_first, parallel=True)

        self._nest(rest, outer)
