"""What the operands, results and attributes of TCP's ops may be, in MLIR's own words.

A constraint is a class, so that it can stand in an annotation: `in1: Operand[FloatTensor]`. Its
description completes MLIR's sentences "operand #0 must be ..." and "attribute 'axes' failed to
satisfy constraint: ...".
"""

from collections.abc import Callable, Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import quant


def is_float(type_: ir.Type) -> bool:
    """Whether a type is one of the floating-point types."""
    return isinstance(type_, ir.FloatType)


def is_integer(type_: ir.Type) -> bool:
    """Whether a type is a signless integer; TCP's ops say of what sign they take it to be."""
    return isinstance(type_, ir.IntegerType) and type_.is_signless


def is_bool(type_: ir.Type) -> bool:
    """Whether a type is i1."""
    return is_integer(type_) and type_.width == 1


def is_quantized(type_: ir.Type) -> bool:
    """Whether a type is one of those of the quant dialect, such as !quant.uniform<i8:f32, 0.5>."""
    return isinstance(type_, quant.QuantizedType)


def is_complex(type_: ir.Type) -> bool:
    """Whether a type is of complex numbers."""
    return isinstance(type_, ir.ComplexType)


class TypeConstraint:
    """What the type of an operand or result may be."""

    description: str
    admits: Callable[[ir.Type], bool]
    """Whether a type meets the constraint."""
    fixed_type: str | None = None
    """How the type is spelled, where only one is admitted."""


class AnyType(TypeConstraint):
    """No constraint."""

    description = "any type"
    admits = staticmethod(lambda type_: True)


class Index(TypeConstraint):
    """The type of sizes and offsets."""

    description = "index"
    fixed_type = "index"
    admits = staticmethod(lambda type_: isinstance(type_, ir.IndexType))


class IntegerValue(TypeConstraint):
    """One number, not a tensor."""

    description = "signless integer"
    admits = staticmethod(is_integer)


class I64Value(TypeConstraint):
    """One 64-bit number, not a tensor."""

    description = "64-bit signless integer"
    fixed_type = "i64"
    admits = staticmethod(lambda type_: is_integer(type_) and type_.width == 64)


def _tensor_of(admits_element: Callable[[ir.Type], bool]) -> "staticmethod[[ir.Type], bool]":
    def admits(type_: ir.Type) -> bool:
        return isinstance(type_, ir.RankedTensorType) and admits_element(type_.element_type)

    return staticmethod(admits)


class AnyTensor(TypeConstraint):
    """A ranked tensor."""

    description = "ranked tensor of any type values"
    admits = _tensor_of(lambda element_type: True)


class FloatTensor(TypeConstraint):
    """A tensor of f16, bf16, f32, f64 or a narrower float."""

    description = "ranked tensor of floating-point values"
    admits = _tensor_of(is_float)


class IntTensor(TypeConstraint):
    """A tensor of integers, i1 among them."""

    description = "ranked tensor of signless integer values"
    admits = _tensor_of(is_integer)


class FloatOrIntTensor(TypeConstraint):
    """A tensor of numbers."""

    description = "ranked tensor of floating-point or signless integer values"
    admits = _tensor_of(lambda element_type: is_float(element_type) or is_integer(element_type))


class FloatOrComplexTensor(TypeConstraint):
    """A tensor of floats, or of complex numbers."""

    description = "ranked tensor of floating-point or complex values"
    admits = _tensor_of(lambda element_type: is_float(element_type) or is_complex(element_type))


class FloatIntOrComplexTensor(TypeConstraint):
    """A tensor of numbers, complex ones among them."""

    description = "ranked tensor of floating-point, signless integer or complex values"
    admits = _tensor_of(
        lambda element_type: (
            is_float(element_type) or is_integer(element_type) or is_complex(element_type)
        )
    )


class NumberTensor(TypeConstraint):
    """A tensor of numbers, complex and quantized ones among them."""

    description = "ranked tensor of floating-point, signless integer, complex or quantized values"
    admits = _tensor_of(
        lambda element_type: any(
            admits(element_type) for admits in (is_float, is_integer, is_complex, is_quantized)
        )
    )


class BoolTensor(TypeConstraint):
    """A tensor of truth values."""

    description = "ranked tensor of 1-bit signless integer values"
    admits = _tensor_of(is_bool)


class ScalarTensor(TypeConstraint):
    """A tensor of rank 0."""

    description = "0D tensor of any type values"
    admits = staticmethod(lambda type_: isinstance(type_, ir.RankedTensorType) and type_.rank == 0)


class AttributeConstraint(ir.Attribute):
    """What an attribute may be, and how it is made of a Python value.

    It derives from the attribute for the type checker's sake, which takes an op's field for an
    instance of its annotation; there are no instances.
    """

    description: str
    fixed_type: str | None = None
    """The type of a number, which an assembly format that names the attribute leaves out."""
    inline = False
    """Whether the text holds the attribute itself, never an alias of it."""

    admits: Callable[[ir.Attribute], bool]
    """Whether an attribute meets the constraint."""

    @classmethod
    def build(cls, value: Any) -> ir.Attribute:
        """The attribute for a Python value."""
        raise TypeError(f"expected {cls.description}, not {value!r}")


def _is_integer_of(attribute: ir.Attribute, type_: str) -> bool:
    return isinstance(attribute, ir.IntegerAttr) and str(attribute.type) == type_


class I64(AttributeConstraint):
    """An i64, from an int."""

    description = "64-bit signless integer attribute"
    fixed_type = "i64"

    admits = staticmethod(lambda attribute: _is_integer_of(attribute, "i64"))

    @classmethod
    def build(cls, value: int) -> ir.Attribute:
        """The i64 of an int."""
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


class I64Array(AttributeConstraint):
    """An array of i64, which prints as `[0, 1]`, from a sequence of ints."""

    description = "64-bit integer array attribute"

    admits = staticmethod(
        lambda attribute: isinstance(attribute, ir.ArrayAttr) and all(map(I64.admits, attribute))
    )

    @classmethod
    def build(cls, value: Sequence[int]) -> ir.Attribute:
        """The array of some ints."""
        return ir.ArrayAttr.get([I64.build(item) for item in value])


class F64Array(AttributeConstraint):
    """An array of f64, which prints as `[1.000000e+00]`, from a sequence of floats."""

    description = "64-bit float array attribute"

    admits = staticmethod(
        lambda attribute: (
            isinstance(attribute, ir.ArrayAttr)
            and all(
                isinstance(item, ir.FloatAttr) and isinstance(item.type, ir.F64Type)
                for item in attribute
            )
        )
    )

    @classmethod
    def build(cls, value: Sequence[float]) -> ir.Attribute:
        """The array of some floats."""
        return ir.ArrayAttr.get([Float.build(item) for item in value])


class Float(AttributeConstraint):
    """A floating-point number of any type, from a float as f64."""

    description = "floating-point attribute"

    admits = staticmethod(lambda attribute: isinstance(attribute, ir.FloatAttr))

    @classmethod
    def build(cls, value: float) -> ir.Attribute:
        """The f64 of a float."""
        return ir.FloatAttr.get(ir.F64Type.get(), value)


def _is_resource(attribute: ir.Attribute) -> bool:
    # The bindings give one as a plain attribute, and tell what it is by casting only.
    try:
        ir.DenseResourceElementsAttr(attribute)
    except ValueError:
        return False
    return True


class Elements(AttributeConstraint):
    """The elements of a tensor, kept in the attribute or in a resource."""

    description = (
        "constant tensor attribute of integers or floats (an arith.constant holds complex numbers)"
    )

    admits = staticmethod(
        lambda attribute: isinstance(attribute, ir.DenseElementsAttr) or _is_resource(attribute)
    )


class Dimension(AttributeConstraint):
    """The number of a dimension, counted from 0, as an index (i64 is taken too), from an int."""

    description = "index attribute"
    admits = staticmethod(
        lambda attribute: _is_integer_of(attribute, "index") or I64.admits(attribute)
    )

    @classmethod
    def build(cls, value: int) -> ir.Attribute:
        """The index of an int."""
        return ir.IntegerAttr.get(ir.IndexType.get(), value)


class NumberType(AttributeConstraint):
    """A float or integer type, from that type."""

    description = "floating-point or signless integer type attribute"
    admits = staticmethod(
        lambda attribute: (
            isinstance(attribute, ir.TypeAttr)
            and (is_float(attribute.value) or is_integer(attribute.value))
        )
    )

    @classmethod
    def build(cls, value: ir.Type) -> ir.Attribute:
        """The attribute that holds a type."""
        return ir.TypeAttr.get(value)


class Text(AttributeConstraint):
    """A string, from a string."""

    description = "string attribute"
    admits = staticmethod(lambda attribute: isinstance(attribute, ir.StringAttr))

    @classmethod
    def build(cls, value: str) -> ir.Attribute:
        """The attribute that holds a string."""
        return ir.StringAttr.get(value)


class AffineMap(AttributeConstraint):
    """An affine map, from an `ir.AffineMap`."""

    description = "AffineMap attribute"
    inline = True
    admits = staticmethod(lambda attribute: isinstance(attribute, ir.AffineMapAttr))

    @classmethod
    def build(cls, value: ir.AffineMap) -> ir.Attribute:
        """The attribute that holds a map."""
        return ir.AffineMapAttr.get(value)
