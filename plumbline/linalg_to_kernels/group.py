"""What one kernel computes: computations, of which some are steps and others part of them.

A group has a root, the last computation, and producers of it. A producer is *inlined*, computed
where its elements are read, or a *step* of its own, with loops of its own and a buffer that takes
what it computes. Steps share the outer loops, the rows: of each row, one step after the other is
done, so that buffers are of one row only and stay in the first cache. Where a step reads neighbours
in other rows, it is a block of rows instead, and what is read is computed for some rows more. It is
so, too, where one reads windows along short rows that another has just stored.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torch_mlir import ir

from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
)
from plumbline.linalg_to_kernels.constant_products import ConstantProduct, constant_product

DEEPEST = 100
"""How many members may be inlined one into the other: an evaluation goes down so many levels, each
of several calls of Python's, which has an end."""

_MOST_FORMED_ANEW = 256
"""Members. A recurrence that is unrolled would have its group, the longer it gets, formed anew for
each step: of 400 steps that took 27 s."""

MOST_REPEATED = 4
"""The cost, in additions, of what may be computed once more rather than buffered."""

_MOST_IN_BLOCK = 1 << 16
"""The same of a block of rows, with the rows around it that it needs."""

_MOST_ROWS = 64
"""In a block: with more, little is computed less."""

_LEAST_ROWS, _MOST_FOR_WINDOWS = 16, 1 << 11
"""In a block of which another step reads windows, and the elements of it."""

_MANY = 1 << 14
"""Elements buffered of a row from which on a block of rows is better, if there can be one."""

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

COSTLY = 16
"""Of any other operation: divisions, roots, functions, reads at places that are computed."""


_PAD = 3
"""Of an element of a padded tensor: windows have the comparisons along an axis in common."""


def cost_of(member: Computation) -> int:
    """What an element of a computation costs, in additions, once what it reads is there."""
    if member.is_pad:
        return _PAD
    return sum(_COSTS.get(name, COSTLY) for name in member.body_names)


@dataclass(frozen=True)
class Limits:
    """What a machine can do of a group in one kernel."""

    most_buffered: int
    """How many elements of a row a step may buffer."""
    readers: int
    """By how many readers what is costly is computed, by each anew, rather than buffered."""
    buffers_dynamic: bool
    """Whether a row may be buffered of which it is not known how long it is."""
    has_blocks: bool
    """Whether rows may be done in blocks, with those around them that other steps read."""
    has_parts: bool
    """Whether a step may compute parts at once that its result has interleaved."""
    has_constant_products: bool
    """Whether a product with a known matrix is done for all of its rows at once."""


CPU_LIMITS = Limits(
    most_buffered=1 << 15,
    readers=1,
    buffers_dynamic=True,
    has_blocks=True,
    has_parts=True,
    has_constant_products=True,
)
"""Of 4 bytes each, so many elements are an eighth of a second cache."""


@dataclass(frozen=True)
class Site:
    """A place where elements of a tensor are read: a step, and the indices by its loops."""

    step: Computation
    indices: Indices


@dataclass(frozen=True)
class Block:
    """A loop of the root of which some iterations are done at once, one step after the other.

    What a step computes is read at neighbours too, its halo, which is done twice where blocks meet.
    """

    row: int
    """The loop."""
    length: int
    """How many iterations of it."""
    halos: dict[Computation, tuple[int, int]]
    """How many rows after the root's a step's first and last are."""


@dataclass(frozen=True)
class _Reach:
    """A loop of the root, and how many iterations after its own are read, from `low` to `high`."""

    row: int
    low: int
    high: int


@dataclass
class _Noted:
    """What is known of a group's members once it is formed, from the last one back.

    When the group grows by a member, it is added to, of what that reads alone.
    """

    sites: dict[ir.Value, dict[Site, None]] = field(default_factory=dict)
    """Where elements of what members read are read, of whatever computes that, in order.

    They may be hundreds: each step of a recurrence reads what its factors are.
    """
    depths: dict[ir.Value, int] = field(default_factory=dict)
    """How many members are between what is read and the step that they are inlined into."""
    reaches: dict[Computation, dict[int, _Reach]] = field(default_factory=dict)
    """For each step which of its loops run along which loops of the root."""
    read_anywhere: frozenset[ir.Value] = frozenset()
    """What members read at places that they compute."""
    repeated: set[Computation] = field(default_factory=set)
    """Members that are inlined into several readers, as they cost little."""
    parts: dict[Computation, int] = field(default_factory=dict)
    """Steps that compute a few parts at once, with the loop over these."""
    products: dict[Computation, ConstantProduct] = field(default_factory=dict)
    """Steps that are products with known matrices."""

    def copy(self) -> "_Noted":
        """The same, to add to."""
        return replace(
            self,
            sites={**self.sites},
            depths={**self.depths},
            reaches={**self.reaches},
            repeated={*self.repeated},
            parts={**self.parts},
            products={**self.products},
        )


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
    block: Block | None = None
    """One of these, of which steps do more than the root."""
    row_loops: dict[Computation, dict[int, int]] = field(default_factory=dict)
    """For each step its loop for each row loop of the root."""
    _noted: _Noted = field(default_factory=_Noted)

    @property
    def root(self) -> Computation:
        """The last computation."""
        return self.members[-1]

    def producer(self, value: ir.Value) -> Computation | None:
        """The member that computes `value`, if one does."""
        return self._producers.get(value)

    def sites(self, result: ir.Value) -> Sequence[Site]:
        """Where the elements of a step's result are read."""
        return tuple(self._noted.sites.get(result, ()))

    def depth(self, member: Computation) -> int:
        """How many members are between one and a step that reads it, and that step, at most."""
        return max(self._noted.depths.get(result, 0) for result in member.results)

    def parts_loop(self, step: Computation) -> int | None:
        """The loop of a step of which all iterations are done at once, as they are of few parts."""
        return self._noted.parts.get(step)

    def constant_product(self, step: Computation) -> ConstantProduct | None:
        """How a step is a product with a known matrix, if it is one."""
        return self._noted.products.get(step)

    def at_once(self, step: Computation) -> frozenset[int]:
        """The loops of a step of which all iterations are done at once."""
        parts, product = self.parts_loop(step), self.constant_product(step)
        loops = frozenset() if product is None else product.loops
        return loops if parts is None else loops | {parts}

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
    limits: Limits = CPU_LIMITS,
    begun: Group | None = None,
) -> Group | None:
    """The group of these computations, in the order of the program; None if they make none.

    All that reads a member's result, but for `outputs`, is a member too. `steps` are members that
    are not inlined in any case. If `begun` is the group of all members but one, formed with the
    same `steps` and `limits`, and with the same outputs of these, it is gone on with: a group that
    grows by a member at a time would else be quadratic work. It does not grow any more where that
    cannot be, and it is large already.
    """
    if begun is not None:
        group = Group(tuple(members), outputs, _noted=begun._noted.copy())
        forming = _Forming(group, steps, limits)
        if forming.leaves_repeated():
            try:
                return forming.go_on(begun)
            except _OthersChange:
                pass
        elif len(members) > _MOST_FORMED_ANEW:
            return None
    return _Forming(Group(tuple(members), outputs), steps, limits).form()


def group_of_steps(
    members: Sequence[Computation], outputs: frozenset[ir.Value], steps: Sequence[Computation]
) -> Group:
    """The group of these computations where just `steps` have loops of their own, which are theirs.

    For kernels that know by themselves what they do: nothing is said of rows.
    """
    group = Group(tuple(members), outputs, tuple(steps))
    forming = _Forming(group, frozenset(steps), CPU_LIMITS)
    for member in reversed(group.members):
        if member in steps:
            forming.note_reads(member, member, member.loops)
            continue
        for number, result in enumerate(member.results):
            for site in group.sites(result):
                forming.note_reads(member, site.step, member.loops_for(site.indices, number))
    return group


def _joined(one: _Reach | None, other: _Reach | None) -> _Reach | None:
    """Both, if they are of one loop."""
    if one is None or other is None or one.row != other.row:
        return None
    return _Reach(one.row, min(one.low, other.low), max(one.high, other.high))


class _OthersChange(Exception):
    """A group that is gone on with has to be formed anew: what is noted of it may not hold."""


class _Forming:
    def __init__(self, group: Group, steps: frozenset[Computation], limits: Limits) -> None:
        self._group, self._steps, self._limits = group, steps, limits
        self._noted = group._noted
        self._costs: dict[Computation, int] = {}
        self._own: set[ir.Value] = set()
        """What has sites that are not those of the group that is gone on with as well."""

    def form(self) -> Group | None:
        """Forms the group of its members."""
        for member in reversed(self._group.members):
            if not self._add(member):
                return None
        return self._group if self._share_rows() else None

    def leaves_repeated(self) -> bool:
        """Whether those that several readers compute anew cost little with all members."""
        return all(self._cost(member) <= MOST_REPEATED for member in self._noted.repeated)

    def go_on(self, begun: Group) -> Group | None:
        """Forms the group of the members of another, of which all is noted, and of one more.

        Raises:
          _OthersChange: what is noted of members of that may not hold any more.
        """
        group = self._group
        (added,) = set(group.members).difference(begun.members)
        group.steps = begun.steps
        if not self._add(added) or not self._have_read(added, begun):
            return None
        if group.steps == begun.steps and self._noted.parts == begun._noted.parts:
            group.rows, group.block, group.row_loops = begun.rows, begun.block, begun.row_loops
            return group
        group.steps = tuple(filter({*group.steps}.__contains__, group.members))
        return group if self._share_rows() else None

    def _add(self, member: Computation) -> bool:
        """Makes a member, all of whose readers have been added, a step or part of others.

        False if the group cannot be formed with it.
        """
        noted = self._noted
        noted.read_anywhere = noted.read_anywhere.union(member.read_anywhere)
        # What is read anywhere has to be there as a whole before its reader begins.
        if not noted.read_anywhere.isdisjoint(member.results):
            return False
        chooses_at_once = self._note_parts(member)
        if chooses_at_once and self._may_be_inlined(member):
            self._inline(member, self._group.sites(member.results[0]))
            return self._group.depth(member) <= DEEPEST
        self._group.steps = (member, *self._group.steps)
        if self._limits.has_parts and member.parts_loop is not None:
            noted.parts[member] = member.parts_loop
        if self._limits.has_constant_products and (product := constant_product(member)):
            noted.products[member] = product
        self.note_reads(member, member, member.loops)
        return True

    def _have_read(self, added: Computation, begun: Group) -> bool:
        """Has members that an added one reads read, where that does, what they read themselves.

        False if the group cannot be formed so.

        Raises:
          _OthersChange: one of them is no part of its readers, or cannot be any more.
        """
        group = self._group
        if any(map(group.producer, added.read_anywhere)):
            return False
        has_other_parts = self._noted.parts != begun._noted.parts
        read = self._producers_of(added)
        for member in reversed(group.members if read else ()):
            if member not in read:
                continue
            if not begun.is_inlined(member) or member.parts_loop is not None or has_other_parts:
                raise _OthersChange
            (result,) = member.results
            sites = group.sites(result)
            known = len(begun.sites(result))
            is_deeper = group.depth(member) > begun.depth(member)
            if len(sites) == known and not is_deeper:
                continue
            if not self._may_be_inlined(member):
                raise _OthersChange
            self._inline(member, sites if is_deeper else sites[known:])
            if group.depth(member) > DEEPEST:
                return False
            read |= self._producers_of(member)
        return True

    def _producers_of(self, member: Computation) -> set[Computation]:
        reads = member.reads(member.loops, len(member.reduces))
        return {*filter(None, (self._group.producer(source) for source, _ in reads))}

    def _note_parts(self, member: Computation) -> bool:
        """Has the steps that read what a member interleaves do all of its parts at once.

        False if one cannot: it would choose a part anew for each element.
        """
        if not self._limits.has_parts or member.parts_loop is None:
            return True
        count = member.sizes[member.parts_loop]
        parts = dict(self._noted.parts)
        for site in self._group.sites(member.results[0]):
            part = site.indices[-1].maybe_downcast()
            if isinstance(part, ir.AffineConstantExpr):
                continue
            if not isinstance(part, ir.AffineDimExpr) or site.step.is_reduction:
                return False
            if site.step.sizes[part.position] != count:
                return False
            if parts.setdefault(site.step, part.position) != part.position:
                return False
        self._noted.parts = parts
        return True

    def note_reads(self, member: Computation, step: Computation, loops: Indices) -> None:
        """Notes what `member` reads when its loops are these expressions of those of `step`."""
        depth = 1 if member is step else self._group.depth(member) + 1
        noted = self._noted
        for source, indices in member.reads(loops, len(step.reduces)):
            noted.depths[source] = max(depth, noted.depths.get(source, 0))
            if source not in self._own:
                noted.sites[source] = {**noted.sites.get(source, {})}
                self._own.add(source)
            noted.sites[source][Site(step, indices)] = None

    def _may_be_inlined(self, member: Computation) -> bool:
        """Decides on a member all of whose readers are known."""
        if member is self._group.root or member in self._steps:
            return False
        if member.is_reduction or len(member.results) > 1:
            return False
        (result,) = member.results
        if result in self._group.outputs:
            return False
        sites = self._group.sites(result)
        once = len(sites) <= self._limits.readers and all(map(self._reads_once, sites))
        once = once or self._is_taken_apart(member, sites)
        if not once:
            if self._cost(member) > MOST_REPEATED:
                return False
            self._noted.repeated.add(member)
        return True

    def _inline(self, member: Computation, sites: Sequence[Site]) -> None:
        """Notes what a member reads where it is read."""
        for site in sites:
            self.note_reads(member, site.step, member.loops_for(site.indices))

    def _is_taken_apart(self, member: Computation, sites: Sequence[Site]) -> bool:
        """Whether each site reads one of the parts that a member interleaves: which is known."""
        return (
            self._limits.has_parts
            and member.parts_loop is not None
            and all(
                isinstance(site.indices[-1].maybe_downcast(), ir.AffineConstantExpr)
                for site in sites
            )
        )

    def _reads_once(self, site: Site) -> bool:
        """Whether no two iterations of a step read the same element, but for those done at once."""
        loops = {
            dim.position
            for dim in map(ir.AffineExpr.maybe_downcast, site.indices)
            if isinstance(dim, ir.AffineDimExpr)
        }
        at_once = self._group.at_once(site.step)
        return all(
            loop in loops or size == 1 or loop in at_once
            for loop, size in enumerate(site.step.sizes)
        )

    def _cost(self, member: Computation) -> int:
        """What an element of a member costs, in additions, with what may be inlined into it."""
        # A chain of members may be longer than calls may be nested.
        asked = [member]
        while member not in self._costs:
            inlined = self._inlinable_producers(asked[-1])
            if others := inlined.difference(self._costs):
                asked += others
                continue
            each = asked.pop()
            read = sum(self._costs[producer] for producer in inlined)
            self._costs[each] = min(cost_of(each) + read, COSTLY)
        return self._costs[member]

    def _inlinable_producers(self, member: Computation) -> set[Computation]:
        return {
            producer
            for producer in map(self._group.producer, member.sources)
            if producer is not None and not producer.is_reduction and producer not in self._steps
        }

    def _share_rows(self) -> bool:
        """Finds the rows of all steps; False if they share none."""
        group = self._group
        for step in reversed(group.steps):
            if step not in self._noted.reaches:
                self._noted.reaches[step] = self._reach_of(step)
        tags = {step: self._tags_of(step) for step in group.steps}
        shared = set(tags[group.root].values())
        for step in group.steps[:-1]:
            shared &= set(tags[step].values())
        if len(group.steps) > 1 and self._limits.has_blocks:
            group.block = self._block(shared) or self._block_of_windows(shared)
        if group.block is not None:
            shared = (shared - {self._innermost()}) | {group.block.row}
        elif len(group.steps) > 1 and not shared:
            return False
        group.rows = tuple(sorted(shared)) if len(group.steps) > 1 else ()
        group.row_loops = {
            step: {
                reach.row: loop
                for loop, reach in self._noted.reaches[step].items()
                if reach.row in group.rows
            }
            for step in group.steps
        }
        return group.block is not None or all(self._fits(step) for step in group.steps[:-1])

    def _innermost(self) -> int:
        """The loop along which the root's elements are contiguous."""
        loops = self._group.root.result_loops(0)
        return loops[-1] if loops else -1

    def _block(self, shared: set[int]) -> Block | None:
        """Blocks of rows, if steps read neighbours along these, and else buffer more than a few."""
        group, root = self._group, self._group.root
        if any(step.is_reduction or DYNAMIC in step.sizes for step in group.steps):
            return None
        if self._noted.parts:
            return None
        halos: dict[int, dict[Computation, tuple[int, int]]] = {
            row: {
                step: (reach.low, reach.high)
                for step in group.steps
                for reach in self._noted.reaches[step].values()
                if reach.row == row
            }
            for row in set(range(len(root.sizes))) - shared - {self._innermost()}
        }
        rows = [row for row, found in halos.items() if len(found) == len(group.steps)]
        if not rows:
            return None
        row = min(rows)
        length, many = _MOST_ROWS, False
        for step in group.steps[:-1]:
            low, high = halos[row][step]
            inner = self._buffered(step, (shared - {self._innermost()}) | {row})
            length = min(length, _MOST_IN_BLOCK // max(inner, 1) - (high - low))
            many = many or self._buffered(step, shared - {self._innermost()}) > _MANY
            if length < 2 * (high - low) or group.outputs.intersection(step.results):
                return None
        return Block(row, length, halos[row]) if many else None

    def _block_of_windows(self, shared: set[int]) -> Block | None:
        """Blocks of short rows, if steps read windows along these of what others store.

        Windows are unaligned vectors: one of two that have just been stored would wait for both.
        """
        group, rows = self._group, shared - {self._innermost()}
        if not rows or any(DYNAMIC in step.sizes for step in group.steps):
            return None
        if not any(map(self._reads_windows, group.steps)):
            return None
        longest = max(self._buffered(step, rows) for step in group.steps[:-1])
        length = min(_MOST_ROWS, _MOST_FOR_WINDOWS // max(longest, 1))
        if length < _LEAST_ROWS:
            return None
        row = max(rows)
        halos = dict.fromkeys(group.steps, (0, 0))
        return Block(row, min(length, max(group.root.sizes[row], 1)), halos)

    def _reads_windows(self, step: Computation) -> bool:
        """Whether a step combines what is in windows of what another one has computed."""
        return step.is_reduction and any(
            isinstance(index.maybe_downcast(), ir.AffineAddExpr)
            for source, indices in step.reads(step.loops, len(step.reduces))
            if self._group.producer(source) is not None
            for index in indices
        )

    def _buffered(self, step: Computation, rows: set[int]) -> int:
        """How many elements of a step's result there are for one iteration of these rows."""
        loops = {loop for loop, reach in self._noted.reaches[step].items() if reach.row in rows}
        axes = step.result_loops(0)
        assert axes is not None
        return math.prod(step.sizes[loop] for loop in axes if loop not in loops)

    def _reach_of(self, step: Computation) -> dict[int, _Reach]:
        """Which loops of a step run along which loops of the root, and how far beyond them."""
        if step is self._group.root:
            return {
                loop: _Reach(loop, 0, 0) for loop, is_sum in enumerate(step.reduces) if not is_sum
            }
        found: dict[int, _Reach | None] = {}
        for number, result in enumerate(step.results):
            axes = step.result_loops(number)
            assert axes is not None
            for site in self._group.sites(result):
                for loop, index in zip(axes, site.indices, strict=True):
                    reach = self._reach(site.step, index)
                    found[loop] = reach if loop not in found else _joined(found[loop], reach)
        known = {loop: reach for loop, reach in found.items() if reach is not None}
        return known if len({reach.row for reach in known.values()}) == len(known) else {}

    def _reach(self, reader: Computation, index: ir.AffineExpr) -> _Reach | None:
        """What an index by the loops of a reader runs along, if that is one loop."""
        dim, more = index.maybe_downcast(), 0
        if isinstance(dim, ir.AffineAddExpr):
            added = dim.rhs.maybe_downcast()
            more = int(added.value) if isinstance(added, ir.AffineConstantExpr) else -1
            dim = dim.lhs.maybe_downcast()
        if not isinstance(dim, ir.AffineDimExpr) or more < 0:
            return None
        reach = self._noted.reaches[reader].get(dim.position)
        return None if reach is None else _Reach(reach.row, reach.low + more, reach.high + more)

    def _tags_of(self, step: Computation) -> dict[int, int]:
        """Which loops of a step run along which loops of the root, as often and in step."""
        root = self._group.root
        return {
            loop: reach.row
            for loop, reach in self._noted.reaches[step].items()
            if (reach.low, reach.high) == (0, 0)
            and step.sizes[loop] == root.sizes[reach.row]
            # Of what is done at once nothing is a row.
            and loop not in self._group.at_once(step)
        }

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
            if DYNAMIC in inner and not self._limits.buffers_dynamic:
                return False
            if math.prod(size for size in inner if size != DYNAMIC) > self._limits.most_buffered:
                return False
        return True
