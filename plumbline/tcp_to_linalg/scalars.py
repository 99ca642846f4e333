"""Arithmetic on single elements, of which the bodies of linalg ops are made."""

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.tcp.constraints import is_bool, is_float


def constant(type_: ir.Type, value: int | float) -> ir.Value:
    """A number of an element type, rounded to it."""
    attribute = (
        ir.FloatAttr.get(type_, float(value))
        if is_float(type_)
        else ir.IntegerAttr.get(type_, int(value))
    )
    return arith.ConstantOp(type_, attribute).result


def is_half_precision(type_: ir.Type) -> bool:
    """Whether a type is a float of 16 bits, for which PyTorch computes in f32."""
    return is_float(type_) and type_.width == 16


def cast(value: ir.Value, to: ir.Type, *, from_unsigned: bool, to_unsigned: bool) -> ir.Value:
    """`value` as an element of type `to`, as PyTorch converts; i1 counts as unsigned.

    A float goes to an integer towards zero. Out of range PyTorch promises nothing; what it does
    for narrow integers is to wrap around, and so is done here.
    """
    of = value.type
    if of == to:
        return value
    if is_bool(to):
        return _is_nonzero(value)
    if is_float(of) and is_float(to):
        return _float_to_float(value, to)
    if is_float(of):
        return _float_to_int(value, to, unsigned=to_unsigned)
    if is_float(to):
        return _int_to_float(value, to, unsigned=from_unsigned or is_bool(of))
    if to.width < of.width:
        return arith.trunci(to, value)
    return arith.extui(to, value) if from_unsigned or is_bool(of) else arith.extsi(to, value)


def _is_nonzero(value: ir.Value) -> ir.Value:
    zero = constant(value.type, 0)
    if is_float(value.type):
        # Unordered or not equal: a NaN is true.
        return arith.cmpf(arith.CmpFPredicate.UNE, value, zero)
    return arith.cmpi(arith.CmpIPredicate.ne, value, zero)


def _float_to_float(value: ir.Value, to: ir.Type) -> ir.Value:
    if is_half_precision(value.type) and to.width < 64:
        # Of f16 and bf16 neither holds the other, f32 holds both.
        value = arith.extf(ir.F32Type.get(), value)
    elif is_half_precision(to) and value.type.width == 64:
        # PyTorch makes half precision from f32, also where that rounds twice.
        value = arith.truncf(ir.F32Type.get(), value)
    if value.type == to:
        return value
    return (arith.extf if to.width > value.type.width else arith.truncf)(to, value)


def _float_to_int(value: ir.Value, to: ir.Type, *, unsigned: bool) -> ir.Value:
    if is_half_precision(value.type):
        value = arith.extf(ir.F32Type.get(), value)
    if unsigned and to.width == 64:
        return arith.fptoui(to, value)
    width = 64 if unsigned else max(to.width, 32)
    wide = arith.fptosi(ir.IntegerType.get_signless(width), value)
    return wide if width == to.width else arith.trunci(to, wide)


def _int_to_float(value: ir.Value, to: ir.Type, *, unsigned: bool) -> ir.Value:
    # PyTorch makes half precision from f32, also where that rounds twice.
    direct = ir.F32Type.get() if is_half_precision(to) else to
    result = arith.uitofp(direct, value) if unsigned else arith.sitofp(direct, value)
    return result if direct == to else arith.truncf(to, result)
