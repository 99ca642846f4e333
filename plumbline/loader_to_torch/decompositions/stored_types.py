"""Conversions of types that hold numbers but are not computed with, and views of one as another.

Floats of 8 bits, and unsigned integers of 16 and 64 bits, which the Torch dialect does not have,
are taken apart here into arithmetic on their bits as integers that it has. What is left that has
such a dtype only moves elements: `loader_to_torch/stored_types.py` makes integers of it.

Rounding and what becomes of numbers that are too great are PyTorch's (c10/util/Float8_*.h).
"""

import functools
import math
from collections.abc import Callable, Sequence, Set
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Conditional, Rule, Rules
from plumbline.signature.float8 import FLOAT8_FORMATS, Float8Format

aten = torch.ops.aten
prims = torch.ops.prims

_FLOAT8 = {getattr(torch, format_.torch_name): format_ for format_ in FLOAT8_FORMATS}

STORED_AS = {
    **dict.fromkeys(_FLOAT8, torch.uint8),
    torch.uint16: torch.int16,
    torch.uint64: torch.int64,
}
"""The integers that stand for elements of each type, with the same bits."""

_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Those of so many bytes that are computed with."""

_COMPUTED_IN = {torch.uint16: torch.int32, torch.uint64: torch.int64}
"""What `widened` makes of integers; floats become float32."""

# Of float32: the exponent's bias, the bits of the fraction, all bits but the sign, and infinity's.
_BIAS, _FRACTION, _MAGNITUDE, _INFINITY = 127, 23, 0x7FFFFFFF, 0x7F800000


# -- views -----------------------------------------------------------------------------------------


def _view_dtype(operand: torch.Tensor, dtype: torch.dtype) -> Any:
    """The bytes of elements as elements of another type, of which more or fewer lie in a row."""
    if operand.dtype == dtype:
        return aten.alias.default(operand)
    if operand.dtype.is_complex:
        return torch.view_as_real(operand).flatten(-2).view(dtype)
    if dtype.is_complex:
        return torch.view_as_complex(_rows_of(operand.view(dtype.to_real()), 2))
    if operand.dtype == torch.bool:
        return operand.to(torch.uint8).view(dtype)
    if dtype == torch.bool:
        return operand.view(torch.uint8) != 0
    had, wanted = operand.dtype.itemsize, dtype.itemsize
    if had == wanted:
        return NotImplemented
    if had > 4 * wanted:
        # Each of eight parts would be stored by itself.
        return operand.view(torch.int32).view(dtype)
    bits = operand.view(_INTEGERS[had])
    if had > wanted:
        parts = [bits, *(bits >> shift for shift in range(8 * wanted, 8 * had, 8 * wanted))]
        narrow = [part.to(_INTEGERS[wanted]) for part in parts]
        return torch.stack(narrow, -1).flatten(-2).view(dtype)
    count = wanted // had
    rows = _rows_of(bits, count).to(_INTEGERS[wanted])
    if bits.dtype.is_signed:
        rows = rows & (2 ** (8 * had) - 1)
    first, *others = (rows.select(-1, place) for place in range(count))
    shifted = (part << (8 * had * place) for place, part in enumerate(others, 1))
    return functools.reduce(torch.bitwise_or, shifted, first).view(dtype)


def _rows_of(operand: torch.Tensor, count: int) -> torch.Tensor:
    """So many elements each time in a dimension of their own, the last."""
    return operand.reshape(*operand.shape[:-1], operand.shape[-1] // count, count)


# -- conversions -----------------------------------------------------------------------------------


def _from_float8(format_: Float8Format, bits: torch.Tensor) -> torch.Tensor:
    """The float32 that each byte stands for, exactly."""
    wide = bits.to(torch.int32)
    magnitude = wide & 0x7F
    # With the exponent of float32. Below the least one, the fraction is all that there is.
    moved = (magnitude << (_FRACTION - format_.fraction)) + ((_BIAS - format_.bias) << _FRACTION)
    least = 1 << format_.fraction
    denormal = magnitude.to(torch.float32) * 2.0 ** (1 - format_.bias - format_.fraction)
    value = torch.where(magnitude < least, denormal, moved.view(torch.float32))
    if format_.has_infinity:
        value = torch.where(magnitude == format_.first_not_finite, math.inf, value)
    if not format_.negative_zero_is_nan:
        value = torch.where(magnitude > _greatest(format_), math.nan, value)
    value = torch.where(wide >= 0x80, -value, value)
    if format_.negative_zero_is_nan:
        value = torch.where(wide == 0x80, math.nan, value)
    return value


def _greatest(format_: Float8Format) -> int:
    """The bits of the greatest number, infinity included."""
    return format_.first_not_finite - (not format_.has_infinity)


def _to_float8(format_: Float8Format, number: torch.Tensor) -> torch.Tensor:
    """The bytes for float32, rounded to nearest, of two the even one."""
    bits = number.view(torch.int32)
    magnitude = bits & _MAGNITUDE
    dropped = _FRACTION - format_.fraction
    odd = (magnitude >> dropped) & 1
    # Rounding carries from the fraction into the exponent by itself.
    half = (1 << (dropped - 1)) - 1
    rounded = (magnitude + (((format_.bias - _BIAS) << _FRACTION) + half) + odd) >> dropped
    # Of this number, a unit in the last place is the least denormal number of the format.
    ruler = 2.0 ** (_FRACTION + 1 - format_.bias - format_.fraction)
    ruler_bits = (int(math.log2(ruler)) + _BIAS) << _FRACTION
    denormal = (magnitude.view(torch.float32) + ruler).view(torch.int32) - ruler_bits
    least = (_BIAS + 1 - format_.bias) << _FRACTION
    result = torch.where(magnitude < least, denormal, rounded)
    # What rounds to more than there is: from the bits that the sum above cannot exceed, too.
    beyond = (_BIAS - format_.bias + (0x80 >> format_.fraction)) << _FRACTION
    over = (magnitude >= beyond) | (result >= format_.first_not_finite)
    sign = (bits >> 24) & 0x80
    if format_.negative_zero_is_nan:
        result = torch.where(over, format_.nan, torch.where(result == 0, 0, result | sign))
    else:
        # To infinity, or where there is none, to the greatest number.
        greatest = torch.where(magnitude > _INFINITY, format_.nan, _greatest(format_))
        result = torch.where(over, greatest, result) | sign
    return result.to(torch.uint8)


def _from_uint64(bits: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Numbers of another dtype, rounded once."""
    if not dtype.is_floating_point:
        return bits.to(dtype)
    # A number with the upper bit, halved. The bit that is lost stays as a mark, so that halves are
    # told from what is more.
    halved = ((bits >> 1) & (2**63 - 1)) | (bits & 1)
    through = torch.float64 if dtype == torch.float64 else torch.float32
    return torch.where(bits < 0, halved.to(through) * 2, bits.to(through)).to(dtype)


def _to_uint64(number: torch.Tensor) -> torch.Tensor:
    """The bits for numbers of another dtype."""
    if not number.dtype.is_floating_point:
        return number.to(torch.int64)
    upper = number >= 2.0**63
    below = torch.where(upper, number - 2.0**63, number).to(torch.int64)
    return torch.where(upper, below ^ -(2**63), below)


def widened(operand: torch.Tensor) -> torch.Tensor:
    """Numbers of a stored type in one that is computed with and has them all, or nearly so.

    Of uint64 it is int64, in which sums and products have the same bits.
    """
    if operand.dtype in _FLOAT8:
        return _from_float8(_FLOAT8[operand.dtype], operand.view(torch.uint8))
    if operand.dtype == torch.uint16:
        return operand.view(torch.int16).to(torch.int32) & 0xFFFF
    if operand.dtype == torch.uint64:
        return operand.view(torch.int64)
    return operand


def narrowed(number: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Numbers that are computed with in a stored type."""
    if dtype in _FLOAT8:
        return _to_float8(_FLOAT8[dtype], number.to(torch.float32)).view(dtype)
    if dtype == torch.uint16:
        wide = torch.int64 if number.dtype.is_floating_point else torch.int16
        return number.to(wide).to(torch.int16).view(dtype)
    return _to_uint64(number).view(dtype)


def _is_between_stored(operand: torch.Tensor, dtype: torch.dtype) -> bool:
    had = operand.dtype
    return had != dtype and bool({had, dtype} & STORED_AS.keys())


def _convert(operand: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    had = operand.dtype
    if had.is_complex:
        operand = torch.view_as_real(operand).select(-1, 0)
    if dtype == torch.bool:
        return widened(operand) != 0
    if had == torch.uint64 and dtype.is_floating_point:
        number = _from_uint64(
            operand.view(torch.int64), torch.float32 if dtype in _FLOAT8 else dtype
        )
    else:
        number = widened(operand)
    return narrowed(number, dtype) if dtype in STORED_AS else number.to(dtype)


# -- what computes ---------------------------------------------------------------------------------


def _in_wider(op: Callable[..., torch.Tensor]) -> Rule:
    """The rule of an op for tensors of a stored type: computed in a wider one, and rounded back."""

    def decomposed(*arguments: Any, **options: Any) -> Any:
        (dtype,) = _stored(*arguments, **options)
        computed = _COMPUTED_IN.get(dtype, torch.float32)

        def wider(value: Any) -> Any:
            if isinstance(value, torch.dtype):
                return computed if value == dtype else value
            return widened(value) if isinstance(value, torch.Tensor) else value

        result = op(
            *map(wider, arguments), **{name: wider(value) for name, value in options.items()}
        )
        is_stored = result.dtype == computed and options.get("dtype") in (None, dtype)
        return narrowed(result, dtype) if is_stored else result

    return Conditional(lambda *given, **options: len(_stored(*given, **options)) == 1, decomposed)


def _stored(*arguments: Any, **options: Any) -> Set[torch.dtype]:
    """The stored types among those of tensors and those that are arguments themselves."""
    given = [*arguments, *options.values()]
    dtypes = {value.dtype for value in given if isinstance(value, torch.Tensor)}
    dtypes |= {value for value in given if isinstance(value, torch.dtype)}
    return dtypes & STORED_AS.keys()


_COMPUTING = (
    aten.abs.default,
    aten.add.Tensor,
    aten.bitwise_and.Tensor,
    aten.bitwise_or.Tensor,
    aten.bitwise_xor.Tensor,
    aten.constant_pad_nd.default,
    aten.div.Tensor,
    aten.eq.Scalar,
    aten.eq.Tensor,
    aten.full.default,
    aten.full_like.default,
    aten.isnan.default,
    aten.mul.Scalar,
    aten.mul.Tensor,
    aten.ne.Scalar,
    aten.ne.Tensor,
    aten.scalar_tensor.default,
    aten.sub.Tensor,
)
"""What PyTorch itself computes on a CPU for some of the stored types."""

_SUMMING = (
    aten.cumprod.default,
    aten.cumsum.default,
    aten.mean.default,
    aten.mean.dim,
    aten.prod.default,
    aten.prod.dim_int,
    aten.sum.default,
    aten.sum.dim_IntList,
)

_ASKING = (
    aten.all.default,
    aten.all.dim,
    aten.all.dims,
    aten.any.default,
    aten.any.dim,
    aten.any.dims,
)


def _of_all(op: Callable[..., Any]) -> Rule:
    """The rule of a sum, a product or a mean: of numbers in the dtype of the result."""

    def applies(operand: torch.Tensor, *arguments: Any, **options: Any) -> bool:
        if operand.dtype in _FLOAT8:
            return options.get("dtype") is not None
        return operand.dtype in STORED_AS

    def decomposed(operand: torch.Tensor, *arguments: Any, **options: Any) -> Any:
        # Integers are summed in int64, whatever they are.
        dtype = options.get("dtype") or torch.int64
        return op(operand.to(dtype), *arguments, **options)

    return Conditional(applies, decomposed)


def _of_truth(op: Callable[..., torch.Tensor]) -> Rule:
    """The rule of what asks whether numbers are 0."""

    def applies(operand: torch.Tensor, *arguments: Any, **options: Any) -> bool:
        return operand.dtype in STORED_AS

    def decomposed(operand: torch.Tensor, *arguments: Any, **options: Any) -> Any:
        return op(operand.to(torch.bool), *arguments, **options)

    return Conditional(applies, decomposed)


def _sort(operand: torch.Tensor, *arguments: Any, **options: Any) -> Any:
    """The rule of both overloads of a sort."""
    dtype = operand.dtype
    if dtype not in _COMPUTED_IN:
        return NotImplemented
    # What has the upper bit comes after all others, and would as a number with a sign come before.
    turned = -(2**63) if dtype == torch.uint64 else 0
    wide = widened(operand) ^ turned
    if "stable" in options:
        values, places = aten.sort.stable(wide, *arguments, **options)
    else:
        values, places = aten.sort.default(wide, *arguments, **options)
    return narrowed(values ^ turned, dtype), places


def _hash_tensor(
    operand: torch.Tensor, dim: Sequence[int] = (), keepdim: bool = False, mode: int = 0
) -> Any:
    """The bits of elements in 64 bits, as float64 or int64, of some dimensions taken together."""
    if mode != 0:
        return NotImplemented
    if operand.dim() == 0:
        return _hash_tensor(operand.reshape(1))
    is_float = operand.dtype.is_floating_point
    bits = operand.to(torch.float64).view(torch.int64) if is_float else operand.to(torch.int64)
    taken = [axis % operand.dim() for axis in dim] or list(range(operand.dim()))
    kept = [axis for axis in range(operand.dim()) if axis not in taken]
    count = math.prod(operand.shape[axis] for axis in taken)
    if count == 0:
        return NotImplemented
    rest = [operand.shape[axis] for axis in kept]
    bits = bits.permute(*kept, *taken).reshape(*rest, count)
    while count > 1:
        half = (count + 1) // 2
        other = torch.nn.functional.pad(bits.narrow(-1, half, count - half), (0, 2 * half - count))
        bits, count = bits.narrow(-1, 0, half) ^ other, half
    sizes = [1 if axis in taken else size for axis, size in enumerate(operand.shape)]
    result = bits.reshape(sizes if keepdim else rest)
    return result.view(torch.uint64)


# -- products --------------------------------------------------------------------------------------


def _weight_int8pack_mm(
    operand: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor
) -> torch.Tensor:
    """The product with rows of int8, each scaled."""
    product = operand.to(torch.float32) @ weight.to(torch.float32).t()
    return (product * scales.to(torch.float32)).to(operand.dtype)


def _scaled_mm(
    left: torch.Tensor,
    right: torch.Tensor,
    scale_left: torch.Tensor,
    scale_right: torch.Tensor,
    bias: torch.Tensor | None = None,
    scale_result: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
) -> torch.Tensor:
    """A product of floats of 8 bits, of which each operand has a scale."""
    wide = [
        widened(operand) * scale for operand, scale in ((left, scale_left), (right, scale_right))
    ]
    product = wide[0] @ wide[1]
    if bias is not None:
        product = product + bias.to(torch.float32)
    return product.to(out_dtype or left.dtype)


RULES: Rules = {
    aten._scaled_mm.default: _scaled_mm,
    aten._weight_int8pack_mm.default: _weight_int8pack_mm,
    aten.hash_tensor.default: _hash_tensor,
    aten.sort.default: _sort,
    aten.sort.stable: _sort,
    aten.view.dtype: _view_dtype,
    prims.convert_element_type.default: Conditional(_is_between_stored, _convert),
    **{op: _in_wider(op) for op in _COMPUTING},
    **{op: _of_all(op) for op in _SUMMING},
    **{op: _of_truth(op) for op in _ASKING},
}
