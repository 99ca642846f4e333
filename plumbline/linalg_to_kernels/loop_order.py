"""Chooses which loop of a step runs innermost.

The innermost loop is the one that LLVM makes steps of whole vectors of, which pays where elements
are contiguous along it. Where tensors are contiguous along different loops (a transposition), both
of these loops run in pieces, so that a cache line is used up before it has to go.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    composed,
    is_copy,
    is_in_memory,
    is_tensor,
    loops_in,
    seen_through,
)
from plumbline.linalg_to_kernels.group import Group

_SHORT = 8
"""A loop of fewer iterations is no gain as the innermost one."""

_FEW, MOST_BESIDE = 64, 512
"""An innermost loop that adds to sums in memory is short with fewer of them, and long with more: as
many as are kept at once."""

_STRIDED_COST, _SHORT_COST = 16, 32
"""Next to a cost of 1 for each tensor that an innermost loop walks contiguously: a line of memory
has 16 elements of f32, and a vector no more."""

PIECE, _WIDE_PIECE = 16, 64
"""Of the inner and the outer loop of a transposition. Lines whose distance is a power of 2 share
few places in the first cache, commonly 8 to 16; what is read goes on beyond its line."""


_PAIR = 2

_LONG_PIECE = 256
"""Of a longer inner loop where elements are only moved, so that `transpose_tiles` takes squares:
these read lines at once, and it is what is written that is to be long. A transposition of 1024 by
1024 takes half the time of the one by short pieces, one of 4096 by 4096 bytes 0.4 (AMD Zen 5)."""


@dataclass(frozen=True)
class Access:
    """A tensor that a step reads or writes, and where, by its loops."""

    shape: tuple[int, ...]
    indices: Indices
    strides: tuple[int, ...] | None = None
    """How far apart its elements lie along each axis, or DYNAMIC; None: it is contiguous."""

    def stride(self, loop: int) -> int | None:
        """How far a step of the loop leads: 0 if nowhere, None if that is not known."""
        strides = _contiguous(self.shape) if self.strides is None else self.strides
        total = 0
        for stride, index in zip(strides, self.indices, strict=True):
            factor = _coefficient(index, loop)
            if factor is None or (factor and stride == DYNAMIC):
                return None
            total += factor * stride
        return total

    def goes_on(self, loop: int, runs: Collection[int]) -> bool:
        """Whether a step of the loop leads by one of these, or to the same part of the next pair.

        The numbers of a complex tensor are pairs, which share their lines of memory.
        """
        stride = self.stride(loop)
        if stride in runs:
            return True
        return (
            stride in (_PAIR, -_PAIR)
            and self.strides is None
            and self.shape[-1] == _PAIR
            and not loops_in(self.indices[-1])
        )

    def are_along_next_axes(self, outer: int, inner: int) -> bool:
        """Whether the loops are each along one axis of a contiguous tensor, one after the other.

        Then they are as one, whatever the sizes, if they run along the whole of these axes.
        """
        axes = [
            [axis for axis, index in enumerate(self.indices) if loop in loops_in(index)]
            for loop in (outer, inner)
        ]
        return (
            self.strides is None
            and all(len(found) == 1 and _is_loop(self.indices[found[0]]) for found in axes)
            and axes[0][0] + 1 == axes[1][0]
        )


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a tensor whose elements follow one another, or DYNAMIC."""
    strides, inner = [], 1
    for size in reversed(shape):
        strides.append(inner)
        inner = DYNAMIC if DYNAMIC in (size, inner) else inner * size
    return tuple(reversed(strides))


def _is_loop(index: ir.AffineExpr) -> bool:
    return isinstance(index.maybe_downcast(), ir.AffineDimExpr)


def _coefficient(expression: ir.AffineExpr, loop: int) -> int | None:
    """What a step of a loop adds to an expression; None if not the same each time."""
    match expression.maybe_downcast():
        case ir.AffineDimExpr() as dim:
            return int(dim.position == loop)
        case ir.AffineConstantExpr():
            return 0
        case ir.AffineAddExpr() as both:
            left, right = _coefficient(both.lhs, loop), _coefficient(both.rhs, loop)
            return None if left is None or right is None else left + right
        case ir.AffineMulExpr() as both:
            factor = both.rhs.maybe_downcast()
            left = _coefficient(both.lhs, loop)
            if left == 0:
                return 0
            if left is not None and isinstance(factor, ir.AffineConstantExpr):
                return left * int(factor.value)
            return None
        case both:
            return 0 if _coefficient(both.lhs, loop) == 0 else None


def accesses(group: Group, step: Computation, lanes: int | None = None) -> list[Access]:
    """The tensors from outside and of other steps that a step reads and writes.

    With `lanes`, a row loop of the root, those that the group keeps to itself are contiguous along
    that, where buffers of a kernel are (`is_read_by_axes`).
    """
    count = len(step.reduces)
    # Of members and places, as what is inlined may be read many times.
    seen: set[tuple[Computation, Indices]] = set()
    found: dict[tuple[ir.Value, Indices], Access] = {}

    def reads(member: Computation, loops: Indices) -> None:
        if (member, loops) in seen:
            return
        seen.add((member, loops))
        for value, map_ in zip(member.inputs, member.maps[: len(member.inputs)], strict=True):
            if not is_tensor(value):
                continue
            source, indices = seen_through(value, composed(map_, loops, count))
            producer = group.producer(source)
            if producer is not None and group.is_inlined(producer):
                reads(producer, producer.loops_for(indices))
            elif producer is not None or is_in_memory(source):
                found[source, indices] = _access(group, source, indices, lanes)

    reads(step, step.loops)
    results = [
        _access(group, result, tuple(map_.results), lanes)
        for result, map_ in zip(step.results, step.maps[len(step.inputs) :], strict=True)
    ]
    return [*found.values(), *results]


def is_read_by_axes(group: Group, result: ir.Value) -> bool:
    """Whether all that reads a step's result goes along each of its axes by a loop of its own.

    Its axes may then lie in any order. By one loop along several, as of what has been reshaped,
    places would be quotients in another.
    """
    return all(
        isinstance(index.maybe_downcast(), ir.AffineDimExpr | ir.AffineConstantExpr)
        for site in group.sites(result)
        for index in site.indices
    )


def _access(group: Group, tensor: ir.Value, indices: Indices, lanes: int | None) -> Access:
    shape = tuple(ir.RankedTensorType(tensor.type).shape)
    step = None if lanes is None or tensor in group.outputs else group.producer(tensor)
    if lanes is None or step is None or not is_read_by_axes(group, tensor):
        return Access(shape, indices)
    axes = step.result_loops(step.results.index(tensor))
    assert axes is not None
    order = sorted(range(len(axes)), key=lambda axis: axes[axis] == group.row_loops[step][lanes])
    return Access(tuple(shape[axis] for axis in order), tuple(indices[axis] for axis in order))


@dataclass(frozen=True)
class Order:
    """The loops of a step, the outermost first."""

    loops: tuple[int, ...]
    pieces: Mapping[int, int] = field(default_factory=dict)
    """Two of them that run in pieces, the innermost last, and how long these are."""


def order_of(group: Group, step: Computation, loops: Sequence[int]) -> Order:
    """The best order for these loops of a step."""
    if not loops:
        return Order(())
    found = accesses(group, step)
    runs = strides_of_runs(group, step)
    costs = _costs(step, found, loops, runs)
    inner = min(costs, key=lambda loop: (costs[loop], -loop))
    outer = [loop for loop in loops if loop != inner]
    outer.sort(key=lambda loop: step.reduces[loop])
    other = _transposed(step, found, inner, outer, runs)
    if other is None:
        beside = _beside(step, found, inner, outer)
        return Order((*(loop for loop in outer if loop not in beside), *beside, inner))
    is_moved = all(map(is_copy, (step, *filter(group.is_inlined, group.members))))
    is_long = step.sizes[inner] == DYNAMIC or step.sizes[inner] >= _LONG_PIECE
    return Order(
        (*outer, inner), {other: _WIDE_PIECE, inner: _LONG_PIECE if is_moved and is_long else PIECE}
    )


def innermost_costs(
    group: Group, step: Computation, loops: Sequence[int], lanes: int | None = None
) -> dict[int, int]:
    """For those of the loops that may run innermost, what an iteration then costs.

    `lanes` is as `accesses` takes it.
    """
    return _costs(step, accesses(group, step, lanes), loops, strides_of_runs(group, step))


def has_contiguous_loop(group: Group, step: Computation, loops: Sequence[int]) -> bool:
    """Whether one of the loops may run innermost that leads nowhere else but to next elements."""
    costs = innermost_costs(group, step, loops)
    return min(costs.values(), default=_STRIDED_COST) < _STRIDED_COST


def strides_of_runs(group: Group, step: Computation) -> frozenset[int]:
    """By how many elements each iteration goes on where all that is between them is done too."""
    parts = group.parts_loop(step)
    return frozenset({1, -1} if parts is None else {1, -1, step.sizes[parts]})


def _costs(
    step: Computation, found: Sequence[Access], loops: Sequence[int], runs: frozenset[int]
) -> dict[int, int]:
    last_reduction = max((loop for loop in loops if step.reduces[loop]), default=None)
    return {
        loop: _cost(step, found, loop, loops, runs)
        for loop in loops
        if not step.reduces[loop] or loop == last_reduction
    }


def _cost(
    step: Computation,
    found: Sequence[Access],
    loop: int,
    loops: Sequence[int],
    runs: frozenset[int],
) -> int:
    length = _length(step, found, loop, loops)
    cost = _SHORT_COST if length != DYNAMIC and length < _SHORT else 0
    for access in found:
        stride = access.stride(loop)
        if stride != 0:
            cost += 1 if access.goes_on(loop, runs) else _STRIDED_COST
    if not step.is_reduction and found[-1].stride(loop) not in runs:
        # Of what is read along another loop there can be squares, however much it is.
        cost += _STRIDED_COST * len(found)
    return cost


def _length(step: Computation, found: Sequence[Access], inner: int, loops: Sequence[int]) -> int:
    """How often an innermost loop runs, with those around it that `collapse_loops` makes one of."""
    length = step.sizes[inner]
    for loop in reversed([loop for loop in loops if loop < inner]):
        size = step.sizes[loop]
        if DYNAMIC in (length, size) or step.reduces[loop] != step.reduces[inner]:
            break
        if not all(_continues(access, loop, inner, length) for access in found):
            break
        length *= size
    return length


def _continues(access: Access, outer: int, inner: int, length: int) -> bool:
    """Whether a step of the outer loop leads as far as that many of the inner one."""
    far, near = access.stride(outer), access.stride(inner)
    return far is not None and near is not None and far == near * length


def _beside(
    step: Computation, found: Sequence[Access], inner: int, outer: Sequence[int]
) -> list[int]:
    """Loops of sums that run within those that add up, as their elements go on from `inner`'s.

    That is where these alone are few: of each of them there would be a loop of its own.
    """
    if not step.is_reduction or step.reduces[inner]:
        return []
    beside: list[int] = []
    length = step.sizes[inner]
    for loop in sorted((loop for loop in outer if not step.reduces[loop]), reverse=True):
        size = step.sizes[loop]
        if loop > inner or DYNAMIC in (length, size) or not 1 < length * size <= MOST_BESIDE:
            break
        if length >= _FEW or not all(_goes_on(access, loop, inner, length) for access in found):
            break
        beside.insert(0, loop)
        length *= size
    return beside


def _goes_on(access: Access, outer: int, inner: int, length: int) -> bool:
    """Whether an outer loop goes on where the inner one ends, or that leads nowhere."""
    return access.stride(inner) == 0 or _continues(access, outer, inner, length)


def _transposed(
    step: Computation,
    found: Sequence[Access],
    inner: int,
    outer: Sequence[int],
    runs: frozenset[int],
) -> int | None:
    """An outer loop along which another tensor is contiguous than along the inner one."""
    if step.is_reduction or not _is_long(step, inner) or found[-1].stride(inner) not in runs:
        return None
    for access in found[:-1]:
        if access.stride(inner) != 0 and not access.goes_on(inner, runs):
            for loop in outer:
                if access.goes_on(loop, runs) and _is_long(step, loop):
                    return loop
    return None


def _is_long(step: Computation, loop: int) -> bool:
    return step.sizes[loop] == DYNAMIC or step.sizes[loop] >= PIECE
