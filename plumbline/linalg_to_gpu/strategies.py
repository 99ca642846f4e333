"""The rows of the table of strategies for a GPU: which groups there are, and who does a row."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from plumbline.linalg_to_gpu.attention_groups import attention_group
from plumbline.linalg_to_gpu.attention_kernel import build_attention
from plumbline.linalg_to_gpu.combinations import combinations
from plumbline.linalg_to_gpu.contraction_kernel import build_tiled_contraction
from plumbline.linalg_to_gpu.contraction_tiles import is_free, tiled_contraction, usual_product
from plumbline.linalg_to_gpu.flops import count_flops
from plumbline.linalg_to_gpu.launches import THREADS, WARP
from plumbline.linalg_to_gpu.row_kernels import (
    Neighbours,
    Partials,
    build_neighbours_kernel,
    build_row_kernel,
    build_row_kernels_by_length,
    build_split_row_kernels,
)
from plumbline.linalg_to_gpu.row_loops import buffered_axes, own_loops, row_loops
from plumbline.linalg_to_gpu.row_runs import row_runs
from plumbline.linalg_to_gpu.transposing_kernel import (
    build_transposing_kernel,
    transposed_reads,
)
from plumbline.linalg_to_gpu.vector_kernel import build_vector_kernel, vector_length
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    is_tensor,
    loops_in,
    viewed,
)
from plumbline.linalg_to_kernels.contraction_groups import is_large_sum_of_products, root_axes
from plumbline.linalg_to_kernels.group import Group, Limits, form_group
from plumbline.linalg_to_kernels.loop_order import accesses
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.strategies import Build, Plan, Values
from plumbline.target.gpu_chip import GpuChip

_LIMITS = Limits(
    most_buffered=1 << 12,
    readers=2,
    buffers_dynamic=False,
    has_blocks=False,
    has_parts=False,
    has_constant_products=False,
)
"""Arithmetic is cheap next to memory: two readers compute each for itself what they read."""

_SHARED_BYTES = 40 << 10
"""What the buffers of a kernel may take. Every block may have 48 KB of shared memory."""

_LONG = 128
"""From how many products on a sum of them is work for a block."""

_SELDOM = 64
"""By fewer products than that an element is taken seldom enough to be computed for each, where sums
are short too: as of depthwise convolutions."""

_SHORT = 32
"""A row of fewer elements is no work for a block, if a thread can do it."""

_ENOUGH_THREADS = 1 << 17
"""Those that a large GPU has at once, about: rows are split where they are for fewer."""

_EACH = 32
"""Elements that a thread has of a part at least."""

_MOST_NEIGHBOURS = 4
"""That a thread does at once, for which it has registers."""

_MOST_THREADS = 512
"""Of a block that does one of few rows: with more, a thread would have too few registers."""

_EACH_OF_FEW = 8
"""Elements that each of so many threads has of a row at least."""

_LEAST_PARTS = 4
"""Fewer are not worth a second launch."""

_USUAL_LENGTH = 1 << 18
"""What the length of a row is taken for that is not known."""


@dataclass(frozen=True)
class GpuStrategies:
    """Tiles for contractions; else a thread for each element or row, or a block for a row."""

    chip: GpuChip

    def form(
        self,
        members: Sequence[Computation],
        outputs: frozenset[ir.Value],
        begun: Group | None = None,
    ) -> Group | None:
        """As `Strategies` says."""
        group = form_group(members, outputs, limits=_LIMITS, begun=begun)
        if group is None or _shared_bytes(group) > _SHARED_BYTES:
            return None
        # Rows that are to be split are so in their first step, and all else is little.
        first, *others = group.steps
        if any(_parts(group, step) > 1 for step in others):
            return None
        return None if others and _parts(group, first) != _split(group) else group

    def is_free(self, computation: Computation) -> bool:
        """As `Strategies` says: tiles are widened and scaled as they are multiplied."""
        return is_free(computation)

    def reads_by_vectors(self, group: Group) -> bool:
        """As `Strategies` says: most do, where arguments are contiguous."""
        return True

    def takes_parts(self, group: Group) -> bool:
        """As `Strategies` says: threads side by side read parts of their own."""
        return False

    def is_contraction(self, computation: Computation) -> bool:
        """As `Strategies` says."""
        return is_large_sum_of_products(computation)

    def is_contraction_of_attention(self, computation: Computation) -> bool:
        """As `Strategies` says."""
        return self.is_contraction(computation)

    def suits_contraction(self, group: Group) -> bool:
        """As `Strategies` says: it stands by itself, or before what takes each element of it once.

        What is copied to its operands it reads where that is from, and widens or scales it as it
        does so; what else is computed for them would be computed again for each product, which are
        few where windows are short and move no weight but their own.
        """
        contraction = group.steps[0]
        if len(group.steps) > 2 or group.outputs != frozenset(group.root.results):
            return False
        if not self.is_contraction(contraction) or len(group.root.results) != 1:
            return False
        if root_axes(group, contraction) is None:
            return False
        if tiled_contraction(group, self.chip) is not None:
            return True
        summed = [loop for loop, reduces in enumerate(contraction.reduces) if reduces]
        is_short = usual_product(contraction.sizes, summed) < _LONG
        products = usual_product(contraction.sizes, range(len(contraction.sizes)))
        return all(
            all(map(is_free, _computing(group, value)))
            or (is_short and products < _SELDOM * math.prod(_usual_shape(value)))
            for value in contraction.inputs
            if is_tensor(value)
        )

    def goes_along(self, group: Group) -> frozenset[ir.Value]:
        """As `Strategies` says: none, they are tensors of their own."""
        return frozenset()

    def block_products(
        self, members: Sequence[Computation], outputs: frozenset[ir.Value]
    ) -> Group | None:
        """As `Strategies` says: each part is a kernel of its own."""
        return None

    def attention(
        self, members: Sequence[Computation], outputs: frozenset[ir.Value]
    ) -> Group | None:
        """As `Strategies` says."""
        found = attention_group(members, outputs, self.chip)
        return None if found is None else found.group

    def plan(self, members: Sequence[Computation], outputs: frozenset[ir.Value]) -> Plan:
        """As `Strategies` says."""
        kernel = self._kernel(members, outputs)
        launches = self._launches(members, outputs) if kernel.scratch else []
        if kernel.has_whole:
            launches.append(list(members))

        def build(given: Values, outputs: Values) -> None:
            kernel.build(given, outputs)
            count_flops(launches, given, outputs, [given[result] for result in kernel.scratch])

        return Plan(build, scratch=kernel.scratch)

    def _launches(
        self, members: Sequence[Computation], outputs: frozenset[ir.Value]
    ) -> list[list[Computation]]:
        """What the first of two launches computes, parts of the first step, and the second then."""
        group = self.form(members, outputs)
        assert group is not None
        first = {group.steps[0], *_read_by(group, group.steps[0])}
        return [[one for one in members if (one in first) is done] for done in (True, False)]

    def _kernel(self, members: Sequence[Computation], outputs: frozenset[ir.Value]) -> "_Kernel":
        attention = attention_group(members, outputs, self.chip)
        if attention is not None:
            result = members[-1].results[0]
            return _Kernel(
                lambda given, outputs: build_attention(attention, given, outputs[result])
            )
        group = self.form(members, outputs)
        assert group is not None
        tiled = tiled_contraction(group, self.chip)
        if tiled is not None:
            result = group.root.results[0]
            sums = tiled.contraction.results[0]
            return _Kernel(
                lambda given, outputs: build_tiled_contraction(tiled, given, outputs[result]),
                {sums: tiled.partials_type} if tiled.parts > 1 else {},
                has_whole=tiled.parts == 1,
            )
        transposed = transposed_reads(group)
        if transposed is not None:
            return _Kernel(
                lambda given, outputs: build_transposing_kernel(group, given, outputs, transposed)
            )
        length = vector_length(group)
        if length > 1:
            return _Kernel(
                lambda given, outputs: build_vector_kernel(group, given, outputs, length)
            )
        threads = _threads_of_row(group)
        results = group.steps[0].results
        parts = _split(group)
        if parts > 1:

            def build_split(given: Values, outputs: Values) -> None:
                partials = Partials([given[result] for result in results], index(parts), parts)
                build_split_row_kernels(group, given, outputs, partials, threads)

            return _Kernel(build_split, _partials(group, [*_rows(group), parts]), has_whole=False)
        if _may_be_split(group):

            def build_either(given: Values, outputs: Values) -> None:
                build_row_kernels_by_length(
                    group,
                    given,
                    outputs,
                    [given[result] for result in results],
                    threads,
                    least_parts=_LEAST_PARTS,
                    least_elements=threads * _EACH,
                )

            return _Kernel(build_either, _partials(group, [_ENOUGH_THREADS // threads]))
        neighbours = _neighbours(group) if threads == 1 else None
        if neighbours is not None:
            return _Kernel(
                lambda given, outputs: build_neighbours_kernel(group, given, outputs, neighbours)
            )
        threads = _threads_of_few(group, threads)
        return _Kernel(lambda given, outputs: build_row_kernel(group, given, outputs, threads))


@dataclass(frozen=True)
class _Kernel:
    """How a group is built."""

    build: Build
    scratch: Mapping[ir.Value, ir.MemRefType] = field(default_factory=dict)
    """The memory of what parts come to: there are two launches then."""
    has_whole: bool = True
    """Whether there is a launch that does all, for itself or where a call takes no parts."""


def _rows(group: Group) -> list[int]:
    """How many rows there are along each of their loops."""
    return [group.root.sizes[row] for row in row_loops(group)[group.root]]


def _parts(group: Group, step: Computation) -> int:
    """In how many parts a step would be done of each row, to have enough threads: 1 if it is so."""
    own = [step.sizes[loop] for loop in own_loops(group, step)]
    if DYNAMIC in _rows(group) or (DYNAMIC in own and len(group.steps) > 1):
        return 1
    return _most_parts(group, step)


def _most_parts(group: Group, step: Computation) -> int:
    """The same with one row along each loop of which it is not known how often it runs."""
    own = [step.sizes[loop] for loop in own_loops(group, step)]
    elements = math.prod(_USUAL_LENGTH if size == DYNAMIC else size for size in own)
    if elements < _LEAST_PARTS * _EACH:
        # However many threads there are: most groups that are tried need not be looked at further.
        return 1
    threads = _threads_of_row(group)
    rows = math.prod(size for size in _rows(group) if size != DYNAMIC)
    parts = min(_ENOUGH_THREADS // max(rows * threads, 1), elements // (threads * _EACH))
    return parts if parts >= _LEAST_PARTS else 1


def _has_parts(group: Group) -> bool:
    """Whether the first step of a group could be done of each row in parts."""
    step = group.steps[0]
    is_one_number = all(step.reduces[loop] for loop in own_loops(group, step))
    return step.is_reduction and is_one_number and combinations(step) is not None


def _split(group: Group) -> int:
    """In how many parts the first step of a group is done of each row; 1 if that is as a whole."""
    return _parts(group, group.steps[0]) if _has_parts(group) else 1


def _may_be_split(group: Group) -> bool:
    """Whether a call tells if rows are few, and long enough for parts, and little comes after."""
    first, *others = group.steps
    is_unknown = DYNAMIC in _rows(group) and not any(own_loops(group, step) for step in others)
    return is_unknown and _has_parts(group) and _most_parts(group, first) > 1


def _partials(group: Group, shape: Sequence[int]) -> dict[ir.Value, ir.MemRefType]:
    """For each result of the first step the memory of what its parts come to."""
    results = group.steps[0].results
    elements = [ir.RankedTensorType(result.type).element_type for result in results]
    types = [ir.MemRefType.get(shape, element) for element in elements]
    return dict(zip(results, types, strict=True))


def _read_by(group: Group, step: Computation) -> set[Computation]:
    """The members that a step is computed of."""
    values = filter(is_tensor, (*step.inputs, *step.inits))
    return {member for value in values for member in _computing(group, value)}


def _computing(group: Group, value: ir.Value) -> set[Computation]:
    """The members that a tensor is computed by."""
    found: set[Computation] = set()
    pending = [value]
    while pending:
        producer = group.producer(viewed(pending.pop()))
        if producer is not None and producer not in found:
            found.add(producer)
            pending += filter(is_tensor, (*producer.inputs, *producer.inits))
    return found


def _usual_shape(value: ir.Value) -> list[int]:
    """The sizes of a tensor, with usual ones for those that are not known."""
    shape = ir.RankedTensorType(value.type).shape
    return [usual_product(shape, [axis]) for axis in range(len(shape))]


def _buffers(group: Group) -> list[tuple[ir.Type, int]]:
    """Of what a kernel buffers of a row the element types, and how many elements there are."""
    return [
        (
            ir.RankedTensorType(result.type).element_type,
            math.prod(step.sizes[loop] for loop in axes),
        )
        for step in group.steps
        for number, result in enumerate(step.results)
        if result not in group.outputs and (axes := buffered_axes(group, step, number))
    ]


def _shared_bytes(group: Group) -> int:
    return sum(element_bytes(type_) * count for type_, count in _buffers(group))


def _threads_of_row(group: Group) -> int:
    """By how many threads a row is done: one, or those of a block."""
    if not _buffers(group) and _suits_threads(group):
        return 1
    # As many as have something to do in the longest step.
    most = max(_runs(group, step) for step in group.steps)
    return min(-(-most // WARP) * WARP, THREADS)


def _neighbours(group: Group) -> Neighbours | None:
    """Which rows a thread does at once, as windows that move along them have much in common.

    Not along the innermost loop, along which threads that are next to one another read what is.
    """
    rows = list(row_loops(group)[group.root])
    if DYNAMIC in _rows(group) or len(rows) < 2:
        return None
    loop = rows[-2]
    for step in group.steps:
        own = own_loops(group, step)
        if any(not step.reduces[each] or step.sizes[each] == DYNAMIC for each in own):
            return None
        if math.prod(step.sizes[each] for each in own) >= _SHORT:
            return None
    if not any(_moves_along(step, row_loops(group)[step].get(loop)) for step in group.steps):
        return None
    most = min(_MOST_NEIGHBOURS, math.prod(_rows(group)) // _ENOUGH_THREADS)
    counts = (count for count in range(most, 1, -1) if group.root.sizes[loop] % count == 0)
    count = next(counts, None)
    return None if count is None else Neighbours(loop, count)


def _moves_along(step: Computation, loop: int | None) -> bool:
    """Whether a step reduces windows that move along one of its loops."""
    own = {each for each, reduces in enumerate(step.reduces) if reduces}
    return any(
        loop in (along := loops_in(index)) and not own.isdisjoint(along)
        for map_ in step.maps
        for index in map_.results
    )


def _threads_of_few(group: Group, threads: int) -> int:
    """The same where rows are done as a whole, which may be so few that more threads are free."""
    rows = _rows(group)
    are_few = DYNAMIC not in rows and math.prod(rows) * _MOST_THREADS <= _ENOUGH_THREADS
    longest = max(_elements(group, step) for step in group.steps)
    is_long = longest >= _MOST_THREADS * _EACH_OF_FEW
    return _MOST_THREADS if threads == THREADS and are_few and is_long else threads


def _elements(group: Group, step: Computation) -> int:
    """How many elements a step has of a row, at least one."""
    own = own_loops(group, step)
    return THREADS if _is_dynamic(step, own) else math.prod(step.sizes[loop] for loop in own) or 1


def _runs(group: Group, step: Computation) -> int:
    """How many runs of them there are, of which each is done at once by one of several threads."""
    elements = _elements(group, step)
    if elements <= WARP or _is_dynamic(step, own_loops(group, step)):
        return elements
    return elements // row_runs(group, step, is_shared=True).length


def _is_dynamic(step: Computation, loops: Sequence[int]) -> bool:
    return any(step.sizes[loop] == DYNAMIC for loop in loops)


def _suits_threads(group: Group) -> bool:
    """Whether threads that do a row each read and write contiguous elements, or do little else."""
    return all(_suits_thread(group, step) for step in group.steps)


def _suits_thread(group: Group, step: Computation) -> bool:
    own = own_loops(group, step)
    if not own:
        return True
    if is_large_sum_of_products(step):
        # A vector times rows of a matrix is for blocks: threads of a warp read one row together.
        along_sums = [
            access
            for access in accesses(group, step)
            if any(access.stride(loop) == 1 for loop in own)
        ]
        return len(along_sums) < 2 or math.prod(step.sizes[loop] for loop in own) < _LONG
    if not _is_dynamic(step, own) and math.prod(step.sizes[loop] for loop in own) < _SHORT:
        return bool(row_loops(group)[step])
    # Elements that are contiguous along a row are for the threads of a block.
    rows = row_loops(group)[step].values()
    return bool(rows) and not any(
        access.stride(loop) == 1 for access in accesses(group, step) for loop in own
    )
