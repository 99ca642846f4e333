"""Builds a group as a kernel of a GPU: each row is done by a thread, or by a block of threads.

The steps of a row are done one after the other. What a step computes of a row is a value where that
is one number, and else lies in shared memory, or in the buffer of the result that it is.
"""

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf

from plumbline.linalg_to_gpu.combinations import Combination, combinations, combined_by_block
from plumbline.linalg_to_gpu.element_runs import Read, load_run, store_run
from plumbline.linalg_to_gpu.launches import THREADS, WARP, Thread, delinearized, launch, strided
from plumbline.linalg_to_gpu.row_loops import (
    buffer_axes,
    buffered_axes,
    own_loops,
    own_order,
    row_loops,
)
from plumbline.linalg_to_gpu.row_runs import row_runs
from plumbline.linalg_to_kernels.building import FlatView, for_each, if_else, index, least, product
from plumbline.linalg_to_kernels.computations import Computation, Indices
from plumbline.linalg_to_kernels.evaluation import Evaluation, index_value
from plumbline.linalg_to_kernels.group import Group
from plumbline.linalg_to_kernels.sizes import loop_size

Values = Mapping[ir.Value, ir.Value]


class Team(Protocol):
    """Those that do a row together."""

    def share(self, count: ir.Value, work: Callable[[ir.Value], object]) -> None:
        """Does work of so many numbers, each once."""

    def reduce(
        self,
        count: ir.Value,
        inits: Sequence[ir.Value],
        how: Sequence[Combination] | None,
        work: Callable[..., Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """Reduces what `work` adds of so many numbers to what there is; all have the results."""

    def once(self, work: Callable[[], object]) -> None:
        """Does work once."""

    def wait(self) -> None:
        """Waits until all have done what they do, and what they have written can be read."""

    def buffer(self, shape: Sequence[int], element: ir.Type) -> ir.Value:
        """A buffer for something of a row."""


class OneThread:
    """A thread by itself."""

    def share(self, count: ir.Value, work: Callable[[ir.Value], object]) -> None:
        """As `Team` says."""

        def body(number: ir.Value) -> list[ir.Value]:
            work(number)
            return []

        for_each(index(0), count, 1, body)

    def reduce(
        self,
        count: ir.Value,
        inits: Sequence[ir.Value],
        how: Sequence[Combination] | None,
        work: Callable[..., Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """As `Team` says."""
        return for_each(index(0), count, 1, work, inits)

    def once(self, work: Callable[[], object]) -> None:
        """As `Team` says."""
        work()

    def wait(self) -> None:
        """As `Team` says."""

    def buffer(self, shape: Sequence[int], element: ir.Type) -> ir.Value:
        """As `Team` says; a row that takes buffers is done by a block."""
        raise NotImplementedError("a thread has no buffer of its own")


class BlockOfThreads:
    """The threads of a block. None of them goes round a loop more often that the others wait in."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread

    def share(self, count: ir.Value, work: Callable[[ir.Value], object]) -> None:
        """As `Team` says."""
        strided(self._thread.number, count, index(self._thread.threads), work)

    def reduce(
        self,
        count: ir.Value,
        inits: Sequence[ir.Value],
        how: Sequence[Combination] | None,
        work: Callable[..., Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """As `Team` says. Where it is not known how to combine parts, the first thread does all."""
        if how is None:
            return self._by_first(lambda: for_each(index(0), count, 1, work, inits), inits)
        loop = scf.ForOp(
            self._thread.number,
            count,
            index(self._thread.threads),
            [one.neutral() for one in how],
        )
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(list(work(loop.induction_variable, *loop.inner_iter_args)))
        parts = combined_by_block(self._thread, list(loop.results), how)
        return [one.combined(*pair) for one, *pair in zip(how, inits, parts, strict=True)]

    def once(self, work: Callable[[], object]) -> None:
        """As `Team` says."""
        self._thread.once(work)

    def wait(self) -> None:
        """As `Team` says."""
        self._thread.wait()

    def buffer(self, shape: Sequence[int], element: ir.Type) -> ir.Value:
        """As `Team` says."""
        return self._thread.shared(shape, element)

    def _by_first(
        self, work: Callable[[], Sequence[ir.Value]], like: Sequence[ir.Value]
    ) -> list[ir.Value]:
        buffers = [self.buffer([], value.type) for value in like]

        def store() -> None:
            for value, buffer in zip(work(), buffers, strict=True):
                memref.store(value, buffer, [])

        self.once(store)
        self.wait()
        results = [memref.load(buffer, []) for buffer in buffers]
        self.wait()
        return results


def build_row_kernel(group: Group, given: Values, outputs: Values, threads_of_row: int) -> None:
    """Builds the launch of a kernel that does a group.

    Args:
      group: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar.
      outputs: for each output of the group the buffer that takes it.
      threads_of_row: 1, or how many threads a block has that does a row; a multiple of `WARP`.
    """
    sizes = _sizes(group, given)
    rows = row_loops(group)[group.root]
    row_sizes = [sizes[group.root][row] for row in rows]

    def build_row(kernel: _RowKernel, number: ir.Value) -> None:
        kernel.build(dict(zip(rows, delinearized(number, row_sizes), strict=True)))

    _launch(
        product(row_sizes),
        threads_of_row,
        lambda team: _RowKernel(group, given, outputs, sizes, team),
        build_row,
    )


@dataclass(frozen=True)
class Neighbours:
    """Rows of one number that windows read much of in common, so that a thread does a few."""

    loop: int
    """The loop of the root that they are neighbours along."""
    count: int
    """How many a thread does, of which the loop's size is a multiple."""


def build_neighbours_kernel(
    group: Group, given: Values, outputs: Values, neighbours: Neighbours
) -> None:
    """Builds the launch of a kernel in which a thread does neighbours at once.

    Args:
      group: each step is one number in a row, and reduces few elements of sizes that are known.
      given: for each argument of that function a buffer or a scalar.
      outputs: for each output of the group the buffer that takes it.
      neighbours: which these are.
    """
    sizes = _sizes(group, given)
    rows = row_loops(group)[group.root]
    count = index(neighbours.count)
    counts = [
        arith.divui(size, count) if row == neighbours.loop else size
        for row in rows
        for size in [sizes[group.root][row]]
    ]
    total = product(counts)

    def body(thread: Thread) -> None:
        def work(number: ir.Value) -> None:
            places = dict(zip(rows, delinearized(number, counts), strict=True))
            first = arith.muli(places[neighbours.loop], count)
            each = [
                {**places, neighbours.loop: arith.addi(first, index(place))}
                for place in range(neighbours.count)
            ]
            kernels = [_RowKernel(group, given, outputs, sizes, OneThread()) for _ in each]
            _build_together(kernels, each)

        first = arith.addi(arith.muli(thread.block, index(THREADS)), thread.number)
        strided(first, total, arith.muli(thread.blocks, index(THREADS)), work)

    launch(arith.ceildivui(total, index(THREADS)), THREADS, body)


def _build_together(
    kernels: Sequence["_RowKernel"], rows: Sequence[Mapping[int, ir.Value]]
) -> None:
    """Builds all steps of several rows, each a number, reading side by side what they reduce."""
    for step in kernels[0].group.steps:
        evaluations = [kernel.at_rows(step, own) for kernel, own in zip(kernels, rows, strict=True)]
        values = [
            [evaluation.init(step, number, step.loops) for number in range(len(step.results))]
            if step.is_reduction
            else evaluation.results(step, step.loops, evaluation.needed_inits(step, step.loops))
            for evaluation in evaluations
        ]
        _, reductions = own_order(kernels[0].group, step)
        places = itertools.product(*(range(step.sizes[loop]) for loop in reductions))
        for place in places if step.is_reduction else ():
            for which, evaluation in enumerate(evaluations):
                with evaluation.scope():
                    evaluation.loops |= zip(reductions, map(index, place), strict=True)
                    values[which] = evaluation.results(step, step.loops, values[which])
        for kernel, evaluation, own in zip(kernels, evaluations, values, strict=True):
            kernel.take(evaluation, step, own)


def _sizes(group: Group, given: Values) -> dict[Computation, list[ir.Value]]:
    return {
        step: [loop_size(step, loop, given) for loop in range(len(step.reduces))]
        for step in group.steps
    }


def _launch(
    count: ir.Value,
    threads: int,
    kernel_of: Callable[[Team], "_RowKernel"],
    build: Callable[["_RowKernel", ir.Value], None],
) -> None:
    """Launches so many teams as the count is: threads by themselves, or blocks of more threads."""

    def body(thread: Thread) -> None:
        team: Team
        if threads == 1:
            team = OneThread()
            block = arith.muli(thread.block, index(thread.threads))
            first = arith.addi(block, thread.number)
            stride = arith.muli(thread.blocks, index(thread.threads))
        else:
            team, first, stride = BlockOfThreads(thread), thread.block, thread.blocks
        kernel = kernel_of(team)
        strided(first, count, stride, lambda number: build(kernel, number))

    if threads == 1:
        launch(arith.ceildivui(count, index(THREADS)), THREADS, body)
    else:
        launch(count, threads, body)


@dataclass(frozen=True)
class Partials:
    """What the parts of rows are reduced to, in memory."""

    buffers: Sequence[ir.Value]
    """For each result of the group's first step, by rows and by part."""
    parts: ir.Value
    """How many a row has, of type index."""
    most: int
    """How many that are at most."""


def build_split_row_kernels(
    group: Group, given: Values, outputs: Values, partials: Partials, threads_of_part: int
) -> None:
    """Builds two launches: one reduces parts of rows, and one does the rows, given what these are.

    Args:
      group: its first step is a reduction that can be combined, to one number a row.
      given: for each argument of that function a buffer or a scalar.
      outputs: for each output of the group the buffer that takes it.
      partials: memory for what the parts are reduced to.
      threads_of_part: 1, or how many threads a block has that does a part; a multiple of `WARP`.
    """
    sizes = _sizes(group, given)
    rows = row_loops(group)[group.root]
    row_sizes = [sizes[group.root][row] for row in rows]
    parts = partials.parts
    # Threads that are next to one another do the same part of rows that are.
    by_rows = threads_of_part == 1
    counts = [parts, *row_sizes] if by_rows else [*row_sizes, parts]

    def build_part(kernel: _RowKernel, number: ir.Value) -> None:
        places = delinearized(number, counts)
        part = places.pop(0 if by_rows else -1)
        kernel.build_part(dict(zip(rows, places, strict=True)), part, partials)

    def build_row(kernel: _RowKernel, number: ir.Value) -> None:
        kernel.build(dict(zip(rows, delinearized(number, row_sizes), strict=True)))

    _launch(
        product(counts),
        threads_of_part,
        lambda team: _RowKernel(group, given, {}, sizes, team),
        build_part,
    )
    _launch(
        product(row_sizes),
        min(-(-partials.most // WARP) * WARP, THREADS),
        lambda team: _RowKernel(group, given, outputs, sizes, team, partials),
        build_row,
    )


def build_row_kernels_by_length(
    group: Group,
    given: Values,
    outputs: Values,
    room: Sequence[ir.Value],
    threads: int,
    *,
    least_parts: int,
    least_elements: int,
) -> None:
    """Builds launches that do rows in parts where these are few and long, and one that does not.

    Which of both a call does depends on its sizes alone, so that equal calls give the same bits.

    Args:
      group: as `build_split_row_kernels` takes it.
      given: for each argument of that function a buffer or a scalar.
      outputs: for each output of the group the buffer that takes it.
      room: memory for what parts are reduced to: a buffer for each result of the first step, in
        which all rows' parts lie one after the other.
      threads: as for `build_row_kernel`.
      least_parts: rows that would be split in fewer are not.
      least_elements: of a part.
    """
    step = group.steps[0]
    sizes = _sizes(group, given)
    row_sizes = [sizes[group.root][row] for row in row_loops(group)[group.root]]
    length = product([sizes[step][loop] for loop in own_loops(group, step)])
    most = ir.MemRefType(room[0].type).shape[0]
    rows = arith.maxsi(product(row_sizes), index(1))
    parts = arith.minsi(arith.divui(index(most), rows), arith.divui(length, index(least_elements)))
    is_split = arith.cmpi(arith.CmpIPredicate.sge, parts, index(least_parts))

    def split() -> None:
        buffers = [_by_rows(buffer, [*row_sizes, parts]) for buffer in room]
        partials = Partials(buffers, parts, most)
        build_split_row_kernels(group, given, outputs, partials, threads)

    if_else(is_split, split, lambda: build_row_kernel(group, given, outputs, threads))


def _by_rows(buffer: ir.Value, sizes: Sequence[ir.Value]) -> ir.Value:
    """The beginning of a buffer, as one of such sizes."""
    type_ = ir.MemRefType(buffer.type)
    dynamic = ir.ShapedType.get_dynamic_size()
    *outer, _ = unknown = [dynamic] * len(sizes)
    layout = ir.StridedLayoutAttr.get(0, [*outer, 1])
    strides = [product(sizes[axis + 1 :]) for axis in range(len(outer))]
    return memref.ReinterpretCastOp(
        ir.MemRefType.get(unknown, type_.element_type, layout),
        buffer,
        [],
        sizes,
        strides,
        [0],
        unknown,
        [*outer, 1],
    ).result


class _RowKernel:
    def __init__(
        self,
        group: Group,
        given: Values,
        outputs: Values,
        sizes: Mapping[Computation, Sequence[ir.Value]],
        team: Team,
        partials: Partials | None = None,
    ) -> None:
        self.group, self._given, self._outputs = group, given, outputs
        self._sizes, self._team, self._partials = sizes, team, partials
        self._row_loops = row_loops(group)
        self._values: dict[ir.Value, ir.Value] = {}
        self._own = {step: own_order(group, step) for step in group.steps}
        is_shared = isinstance(team, BlockOfThreads)
        self._runs = {step: row_runs(group, step, is_shared=is_shared) for step in group.steps}
        self._views = self._views_of_runs()

    @functools.cached_property
    def _buffers(self) -> dict[ir.Value, ir.Value]:
        """For what steps compute of a row, and other steps read."""
        return {
            result: self._team.buffer(
                [step.sizes[loop] for loop in axes], ir.RankedTensorType(result.type).element_type
            )
            for step in self.group.steps
            for number, result in enumerate(step.results)
            if result not in self._outputs and (axes := buffered_axes(self.group, step, number))
        }

    def _views_of_runs(self) -> dict[ir.Value, FlatView]:
        """For each tensor that a thread reads or writes runs of its elements, before any loop."""
        views = {}
        for step, runs in self._runs.items():
            for source, _ in runs.given:
                views[source] = FlatView(self._given[source])
            own = step.results if runs.loop is not None and not step.is_reduction else ()
            for result in [*own, *(source for source, _ in runs.computed)]:
                views[result] = FlatView(self._buffer(result))
        return views

    def build(self, rows: Mapping[int, ir.Value]) -> None:
        """Builds all steps of a row, given the row loops of the root."""
        for step in self.group.steps:
            self._build_step(step, rows)
        if self._buffers:
            # Before the next row is put there.
            self._team.wait()

    def build_part(self, rows: Mapping[int, ir.Value], part: ir.Value, partials: Partials) -> None:
        """Builds a part of the first step of a row, as one of the partials."""
        step = self.group.steps[0]
        evaluation = self.at_rows(step, rows)
        how = combinations(step)
        assert how is not None
        _, reductions = self._own[step]
        count = self._count(step, reductions)
        length = arith.ceildivui(count, partials.parts)
        start = arith.muli(part, length)

        def add(number: ir.Value, *so_far: ir.Value) -> list[ir.Value]:
            return self._added(evaluation, step, arith.addi(start, number), so_far)

        own = least(arith.maxsi(arith.subi(count, start), index(0)), length)
        inits = [one.neutral() for one in how]
        values = self._team.reduce(own, inits, how, add)

        def store() -> None:
            for buffer, value in zip(partials.buffers, values, strict=True):
                memref.store(value, buffer, [*rows.values(), part])

        self._team.once(store)

    def take(self, evaluation: Evaluation, step: Computation, values: Sequence[ir.Value]) -> None:
        """Takes what a step computes of a row, if these are numbers: for others, and as results."""
        self._values |= zip(step.results, values, strict=True)
        if any(result in self._outputs for result in step.results):
            self._team.once(lambda: self._store(evaluation, step, values))

    def at_rows(self, step: Computation, rows: Mapping[int, ir.Value]) -> Evaluation:
        """Elements within the loops of a step in a row."""
        evaluation = self._evaluation(step)
        evaluation.loops |= {loop: index(0) for loop, size in enumerate(step.sizes) if size == 1}
        evaluation.loops |= {loop: rows[row] for row, loop in self._row_loops[step].items()}
        return evaluation

    def _build_step(self, step: Computation, rows: Mapping[int, ir.Value]) -> None:
        evaluation = self.at_rows(step, rows)
        parallel, reductions = self._own[step]
        # Of what is one number in a row each thread has it, and one puts it where it is a result.
        if not parallel:
            if self._partials is not None and step == self.group.steps[0]:
                values = self._combined(evaluation, step, self._partials, [*rows.values()])
            else:
                values = self._results(evaluation, step, reductions, self._team)
            self.take(evaluation, step, values)
        else:

            def work(number: ir.Value) -> None:
                with evaluation.scope():
                    columns = [
                        self._results(evaluation, step, reductions, OneThread())
                        for _ in self._elements(evaluation, step, parallel, number)
                    ]
                    self._store_run(evaluation, step, columns)

            self._team.share(self._count(step, parallel), work)
            if any(self.group.sites(result) for result in step.results):
                self._team.wait()

    def _results(
        self, evaluation: Evaluation, step: Computation, reductions: Sequence[int], team: Team
    ) -> list[ir.Value]:
        """What a step computes where all loops but its reductions have a value."""
        if not step.is_reduction:
            return evaluation.results(step, step.loops, evaluation.needed_inits(step, step.loops))
        inits = [evaluation.init(step, number, step.loops) for number in range(len(step.results))]
        if not reductions:
            return evaluation.results(step, step.loops, inits)

        def add(number: ir.Value, *so_far: ir.Value) -> list[ir.Value]:
            return self._added(evaluation, step, number, so_far)

        return team.reduce(self._count(step, reductions), inits, combinations(step), add)

    def _combined(
        self,
        evaluation: Evaluation,
        step: Computation,
        partials: Partials,
        rows: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """What the parts of a step's row come to."""
        how = combinations(step)
        assert how is not None
        inits = [evaluation.init(step, number, step.loops) for number in range(len(step.results))]

        def add(part: ir.Value, *so_far: ir.Value) -> list[ir.Value]:
            parts = [memref.load(buffer, [*rows, part]) for buffer in partials.buffers]
            return [one.combined(*pair) for one, *pair in zip(how, so_far, parts, strict=True)]

        return self._team.reduce(partials.parts, inits, how, add)

    def _count(self, step: Computation, loops: Sequence[int]) -> ir.Value:
        """How often loops run, of which a thread does a run at a time where there are such."""
        return product(self._run_sizes(step, loops))

    def _run_sizes(self, step: Computation, loops: Sequence[int]) -> list[ir.Value]:
        sizes = [self._sizes[step][loop] for loop in loops]
        if (length := self._length(step, loops)) > 1:
            sizes[-1] = index(step.sizes[loops[-1]] // length)
        return sizes

    def _length(self, step: Computation, loops: Sequence[int]) -> int:
        """How many elements a thread does at once along the last of loops."""
        runs = self._runs[step]
        return runs.length if loops and loops[-1] == runs.loop else 1

    def _elements(
        self,
        evaluation: Evaluation,
        step: Computation,
        loops: Sequence[int],
        number: ir.Value,
    ) -> Iterator[None]:
        """Gives loops their values at each element of the run of such a number, one by one.

        After them they are those of the first.
        """
        places = delinearized(number, self._run_sizes(step, loops))
        length = self._length(step, loops)
        if length == 1:
            evaluation.loops |= zip(loops, places, strict=True)
            yield
            return
        first = arith.muli(places.pop(), index(length))
        evaluation.loops |= zip(loops, [*places, first], strict=True)
        known = self._known(evaluation, step)
        for lane in range(length):
            with evaluation.scope():
                evaluation.loops[loops[-1]] = arith.addi(first, index(lane))
                for read, elements in known.items():
                    evaluation.know(*read, elements[lane])
                yield
        evaluation.loops[loops[-1]] = first

    def _known(self, evaluation: Evaluation, step: Computation) -> dict[Read, list[ir.Value]]:
        """What is read at once from where the loops of a step are."""
        runs = self._runs[step]

        def loaded(value: ir.Value, indices: Indices) -> list[ir.Value]:
            places = [index_value(at, evaluation.loops) for at in indices]
            return load_run(self._views[value], places, runs.length)

        known = {(source, indices): loaded(source, indices) for source, indices in runs.given}
        for source, indices in runs.computed:
            producer = self.group.producer(source)
            assert producer is not None
            number = producer.results.index(source)
            loops = producer.loops_for(indices, number)
            axes = buffer_axes(self.group, producer, number)
            known[source, indices] = loaded(source, tuple(loops[axis] for axis in axes))
        return known

    def _store_run(
        self, evaluation: Evaluation, step: Computation, columns: Sequence[Sequence[ir.Value]]
    ) -> None:
        """Stores what a step computes at each element of a run."""
        if len(columns) == 1:
            self._store(evaluation, step, columns[0])
            return
        for number, values in enumerate(zip(*columns, strict=True)):
            _, places = self._place(evaluation, step, number, step.loops)
            store_run(self._views[step.results[number]], places, values)

    def _added(
        self,
        evaluation: Evaluation,
        step: Computation,
        number: ir.Value,
        so_far: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """What a reduction comes to with the run of such a number."""
        values = list(so_far)
        with evaluation.scope():
            _, loops = self._own[step]
            for _ in self._elements(evaluation, step, loops, number):
                values = evaluation.results(step, step.loops, values)
        return values

    def _store(self, evaluation: Evaluation, step: Computation, values: Sequence[ir.Value]) -> None:
        for number, (result, value) in enumerate(zip(step.results, values, strict=True)):
            if result in self._outputs or result in self._buffers:
                memref.store(value, *self._place(evaluation, step, number, step.loops))

    def _place(
        self, evaluation: Evaluation, step: Computation, number: int, loops: Indices
    ) -> tuple[ir.Value, list[ir.Value]]:
        """The buffer that a result of a step lies in, and where in it."""
        axes = buffer_axes(self.group, step, number)
        return self._buffer(step.results[number]), [evaluation.at(loops[loop]) for loop in axes]

    def _buffer(self, result: ir.Value) -> ir.Value:
        return self._outputs[result] if result in self._outputs else self._buffers[result]

    def _evaluation(self, step: Computation) -> Evaluation:
        """Elements within the loops of a step."""
        evaluation: Evaluation

        def load(producer: Computation, source: ir.Value, indices: Indices) -> ir.Value:
            if source in self._values:
                return self._values[source]
            number = producer.results.index(source)
            loops = producer.loops_for(indices, number)
            return memref.load(*self._place(evaluation, producer, number, loops))

        evaluation = Evaluation(self.group, step, self._given, load)
        return evaluation
