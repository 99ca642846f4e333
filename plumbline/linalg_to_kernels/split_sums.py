"""Has sums over short runs of elements be sums of what is added up for each place of a run.

The norm of a group of channels adds up all its elements, of which few are contiguous where channels
are last: those of one point of the image, beside which lie those of the next group. Of the sums for
each channel vectors hold as many as there are channels, and few are left to be added up of these.
"""

import math
from collections.abc import Iterable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import clone_operations, operations_of
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    Computation,
    Indices,
    computation,
    computation_of,
    is_in_memory,
)
from plumbline.linalg_to_kernels.loop_order import Access
from plumbline.linalg_to_kernels.reassociation import is_reassociable
from plumbline.tcp_to_linalg.building import dim, empty, generic, zero
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, REDUCTION, Payload, dims_map, loop_nest

_LONGEST = 64
"""Elements of a run that is short: some vectors."""

_FEWEST = 16
"""Of each place of a run so many elements are to be added up, or more."""


def split_sums(module: ir.Operation) -> None:
    """Splits the sums of `module` over short runs that have others beside them."""
    with module.context:
        terms = _Terms()
        found: list[tuple[ir.Operation, int]] = []
        for op in operations_of(module, "linalg"):
            member = computation(op) if op.name == GENERIC else None
            if member is not None and (run := _run(member, terms)) is not None:
                found.append((op, run))
        for op, run in found:
            # Anew, as what it reads may be a sum that has been split.
            member = computation(op)
            assert member is not None
            _split(member, run)


def _run(member: Computation, terms: "_Terms") -> int | None:
    """The loop over a short run of elements that a computation adds up, beside others."""
    runs = _short_runs(member)
    if not runs or not is_sum(member) or member.sum_of_products is not None:
        return None
    return next((run for run in runs if terms.lie_in_runs(member, run)), None)


def _short_runs(member: Computation) -> list[int]:
    """The loops over a few elements that are added up, with many others for each place."""
    reductions = [loop for loop, reduces in enumerate(member.reduces) if reduces]
    found = []
    for run in reductions:
        others = [member.sizes[loop] for loop in reductions if loop != run]
        if 1 < member.sizes[run] < _LONGEST and (DYNAMIC in others or math.prod(others) >= _FEWEST):
            found.append(run)
    return found


def is_sum(member: Computation) -> bool:
    """Whether all it does is to add up, in any order, what it computes of elements."""
    if len(member.results) != 1:
        return False
    so_far = member.body.arguments[len(member.inputs)]
    add = member.body_ops[-1] if member.body_ops else None
    return (
        add is not None
        and add.name == "arith.addf"
        and is_reassociable(add)
        and member.yielded[0] == add.results[0]
        and [use.owner.operation for use in so_far.uses] == [add]
    )


_Read = tuple[ir.Value, Indices]
"""A tensor, and where an element of it is read by the loops of a sum."""


class _Terms:
    """What sums of a module are computed of, as long as that stays as it is.

    Hundreds of sums may be of what one chain of computations comes to, such as those of the
    gradients of a recurrence, each of which goes on from where the next one is.
    """

    def __init__(self) -> None:
        self._producers: dict[ir.Value, Computation | None] = {}
        # For loops of these sizes, of which these reduce, and this is a run.
        self._lying: dict[tuple[object, ...], dict[_Read, tuple[bool, bool]]] = {}

    def lie_in_runs(self, member: Computation, run: int) -> bool:
        """Whether all tensors that a sum is computed of lie along a run, or not at all along it.

        And whether one of them has other runs beside.
        """
        known = self._lying.setdefault((member.sizes, member.reduces, run), {})
        first = member.reads(member.loops, len(member.reduces))[: len(member.inputs)]
        behind: dict[_Read, list[_Read]] = {}
        pending = [*first]
        while pending:
            read = pending[-1]
            if read not in behind and read not in known:
                computed_of = self._read_for(read, len(member.reduces))
                if computed_of is None:
                    known[read] = _lies(member, read, run)
                else:
                    behind[read] = computed_of
                    pending += (other for other in computed_of if other not in known)
                    continue
            if read not in known:
                known[read] = _together(known[other] for other in behind[read])
            pending.pop()
        return all(_together(known[read] for read in first))

    def _read_for(self, read: _Read, dims: int) -> list[_Read] | None:
        """What an element is computed of there; None if it is in memory, or nowhere."""
        source, indices = read
        if source not in self._producers:
            self._producers[source] = computation_of(source)
        producer = self._producers[source]
        if producer is None or producer.is_reduction or len(producer.results) > 1:
            return None
        return producer.reads(producer.loops_for(indices), dims)


def parts_of_sum(member: Computation) -> tuple[Payload, Payload]:
    """What makes of a sum a part of it, of what it reads, and what then adds up the parts."""

    def terms(read: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> ir.Value:
        values = dict(zip(member.body.arguments, (*read, *so_far), strict=True))
        clone_operations(member.body_ops, values)
        return values[member.yielded[0]]

    def add(read: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> ir.Value:
        return arith.addf(*so_far, *read, fastmath=member.body_ops[-1].attributes["fastmath"])

    return terms, add


def _together(lying: Iterable[tuple[bool, bool]]) -> tuple[bool, bool]:
    """Whether all lie so, and whether one has runs beside."""
    found = [*lying]
    return all(fits for fits, _ in found), any(is_beside for _, is_beside in found)


def _lies(member: Computation, read: _Read, run: int) -> tuple[bool, bool]:
    """The same of one tensor; what is in no memory lies anyhow."""
    source, indices = read
    if not is_in_memory(source):
        return True, False
    access = Access(tuple(ir.RankedTensorType(source.type).shape), indices)
    # A loop that adds nothing up goes from one run to the next.
    is_beside = access.stride(run) == 1 and any(
        access.stride(loop) == member.sizes[run]
        for loop, (reduces, size) in enumerate(zip(member.reduces, member.sizes, strict=True))
        if not reduces and size != 1
    )
    return access.stride(run) in (0, 1), is_beside


def _split(member: Computation, run: int) -> None:
    """Makes two sums of one, of which the second is over the run."""
    op, loops = member.op, len(member.reduces)
    (init,), maps = member.inits, list(member.maps)
    type_ = ir.RankedTensorType(init.type)
    rank = type_.rank
    *inputs, written = maps
    of_each = ir.AffineMap.get(loops, 0, [*written.results, ir.AffineDimExpr.get(run)])
    kinds = [
        REDUCTION if reduces and loop != run else PARALLEL
        for loop, reduces in enumerate(member.reduces)
    ]
    terms, add = parts_of_sum(member)
    with ir.InsertionPoint(op), op.location:
        sizes = [dim(init, axis) for axis in range(rank) if type_.is_dynamic_dim(axis)]
        sums = ir.RankedTensorType.get([*type_.shape, member.sizes[run]], type_.element_type)
        zeros = generic(empty(sums, sizes), [], [], lambda _: zero(type_.element_type))
        (of_places,) = loop_nest([zeros], list(member.inputs), [*inputs, of_each], kinds, terms)
        (total,) = loop_nest(
            [init],
            [of_places],
            [ir.AffineMap.get_identity(rank + 1), dims_map(rank + 1, range(rank))],
            [*[PARALLEL] * rank, REDUCTION],
            add,
        )
    op.results[0].replace_all_uses_with(total)
    op.erase()
