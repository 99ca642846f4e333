"""Forms groups of computations that one kernel will do, each a private function on tensors.

From the last computation of a block back, each takes the producers in that are worth it: those
that can be computed where they are read, or row by row beside it. Groups alike share a function.
"""

import functools
import heapq
import math
from collections.abc import Container, Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from plumbline.bindings.walk import (
    all_operations,
    captured_values,
    clone_operations,
    defining_operation,
    enclosing_in,
    operations_named,
)
from plumbline.linalg_to_kernels.block_products import members_of_total
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    MOST_PARTS,
    Computation,
    composed,
    computation,
    is_copy,
    is_seen_through,
    is_splat,
    is_tensor,
    is_widening,
    loops_in,
    takes_part,
    users,
    viewed,
)
from plumbline.linalg_to_kernels.constant_products import give_own_constant
from plumbline.linalg_to_kernels.constants import CONSTANT, is_constant
from plumbline.linalg_to_kernels.group import Group, Site
from plumbline.linalg_to_kernels.kernel_names import kernel_name
from plumbline.linalg_to_kernels.layouts import LAYOUT, is_contiguous, layout_of
from plumbline.linalg_to_kernels.loop_order import (
    Access,
    accesses,
    has_contiguous_loop,
    strides_of_runs,
)
from plumbline.linalg_to_kernels.products_of_blocks import products_of_blocks
from plumbline.linalg_to_kernels.shared_functions import SharedFunctions
from plumbline.linalg_to_kernels.strategies import Strategies
from plumbline.linalg_to_kernels.told_by_place import told_by_place
from plumbline.linalg_to_kernels.transpositions import order_of
from plumbline.linalg_to_kernels.window_zeros import ZEROS, note_of_zeros

GROUP = "plumbline.group"
"""The attribute of a function that is a group: what its kernel is called."""


_OFTEN = 48
"""What sums read so many times over along elements that lie far apart is transposed first.
Depthwise convolutions of 7x7 images by as large windows then take 0.6 of the time. What a Fourier
transform adds up, 16 times each, took twice as long (AMD Zen 5)."""

_COPIED = ("arith.constant", "tensor.empty")
"""What each group has a copy of that needs it."""


def form_fusion_groups(module: ir.Operation, strategies: Strategies) -> None:
    """Moves the computations of `module` into functions, and calls those in their place."""
    with module.context:
        blocks: list[ir.Block] = []
        for op in operations_named(module, GENERIC):
            give_own_constant(op)
            if op.block not in blocks:
                blocks.append(op.block)
        functions = SharedFunctions(module)
        for block in blocks:
            dead = _Dead()
            computations = _Block(block, dead, strategies)
            for group in computations.groups():
                contractions = computations.contractions_of(group)
                kind = kernel_name(group, contractions)
                call = _outline(group, kind, functions, dead, strategies, contractions)
                computations.note_call(call)
            dead.erase()


class _Dead:
    """Operations that are of no use any more, but are still there."""

    def __init__(self) -> None:
        # By result, as the hash of an operation in the bindings changes with its operands.
        self._ops: dict[ir.Value, ir.Operation] = {}
        # What computes nothing and reads no tensor, which groups may have in common by hundreds.
        self._copied: dict[ir.Value, ir.Operation] = {}
        # What has kept an operation from being dead, by its first result.
        self._users: dict[ir.Value, ir.Operation] = {}

    def __contains__(self, op: ir.Operation) -> bool:
        return bool(op.results) and op.results[0] in self._ops

    def add_unless_used(self, op: ir.Operation) -> None:
        """Notes an operation if only dead ones use it."""
        if op.name in _COPIED:
            self._copied[op.results[0]] = op
        elif op not in self and not self._is_used(op):
            self._ops[op.results[0]] = op

    def _is_used(self, op: ir.Operation) -> bool:
        """Whether one that is not dead uses an operation.

        Of hundreds that do, as of what each step of a recurrence reads, one is asked first: it most
        likely still does.
        """
        last = self._users.get(op.results[0])
        if last is not None and last not in self and {*op.results}.intersection(last.operands):
            return True
        users = (use.owner.operation for result in op.results for use in result.uses)
        found = next((user for user in users if user not in self), None)
        if found is not None:
            self._users[op.results[0]] = found
        return found is not None

    def erase(self) -> None:
        """Erases them: each was noted after those that use it."""
        for op in self._ops.values():
            op.erase()
        for op in self._copied.values():
            if not any(True for _ in op.results[0].uses):
                op.erase()


class _Block:
    """The computations of a block."""

    def __init__(self, block: ir.Block, dead: _Dead, strategies: Strategies) -> None:
        found = [computation(view.operation) for view in block.operations]
        self._computations = [member for member in found if member is not None]
        self._places = {member: place for place, member in enumerate(self._computations)}
        self._by_result = {
            result: member for member in self._computations for result in member.results
        }
        self._block, self._dead, self._strategies = block, dead, strategies
        in_order = functools.cmp_to_key(self._compared)
        self._readers = {result: sorted(users(result), key=in_order) for result in self._by_result}
        self._first_calls: dict[ir.Value, ir.Operation] = {}
        self._contractions = frozenset(filter(strategies.is_contraction, self._computations))
        others = [member for member in self._computations if member not in self._contractions]
        self._of_attention = self._contractions.union(
            filter(strategies.is_contraction_of_attention, others)
        )
        self._attentions: set[Computation] = set()
        # What is done anew for whoever reads it: what is for nothing, or nearly so.
        free = filter(strategies.is_free, self._computations)
        widening = filter(is_widening, self._computations)
        self._repeated = told_by_place(self._computations).union(free, widening)
        self._taken: set[Computation] = set()
        self._found_producers: dict[Computation, list[Computation]] = {}

    def contractions_of(self, group: Group) -> frozenset[Computation]:
        """The members of a group that are contractions there."""
        found = self._of_attention if group.root in self._attentions else self._contractions
        return found.intersection(group.members)

    def groups(self) -> Iterator[Group]:
        """All groups, the last of the block first."""
        has_products = any(products_of_blocks(member) for member in self._computations)
        for total in reversed(self._computations if has_products else ()):
            if total in self._taken or not self._is_used(total):
                continue
            if (found := self._block_products(total)) is not None:
                yield self._take(found)
        for root in reversed(self._computations):
            if root not in self._taken and self._is_used(root):
                yield self._take(self._grown(root))

    def _take(self, group: Group) -> Group:
        self._taken |= {
            member
            for member in group.members
            if member is group.root or member not in self._repeated
        }
        return group

    def _block_products(self, total: Computation) -> Group | None:
        """The group of products of blocks that a computation adds up, with what follows it."""
        members = members_of_total(total, self._producers)
        found, root = None, total
        while members is not None and (formed := self._formed_of_blocks(root, members)):
            found = formed
            # What is done next to each element is done before it is stored.
            following = [*self._users(root.results[0])]
            user = None if len(following) != 1 else self._by_op(following[0])
            if user is None or user in self._taken or len(user.results) != 1:
                break
            copied = {other for other in self._producers(user) if is_copy(other)}
            root, members = user, {*members, user, *copied}
        return found

    def _formed_of_blocks(self, root: Computation, members: set[Computation]) -> Group | None:
        if not self._are_only_for(root, members):
            return None
        ordered = sorted(members, key=self._places.__getitem__)
        return self._strategies.block_products(ordered, frozenset(root.results))

    def _by_op(self, op: ir.Operation) -> Computation | None:
        return next(filter(None, map(self._by_result.get, op.results)), None)

    def note_call(self, call: ir.Operation) -> None:
        """Notes that a call, of a group, reads what it is given."""
        for source in self._readers.keys() & map(viewed, call.operands):
            first = self._first_calls.get(source)
            if first is None or call.is_before_in_block(first):
                self._first_calls[source] = call

    def _users(self, result: ir.Value) -> Iterator[ir.Operation]:
        """What reads a result, in order, but for what is dead; of calls of groups the first.

        Whoever asks for one of them has it at once where hundreds are dead, as of what each step of
        a recurrence reads: groups are formed from the last one back.
        """
        call = self._first_calls.get(result)
        for user in self._readers[result]:
            if user in self._dead:
                continue
            if call is not None and self._compared(call, user) < 0:
                yield call
                call = None
            yield user
        if call is not None:
            yield call

    def _compared(self, one: ir.Operation, other: ir.Operation) -> int:
        """Less than zero if an operation, or what it is in, stands before another, or that."""
        one, other = enclosing_in(self._block, one), enclosing_in(self._block, other)
        return 0 if one == other else -1 if one.is_before_in_block(other) else 1

    def _is_outside(self, user: ir.Operation, group: Group) -> bool:
        """Whether an operation is no member, or is one that is done outside of the group as well.

        That is a member that is repeated and that others read too: it stays where it is, and needs
        what it reads.
        """
        member = next(filter(None, map(group.producer, user.results)), None)
        return member is None or (
            member is not group.root
            and member in self._repeated
            and any(
                not any(map(group.producer, other.results))
                for other in self._users(member.results[0])
            )
        )

    def _is_used(self, member: Computation) -> bool:
        return any(True for result in member.results for _ in self._users(result))

    def _grown(self, root: Computation) -> Group:
        group = self._strategies.form([root], frozenset(root.results))
        assert group is not None
        # What a contraction's epilogue can be is tried first: it has no other steps.
        group = self._grown_by(group, most_steps=1)
        if attention := self._attention(group):
            return attention
        return self._with_steps(group) if self._contractions.isdisjoint(group.members) else group

    def _with_steps(self, group: Group) -> Group:
        """The group with steps before it, unless these put what lies side by side far apart.

        Where they read what was transposed in the same way, they go along its rows.
        """
        grown = self._grown_by(group, most_steps=None)
        before = (member for member in grown.members if member is not grown.root)
        if len(grown.steps) > 1 and _turns_rows(grown.root) and not any(map(_turns_rows, before)):
            return group
        return grown

    def _attention(self, group: Group) -> Group | None:
        """The group with all that makes it attention, if its contraction is the last part of that.

        That is what lies between it and the contraction before it, and what is copied on the way.
        """
        found = self._of_attention.intersection(group.members)
        if len(found) != 1:
            return None
        (last,) = found
        for weights in self._producers(last):
            between = self._from_contraction(weights)
            if between is None:
                continue
            members = self._with_repeated({*group.members, *between})
            if self._are_only_for(group.root, members):
                ordered = sorted(members, key=self._places.__getitem__)
                outputs = frozenset(group.root.results)
                if attention := self._strategies.attention(ordered, outputs):
                    self._attentions.add(group.root)
                    return attention
        return None

    def _from_contraction(self, last: Computation) -> set[Computation] | None:
        """All from the one contraction that a computation comes from to itself, if it is one."""
        before = {last}
        pending = [last]
        while pending:
            member = pending.pop()
            if member not in self._of_attention:
                producers = [other for other in self._producers(member) if other not in before]
                before.update(producers)
                pending += producers
        found = before & self._of_attention
        if len(found) != 1:
            return None
        for member in sorted(before, key=self._places.__getitem__):
            if not found.isdisjoint(self._producers(member)):
                found.add(member)
        return found

    def _with_repeated(self, members: set[Computation]) -> set[Computation]:
        """Members with what they read that is repeated."""
        pending = list(members)
        while pending:
            for producer in self._producers(pending.pop()):
                if producer in self._repeated and producer not in members:
                    members.add(producer)
                    pending.append(producer)
        return members

    def _are_only_for(self, root: Computation, members: set[Computation]) -> bool:
        """Whether nobody else reads members, nor has taken them, but for what is repeated."""
        results = {result for member in members for result in member.results}
        return not any(
            member in self._taken
            or any(
                results.isdisjoint(user.results)
                for result in member.results
                for user in self._users(result)
            )
            for member in members
            if member is not root and member not in self._repeated
        )

    def _producers(self, member: Computation) -> list[Computation]:
        """What computes what a member reads, or starts from, reshaped or not."""
        if member not in self._found_producers:
            self._found_producers[member] = [
                self._by_result[source]
                for source in member.viewed_operands
                if source in self._by_result
            ]
        return self._found_producers[member]

    def _grown_by(self, group: Group, most_steps: int | None) -> Group:
        """The group with what may be taken in, with so many steps beside a contraction."""
        seen = set(group.members)
        # What may be taken in, by place: the last is tried first.
        candidates: list[tuple[int, Computation]] = []

        def find(member: Computation) -> None:
            for other in self._producers(member):
                if other not in seen and (other not in self._taken or other in self._repeated):
                    seen.add(other)
                    heapq.heappush(candidates, (-self._places[other], other))

        for member in group.members:
            find(member)
        while candidates:
            _, candidate = heapq.heappop(candidates)
            grown = self._with(group, candidate)
            if grown is not None and (
                most_steps is None
                or len(grown.steps) - len(self._contractions.intersection(grown.steps))
                <= most_steps
            ):
                group = grown
                find(candidate)
        return group

    def _with(self, group: Group, more: Computation) -> Group | None:
        found = self._contractions.intersection(group.members)
        if found and more in self._contractions:
            return None
        members = sorted((more, *group.members), key=self._places.__getitem__)
        outputs = set(group.outputs)
        if more not in self._repeated:
            for result in more.results:
                outside = (user for user in self._users(result) if self._is_outside(user, group))
                first = next(outside, None)
                if first is not None:
                    if self._compared(first, group.root.op) < 0:
                        return None
                    outputs.add(result)
        grown = self._strategies.form(members, frozenset(outputs), group)
        if grown is not None and _turns_rows(group.root) and _deals_out_rows(more):
            return None
        if (
            grown is not None
            and len(grown.steps) > 1
            and _is_transposition(more)
            and not found
            and not _is_undone(more, grown)
            and not _is_reduced_along_lines(more, grown)
        ):
            # Its loops run in pieces, for the sake of cache lines, which those of steps do not.
            return None
        if grown is not None and not found and _is_gathered_often(more, grown):
            return None
        if grown is None or not (found or more in self._contractions):
            return grown
        return grown if self._strategies.suits_contraction(grown) else None


def _is_transposition(member: Computation) -> bool:
    """Whether a copy takes elements along other axes than it puts them, but for a few parts."""
    loops = _copied_along(member)
    return loops != sorted(loops)


def _turns_rows(member: Computation) -> bool:
    """Whether a copy has what lay side by side lie far apart."""
    loops = _copied_along(member)
    return bool(loops) and loops[-1] != max(loops)


def _deals_out_rows(member: Computation) -> bool:
    """Whether elements side by side in a result are from several rows in turns, or repeated.

    Along these `unroll_quotients` makes vectors; what turns them about would read one by one.
    """
    axes = member.result_loops(0)
    if not axes:
        return False
    beside = axes[-1]
    return any(
        beside in loops_in(index) and isinstance(index.maybe_downcast(), ir.AffineFloorDivExpr)
        for map_ in member.maps
        for index in map_.results
    )


def _copied_along(member: Computation) -> list[int]:
    """The loops that the axes of what is copied are along, if it is a copy, but for a few parts."""
    if not is_copy(member) or not member.inputs:
        return []
    return [
        dim.position
        for dim in map(ir.AffineExpr.maybe_downcast, member.maps[0].results)
        if isinstance(dim, ir.AffineDimExpr)
        and (member.sizes[dim.position] == DYNAMIC or member.sizes[dim.position] > MOST_PARTS)
    ]


def _is_undone(transposition: Computation, group: Group) -> bool:
    """Whether what a transposition reads is contiguous along the same rows as what the root gives.

    Then steps go along both at once.
    """
    if not group.is_inlined(transposition) or group.root.is_reduction:
        return False
    (written,) = accesses(group, group.root)[-1:]
    row = next((row for row in group.rows if written.stride(row) == 1), None)
    shape = tuple(ir.RankedTensorType(transposition.inputs[0].type).shape)
    return row is not None and all(
        Access(
            shape,
            composed(
                transposition.maps[0],
                transposition.loops_for(site.indices),
                len(site.step.reduces),
            ),
        ).stride(group.row_loops[site.step][row])
        == 1
        for result in transposition.results
        for site in group.sites(result)
    )


def _is_reduced_along_lines(transposition: Computation, group: Group) -> bool:
    """Whether reductions alone read a transposition, each along what it reads as that lies.

    They have no use for pieces: no line of memory is left before it is used up.
    """
    readers = {site.step for result in transposition.results for site in group.sites(result)}
    return group.is_inlined(transposition) and all(
        reader.is_reduction and _goes_along_lines(group, reader) for reader in readers
    )


def _is_gathered_often(member: Computation, group: Group) -> bool:
    """Whether sums read a transposition many times over, each along elements that lie far apart.

    So would the sums of a convolution read weights, for each point of an image.
    """
    if order_of(member) is None or not group.is_inlined(member):
        return False
    return any(
        site.step.is_reduction
        and _times_read(site) >= _OFTEN
        and not _goes_along_lines(group, site.step)
        for result in member.results
        for site in group.sites(result)
    )


def _times_read(site: Site) -> int:
    """How often a step reads each element."""
    along = {loop for index in site.indices for loop in loops_in(index)}
    return math.prod(
        _OFTEN if size == DYNAMIC else size
        for loop, size in enumerate(site.step.sizes)
        if loop not in along
    )


def _goes_along_lines(group: Group, step: Computation) -> bool:
    """Whether a loop of a step goes along all that it reads and writes as that lies.

    That is a loop within a row, or over the rows that the root has side by side.
    """
    rows = group.row_loops[step]
    (written,) = accesses(group, group.root)[-1:]
    runs = strides_of_runs(group, group.root)
    loops = [
        loop
        for loop, size in enumerate(step.sizes)
        if size != 1
        and all(loop != rows[row] or written.goes_on(row, runs) for row in group.rows)
        and loop not in group.at_once(step)
    ]
    return has_contiguous_loop(group, step, loops)


def _outline(
    group: Group,
    kind: str,
    functions: SharedFunctions,
    dead: _Dead,
    strategies: Strategies,
    contractions: Container[Computation],
) -> ir.Operation:
    """Puts a call of a function in the place of a group, and notes what is dead then.

    The call is where the contractions are that take most of its time, and what comes of them.
    Others, such as the zeros that a sum begins with, may be from anywhere.
    """
    by_vectors = strategies.reads_by_vectors(group)
    takes_parts = strategies.takes_parts(group)
    order, captured = _parts(group, strategies.goes_along(group), takes_parts=takes_parts)
    outputs = [
        result for member in group.members for result in member.results if result in group.outputs
    ]
    types = [value.type for value in outputs]
    location = ir.Location.fused([member.op.location for member in group.members])
    with location, functions.insertion_point:
        function = func.FuncOp(
            functions.UNNAMED, ([value.type for value in captured], types), visibility="private"
        )
        function.attributes[GROUP] = ir.StringAttr.get(kind)
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [_attributes(value, with_layout=by_vectors) for value in captured]
        )
        block = function.add_entry_block()
        inside = dict(zip(captured, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            clone_operations(order, inside)
            func.ReturnOp([inside[value] for value in outputs])
    name = functions.shared(function.operation, kind)
    members = {result for member in group.members for result in member.results}
    telling = [member.op.location for member in group.members if member in contractions]
    place = ir.Location.fused([*telling, group.root.op.location])
    with ir.InsertionPoint.after(group.root.op), place:
        call = func.CallOp(types, name, captured)
        old_views = [
            view
            for old, new in zip(outputs, call.results, strict=True)
            for view in _redirect(old, new, call.operation, members)
        ]
    for op in (*old_views, *reversed(order)):
        dead.add_unless_used(op)
    return call.operation


def _attributes(captured: ir.Value, *, with_layout: bool) -> ir.DictAttr:
    noted: dict[str, ir.Attribute] = {}
    if is_constant(captured):
        noted[CONSTANT] = ir.UnitAttr.get()
    if with_layout and is_tensor(captured) and not is_contiguous(layout := layout_of(captured)):
        noted[LAYOUT] = ir.TypeAttr.get(layout)
    if with_layout and (zeros := note_of_zeros(captured)) is not None:
        noted[ZEROS] = zeros
    return ir.DictAttr.get(noted)


def _redirect(
    old: ir.Value, new: ir.Value, call: ir.Operation, members: set[ir.Value]
) -> list[ir.Operation]:
    """Has all but members use `new`, a result of `call`.

    Reshapes that stand before the call are built anew after it. Gives the old ones, the last first.
    """
    views = []
    for use in list(old.uses):
        owner = use.owner.operation
        if members.intersection(owner.results):
            continue
        if not is_seen_through(owner) or not owner.is_before_in_block(call):
            owner.operands[use.operand_number] = new
            continue
        clone = owner.clone(ip=ir.InsertionPoint.current).operation
        clone.operands[0] = new
        views += [*_redirect(owner.results[0], clone.results[0], call, members), owner]
        if not any(True for _ in clone.results[0].uses):
            clone.erase()
    return views


def _parts(
    group: Group, along: frozenset[ir.Value], *, takes_parts: bool
) -> tuple[list[ir.Operation], list[ir.Value]]:
    """The operations of a group and what goes along, in order, and the values they use.

    With `takes_parts` those are tensors as a whole that parts are taken of.
    """
    order: dict[ir.Value, ir.Operation] = {}
    captured: dict[ir.Value, None] = {}
    members = {result for member in group.members for result in member.results} | along
    products = filter(None, map(group.constant_product, group.steps))
    members.update(product.constant for product in products)
    # Of these, bodies ask for elements by themselves.
    asked = {
        value
        for member in (group.members if takes_parts else ())
        for op in all_operations(member.op)[1:]
        for value in op.operands
    }

    def need(value: ir.Value) -> None:
        if isinstance(value.owner, ir.Block):
            captured[value] = None
            return
        op = value.owner.operation
        if op.results[0] in order:
            return
        belongs = _belongs(op, members) or (takes_parts and value not in asked and _is_of_part(op))
        if value in members or belongs:
            for operand in captured_values(op):
                need(operand)
            order[op.results[0]] = op
        else:
            captured[value] = None

    for member in group.members:
        for value in captured_values(member.op):
            need(value)
        order[member.results[0]] = member.op
    return list(order.values()), list(captured)


def _belongs(op: ir.Operation, members: set[ir.Value]) -> bool:
    """Whether an operation that is no member goes with the members."""
    if op.name == "tensor.empty":
        return True
    if is_seen_through(op):
        return viewed(op.results[0]) in members
    if op.name != "arith.constant":
        return False
    type_ = op.results[0].type
    return not isinstance(type_, ir.RankedTensorType) or is_splat(op)


def _is_of_part(op: ir.Operation) -> bool:
    """Whether an operation takes a part of an innermost axis, or reshapes what does.

    Of all parts of one argument LLVM makes vectors at once; not of an argument for each.
    """
    while is_seen_through(op):
        if takes_part(op):
            return True
        above = defining_operation(op.operands[0])
        if above is None:
            return False
        op = above
    return False
