"""What sizes are at most that depend on values, as expressions of the sizes of arguments.

They are read off the operations that compute them: the least of a number that nobody knows and of
one that follows from the sizes of arguments is no more than the latter. Whoever brings memory along
brings that much.
"""

import functools
from collections.abc import Sequence

from torch_mlir import ir

from plumbline.bindings.walk import defining_operation
from plumbline.kernels_to_llvm.size_reader import SAME, SizeReader, UnknownSize
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.size_expressions import Size, difference, operation

_LEAST = frozenset({"arith.minsi", "arith.minui"})

_QUOTIENTS = {
    "arith.floordivsi": "floordiv",
    "arith.divsi": "floordiv",
    "arith.ceildivsi": "ceildiv",
}

_QUOTIENTS_OF_SIZES = {"arith.divui": "floordiv", "arith.ceildivui": "ceildiv"}
"""What takes a number below 0 for a large one."""

_OF_SHAPES = frozenset({"memref.dim", "memref.extract_strided_metadata"})


class SizeBoundReader(SizeReader):
    """A reader of sizes that tells the most that one can be, where only a run tells it."""

    def __init__(
        self,
        function: ir.OpView,
        arguments: Sequence[Sequence[Size | None]],
        shapes: ArgumentShapes,
        numbers: Sequence[Size | None] = (),
        exact: SizeReader | None = None,
    ) -> None:
        """What is said of arguments and numbers are bounds, but for what `exact` knows of them."""
        super().__init__(function, arguments, shapes, numbers)
        self._exact = exact or SizeReader(function, arguments, shapes, numbers)

    def of_number(self, value: ir.Value) -> Size:
        """What a number of type index, or another integer, is at most."""
        try:
            return self._exact.of_number(value)
        except UnknownSize as unknown:
            return self._at_most(value, unknown)

    def _at_most(self, value: ir.Value, unknown: UnknownSize) -> Size:
        owner = defining_operation(value)
        if owner is None or owner.name in SAME | _OF_SHAPES or owner.name == "arith.addi":
            return super().of_number(value)
        operands = list(owner.operands)
        if owner.name == "arith.maxsi":
            return self._greatest(*map(self.of_number, operands))
        if owner.name in _LEAST:
            bounds = [bound for bound in map(self._or_unknown, operands) if bound is not None]
            if not bounds:
                raise unknown
            return bounds[0] if len(bounds) == 1 else operation("min", *bounds)
        if owner.name == "arith.select":
            _, yes, no = operands
            return self._greatest(self.of_number(yes), self.of_number(no))
        if owner.name == "arith.muli":
            return self._product(operands, unknown)
        if owner.name == "arith.subi":
            return self._difference(operands)
        quotients = _QUOTIENTS
        if _is_size(operands[0]):
            quotients = quotients | _QUOTIENTS_OF_SIZES
        if owner.name in quotients and isinstance(divisor := self._known(operands[1]), int):
            return operation(quotients[owner.name], self.of_number(operands[0]), max(divisor, 1))
        raise unknown

    def _product(self, factors: Sequence[ir.Value], unknown: UnknownSize) -> Size:
        """No more than the product of what the factors are at most, if none is below 0."""
        for number, other in (factors, factors[::-1]):
            known = self._known(other)
            if known is not None and self._is_natural(known):
                return operation("*", self.of_number(number), known)
        if all(map(_is_size, factors)):
            return operation("*", *map(self.of_number, factors))
        raise unknown

    def _difference(self, operands: Sequence[ir.Value]) -> Size:
        most = self.of_number(operands[0])
        less = self._known(operands[1])
        if less is None and not _is_size(operands[1]):
            raise UnknownSize("what is taken away from it may be below 0")
        return most if less is None else difference(most, less)

    def _greatest(self, left: Size, right: Size) -> Size:
        if left == right or self._is_natural(difference(left, right)):
            return left
        return right if self._is_natural(difference(right, left)) else operation("max", left, right)

    def _known(self, value: ir.Value) -> Size | None:
        return self.or_none(self._exact.of_number, value)

    def _or_unknown(self, value: ir.Value) -> Size | None:
        return self.or_none(self.of_number, value)

    def _of_branches(self, owner: ir.Operation, number: int, axis: int) -> Size:
        sizes = self._sizes_of_branches(owner, number, axis)
        return functools.reduce(self._greatest, sizes)

    def of_callee(self, callee: ir.OpView, call: ir.Operation) -> "SizeBoundReader":
        """What is known in a function that this one calls."""
        exact = self._exact.of_callee(callee, call)
        buffers, numbers = self._of_operands(call)
        return SizeBoundReader(callee, buffers, self._shapes, numbers, exact)


def _is_size(value: ir.Value) -> bool:
    """Whether a number is plainly not below 0."""
    owner = defining_operation(value)
    if owner is None:
        return False
    match owner.name:
        case "memref.dim" | "arith.extui" | "arith.index_castui":
            return True
        case "arith.constant":
            return int(ir.IntegerAttr(owner.attributes["value"]).value) >= 0
        case "arith.maxsi":
            return any(map(_is_size, owner.operands))
        case "arith.minsi" | "arith.index_cast" | "arith.muli" | "arith.addi":
            return all(map(_is_size, owner.operands))
    return False
