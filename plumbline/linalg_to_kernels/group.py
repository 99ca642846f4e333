"""What one kernel computes: computations, of which some are steps and others part of them.

A group has a root, the last computation, and producers of it. A producer is *inlined*, computed
where its elements are read, or a *step* of its own, with loops of its own and a buffer that takes
what it computes. Steps share the outer loops, the rows: of each row, one step after the other is
done, so that buffers are of one row only and stay in the first cache.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    composed,
    is_tensor,
    seen_through,
)

_MOST_BUFFERED = 1 << 15
"""How many elements of a row a step may buffer: of 4 bytes each, an eighth of a second cache."""

_MOST_REPEATED = 4
"""The cost, in additions, of what may be computed once more rather than buffered."""

_COSTS = {
    "arith.addf": 1,
    "arith.addi": 1,
    "arith.andi": 1,
    "arith.bitcast": 0,
    "arith.cmpf": 1,
    "arith.cmpi": 1,
    "arith.constant": 0,
    "arith.extf": 1,
    "arith.extsi": 1,
    "arith.extui": 1,
    "arith.fptosi": 1,
    "arith.index_cast": 0,
    "arith.maximumf": 2,
    "arith.minimumf": 2,
    "arith.mulf": 1,
    "arith.muli": 1,
    "arith.negf": 1,
    "arith.ori": 1,
    "arith.select": 1,
    "arith.sitofp": 1,
    "arith.subf": 1,
    "arith.subi": 1,
    "arith.truncf": 1,
    "arith.trunci": 1,
    "arith.uitofp": 1,
    "arith.xori": 1,
    "linalg.index": 0,
}

_COSTLY = 16
"""Of any other operation: divisions, roots, functions, reads at places that are computed."""


@dataclass(frozen=True)
class Site:
    """A place where elements of a tensor are read: a step, and the indices by its loops."""

    step: Computation
    indices: Indices


@dataclass(eq=False)
class Group:
    """Computations that one kernel does, in order; the last is the root."""

    members: tuple[Computation, ...]
    outputs: frozenset[ir.Value]
    """The results that are used elsewhere."""
    steps: tuple[Computation, ...] = ()
    """The members that have loops of their own, in order."""
    rows: tuple[int, ...] = ()
    """Those loops of the root that all steps share."""
    _sites: dict[ir.Value, list[Site]] = field(default_factory=dict)
    row_loops: dict[Computation, dict[int, int]] = field(default_factory=dict)
    """For each step its loop for each row loop of the root."""

    @property
    def root(self) -> Computation:
        """The last computation."""
        return self.members[-1]

    def producer(self, value: ir.Value) -> Computation | None:
        """The member that computes `value`, if one does."""
        return self._producers.get(value)

    def sites(self, result: ir.Value) -> Sequence[Site]:
        """Where the elements of a step's result are read."""
        return self._sites[result]

    def is_inlined(self, member: Computation) -> bool:
        """Whether a member is part of the steps that read it."""
        return member not in self._steps

    @functools.cached_property
    def _producers(self) -> dict[ir.Value, Computation]:
        return {result: member for member in self.members for result in member.results}

    @functools.cached_property
    def _steps(self) -> frozenset[Computation]:
        return frozenset(self.steps)


def form_group(
    members: Sequence[Computation],
    outputs: frozenset[ir.Value],
    steps: frozenset[Computation] = frozenset(),
) -> Group | None:
    """The group of these computations, in the order of the program; None if they make none.

    All that reads a member's result, but for `outputs`, is a member too. `steps` are members that
    are not inlined in any case.
    """
    return _Forming(Group(tuple(members), outputs), steps).form()


class _Forming:
    def __init__(self, group: Group, steps: frozenset[Computation]) -> None:
        self._group, self._steps = group, steps
        group._sites = {result: [] for member in group.members for result in member.results}
        self._tags: dict[Computation, dict[int, int]] = {}
        self._costs: dict[Computation, int] = {}

    def form(self) -> Group | None:
        group = self._group
        root = group.root
        self._tags[root] = {loop: loop for loop, reduces in enumerate(root.reduces) if not reduces}
        steps = []
        for member in reversed(group.members):
            if member is root or member in self._steps or not self._may_be_inlined(member):
                steps.append(member)
                self._note_reads(member, member, member.loops)
        group.steps = tuple(reversed(steps))
        return group if self._share_rows() else None

    def _note_reads(self, member: Computation, step: Computation, loops: Indices) -> None:
        """Notes what `member` reads when its loops are these expressions of those of `step`."""
        read = list(zip(member.inputs, member.maps[: len(member.inputs)], strict=True))
        read += [
            (init, map_)
            for init, map_, needed in zip(
                member.inits, member.maps[len(member.inputs) :], member.reads_inits, strict=True
            )
            if needed
        ]
        for value, map_ in read:
            source, indices = seen_through(value, composed(map_, loops, len(step.reduces)))
            if source in self._group._sites:
                site = Site(step, indices)
                if site not in self._group._sites[source]:
                    self._group._sites[source].append(site)

    def _may_be_inlined(self, member: Computation) -> bool:
        """Decides on a member that is not the root, all of whose readers are known."""
        if member.is_reduction or len(member.results) > 1:
            return False
        (result,) = member.results
        if result in self._group.outputs:
            return False
        sites = self._group._sites[result]
        once = len(sites) == 1 and _reads_once(sites[0])
        if not once and self._cost(member) > _MOST_REPEATED:
            return False
        for site in sites:
            self._note_reads(member, site.step, member.loops_for(site.indices))
        return True

    def _cost(self, member: Computation) -> int:
        """What an element of a member costs, in additions, with what is inlined into it."""
        if member not in self._costs:
            own = sum(_COSTS.get(op.name, _COSTLY) for op in member.body_ops)
            producers = {
                self._group.producer(seen_through(value, _zeros(value))[0])
                for value in member.inputs
            }
            read = sum(
                self._cost(producer)
                for producer in producers
                if producer is not None and not producer.is_reduction
            )
            self._costs[member] = min(own + read, _COSTLY)
        return self._costs[member]

    def _share_rows(self) -> bool:
        """Finds the rows of all steps; False if they share none."""
        group = self._group
        for step in reversed(group.steps[:-1]):
            self._tags[step] = self._tags_of(step)
        shared = set(self._tags[group.root].values())
        for step in group.steps[:-1]:
            shared &= set(self._tags[step].values())
        if len(group.steps) > 1 and not shared:
            return False
        group.rows = tuple(sorted(shared)) if len(group.steps) > 1 else ()
        group.row_loops = {
            step: {row: loop for loop, row in self._tags[step].items() if row in group.rows}
            for step in group.steps
        }
        return all(self._fits(step) for step in group.steps[:-1])

    def _tags_of(self, step: Computation) -> dict[int, int]:
        """Which loops of a step run along which loops of the root."""
        tags: dict[int, int | None] = {}
        for number, result in enumerate(step.results):
            axes = step.result_loops(number)
            assert axes is not None
            for site in self._group._sites[result]:
                for loop, index in zip(axes, site.indices, strict=True):
                    dim = index.maybe_downcast()
                    row = (
                        self._tags[site.step].get(dim.position)
                        if isinstance(dim, ir.AffineDimExpr)
                        else None
                    )
                    tags[loop] = row if tags.get(loop, row) == row else None
        found = {loop: row for loop, row in tags.items() if row is not None}
        return found if len(set(found.values())) == len(found) else {}

    def _fits(self, step: Computation) -> bool:
        """Whether what a step buffers of one row is little, or not for a buffer at all."""
        rows = set(self._group.row_loops[step].values())
        for number, result in enumerate(step.results):
            if result in self._group.outputs:
                continue
            axes = step.result_loops(number)
            assert axes is not None
            shape = ir.RankedTensorType(result.type).shape
            inner = [size for size, loop in zip(shape, axes, strict=True) if loop not in rows]
            if math.prod(size for size in inner if size != DYNAMIC) > _MOST_BUFFERED:
                return False
        return True


def _zeros(value: ir.Value) -> Indices:
    rank = ir.RankedTensorType(value.type).rank if is_tensor(value) else 0
    return (ir.AffineConstantExpr.get(0),) * rank


def _reads_once(site: Site) -> bool:
    """Whether no two iterations of a step read the same element."""
    loops = {
        dim.position
        for dim in map(ir.AffineExpr.maybe_downcast, site.indices)
        if isinstance(dim, ir.AffineDimExpr)
    }
    return all(loop in loops or size == 1 for loop, size in enumerate(site.step.sizes))
