"""Ops that compute each element of a result from the elements at its place in the operands.

Operands have one shape: broadcasting is an op of its own (`tcp.broadcast`). A size that one
operand leaves dynamic and another states is taken to be the stated one.
"""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from plumbline.tcp.attributes import (
    Predicate,
    RoundingMode,
    Signedness,
    verify_signedness,
)
from plumbline.tcp.constraints import (
    I64,
    AnyTensor,
    BoolTensor,
    F64Array,
    Float,
    FloatIntOrComplexTensor,
    FloatOrComplexTensor,
    FloatOrIntTensor,
    FloatTensor,
    IntTensor,
    NumberTensor,
    is_bool,
    is_float,
)
from plumbline.tcp.dialect import TcpOp, VerificationError
from plumbline.tcp.shapes import common_shape, verify_same_element_type
from plumbline.tcp.traits import Elementwise, SameElementType

_UNARY = "$input attr-dict `:` type($input) `->` type($out)"
_BINARY = "$in1 `,` $in2 attr-dict `:` type($in1) `,` type($in2) `->` type($out)"


class ElementwiseOp(TcpOp, traits=[ext.Pure, Elementwise]):
    """Base class: all operands and the one result have the same shape."""

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The operands' most static common shape, and the last one's element type."""
        shape = common_shape(operand.type.shape for operand in operands)
        if shape is None:
            raise TypeError(f"{cls.OPERATION_NAME}: the operands differ in shape")
        element_type = cls.infer_element_type(operands[-1].type.element_type)
        return [ir.RankedTensorType.get(shape, element_type)]

    @classmethod
    def infer_element_type(cls, operand_type: ir.Type) -> ir.Type:
        """The result's element type, by the last operand's."""
        return operand_type


class UnaryFloatOp(ElementwiseOp, traits=[SameElementType]):
    """Base class: a function of one float, computed in that float's type."""

    input: Operand[FloatTensor]
    out: Result[FloatTensor]
    assembly_format = _UNARY


class TanhOp(UnaryFloatOp, name="tanh"):
    """Hyperbolic tangent."""


class SigmoidOp(UnaryFloatOp, name="sigmoid"):
    """Logistic function, 1 / (1 + exp(-x))."""


class SqrtOp(UnaryFloatOp, name="sqrt"):
    """Square root; NaN below zero."""


class RsqrtOp(UnaryFloatOp, name="rsqrt"):
    """Reciprocal of the square root; NaN below zero."""


class CeilOp(UnaryFloatOp, name="ceil"):
    """The least whole number that is not less."""


class FloorOp(UnaryFloatOp, name="floor"):
    """The greatest whole number that is not greater."""


class RoundOp(UnaryFloatOp, name="round"):
    """The nearest whole number, halves away from zero."""


class RoundEvenOp(UnaryFloatOp, name="round_even"):
    """The nearest whole number, halves to the even one."""


class ExpOp(UnaryFloatOp, name="exp"):
    """Exponential function."""


class Expm1Op(UnaryFloatOp, name="expm1"):
    """exp(x) - 1, exact near zero."""


class LogOp(UnaryFloatOp, name="log"):
    """Natural logarithm; NaN below zero."""


class Log1pOp(UnaryFloatOp, name="log1p"):
    """log(1 + x), exact near zero."""


class ErfOp(UnaryFloatOp, name="erf"):
    """Error function."""


class ErfcOp(UnaryFloatOp, name="erfc"):
    """Complement of the error function, 1 - erf(x), exact where that is small."""


class SinOp(UnaryFloatOp, name="sin"):
    """Sine, of radians."""


class CosOp(UnaryFloatOp, name="cos"):
    """Cosine, of radians."""


class TanOp(UnaryFloatOp, name="tan"):
    """Tangent, of radians."""


class AsinOp(UnaryFloatOp, name="asin"):
    """Arc sine, in radians; NaN outside [-1, 1]."""


class AcosOp(UnaryFloatOp, name="acos"):
    """Arc cosine, in radians; NaN outside [-1, 1]."""


class AtanOp(UnaryFloatOp, name="atan"):
    """Arc tangent, in radians."""


class SinhOp(UnaryFloatOp, name="sinh"):
    """Hyperbolic sine."""


class AsinhOp(UnaryFloatOp, name="asinh"):
    """Inverse hyperbolic sine."""


class CoshOp(UnaryFloatOp, name="cosh"):
    """Hyperbolic cosine."""


class UnaryFloatOrIntOp(ElementwiseOp, traits=[SameElementType]):
    """Base class: a function of one number, integers taken as signed and wrapping around."""

    input: Operand[FloatOrIntTensor]
    out: Result[FloatOrIntTensor]
    assembly_format = _UNARY


class AbsOp(UnaryFloatOrIntOp, name="abs"):
    """Absolute value."""


class NegOp(ElementwiseOp, name="neg", traits=[SameElementType]):
    """The number with its sign turned; integers wrap around."""

    input: Operand[FloatIntOrComplexTensor]
    out: Result[FloatIntOrComplexTensor]
    assembly_format = _UNARY


class ClampOp(UnaryFloatOrIntOp, name="clamp"):
    """The nearest number within bounds, NaN for a NaN.

    Bounds are given in the operand's kind and taken in its element type: `min_float` and
    `max_float`, or `min_int` and `max_int`, at least one. With both, and the minimum above the
    maximum, the result is the maximum, as in PyTorch. Integers are signed unless
    `int_signedness` says otherwise.
    """

    min_float: Float | None
    max_float: Float | None
    min_int: I64 | None
    max_int: I64 | None
    int_signedness: Signedness | None

    def verify_operation(self) -> None:
        """The bounds are of the operand's kind, and there is one at least."""
        element_type = self.input.type.element_type
        own, other = ("float", "int") if is_float(element_type) else ("int", "float")
        for bound in ("min", "max"):
            if f"{bound}_{other}" in self.attributes:
                raise VerificationError(
                    f"attribute '{bound}_{other}' must not be set for elements of type "
                    f"'{element_type}'"
                )
        if f"min_{own}" not in self.attributes and f"max_{own}" not in self.attributes:
            raise VerificationError(f"requires at least one of 'min_{own}' and 'max_{own}'")
        verify_signedness("int_signedness", self.int_signedness, element_type)


class PolynomialOp(UnaryFloatOp, name="polynomial"):
    """The sum of coefficients times powers of x, from the constant on, by Horner's rule.

    A product and the sum after it may be rounded together or each by itself, as the machine has it.
    """

    coefficients: F64Array

    def verify_operation(self) -> None:
        """There is a constant, at least."""
        if len(self.coefficients) == 0:
            raise VerificationError("requires at least one of 'coefficients'")


class LogicalNotOp(ElementwiseOp, name="logical_not"):
    """Whether a truth value is false."""

    input: Operand[BoolTensor]
    out: Result[BoolTensor]
    assembly_format = _UNARY


class BitwiseNotOp(ElementwiseOp, name="bitwise_not", traits=[SameElementType]):
    """The integer with all bits turned."""

    input: Operand[IntTensor]
    out: Result[IntTensor]
    assembly_format = _UNARY


class FloatPredicateOp(ElementwiseOp):
    """Base class: a question about one float."""

    input: Operand[FloatTensor]
    out: Result[BoolTensor]
    assembly_format = _UNARY

    @classmethod
    def infer_element_type(cls, operand_type: ir.Type) -> ir.Type:
        """A truth value, whatever the operand."""
        return ir.IntegerType.get_signless(1)


class IsnanOp(FloatPredicateOp, name="isnan"):
    """Whether it is a NaN."""


class IsinfOp(FloatPredicateOp, name="isinf"):
    """Whether it is an infinity of either sign."""


class IsfiniteOp(FloatPredicateOp, name="isfinite"):
    """Whether it is neither an infinity nor a NaN."""


class SignbitOp(FloatPredicateOp, name="signbit"):
    """Whether its sign bit is set, as it is in -0.0."""


class BinaryFloatOp(ElementwiseOp, traits=[SameElementType]):
    """Base class: a function of two floats."""

    in1: Operand[FloatTensor]
    in2: Operand[FloatTensor]
    out: Result[FloatTensor]
    assembly_format = _BINARY


class DivfOp(ElementwiseOp, name="divf", traits=[SameElementType]):
    """Quotient in1 / in2; of floats, by IEEE 754."""

    in1: Operand[FloatOrComplexTensor]
    in2: Operand[FloatOrComplexTensor]
    out: Result[FloatOrComplexTensor]
    assembly_format = _BINARY


class RemfOp(BinaryFloatOp, name="remf"):
    """Remainder of in1 / in2 truncated, with the sign of in1 (C's fmod)."""


class Atan2Op(BinaryFloatOp, name="atan2"):
    """Angle of the point (in2, in1), in radians, in [-pi, pi]."""


class CopysignOp(BinaryFloatOp, name="copysign"):
    """The magnitude of in1 with the sign of in2."""


class BinaryIntOp(ElementwiseOp, traits=[SameElementType]):
    """Base class: a function of two integers."""

    in1: Operand[IntTensor]
    in2: Operand[IntTensor]
    out: Result[IntTensor]
    assembly_format = _BINARY


class IntDivisionOp(BinaryIntOp):
    """Base class: a quotient of integers; the result for a divisor of zero is undefined."""

    rounding_mode: RoundingMode


class DivsiOp(IntDivisionOp, name="divsi"):
    """Quotient in1 / in2 of signed integers, rounded by `rounding_mode`."""


class DivuiOp(IntDivisionOp, name="divui"):
    """Quotient in1 / in2 of unsigned integers, rounded by `rounding_mode`."""


class RemsiOp(BinaryIntOp, name="remsi"):
    """Remainder of in1 / in2 truncated, of signed integers, with the sign of in1."""


class RemuiOp(BinaryIntOp, name="remui"):
    """Remainder of in1 / in2, of unsigned integers."""


class BitwiseAndOp(BinaryIntOp, name="bitwise_and"):
    """The bits set in both."""


class BitwiseOrOp(BinaryIntOp, name="bitwise_or"):
    """The bits set in either."""


class BitwiseXorOp(BinaryIntOp, name="bitwise_xor"):
    """The bits set in one only."""


class ShliOp(BinaryIntOp, name="shli"):
    """in1 shifted left by in2 bits; zero for a shift by the width or more."""


class ShrsiOp(BinaryIntOp, name="shrsi"):
    """in1 shifted right by in2 bits, copies of the sign bit coming in."""


class ShruiOp(BinaryIntOp, name="shrui"):
    """in1 shifted right by in2 bits, zeros coming in."""


class BinaryBoolOp(ElementwiseOp):
    """Base class: a function of two truth values."""

    in1: Operand[BoolTensor]
    in2: Operand[BoolTensor]
    out: Result[BoolTensor]
    assembly_format = _BINARY


class LogicalAndOp(BinaryBoolOp, name="logical_and"):
    """Whether both are true."""


class LogicalOrOp(BinaryBoolOp, name="logical_or"):
    """Whether either is true."""


class LogicalXorOp(BinaryBoolOp, name="logical_xor"):
    """Whether just one is true."""


class BinaryNumberOp(ElementwiseOp, traits=[SameElementType]):
    """Base class: a function of two numbers, also quantized or complex; integers wrap around."""

    in1: Operand[NumberTensor]
    in2: Operand[NumberTensor]
    out: Result[NumberTensor]
    assembly_format = _BINARY


class AddOp(BinaryNumberOp, name="add"):
    """Sum in1 + in2."""


class SubOp(BinaryNumberOp, name="sub"):
    """Difference in1 - in2."""


class BinaryFloatOrIntOp(ElementwiseOp, traits=[SameElementType]):
    """Base class: a function of two numbers; integers wrap around."""

    in1: Operand[FloatOrIntTensor]
    in2: Operand[FloatOrIntTensor]
    out: Result[FloatOrIntTensor]
    assembly_format = _BINARY


class MulOp(ElementwiseOp, name="mul", traits=[SameElementType]):
    """Product in1 * in2; integers wrap around."""

    in1: Operand[FloatIntOrComplexTensor]
    in2: Operand[FloatIntOrComplexTensor]
    out: Result[FloatIntOrComplexTensor]
    assembly_format = _BINARY


class FmuladdOp(ElementwiseOp, name="fmuladd", traits=[SameElementType]):
    """in1 * in2 + in3, rounded once where the machine has an instruction that does both."""

    in1: Operand[FloatTensor]
    in2: Operand[FloatTensor]
    in3: Operand[FloatTensor]
    out: Result[FloatTensor]
    assembly_format = (
        "$in1 `,` $in2 `,` $in3 attr-dict `:` "
        "type($in1) `,` type($in2) `,` type($in3) `->` type($out)"
    )


class PowOp(BinaryFloatOrIntOp, name="pow"):
    """in1 to the power of in2; integers are signed, and a negative power truncates."""


class SignedBinaryOp(BinaryFloatOrIntOp):
    """Base class: integers are signed unless `int_signedness` says otherwise; i1 is 0 or 1."""

    int_signedness: Signedness | None

    def verify_operation(self) -> None:
        """The signedness, if stated, fits the element type."""
        verify_signedness("int_signedness", self.int_signedness, self.in1.type.element_type)


class MaximumOp(SignedBinaryOp, name="maximum"):
    """The greater of the two, NaN if either is a NaN."""


class MinimumOp(SignedBinaryOp, name="minimum"):
    """The lesser of the two, NaN if either is a NaN."""


class CompareOp(ElementwiseOp, name="compare"):
    """Whether in1 stands to in2 as `predicate` says.

    Integers are signed unless `int_signedness` says otherwise; i1 is 0 or 1.
    """

    in1: Operand[FloatOrIntTensor]
    in2: Operand[FloatOrIntTensor]
    predicate: Predicate
    int_signedness: Signedness | None
    out: Result[BoolTensor]
    assembly_format = _BINARY

    @classmethod
    def infer_element_type(cls, operand_type: ir.Type) -> ir.Type:
        """A truth value, whatever the operand."""
        return ir.IntegerType.get_signless(1)

    def verify_operation(self) -> None:
        """The operands have the same element type, which the signedness fits."""
        verify_same_element_type(self.in1.type, self.in2.type)
        verify_signedness("int_signedness", self.int_signedness, self.in1.type.element_type)


class SelectOp(ElementwiseOp, name="select"):
    """`on_true` where `condition` holds, `on_false` elsewhere."""

    condition: Operand[BoolTensor]
    on_true: Operand[AnyTensor]
    on_false: Operand[AnyTensor]
    out: Result[AnyTensor]
    assembly_format = (
        "$condition `,` $on_true `,` $on_false attr-dict `:` "
        "type($condition) `,` type($on_true) `,` type($on_false) `->` type($out)"
    )

    def verify_operation(self) -> None:
        """Choices and result have the same element type."""
        verify_same_element_type(self.on_true.type, self.on_false.type, self.out.type)


class CastOp(ElementwiseOp, name="cast"):
    """The number in another element type.

    Integers need their signedness stated, `in_int_signedness` and `out_int_signedness`; i1 is
    Signless, and any integer of a result may be: a float then goes to it as to a signed one. To i1
    goes whether the number is not zero. A float goes to an integer towards zero, as in PyTorch;
    what does not fit is undefined there too.
    """

    input: Operand[FloatOrIntTensor]
    in_int_signedness: Signedness | None
    out_int_signedness: Signedness | None
    out: Result[FloatOrIntTensor]
    assembly_format = _UNARY

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """Nothing but the result's type says what to cast to."""
        raise TypeError(f"{cls.OPERATION_NAME}: the type of the result must be given")

    def verify_operation(self) -> None:
        """Integers have their signedness stated, floats none."""
        for name, value in (("in_int_signedness", self.input), ("out_int_signedness", self.out)):
            element_type = value.type.element_type
            if not is_float(element_type) and name not in self.attributes:
                raise VerificationError(
                    f"requires attribute '{name}' for elements of type '{element_type}'"
                )
            # What an integer is cut off to does not depend on its sign.
            may_be_signless = name == "out_int_signedness"
            verify_signedness(
                name, getattr(self, name), element_type, may_be_signless=may_be_signless
            )


class BitcastOp(ElementwiseOp, name="bitcast"):
    """The bits of the number, taken for a number of another element type of the same width.

    A bool has no bits to be taken.
    """

    input: Operand[FloatOrIntTensor]
    out: Result[FloatOrIntTensor]
    assembly_format = _UNARY

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """Nothing but the result's type says what the bits are taken for."""
        raise TypeError(f"{cls.OPERATION_NAME}: the type of the result must be given")

    def verify_operation(self) -> None:
        """Operand and result have the same width."""
        types = [value.type.element_type for value in (self.input, self.out)]
        if types[0].width != types[1].width or any(map(is_bool, types)):
            raise VerificationError(
                "requires element types of the same width other than 'i1', but got "
                f"'{types[0]}' and '{types[1]}'"
            )
