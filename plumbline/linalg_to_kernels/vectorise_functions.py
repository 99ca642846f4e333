"""Has loops that compute exp, exp2, erf or tanh take vectors, for the registers of AVX-512.

There these functions are short polynomials that are looked up (`elementary_functions/lookups.py`),
which LLVM cannot make of a loop over single numbers: of it gelu takes 0.64 of the time, exp 0.82,
tanh 0.63 (AMD Zen 5). Where loops do something that is not done here to vectors, LLVM makes them of
longer polynomials.

The last vector of a loop has as many lanes as there are elements left, by a mask.
"""

import functools

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, vector

from plumbline.bindings.views import is_apart, root
from plumbline.bindings.walk import constant_integer, defining_operation, operations_named
from plumbline.elementary_functions.lookups import LANES
from plumbline.elementary_functions.pieces import FUNCTIONS_IN_PIECES
from plumbline.linalg_to_kernels.building import for_each, index
from plumbline.linalg_to_kernels.element_loops import LOAD, ElementLoop
from plumbline.linalg_to_kernels.reassociation import is_reassociable
from plumbline.linalg_to_kernels.vectors import mask_of_first, of_lanes, on_lanes, splat
from plumbline.linalg_to_kernels.work import DIVISIONS, known_trips

_FEWEST = LANES // 2
"""Elements. Of fewer a vector would have more lanes empty than not."""


def vectorise_functions(module: ir.Operation) -> None:
    """Rewrites the innermost loops of `module` of which all can be done to vectors."""
    with module.context:
        for op in operations_named(module, "scf.for"):
            if _has_functions(op):
                loop = _Loop(op.opview)
                if loop.can_be_vectors():
                    loop.vectorise()


def _has_functions(loop: ir.Operation) -> bool:
    ops = [view.operation for view in loop.regions[0].blocks[0].operations]
    return any(
        op.name in FUNCTIONS_IN_PIECES and isinstance(op.results[0].type, ir.F32Type) for op in ops
    )


class _Loop:
    """An innermost loop over elements, which may add up some of what it computes."""

    def __init__(self, loop: scf.ForOp) -> None:
        self._loop = loop
        last = loop.body.operations[len(loop.body.operations) - 1]
        self._sums = [defining_operation(value) for value in last.operands]
        self._elements = ElementLoop(loop, but=[add for add in self._sums if add is not None])

    def can_be_vectors(self) -> bool:
        """Whether vectors of it give what its elements give one by one."""
        count = known_trips(self._loop.operation)
        return (
            constant_integer(self._loop.step) == 1
            and (count is None or count >= _FEWEST)
            and all(map(self._is_sum, self._loop.inner_iter_args, self._sums))
            and self._elements.can_be_vectors()
            # By what lanes without an element have, which is 0, it must not be divided.
            and not any(op.name in DIVISIONS for op in self._elements.ops)
            and self._is_independent()
        )

    def _is_sum(self, so_far: ir.Value, add: ir.Operation | None) -> bool:
        """Whether what it carries is only added to, in any order."""
        return (
            add is not None
            and add.name == "arith.addf"
            and is_reassociable(add)
            and so_far in list(add.operands)
            and [use.owner.operation for use in so_far.uses] == [add]
            and [use.owner.name for use in add.results[0].uses] == ["scf.yield"]
        )

    def _is_independent(self) -> bool:
        """Whether nothing that is written for an element is read or written for another."""
        stores = [(op.operands[1], list(op.operands)[2:]) for op in self._elements.stores]
        loads = [
            (op.operands[0], list(op.operands)[1:]) for op in self._elements.ops if op.name == LOAD
        ]
        return all(
            (buffer == written and places == own) or _are_apart(root(buffer), root(written))
            for buffer, places in loads + stores
            for written, own in stores
        )

    def vectorise(self) -> None:
        """Builds loops over whole vectors and what is left."""
        loop = self._loop
        with ir.InsertionPoint(loop), loop.location:
            values = [
                splat(ir.VectorType.get([LANES], first.type), -0.0) for first in loop.initArgs
            ]
            lower, upper = loop.lowerBound, loop.upperBound
            count = known_trips(loop.operation)
            if count is None:
                # Where it is less, there are none.
                upper = arith.maxsi(lower, upper)
                left = arith.remui(arith.subi(upper, lower), index(LANES))
            else:
                left = index(count % LANES)
            whole = arith.subi(upper, left)
            if count is None or count >= LANES:
                values = for_each(lower, whole, LANES, self._of_vectors, values)
            if count is None or count % LANES:
                mask = mask_of_first(left, LANES)
                of_what_is_left = functools.partial(self._of_vectors, mask=mask)
                values = for_each(whole, upper, LANES, of_what_is_left, values)
            sums = list(map(_sum_of_lanes, values, loop.initArgs))
        for result, replacement in zip(loop.results, sums, strict=True):
            result.replace_all_uses_with(replacement)
        loop.operation.erase()

    def _of_vectors(
        self, at: ir.Value, *so_far: ir.Value, mask: ir.Value | None = None
    ) -> list[ir.Value]:
        """What is done to a vector, or the lanes of it that a mask has; gives the sums."""

        def load(type_: ir.VectorType, buffer: ir.Value, places: list[ir.Value]) -> ir.Value:
            if mask is None:
                return vector.load(type_, buffer, places)
            return vector.maskedload(type_, buffer, places, mask, splat(type_, 0))

        def store(value: ir.Value, buffer: ir.Value, places: list[ir.Value]) -> None:
            value = of_lanes(value, [LANES])
            if mask is None:
                vector.store(value, buffer, places)
            else:
                vector.maskedstore(buffer, places, mask, value)

        values = {self._elements.at: at}
        self._elements.in_vectors(values, LANES, load, store)
        sums = []
        for add, carried, lanes in zip(self._sums, self._loop.inner_iter_args, so_far, strict=True):
            assert add is not None
            added = next(each for each in add.operands if each != carried)
            added = of_lanes(values.get(added, added), [LANES])
            if mask is not None:
                added = arith.select(mask, added, splat(added.type, -0.0))
            sums += on_lanes(add, [lanes, added], [LANES])
        return sums


def _are_apart(one: ir.Value, other: ir.Value) -> bool:
    return one != other and (is_apart(one) or is_apart(other))


def _sum_of_lanes(lanes: ir.Value, first: ir.Value) -> ir.Value:
    add = ir.Attribute.parse("#vector.kind<add>")
    return vector.reduction(first.type, add, lanes, acc=first, fastmath=arith.FastMathFlags.reassoc)
