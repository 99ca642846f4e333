"""Builds what is done to each element by itself where tensors lie transposed to the result.

A block does a square of the result. It reads the same square of what lies transposed along the
lines that this has in memory, puts it into shared memory, and takes it from there along the lines
of the result: so both are read and written contiguously. Lines in shared memory have one element
more than they need, so that a warp finds a column of them in as many banks as it has threads.
"""

from collections.abc import Callable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_gpu.element_runs import Read, reads_of
from plumbline.linalg_to_gpu.launches import THREADS, WARP, Thread, delinearized, launch, strided
from plumbline.linalg_to_gpu.vector_kernel import is_elementwise, no_other_step
from plumbline.linalg_to_kernels.building import if_else, index, product
from plumbline.linalg_to_kernels.computations import DYNAMIC
from plumbline.linalg_to_kernels.evaluation import Evaluation, index_value
from plumbline.linalg_to_kernels.group import Group
from plumbline.linalg_to_kernels.loop_order import Access
from plumbline.linalg_to_kernels.sizes import loop_size

Values = Mapping[ir.Value, ir.Value]

_SIDE = WARP
"""Of a square."""

_LINES = THREADS // WARP
"""That a block does at once."""

_MOST = 4
"""Tensors in shared memory."""

_Work = Callable[[Mapping[int, ir.Value], ir.Value], None]
"""It takes the loops of an element, and the number of its line in the square."""


def transposed_reads(group: Group) -> tuple[int, list[Read]] | None:
    """The loop along which tensors are contiguous that are not so along the result's last axis.

    With it goes what is read of them. None if there are no such, or little of them.
    """
    if not is_elementwise(group):
        return None
    axes = group.root.result_loops(0)
    assert axes is not None
    column = axes[-1]
    found: dict[int, list[Read]] = {}
    for source, indices in reads_of(group, group.root):
        access = Access(tuple(ir.RankedTensorType(source.type).shape), indices)
        if access.stride(column) in (0, 1):
            continue
        for row in axes[:-1]:
            if access.stride(row) == 1:
                found.setdefault(row, []).append((source, indices))
    if len(found) != 1:
        return None
    ((row, reads),) = found.items()
    sizes = group.root.sizes[row], group.root.sizes[column]
    if len(reads) > _MOST or any(size != DYNAMIC and size < _LINES for size in sizes):
        return None
    return row, reads


def build_transposing_kernel(
    group: Group, given: Values, outputs: Values, found: tuple[int, list[Read]]
) -> None:
    """Builds the launch of a kernel that does a group by squares.

    Args:
      group: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar.
      outputs: for each output of the group the buffer that takes it.
      found: as `transposed_reads` gives it.
    """
    row, _ = found
    root = group.root
    axes = root.result_loops(0)
    assert axes is not None
    sizes = {loop: loop_size(root, loop, given) for loop in axes}
    column = axes[-1]
    counts = [
        arith.ceildivui(sizes[loop], index(_SIDE)) if loop in (row, column) else sizes[loop]
        for loop in axes
    ]
    squares = product(counts)

    def build(thread: Thread) -> None:
        kernel = _Kernel(group, given, outputs, found, thread)

        def square(number: ir.Value) -> None:
            loops = dict(zip(axes, delinearized(number, counts), strict=True))
            for loop in (row, column):
                loops[loop] = arith.muli(loops[loop], index(_SIDE))
            kernel.build(loops, sizes)

        strided(thread.block, squares, thread.blocks, square)

    launch(squares, THREADS, build)


class _Kernel:
    def __init__(
        self,
        group: Group,
        given: Values,
        outputs: Values,
        found: tuple[int, list[Read]],
        thread: Thread,
    ) -> None:
        self._group, self._given, self._outputs, self._thread = group, given, outputs, thread
        self._row, reads = found
        axes = group.root.result_loops(0)
        assert axes is not None
        self._axes, self._column = axes, axes[-1]
        self._shared = {
            read: thread.shared([_SIDE, _SIDE + 1], ir.RankedTensorType(read[0].type).element_type)
            for read in reads
        }
        self._lane = arith.remui(thread.number, index(WARP))
        self._line = arith.divui(thread.number, index(WARP))

    def build(self, first: Mapping[int, ir.Value], sizes: Mapping[int, ir.Value]) -> None:
        """Builds all of the square that begins there."""
        self._each_line(self._column, self._row, first, sizes, self._read)
        self._thread.wait()
        self._each_line(self._row, self._column, first, sizes, self._compute)
        # Before the next square is put there.
        self._thread.wait()

    def _each_line(
        self,
        slow: int,
        fast: int,
        first: Mapping[int, ir.Value],
        sizes: Mapping[int, ir.Value],
        work: _Work,
    ) -> None:
        """Does work along lines: threads of a warp are next to one another along `fast`."""

        def line(number: ir.Value) -> None:
            loops = dict(first)
            loops[slow] = arith.addi(first[slow], number)
            loops[fast] = arith.addi(first[fast], self._lane)
            inside = arith.andi(
                arith.cmpi(arith.CmpIPredicate.ult, loops[slow], sizes[slow]),
                arith.cmpi(arith.CmpIPredicate.ult, loops[fast], sizes[fast]),
            )
            if_else(inside, lambda: work(loops, number))

        strided(self._line, index(_SIDE), index(_LINES), line)

    def _read(self, loops: Mapping[int, ir.Value], number: ir.Value) -> None:
        for (source, indices), shared in self._shared.items():
            places = [index_value(at, self._all(loops)) for at in indices]
            value = memref.load(self._given[source], places)
            memref.store(value, shared, [number, self._lane])

    def _compute(self, loops: Mapping[int, ir.Value], number: ir.Value) -> None:
        root = self._group.root
        evaluation = Evaluation(self._group, root, self._given, no_other_step)
        evaluation.loops = self._all(loops)
        for read, shared in self._shared.items():
            evaluation.know(*read, memref.load(shared, [self._lane, number]))
        inits = evaluation.needed_inits(root, root.loops)
        values = evaluation.results(root, root.loops, inits)
        places = [loops[loop] for loop in self._axes]
        for result, value in zip(root.results, values, strict=True):
            memref.store(value, self._outputs[result], places)

    def _all(self, loops: Mapping[int, ir.Value]) -> dict[int, ir.Value]:
        return dict.fromkeys(range(len(self._group.root.reduces)), index(0)) | dict(loops)
