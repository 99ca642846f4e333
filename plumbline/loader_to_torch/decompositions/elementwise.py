"""Elementwise ops."""

import math
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch._higher_order_ops.while_loop import while_loop_op
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes
from torch.fx.experimental.symbolic_shapes import statically_known_true

from plumbline.loader_to_torch.decompositions.loops import contiguous
from plumbline.loader_to_torch.decompositions.rule import (
    Conditional,
    Rule,
    Rules,
    as_double,
    as_rounded,
    broadcast,
    first_of,
    float_dtype,
)

aten = torch.ops.aten
prims = torch.ops.prims


def _with_tensor(tensor_op: Any) -> Rule:
    """The op on two tensors, called with a tensor and a number in either order."""

    def decomposed(left: Any, right: Any) -> torch.Tensor:
        # In the dtype that the number has beside the tensor, a tensor of rank 0 promotes alike.
        dtype = torch.result_type(left, right)
        left, right = (
            operand if isinstance(operand, torch.Tensor) else torch.full((), operand, dtype=dtype)
            for operand in (left, right)
        )
        result: torch.Tensor = tensor_op(left, right)
        return result

    return decomposed


def _compared_alike(op: Any) -> Rule:
    """The comparison with a number, both of one kind.

    Where they are not, torch-mlir's folding of constants compares bits, or dies.
    """

    def applies(operand: torch.Tensor, number: Any) -> bool:
        dtype = torch.result_type(operand, number)
        if operand.dtype == dtype and type(number) is _kind(dtype):
            return False
        return dtype != torch.bool and not isinstance(number, torch.SymInt | torch.SymFloat)

    def decomposed(operand: torch.Tensor, number: Any) -> Any:
        dtype = torch.result_type(operand, number)
        return op(operand.to(dtype), _kind(dtype)(number))

    return Conditional(applies, decomposed)


def _kind(dtype: torch.dtype) -> type[float] | type[int]:
    return float if dtype.is_floating_point else int


_COMPARISONS = (
    aten.eq.Scalar,
    aten.ge.Scalar,
    aten.gt.Scalar,
    aten.le.Scalar,
    aten.lt.Scalar,
    aten.ne.Scalar,
)

_SCALAR_VARIANTS = {
    aten.bitwise_and.Scalar_Tensor: aten.bitwise_and.Tensor,
    aten.bitwise_left_shift.Scalar_Tensor: aten.bitwise_left_shift.Tensor,
    aten.bitwise_left_shift.Tensor_Scalar: aten.bitwise_left_shift.Tensor,
    aten.bitwise_or.Scalar: aten.bitwise_or.Tensor,
    aten.bitwise_or.Scalar_Tensor: aten.bitwise_or.Tensor,
    aten.bitwise_right_shift.Scalar_Tensor: aten.bitwise_right_shift.Tensor,
    aten.bitwise_right_shift.Tensor_Scalar: aten.bitwise_right_shift.Tensor,
    aten.bitwise_xor.Scalar: aten.bitwise_xor.Tensor,
    aten.bitwise_xor.Scalar_Tensor: aten.bitwise_xor.Tensor,
    aten.copysign.Scalar: aten.copysign.Tensor,
    aten.remainder.Scalar_Tensor: aten.remainder.Tensor,
}


def _is_bool_to_bool(base: torch.Tensor, exponent: Any) -> bool:
    return base.dtype == torch.bool and isinstance(exponent, bool)


def _pow_of_bools(base: torch.Tensor, exponent: bool) -> torch.Tensor:
    """A truth value again, where torch-mlir takes the exponent for a whole number."""
    return base.clone() if exponent else torch.ones_like(base)


def _is_half_to_fraction(base: torch.Tensor, exponent: Any) -> bool:
    # Halves hold each number of halves up to here.
    return (
        base.dtype in (torch.float16, torch.bfloat16)
        and isinstance(exponent, float)
        and not (abs(exponent) <= 128 and (2 * exponent).is_integer())
    )


def _pow_of_half(base: torch.Tensor, exponent: float) -> torch.Tensor:
    """PyTorch rounds the exponent beside halves, too."""
    return torch.pow(base, as_rounded(exponent, base.dtype))


def _angle(operand: torch.Tensor) -> torch.Tensor:
    """Of real numbers: 0, or pi below 0."""
    wide = operand if operand.is_floating_point() else operand.to(torch.get_default_dtype())
    return torch.where(wide < 0, math.pi, torch.where(wide.isnan(), wide, 0.0))


def hypot(x: torch.Tensor | float, y: torch.Tensor | float) -> torch.Tensor:
    """sqrt(x^2 + y^2), infinite where one is, beside a NaN too."""
    dtype = float_dtype(x, y)
    x, y = broadcast(as_double(x, dtype).abs(), as_double(y, dtype).abs())
    # The squares of a narrower float are all within the range of float64.
    length = _scaled_hypot(x, y) if dtype == torch.float64 else torch.sqrt(x * x + y * y)
    return torch.where(x.isinf() | y.isinf(), math.inf, length).to(dtype)


def _scaled_hypot(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The same of numbers from 0, whose squares may be too great or too small."""
    greater, lesser = torch.maximum(x, y), torch.minimum(x, y)
    ratio = torch.where(greater == 0, 0.0, lesser / greater)
    return greater * torch.sqrt(1 + ratio * ratio)


def ldexp(operand: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
    """Operand 2^exponent, of what powers of 2 are and the operand."""
    return operand * torch.pow(2.0, exponent)


def _times_logarithm(logarithm: Any) -> Rule:
    """X log(y), 0 where x is, but NaN where y is: each of the two steps rounded."""

    def decomposed(x: torch.Tensor | float, y: torch.Tensor | float) -> torch.Tensor:
        dtype = float_dtype(x, y)
        x, y = broadcast(as_rounded(x, dtype), as_rounded(y, dtype))
        product = torch.where(x == 0, 0.0, x * logarithm(y))
        return torch.where(y.isnan(), math.nan, product)

    return decomposed


def _half_in_single(op: Any) -> Rule:
    """PyTorch's rule of an op, of tensors of the dtype of the result, halves rounded at the end."""
    known = decomposition_table[op]

    def decomposed(*tensors: torch.Tensor, **options: Any) -> Any:
        wide, dtype = elementwise_dtypes(
            *tensors, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
        )
        return known(*(tensor.to(dtype).to(wide) for tensor in tensors), **options).to(dtype)

    return decomposed


def _lies_near_start(start: torch.Tensor, end: torch.Tensor, weight: complex) -> bool:
    return start.is_floating_point() and isinstance(weight, int | float) and abs(weight) < 0.5


def _lerp_near_start(start: torch.Tensor, end: torch.Tensor, weight: float) -> torch.Tensor:
    """A step from the first towards the second, rounded once with the sum, as PyTorch does."""
    wide, dtype = elementwise_dtypes(
        start, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT
    )
    start, end = start.to(wide), end.to(wide)
    return torch.add(start, end - start, alpha=weight).to(dtype)


def _extreme_but_nan(extreme: Any) -> Rule:
    """The greater or the lesser of two, where a NaN stands back."""

    def decomposed(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        dtype = torch.result_type(left, right)
        left, right = broadcast(left.to(dtype), right.to(dtype))
        result: torch.Tensor = extreme(left, right)
        if dtype.is_floating_point:
            result = torch.where(left.isnan(), right, torch.where(right.isnan(), left, result))
        return result

    return decomposed


def _frexp(operand: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mantissas from 1/2 to 1, and the powers of 2 that they are multiplied with."""
    size = operand.to(torch.float64).abs()
    whole = (size > 0) & ~size.isinf()
    size = torch.where(whole, size, 1.0)
    # A denormal float64 has a power of 2 that its inverse is too great for: in two steps.
    low = size < 2.0**-1000
    size = torch.where(low, size * 2.0**100, size)
    exponent = torch.floor(torch.log(size) * (1 / math.log(2))) + 1
    mantissa = size * torch.pow(2.0, -exponent)
    # Where the logarithm was rounded to the other side of a whole number.
    over, under = mantissa >= 1, mantissa < 0.5
    mantissa = torch.where(over, mantissa * 0.5, torch.where(under, mantissa * 2, mantissa))
    exponent = exponent + over.to(torch.float64) - under.to(torch.float64)
    exponent = torch.where(low, exponent - 100, exponent)
    mantissa = torch.copysign(mantissa.to(operand.dtype), operand)
    return (
        torch.where(whole, mantissa, operand),
        torch.where(whole, exponent, 0.0).to(torch.int32),
    )


_INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Those that have the bits of a float of so many bytes."""


def _nextafter(operand: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The number beside the operand that is nearer to the target; the target, if they are equal."""
    dtype = torch.result_type(operand, target)
    operand, target = broadcast(operand.to(dtype), target.to(dtype))
    bits = operand.view(_INTEGERS[dtype.itemsize])
    # Of either sign, numbers go away from zero as their bits are counted up.
    away = (target > operand) == (operand > 0)
    moved = torch.where(away, bits + 1, bits - 1).view(dtype)
    limits = torch.finfo(dtype)
    least = torch.full((), limits.smallest_normal * limits.eps, dtype=dtype)
    moved = torch.where(operand == 0, torch.copysign(least, target), moved)
    moved = torch.where(operand == target, target, moved)
    return torch.where(operand.isnan() | target.isnan(), math.nan, moved)


def _gcd(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The greatest common divisor, by Euclid's algorithm: until one number is 0 everywhere.

    A turn takes the remainder of each by the other, so that none of them has to change places.
    """
    dtype = torch.result_type(left, right)

    def goes_on(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return ((left != 0) & (right != 0)).any()

    def remainder(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        is_zero = right == 0
        # The least negative number by -1 has a quotient that is too great for the type.
        divides_all = is_zero | (right == -1) if dtype.is_signed else is_zero
        rest = torch.fmod(left, torch.where(divides_all, 1, right))
        return torch.where(is_zero, left, rest)

    def turn(left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        left = remainder(left, right)
        return left, remainder(right, left)

    start = tuple(map(contiguous, broadcast(left.to(dtype), right.to(dtype))))
    left, right = while_loop_op(goes_on, turn, start, ())  # type: ignore[arg-type]
    # One of them is 0.
    divisor = left | right
    return divisor.abs() if dtype.is_signed else divisor


def _lcm(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The least common multiple; of narrow types, cut off only at the end, as C does it."""
    dtype = torch.result_type(left, right)
    wide = dtype if dtype.itemsize > 4 else torch.int32
    divisor = _gcd(left, right).to(wide)
    # Of two zeros there is no divisor but 0.
    divisor = torch.where(divisor == 0, 1, divisor)
    parts = torch.div(left.to(wide), divisor, rounding_mode="trunc")
    return (parts * right.to(wide)).abs().to(dtype)


def _both_grow(condition: torch.Tensor, one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether a choice between two tensors has the shape that the condition gives it alone.

    torch-mlir gives one of them as the result where they are one, in whatever shape.
    """
    return all(
        choice.dim() < condition.dim()
        or any(
            statically_known_true(own == 1) and not statically_known_true(size == 1)
            for own, size in zip(reversed(choice.shape), reversed(condition.shape), strict=False)
        )
        for choice in (one, other)
    )


def _choice_of_grown(
    condition: torch.Tensor, one: torch.Tensor, other: torch.Tensor
) -> torch.Tensor:
    condition, one = broadcast(condition, one)
    return torch.where(condition, one, other)


def _rsub(left: torch.Tensor, right: torch.Tensor | float, alpha: float = 1) -> torch.Tensor:
    """The second less `alpha` times the first.

    Of a number in the place of the second PyTorch's own rule makes one of float32.
    """
    if isinstance(right, float) and left.dtype == torch.float64:
        right = torch.full((), right, dtype=torch.float64)
    result: torch.Tensor = torch.sub(right, left, alpha=alpha)
    return result


def _rrelu(
    operand: torch.Tensor,
    noise: torch.Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: torch.Generator | None = None,
) -> Any:
    """Where nothing is drawn, a leaky_relu of the mean slope."""
    if training:
        return NotImplemented
    return torch.nn.functional.leaky_relu(operand, (lower + upper) / 2), noise.clone()


def _rrelu_backward(
    grad: torch.Tensor,
    operand: torch.Tensor,
    noise: torch.Tensor,
    lower: float,
    upper: float,
    training: bool,
    self_is_result: bool,
) -> torch.Tensor:
    """The gradient by the slopes that were drawn, or else by the mean one.

    torch-mlir's own rule takes both for drawn.
    """
    if training and upper - lower > 1e-6:
        return grad * noise
    return torch.where(operand > 0, grad, grad * ((lower + upper) / 2))


def isclose(
    left: torch.Tensor,
    right: torch.Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> torch.Tensor:
    """|left - right| <= atol + |rtol right|, but infinity is close to itself only.

    torch-mlir's own takes all that is finite to be close to infinity.
    """
    close = left == right
    has_nan = left.is_floating_point() or left.is_complex()
    if equal_nan and has_nan:
        close = close | (left.isnan() & right.isnan())
    if rtol == 0 and atol == 0:
        return close
    if not has_nan:
        left, right = left.to(torch.float32), right.to(torch.float32)
    error = (left - right).abs()
    return close | (error.isfinite() & (error <= atol + (rtol * right).abs()))


_LARGEST_FOR_MISH = 20.0
"""From here on tanh(softplus(x)) is 1 in float64, too."""


def _mish(operand: torch.Tensor) -> torch.Tensor:
    """Mish, x tanh(softplus(x)), by one exponential e: x n / (n + 2) for n = e (e + 2)."""
    wide = operand.to(torch.promote_types(operand.dtype, torch.float32))
    power = torch.exp(torch.clamp(wide, max=_LARGEST_FOR_MISH))
    part = power * (power + 2)
    return (wide * (part / (part + 2))).to(operand.dtype)


def _shrink_backward(grad: torch.Tensor, operand: torch.Tensor, lambd: float) -> torch.Tensor:
    """The gradient of what makes 0 of all numbers as near to it as that."""
    return torch.where((operand >= -lambd) & (operand <= lambd), 0.0, grad)


def _glu_jvp(
    glu: torch.Tensor, operand: torch.Tensor, tangent: torch.Tensor, axis: int
) -> torch.Tensor:
    """How a * sigmoid(b), which is `glu`, changes with the halves a and b of its operand."""
    gate = torch.sigmoid(operand.chunk(2, axis)[1])
    of_value, of_gate = tangent.chunk(2, axis)
    return of_value * gate + glu * (1 - gate) * of_gate


def _glu_backward_jvp(
    slope: torch.Tensor,
    grad: torch.Tensor,
    operand: torch.Tensor,
    grad_tangent: torch.Tensor,
    tangent: torch.Tensor,
    axis: int,
) -> torch.Tensor:
    """How the slope of that changes with its operand, and with the gradient of what it gives."""
    value, gate = operand.chunk(2, axis)
    of_value, of_gate = tangent.chunk(2, axis)
    gate = torch.sigmoid(gate)
    steepness = gate * (1 - gate)
    by_value = grad_tangent * gate + grad * steepness * of_gate
    by_gate = grad_tangent * value + grad * (of_value + value * (1 - 2 * gate) * of_gate)
    return torch.cat([by_value, by_gate * steepness], axis)


def _are_floats(left: torch.Tensor, right: torch.Tensor) -> bool:
    return left.is_floating_point() and right.is_floating_point()


def _is_not_different(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Whether two floats are equal, which a NaN is not to itself.

    torch-mlir takes an operand for equal to itself, whatever is in it.
    """
    return torch.logical_not(torch.ne(left, right))


RULES: Rules = {
    aten.eq.Tensor: Conditional(_are_floats, _is_not_different),
    aten.glu_backward_jvp.default: _glu_backward_jvp,
    aten.glu_jvp.default: _glu_jvp,
    aten.hardshrink_backward.default: _shrink_backward,
    aten.softshrink_backward.default: _shrink_backward,
    aten.rrelu_with_noise_backward.default: _rrelu_backward,
    aten.rrelu_with_noise_functional.default: _rrelu,
    aten.__lshift__.Tensor: aten.bitwise_left_shift.Tensor,
    aten.__rshift__.Tensor: aten.bitwise_right_shift.Tensor,
    aten.angle.default: _angle,
    aten.fmax.default: _extreme_but_nan(torch.maximum),
    aten.fmin.default: _extreme_but_nan(torch.minimum),
    aten.frexp.Tensor: _frexp,
    aten.gcd.default: _gcd,
    aten.isclose.default: isclose,
    aten.lcm.default: _lcm,
    aten.mish.default: _mish,
    aten.lerp.Scalar: Conditional(_lies_near_start, _lerp_near_start),
    aten.nextafter.default: _nextafter,
    aten.where.self: Conditional(_both_grow, _choice_of_grown),
    aten.pow.Tensor_Scalar: first_of(
        Conditional(_is_bool_to_bool, _pow_of_bools),
        Conditional(_is_half_to_fraction, _pow_of_half),
    ),
    aten.rsub.Scalar: _rsub,
    # What PyTorch's own rules make of numbers, which the Torch dialect has for aten's alone.
    prims.scalar_tensor.default: aten.scalar_tensor.default,
    aten.hypot.default: hypot,
    aten.ldexp.Tensor: ldexp,
    **dict.fromkeys(
        (aten.xlogy.Tensor, aten.xlogy.Scalar_Other, aten.xlogy.Scalar_Self),
        _times_logarithm(torch.log),
    ),
    **dict.fromkeys(
        (
            aten.special_xlog1py.default,
            aten.special_xlog1py.other_scalar,
            aten.special_xlog1py.self_scalar,
        ),
        _times_logarithm(torch.log1p),
    ),
    **{op: _compared_alike(op) for op in _COMPARISONS},
    **{
        op: _half_in_single(op)
        for op in (
            aten.addcdiv.default,
            aten.addcmul.default,
            aten.logaddexp.default,
            aten.logaddexp2.default,
        )
    },
    **{op: _with_tensor(tensor_op) for op, tensor_op in _SCALAR_VARIANTS.items()},
}
