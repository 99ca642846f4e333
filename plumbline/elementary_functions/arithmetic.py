"""Typed arithmetic on values of the IR, of which the elementary functions are built.

A `Float`, an `Int` or a `Bool` is a number or a vector of numbers; operators on them build ops of
arith at the current insertion point. Python's numbers become constants of the other operand's type.
Multiplications and additions carry `contract`, so that LLVM makes one fused operation of two where
the target has it: a formula must be right either way, as all here are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, math

_CONTRACT = arith.FastMathFlags.contract

_FRACTION_BITS = {32: 23, 64: 52}
"""Of a float of so many bits, those after the point."""

_LEAST_EXPONENT = {32: -126, 64: -1022}
"""Of a float of so many bits, the exponent of the least normal number."""


def _element_type(type_: ir.Type) -> ir.Type:
    return ir.VectorType(type_).element_type if isinstance(type_, ir.VectorType) else type_


def _with_elements(type_: ir.Type, element: ir.Type) -> ir.Type:
    """The type of the same shape with other elements."""
    return ir.VectorType.get(type_.shape, element) if isinstance(type_, ir.VectorType) else element


def _constant(type_: ir.Type, value: int | float) -> ir.Value:
    element = _element_type(type_)
    attribute: ir.Attribute
    if isinstance(element, ir.IntegerType):
        # As a signed number, which is what the attribute takes.
        half = 1 << (element.width - 1)
        attribute = ir.IntegerAttr.get(element, (int(value) + half) % (2 * half) - half)
    else:
        attribute = ir.FloatAttr.get(element, float(value))
    if isinstance(type_, ir.VectorType):
        attribute = ir.DenseElementsAttr.get_splat(type_, attribute)
    return arith.ConstantOp(type_, attribute).result


@dataclass(frozen=True, eq=False)
class Bool:
    """Truth values."""

    value: ir.Value

    def __and__(self, other: "Bool") -> "Bool":
        return Bool(arith.andi(self.value, other.value))

    def __or__(self, other: "Bool") -> "Bool":
        return Bool(arith.ori(self.value, other.value))


@dataclass(frozen=True, eq=False)
class Int:
    """Integers, signed where it makes a difference; they wrap around."""

    value: ir.Value

    @property
    def bits(self) -> int:
        """The width of one."""
        return int(_element_type(self.value.type).width)

    def constant(self, value: int) -> "Int":
        """A number of the same type."""
        return Int(_constant(self.value.type, value))

    def _operand(self, other: "Int | int") -> ir.Value:
        return (other if isinstance(other, Int) else self.constant(other)).value

    def __add__(self, other: "Int | int") -> "Int":
        return Int(arith.addi(self.value, self._operand(other)))

    def __sub__(self, other: "Int | int") -> "Int":
        return Int(arith.subi(self.value, self._operand(other)))

    def __neg__(self) -> "Int":
        return self.constant(0) - self

    def __mul__(self, other: "Int | int") -> "Int":
        return Int(arith.muli(self.value, self._operand(other)))

    def __and__(self, other: "Int | int") -> "Int":
        return Int(arith.andi(self.value, self._operand(other)))

    def __or__(self, other: "Int | int") -> "Int":
        return Int(arith.ori(self.value, self._operand(other)))

    def __xor__(self, other: "Int | int") -> "Int":
        return Int(arith.xori(self.value, self._operand(other)))

    def __lshift__(self, other: "Int | int") -> "Int":
        return Int(arith.shli(self.value, self._operand(other)))

    def __rshift__(self, other: "Int | int") -> "Int":
        """With the sign moving in from the left."""
        return Int(arith.shrsi(self.value, self._operand(other)))

    def shifted_right_unsigned(self, other: "Int | int") -> "Int":
        """With zeros moving in from the left."""
        return Int(arith.shrui(self.value, self._operand(other)))

    def __lt__(self, other: "Int | int") -> Bool:
        return Bool(arith.cmpi(arith.CmpIPredicate.slt, self.value, self._operand(other)))

    def equals(self, other: "Int | int") -> Bool:
        """Whether the two are the same."""
        return Bool(arith.cmpi(arith.CmpIPredicate.eq, self.value, self._operand(other)))

    def multiplied_unsigned(self, other: "Int") -> tuple["Int", "Int"]:
        """The lower and the upper half of the product of unsigned numbers."""
        low, high = arith.mului_extended(self.value, other.value)
        return Int(low), Int(high)

    def converted(self) -> "Float":
        """The nearest floats of the same width; of 64 bits, integers must be below 2^51."""
        if self.bits == 32:
            element = ir.F32Type.get()
            return Float(arith.sitofp(_with_elements(self.value.type, element), self.value))
        # AVX2 has no such instruction.
        rounder = Float(_constant(_with_elements(self.value.type, ir.F64Type.get()), 1.5 * 2.0**52))
        return (self + rounder.as_int()).as_float() - rounder

    def as_float(self) -> "Float":
        """The float that these are the bits of."""
        element = ir.F32Type.get() if self.bits == 32 else ir.F64Type.get()
        return Float(arith.bitcast(_with_elements(self.value.type, element), self.value))


@dataclass(frozen=True, eq=False)
class Float:
    """Floats of 32 or 64 bits. Comparisons with a NaN do not hold, but for `differs`."""

    value: ir.Value

    @property
    def bits(self) -> int:
        """The width of one."""
        return int(_element_type(self.value.type).width)

    @property
    def fraction_bits(self) -> int:
        """How many bits come after the point: 23 or 52."""
        return _FRACTION_BITS[self.bits]

    @property
    def least_exponent(self) -> int:
        """The exponent of the least normal number: -126 or -1022."""
        return _LEAST_EXPONENT[self.bits]

    @property
    def rounder(self) -> float:
        """Added to a small number, it leaves that, rounded to a whole one, in the last bits."""
        return 1.5 * 2.0**self.fraction_bits

    def constant(self, value: float) -> "Float":
        """A number of the same type, rounded to it."""
        return Float(_constant(self.value.type, value))

    def _operand(self, other: "Float | float") -> ir.Value:
        return (other if isinstance(other, Float) else self.constant(other)).value

    def __add__(self, other: "Float | float") -> "Float":
        return Float(arith.addf(self.value, self._operand(other), fastmath=_CONTRACT))

    def __radd__(self, other: float) -> "Float":
        return self.constant(other) + self

    def __sub__(self, other: "Float | float") -> "Float":
        return Float(arith.subf(self.value, self._operand(other), fastmath=_CONTRACT))

    def __rsub__(self, other: float) -> "Float":
        return self.constant(other) - self

    def __mul__(self, other: "Float | float") -> "Float":
        return Float(arith.mulf(self.value, self._operand(other), fastmath=_CONTRACT))

    def __rmul__(self, other: float) -> "Float":
        return self * other

    def rounded_product(self, other: "Float") -> "Float":
        """The product, rounded by itself: not fused with an addition."""
        return Float(arith.mulf(self.value, other.value))

    def __truediv__(self, other: "Float | float") -> "Float":
        return Float(arith.divf(self.value, self._operand(other)))

    def __rtruediv__(self, other: float) -> "Float":
        return self.constant(other) / self

    def __neg__(self) -> "Float":
        return Float(arith.negf(self.value))

    def __abs__(self) -> "Float":
        return Float(math.absf(self.value))

    def _compare(self, predicate: arith.CmpFPredicate, other: "Float | float") -> Bool:
        return Bool(arith.cmpf(predicate, self.value, self._operand(other)))

    def __lt__(self, other: "Float | float") -> Bool:
        return self._compare(arith.CmpFPredicate.OLT, other)

    def __gt__(self, other: "Float | float") -> Bool:
        return self._compare(arith.CmpFPredicate.OGT, other)

    def equals(self, other: "Float | float") -> Bool:
        """Whether the two are the same number; 0 and -0 are."""
        return self._compare(arith.CmpFPredicate.OEQ, other)

    def differs(self, other: "Float | float") -> Bool:
        """Whether the two are not the same number, or one is a NaN."""
        return self._compare(arith.CmpFPredicate.UNE, other)

    def sqrt(self) -> "Float":
        """The square root, which hardware rounds correctly."""
        return Float(math.sqrt(self.value))

    def with_sign_of(self, other: "Float") -> "Float":
        """The same size, with the sign of `other`."""
        return Float(math.copysign(self.value, other.value))

    def clamped(self, lower: float, upper: float) -> "Float":
        """Between two bounds; a NaN stays."""
        return self.at_least(lower).at_most(upper)

    # Comparison and selection, each pair of which LLVM makes one instruction of; arith.maximumf
    # takes several, for the sake of NaN and of signed zeros.

    def at_least(self, lower: float) -> "Float":
        """The bound where it is below that; a NaN stays."""
        bound = self.constant(lower)
        return where(self < bound, bound, self)

    def at_most(self, upper: float) -> "Float":
        """The bound where it is above that; a NaN stays."""
        bound = self.constant(upper)
        return where(self > bound, bound, self)

    def as_int(self) -> Int:
        """The bits, as an integer of the same width."""
        element = ir.IntegerType.get_signless(self.bits)
        return Int(arith.bitcast(_with_elements(self.value.type, element), self.value))

    def truncated(self) -> Int:
        """The integers nearest to 0; the numbers must be in their range."""
        element = ir.IntegerType.get_signless(self.bits)
        return Int(arith.fptosi(_with_elements(self.value.type, element), self.value))

    def in_double(self) -> "Float":
        """The same numbers in f64."""
        return Float(arith.extf(_with_elements(self.value.type, ir.F64Type.get()), self.value))

    def in_single(self) -> "Float":
        """The numbers rounded to f32."""
        return Float(arith.truncf(_with_elements(self.value.type, ir.F32Type.get()), self.value))


def where(condition: Bool, on_true: Float, on_false: Float | float) -> Float:
    """The one or the other; both are computed."""
    other = on_false if isinstance(on_false, Float) else on_true.constant(on_false)
    return Float(arith.select(condition.value, on_true.value, other.value))


def where_int(condition: Bool, on_true: Int, on_false: Int | int) -> Int:
    """The same for integers."""
    other = on_false if isinstance(on_false, Int) else on_true.constant(on_false)
    return Int(arith.select(condition.value, on_true.value, other.value))


def polynomial(x: Float, coefficients: Sequence[float]) -> Float:
    """The sum of coefficients times powers of x, from the constant on, by Estrin's scheme.

    By Horner's rule each multiplication would wait for the one before it, and a CPU has only so
    many instructions under way at once. Where a step has an odd number of terms, the last is added
    to the one before it: that takes no longer than to wait for another power of x.
    """
    terms: list[Float | float] = list(coefficients)
    power = x
    while len(terms) > 1:
        if len(terms) % 2:
            last = terms.pop()
            terms[-1] = power * last + terms[-1]
        else:
            terms = [power * odd + even for even, odd in zip(terms[::2], terms[1::2], strict=True)]
            if len(terms) > 1:
                power = power * power
    (result,) = terms
    return result if isinstance(result, Float) else x.constant(result)
