"""How single elements are combined, by the cases of the attribute `combiner`, and compared."""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from plumbline.tcp.attributes import case_of
from plumbline.tcp.constraints import is_bool, is_float
from plumbline.tcp_to_linalg.scalars import constant


class Combination:
    """How two elements of one type become one."""

    def __init__(
        self, combiner: ir.Attribute, int_signedness: ir.Attribute | None, type_: ir.Type
    ) -> None:
        self.type = type_
        self._case = case_of(combiner)
        self._unsigned = is_unsigned(int_signedness, type_)

    def identity(self) -> ir.Value:
        """The element that changes nothing."""
        return constant(self.type, self._identity())

    def __call__(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """The two combined."""
        on_floats, on_signed, on_unsigned = _OPERATIONS[self._case]
        if is_float(self.type):
            return on_floats(left, right)
        return (on_unsigned if self._unsigned else on_signed)(left, right)

    def _identity(self) -> int | float:
        if self._case in ("sum", "or"):
            return 0
        if self._case in ("prod", "and"):
            return 1
        least, greatest = _limits(self.type, unsigned=self._unsigned)
        return greatest if self._case == "min" else least


def is_unsigned(int_signedness: ir.Attribute | None, type_: ir.Type) -> bool:
    """Whether integers of a type are taken as unsigned; i1 is 0 or 1."""
    return is_bool(type_) or (int_signedness is not None and case_of(int_signedness) == "Unsigned")


def least_element(type_: ir.Type, *, unsigned: bool) -> ir.Value:
    """What no element of a type is less than, but NaN."""
    least, _ = _limits(type_, unsigned=unsigned)
    return constant(type_, least)


def _limits(type_: ir.Type, *, unsigned: bool) -> tuple[int | float, int | float]:
    """The least and the greatest element."""
    if is_float(type_):
        return float("-inf"), float("inf")
    if is_bool(type_):
        return 0, 1
    if unsigned:
        # All bits set, which an attribute of a signless type takes as -1 only.
        return 0, -1
    greatest = 2 ** (type_.width - 1) - 1
    return -greatest - 1, greatest


def _logaddexp(left: ir.Value, right: ir.Value) -> ir.Value:
    greater, lesser = arith.maximumf(left, right), arith.minimumf(left, right)
    result = arith.addf(greater, math.log1p(math.exp(arith.subf(lesser, greater))))
    # Two equal infinities have no difference.
    infinite = arith.cmpf(
        arith.CmpFPredicate.OEQ, math.absf(greater), constant(left.type, float("inf"))
    )
    equal = arith.cmpf(arith.CmpFPredicate.OEQ, lesser, greater)
    return arith.select(arith.andi(infinite, equal), greater, result)


def _floats_only(left: ir.Value, right: ir.Value) -> ir.Value:
    raise AssertionError(f"a combiner of floats on {left.type}, {right.type}")


_Build = Callable[[ir.Value, ir.Value], ir.Value]

_OPERATIONS: dict[str, tuple[_Build, _Build, _Build]] = {
    "sum": (arith.addf, arith.addi, arith.addi),
    "prod": (arith.mulf, arith.muli, arith.muli),
    "max": (arith.maximumf, arith.maxsi, arith.maxui),
    "min": (arith.minimumf, arith.minsi, arith.minui),
    "and": (arith.andi, arith.andi, arith.andi),
    "or": (arith.ori, arith.ori, arith.ori),
    "logaddexp": (_logaddexp, _floats_only, _floats_only),
}
"""For each case what is done to floats, to signed and to unsigned integers."""


def is_greater(left: ir.Value, right: ir.Value, *, unsigned: bool) -> ir.Value:
    """Whether `left` is greater than `right`, which no NaN is, nor is anything greater than it."""
    if is_float(left.type):
        return arith.cmpf(arith.CmpFPredicate.OGT, left, right)
    predicate = arith.CmpIPredicate.ugt if unsigned else arith.CmpIPredicate.sgt
    return arith.cmpi(predicate, left, right)
