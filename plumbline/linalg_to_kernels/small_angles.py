"""Has loops that take sines, cosines or tangents do so by less where angles are small.

To find what is left of any angle takes products of integers, words that are chosen of 2 / pi, and
shifts, each by another count: most of what a sine takes. Of a small angle some products of floats
are subtracted. As vectors cannot branch, a loop looks at the angles of some elements first, and
then does all of these in one way. Its angles are computed twice: only those that take little are.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, math, scf

from plumbline.bindings.views import is_apart, root
from plumbline.bindings.walk import (
    clone_operations,
    constant_integer,
    defining_operation,
    needed_for,
    operations_named,
)
from plumbline.elementary_functions.conversion import OF_SMALL_ANGLE, PERIODIC, has_own_reduction
from plumbline.elementary_functions.trigonometric import SMALL
from plumbline.linalg_to_kernels.building import either, for_each, index, least
from plumbline.linalg_to_kernels.element_loops import LOAD, STORE
from plumbline.linalg_to_kernels.work import known_trips

_BLOCK = 256
"""Elements whose angles are looked at: what they are read from stays in the first cache."""

_FEWEST = 16
"""Elements of a loop that is worth it."""

_MOST_BEFORE = 16
"""Operations by which an angle is computed twice: less than what is saved."""


def reduce_small_angles(module: ir.Operation) -> None:
    """Splits the innermost loops of `module` so that can be."""
    with module.context:
        for op in operations_named(module, "scf.for"):
            loop = _Loop(op.opview)
            if loop.can_branch():
                loop.branch()


class _Loop:
    """An innermost loop over elements."""

    def __init__(self, loop: scf.ForOp) -> None:
        self._loop = loop
        *ops, self._yield = (view.operation for view in loop.body.operations)
        self._ops = ops
        functions = [op for op in ops if op.name in PERIODIC and _is_number(op.operands[0])]
        self._angles = list(dict.fromkeys(op.operands[0] for op in functions))
        self._functions = {op.results[0] for op in functions}
        self._before = needed_for(self._angles, ops)
        """What computes angles, in order."""

    def can_branch(self) -> bool:
        """Whether all angles of some elements are known before anything is done to these."""
        count = known_trips(self._loop.operation)
        return (
            bool(self._angles)
            and constant_integer(self._loop.step) == 1
            and (count is None or count >= _FEWEST)
            and not any(op.regions for op in self._ops)
            and not any(map(has_own_reduction, self._angles))
            and self._is_of_one_element()
            and len(self._before) <= _MOST_BEFORE
            and all(map(self._is_repeatable, self._before))
            and all(map(self._is_along_lines, self._ops))
        )

    def _is_of_one_element(self) -> bool:
        """Whether no angle depends on what the loop carries from element to element."""
        read = {*self._angles, *(value for op in self._before for value in op.operands)}
        return read.isdisjoint(self._loop.inner_iter_args)

    def _is_repeatable(self, op: ir.Operation) -> bool:
        if op.name != LOAD:
            return bool(op.name.startswith("arith.") or op.name == "math.absf")
        read = root(op.operands[0])
        written = [root(store.operands[1]) for store in self._ops if store.name == STORE]
        return all(read != each and (is_apart(read) or is_apart(each)) for each in written)

    def _is_along_lines(self, op: ir.Operation) -> bool:
        """Whether what is read or written lies side by side, or at one place.

        What is read across lines other passes have read by squares, after this one.
        """
        if op.name not in (LOAD, STORE):
            return True
        buffer, *places = list(op.operands)[1 if op.name == STORE else 0 :]
        at = self._loop.induction_variable
        strides, _ = ir.MemRefType(buffer.type).get_strides_and_offset()
        if at in places[:-1]:
            return False
        return at not in places or bool(strides[-1] == 1)

    def branch(self) -> None:
        """Puts a loop over blocks in the place of the loop, or a branch where there is one."""
        loop, count = self._loop, known_trips(self._loop.operation)
        with ir.InsertionPoint(loop), loop.location:
            if count is not None and count <= _BLOCK:
                results = self._in_one_way(loop.lowerBound, loop.upperBound, list(loop.initArgs))
            else:
                results = for_each(
                    loop.lowerBound, loop.upperBound, _BLOCK, self._block, list(loop.initArgs)
                )
        for old, new in zip(loop.results, results, strict=True):
            old.replace_all_uses_with(new)
        loop.operation.erase()

    def _block(self, first: ir.Value, *carried: ir.Value) -> Sequence[ir.Value]:
        end = least(arith.addi(first, index(_BLOCK)), self._loop.upperBound)
        return self._in_one_way(first, end, list(carried))

    def _in_one_way(
        self, first: ir.Value, end: ir.Value, carried: list[ir.Value]
    ) -> Sequence[ir.Value]:
        bits = max(ir.FloatType(angle.type).width for angle in self._angles)
        word = ir.IntegerType.get_signless(bits)
        none = arith.constant(word, 0)

        def look(at: ir.Value, found: ir.Value) -> list[ir.Value]:
            values = {self._loop.induction_variable: at}
            clone_operations(self._before, values)
            for angle in self._angles:
                size = math.absf(values.get(angle, angle))
                bound = SMALL[ir.FloatType(angle.type).width]
                # Not so of what is no number.
                is_large = arith.cmpf(
                    arith.CmpFPredicate.OGE, size, arith.constant(angle.type, bound)
                )
                found = arith.ori(found, arith.extui(word, is_large))
            return [found]

        def build(*, are_small: bool) -> Sequence[ir.Value]:
            def one(at: ir.Value, *so_far: ir.Value) -> list[ir.Value]:
                values = dict(zip(self._loop.inner_iter_args, so_far, strict=True))
                values[self._loop.induction_variable] = at
                clone_operations(self._ops, values)
                if are_small:
                    for result in self._functions:
                        op = defining_operation(values[result])
                        assert op is not None
                        op.attributes[OF_SMALL_ANGLE] = ir.UnitAttr.get()
                return [values.get(value, value) for value in self._yield.operands]

            return for_each(first, end, 1, one, carried)

        (found,) = for_each(first, end, 1, look, [none])
        return either(
            [value.type for value in carried],
            arith.cmpi(arith.CmpIPredicate.eq, found, none),
            lambda: build(are_small=True),
            lambda: build(are_small=False),
        )


def _is_number(value: ir.Value) -> bool:
    return isinstance(value.type, ir.F32Type | ir.F64Type)
