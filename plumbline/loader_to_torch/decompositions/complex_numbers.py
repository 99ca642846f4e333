"""Ops on complex numbers, by real ops on their real and imaginary parts.

What only moves numbers about is not here: `loader_to_torch/real_parts.py`, which comes
after, does it to both parts.

Products and quotients are rounded as PyTorch's are, in the type of the parts. Functions are
computed in float64 and rounded once, since what cancels or overflows on the way to a part is
seldom seen in the result. Formulas: Kahan, "Branch cuts for complex elementary functions", 1987;
values at infinity and NaN: C11, annex G, as far as PyTorch has them.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.elementwise import hypot, isclose, ldexp
from plumbline.loader_to_torch.decompositions.loops import looped
from plumbline.loader_to_torch.decompositions.rule import (
    Conditional,
    Rule,
    Rules,
    broadcast,
)

aten = torch.ops.aten
prims = torch.ops.prims

_Pair = tuple[torch.Tensor, torch.Tensor]
"""Real and imaginary parts."""

_Number = torch.Tensor | complex
"""An operand: a tensor, or a number of Python's."""

_F64 = torch.float64


def complex_rule(function: Rule) -> Rule:
    """The rule of an op for arguments of which one at least is complex."""
    return Conditional(_has_complex, function)


def _has_complex(*arguments: Any, **options: Any) -> bool:
    return any(map(_is_complex, [*arguments, *options.values()]))


def _is_complex(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_complex, value))
    return isinstance(value, complex) or (isinstance(value, torch.Tensor) and value.is_complex())


def parts(operand: torch.Tensor) -> _Pair:
    """The two parts; of real numbers, the second is 0."""
    if not operand.is_complex():
        return operand, torch.zeros_like(operand)
    pairs = torch.view_as_real(operand.resolve_conj())
    return pairs.select(-1, 0), pairs.select(-1, 1)


def join(pair: _Pair, like: torch.dtype | None = None) -> torch.Tensor:
    """The complex numbers of two parts, in the dtype `like`."""
    real, imaginary = broadcast(*pair)
    if like is not None:
        real, imaginary = real.to(like.to_real()), imaginary.to(like.to_real())
    return torch.complex(real, imaginary)


def _operands(*numbers: _Number) -> tuple[torch.dtype, list[_Pair]]:
    """The dtype that operands are promoted to, and their parts in it, in one shape."""
    dtype = torch.result_type(numbers[0], numbers[-1])
    real = dtype.to_real()
    pairs: list[_Pair] = []
    for number in numbers:
        if isinstance(number, torch.Tensor):
            one, other = parts(number)
            pairs.append((one.to(real), other.to(real)))
        elif isinstance(number, torch.SymInt | torch.SymFloat):
            # Of a size that is only known as the program runs.
            pairs.append((torch.full((), number, dtype=real), torch.zeros((), dtype=real)))
        else:
            given = complex(number)
            pairs.append(
                (torch.full((), given.real, dtype=real), torch.full((), given.imag, dtype=real))
            )
    return dtype, pairs


# Arithmetic.


def _add(left: _Number, right: _Number, *, alpha: complex = 1, sign: int = 1) -> torch.Tensor:
    _, (one, other) = _operands(left, right)
    factor = complex(sign * alpha)
    if factor != 1:
        if factor.imag:
            _, (other, scale) = _operands(join(other), factor)
            other = _product(other, scale)
        else:
            other = other[0] * factor.real, other[1] * factor.real
    return join((one[0] + other[0], one[1] + other[1]))


def _sub(left: _Number, right: _Number, *, alpha: complex = 1) -> torch.Tensor:
    if alpha != 1:
        return _add(left, right, alpha=alpha, sign=-1)
    _, (one, other) = _operands(left, right)
    return join((one[0] - other[0], one[1] - other[1]))


def _rsub(left: _Number, right: _Number, alpha: complex = 1) -> torch.Tensor:
    return _sub(right, left, alpha=alpha)


def _product(left: _Pair, right: _Pair) -> _Pair:
    (a, b), (c, d) = left, right
    return a * c - b * d, a * d + b * c


def _mul(left: _Number, right: _Number) -> torch.Tensor:
    _, (one, other) = _operands(left, right)
    return join(_product(one, other))


def _quotient(left: _Pair, right: _Pair) -> _Pair:
    """By numbers scaled so that the greater part of the divisor is 1, as its square may be none."""
    (a, b), (c, d) = left, right
    scale = torch.maximum(c.abs(), d.abs()).reciprocal()
    a, b, e, f = a * scale, b * scale, c * scale, d * scale
    size = e * e + f * f
    return (a * e + b * f) / size, (b * e - a * f) / size


def _div(left: _Number, right: _Number) -> torch.Tensor:
    _, (one, other) = _operands(left, right)
    return join(_quotient(one, other))


def _reciprocal(operand: torch.Tensor) -> torch.Tensor:
    c, d = parts(operand)
    real, imaginary = _quotient((torch.ones_like(c), torch.zeros_like(d)), (c, d))
    infinite = (c.isinf() & d.isfinite()) | (c.isfinite() & d.isinf())
    return join(
        (
            torch.where(infinite, torch.copysign(torch.zeros_like(c), c), real),
            torch.where(infinite, torch.copysign(torch.zeros_like(d), -d), imaginary),
        )
    )


def _square(operand: torch.Tensor) -> torch.Tensor:
    return operand * operand


def _sgn(operand: torch.Tensor) -> torch.Tensor:
    x, y = parts(operand)
    size = operand.abs()
    none = size == 0
    return join((torch.where(none, 0.0, x / size), torch.where(none, 0.0, y / size)))


def _abs(operand: torch.Tensor) -> torch.Tensor:
    """How far each is from 0."""
    return hypot(*parts(operand))


def _angle(operand: torch.Tensor) -> torch.Tensor:
    x, y = parts(operand)
    return torch.atan2(y, x)


def _polar(length: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    return join((length * torch.cos(angle), length * torch.sin(angle)))


def _complex(real: torch.Tensor, imaginary: torch.Tensor) -> Any:
    if real.shape == imaginary.shape:
        return NotImplemented
    return join((real, imaginary))


def _conj_physical(operand: torch.Tensor) -> torch.Tensor:
    x, y = parts(operand)
    return join((x, -y))


# Comparisons, and what becomes of them.


def _eq(left: _Number, right: _Number) -> torch.Tensor:
    _, ((a, b), (c, d)) = _operands(left, right)
    return (a == c) & (b == d)


def _ne(left: _Number, right: _Number) -> torch.Tensor:
    return ~_eq(left, right)


def _either(test: Callable[[torch.Tensor], torch.Tensor]) -> Rule:
    def decomposed(operand: torch.Tensor) -> torch.Tensor:
        x, y = parts(operand)
        return test(x) | test(y)

    return decomposed


def _isfinite(operand: torch.Tensor) -> torch.Tensor:
    x, y = parts(operand)
    return x.isfinite() & y.isfinite()


def _as_bool(op: Any) -> Rule:
    """An op on what is not 0."""

    def decomposed(*arguments: Any, **options: Any) -> torch.Tensor:
        result: torch.Tensor = op(
            *(value != 0 if _is_complex(value) else value for value in arguments), **options
        )
        return result

    return decomposed


def _nan_to_num(
    operand: torch.Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> torch.Tensor:
    x, y = (torch.nan_to_num(part, nan, posinf, neginf) for part in parts(operand))
    return join((x, y))


def _where(condition: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> Any:
    if left.dtype == right.dtype:
        return NotImplemented
    dtype = torch.result_type(left, right)
    return torch.where(condition, left.to(dtype), right.to(dtype))


# Functions. Each takes and returns parts in float64.


def _in_double(function: Callable[[torch.Tensor, torch.Tensor], _Pair]) -> Rule:
    def decomposed(operand: torch.Tensor) -> torch.Tensor:
        x, y = parts(operand)
        return join(function(x.to(_F64), y.to(_F64)), operand.dtype)

    return decomposed


def _times(factor: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The product, which is 0 where `other` is, however great the factor."""
    return torch.where(other == 0, other, factor * other)


def _exp(operand: torch.Tensor) -> torch.Tensor:
    """Rounded as PyTorch's: an infinite factor is seen in both parts."""
    return join(_exp_of(*parts(operand)))


def _exp_of(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    size = torch.exp(x)
    real, imaginary = size * torch.cos(y), _times(size, torch.sin(y))
    none = x == -math.inf
    return torch.where(none, 0.0, real), torch.where(none, 0.0, imaginary)


def _exp2(operand: torch.Tensor) -> torch.Tensor:
    x, y = parts(operand)
    return join(_exp_of(x * math.log(2), y * math.log(2)))


def _expm1(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    half = torch.sin(y / 2)
    return torch.expm1(x) * torch.cos(y) - 2 * half * half, torch.exp(x) * torch.sin(y)


def _log(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    greater = torch.maximum(x.abs(), y.abs())
    lesser = torch.minimum(x.abs(), y.abs())
    # Near 1 the logarithm is that of a difference.
    near = 0.5 * torch.log1p((greater - 1) * (greater + 1) + lesser * lesser)
    size = torch.where((greater > 0.5) & (greater < 2), near, torch.log(torch.hypot(x, y)))
    return size, torch.atan2(y, x)


def _log_of_base(base: float) -> Callable[[torch.Tensor, torch.Tensor], _Pair]:
    def function(x: torch.Tensor, y: torch.Tensor) -> _Pair:
        size, angle = _log(x, y)
        return size / math.log(base), angle / math.log(base)

    return function


def _log1p(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    small = 0.5 * torch.log1p(x * (2 + x) + y * y)
    near = (x.abs() < 0.5) & (y.abs() < 0.5)
    return torch.where(near, small, _log(1 + x, y)[0]), torch.atan2(y, 1 + x)


def _sqrt(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    # A quarter of a great number has half its root, and of it the sum below is a number.
    great = torch.maximum(x.abs(), y.abs()) > 1e300
    scale = torch.where(great, 0.25, 1.0)
    a, b = x * scale, y * scale
    root = torch.sqrt((a.abs() + torch.hypot(a, b)) * 0.5)
    root = torch.where(b.isinf(), math.inf, root)
    other = torch.where(root == 0, 0.0, b.abs() / (2 * root))
    # Of an infinite number nothing is left in the other part.
    other = torch.where(root.isinf() & b.isfinite(), 0.0, other)
    other = torch.where(b.isinf(), math.inf, other)
    right = ~(x < 0)
    real, imaginary = torch.where(right, root, other), torch.where(right, other, root)
    back = torch.where(great, 2.0, 1.0)
    return real * back, torch.copysign(imaginary, y) * back


def _sinh(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    return _times(torch.cos(y), torch.sinh(x)), _times(torch.cosh(x), torch.sin(y))


def _cosh(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    sine = torch.sin(y)
    level = torch.where(sine == 0, torch.copysign(sine, x * y), torch.sinh(x) * sine)
    return torch.cosh(x) * torch.cos(y), torch.where(x == 0, x * torch.copysign(x, y), level)


def _tanh(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    tangent = torch.tan(y)
    slope = 1 + tangent * tangent
    near = x.clamp(-20.0, 20.0)
    s = torch.sinh(near)
    size = 1 + slope * s * s
    real = slope * torch.sqrt(1 + s * s) * s / size
    far = x.abs() > 20
    beyond = 4 * torch.sin(y) * torch.cos(y) * torch.exp(-2 * x.abs())
    beyond = torch.where(x.isinf(), torch.copysign(torch.zeros_like(y), beyond), beyond)
    return (
        torch.where(far, torch.copysign(torch.ones_like(x), x), real),
        torch.where(far, beyond, tangent / size),
    )


def _asin(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    (a, b), (c, d) = _sqrt(1 - x, -y), _sqrt(1 + x, y)
    far, across, up = _far(x, y)
    angle = torch.where(far, torch.atan2(across, up.abs()), torch.atan2(x, a * c - b * d))
    return angle, _height(far, y, a * d - b * c)


def _acos(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    (a, b), (c, d) = _sqrt(1 - x, -y), _sqrt(1 + x, y)
    far, across, up = _far(x, y)
    angle = torch.where(far, torch.atan2(up.abs(), across), 2 * torch.atan2(a, c))
    return angle, _height(far, -y, c * b - d * a)


def _acosh(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    (a, b), (c, d) = _sqrt(x - 1, y), _sqrt(x + 1, y)
    far, across, up = _far(x, y)
    angle = torch.where(far, torch.atan2(up, across), 2 * torch.atan2(b, c))
    return torch.where(far, math.inf, torch.asinh(a * c + b * d)), angle


def _atanh(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    rest = 1 - x.abs()
    size = rest * rest + y * y
    real = 0.25 * torch.log1p(4 * x.abs() / size)
    angle = 0.5 * torch.atan2(2 * y, rest * (1 + x.abs()) - y * y)
    far, _, _ = _far(x, y)
    return (
        torch.copysign(torch.where(far, 0.0, real), x),
        torch.where(far & ~y.isnan(), torch.copysign(torch.full_like(y, math.pi / 2), y), angle),
    )


def _far(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Whether a number is infinite, and then its direction."""
    across, up = x.isinf(), y.isinf()
    return (
        across | up,
        torch.where(x.isnan(), x, torch.copysign(across.to(_F64), x)),
        torch.where(y.isnan(), y, torch.copysign(up.to(_F64), y)),
    )


def _height(far: torch.Tensor, sign: torch.Tensor, argument: torch.Tensor) -> torch.Tensor:
    """asinh(argument), infinite where the operand is."""
    return torch.where(
        far, torch.copysign(torch.full_like(sign, math.inf), sign), torch.asinh(argument)
    )


def _turned(
    function: Callable[[torch.Tensor, torch.Tensor], _Pair],
) -> Callable[[torch.Tensor, torch.Tensor], _Pair]:
    """-i f(i z): sin from sinh, and so on."""

    def turned(x: torch.Tensor, y: torch.Tensor) -> _Pair:
        real, imaginary = function(-y, x)
        return imaginary, -real

    return turned


def _cos(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    return _cosh(-y, x)


def _asinh(x: torch.Tensor, y: torch.Tensor) -> _Pair:
    real, imaginary = _asin(-y, x)
    return imaginary, -real


def _rsqrt(operand: torch.Tensor) -> torch.Tensor:
    return operand.sqrt().reciprocal()


def _sigmoid(operand: torch.Tensor) -> torch.Tensor:
    return 1 / (1 + torch.exp(-operand))


def _pow(base: _Number, exponent: _Number) -> torch.Tensor:
    """exp(exponent log(base)), but for exponents that PyTorch knows."""
    if isinstance(base, torch.Tensor) and not isinstance(exponent, torch.Tensor):
        known: dict[complex, Callable[[torch.Tensor], torch.Tensor]] = {
            0.5: torch.sqrt,
            2: _square,
            3: lambda z: z * z * z,
            -0.5: torch.rsqrt,
            -1: torch.reciprocal,
            -2: lambda z: (z * z).reciprocal(),
        }
        if exponent in known and base.is_complex():
            return known[exponent](base)
    dtype, (one, other) = _operands(base, exponent)
    x, y = broadcast(one[0].to(_F64), one[1].to(_F64))
    u, v = (part.to(_F64) for part in other)
    size, angle = _log(x, y)
    (real, imaginary) = _product((size, angle), (u, v))
    length = torch.exp(real)
    result = length * torch.cos(imaginary), length * torch.sin(imaginary)
    # To the power of 0 all is 1, and of 0 all powers to the right of it are 0.
    none = (u == 0) & (v == 0)
    zero = (x == 0) & (y == 0) & (u > 0)
    return join(
        (
            torch.where(none, 1.0, torch.where(zero, 0.0, result[0])),
            torch.where(none | zero, 0.0, result[1]),
        ),
        dtype,
    )


# Products that are summed.


def _by_parts(product: Any) -> Rule:
    """A product that is linear in both operands."""

    def decomposed(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        (a, b), (c, d) = parts(left), parts(right)
        return join((product(a, c) - product(b, d), product(a, d) + product(b, c)))

    return decomposed


def _vdot(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.dot(left.conj(), right)


def _plus(product: Any) -> Rule:
    """The rule of beta * addend + alpha * product(left, right)."""

    def decomposed(
        addend: torch.Tensor,
        left: torch.Tensor,
        right: torch.Tensor,
        *,
        beta: complex = 1,
        alpha: complex = 1,
    ) -> torch.Tensor:
        result: torch.Tensor = product(left, right)
        if alpha != 1:
            result = result * alpha
        if beta == 0:
            return result
        return (addend if beta == 1 else addend * beta) + result

    return decomposed


def _linear(
    operand: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    result = torch.matmul(operand, weight.t())
    return result if bias is None else result + bias


# Reductions.


def _halved(operand: torch.Tensor, axis: int) -> torch.Tensor:
    """The product along a dimension of a known size, by halves."""
    size = operand.shape[axis]
    if size == 0:
        shape = list(operand.shape)
        shape[axis] = 1
        return torch.ones(shape, dtype=operand.dtype)
    while size > 1:
        half = size // 2
        product = operand.narrow(axis, 0, half) * operand.narrow(axis, half, half)
        if size % 2:
            product = torch.cat([product, operand.narrow(axis, size - 1, 1)], axis)
        operand, size = product, size - half
    return operand


def _one_by_one(operand: torch.Tensor, dim: int) -> list[torch.Tensor]:
    """The product along a dimension of any size, and those on the way to it, in a first one."""
    elements = operand.movedim(dim, 0)
    start = torch.ones(elements.shape[1:], dtype=operand.dtype)

    def times(element: torch.Tensor, product: torch.Tensor) -> Sequence[torch.Tensor]:
        product = product * element
        return product, product.clone()

    return looped(times, [elements], [start], [])


def _prod_along(
    operand: torch.Tensor, dim: int, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Any:
    operand = operand if dtype is None else operand.to(dtype)
    if not operand.dim():
        return operand.clone()
    if isinstance(operand.shape[dim], int):
        product = _halved(operand, dim)
        return product if keepdim else product.squeeze(dim)
    product, _ = _one_by_one(operand, dim)
    return product.unsqueeze(dim) if keepdim else product


def _prod(operand: torch.Tensor, *, dtype: torch.dtype | None = None) -> Any:
    return _prod_along(operand.flatten(), 0, dtype=dtype)


def _cumprod(operand: torch.Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Any:
    """Each by the product of the 1, 2, 4, ... before it."""
    result = operand if dtype is None else operand.to(dtype)
    if not operand.dim():
        return result.clone()
    size = operand.shape[dim]
    if not isinstance(size, int):
        return _one_by_one(result, dim)[1].movedim(0, dim)
    step = 1
    while step < size:
        product = result.narrow(dim, step, size - step) * result.narrow(dim, 0, size - step)
        result = torch.cat([result.narrow(dim, 0, step), product], dim)
        step *= 2
    return result if step > 1 else result.clone()


def _var(operand: torch.Tensor, *arguments: Any, **options: Any) -> torch.Tensor:
    x, y = parts(operand)
    return torch.var(x, *arguments, **options) + torch.var(y, *arguments, **options)


def _std(operand: torch.Tensor, *arguments: Any, **options: Any) -> torch.Tensor:
    return torch.sqrt(torch.var(operand, *arguments, **options))


def _var_mean(
    operand: torch.Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    dims = tuple(range(operand.dim())) if not dim else tuple(dim)
    return (
        torch.var(operand, dims, correction=correction, keepdim=keepdim),
        torch.mean(operand, dims, keepdim=keepdim),
    )


def _vector_norm(
    operand: torch.Tensor,
    order: float = 2,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    result: torch.Tensor = torch.linalg.vector_norm(
        operand.abs(), order, dim, keepdim, dtype=None if dtype is None else dtype.to_real()
    )
    return result


def _has_complex_dtype(*_: Any, dtype: torch.dtype | None = None, **__: Any) -> bool:
    return dtype is not None and dtype.is_complex


def _eye(*sizes: int, dtype: torch.dtype, **options: Any) -> torch.Tensor:
    return torch.eye(*sizes, dtype=dtype.to_real(), **options).to(dtype)


_OPS: dict[Any, Rule] = {
    aten._conj_physical.default: _conj_physical,
    aten.abs.default: _abs,
    aten.acos.default: _in_double(_acos),
    aten.acosh.default: _in_double(_acosh),
    aten.add.Scalar: _add,
    aten.add.Tensor: _add,
    aten.addbmm.default: _plus(lambda left, right: torch.bmm(left, right).sum(0)),
    aten.addmm.default: _plus(torch.mm),
    aten.addmv.default: _plus(torch.mv),
    aten.addr.default: _plus(torch.outer),
    aten.all.default: _as_bool(torch.all),
    aten.all.dim: _as_bool(torch.all),
    aten.all.dims: _as_bool(torch.all),
    aten.angle.default: _angle,
    aten.any.default: _as_bool(torch.any),
    aten.any.dim: _as_bool(torch.any),
    aten.any.dims: _as_bool(torch.any),
    aten.asin.default: _in_double(_asin),
    aten.asinh.default: _in_double(_asinh),
    aten.atan.default: _in_double(_turned(_atanh)),
    aten.atanh.default: _in_double(_atanh),
    aten.baddbmm.default: _plus(torch.bmm),
    aten.bmm.default: _by_parts(torch.bmm),
    aten.conj_physical.default: _conj_physical,
    aten.cos.default: _in_double(_cos),
    aten.cosh.default: _in_double(_cosh),
    aten.cumprod.default: _cumprod,
    aten.div.Scalar: _div,
    aten.div.Tensor: _div,
    aten.dot.default: _by_parts(torch.dot),
    aten.eq.Scalar: _eq,
    aten.eq.Tensor: _eq,
    aten.exp.default: _exp,
    aten.exp2.default: _exp2,
    aten.expm1.default: _in_double(_expm1),
    aten.isclose.default: isclose,
    aten.isfinite.default: _isfinite,
    aten.isinf.default: _either(torch.isinf),
    aten.isnan.default: _either(torch.isnan),
    aten.ldexp.Tensor: ldexp,
    aten.linalg_vector_norm.default: _vector_norm,
    aten.linear.default: _linear,
    aten.log.default: _in_double(_log),
    aten.log10.default: _in_double(_log_of_base(10)),
    aten.log1p.default: _in_double(_log1p),
    aten.log2.default: _in_double(_log_of_base(2)),
    aten.logical_and.default: _as_bool(torch.logical_and),
    aten.logical_not.default: _as_bool(torch.logical_not),
    aten.logical_or.default: _as_bool(torch.logical_or),
    aten.logical_xor.default: _as_bool(torch.logical_xor),
    aten.mm.default: _by_parts(torch.mm),
    aten.mul.Scalar: _mul,
    aten.mul.Tensor: _mul,
    aten.mv.default: _by_parts(torch.mv),
    aten.nan_to_num.default: _nan_to_num,
    aten.ne.Scalar: _ne,
    aten.ne.Tensor: _ne,
    aten.pow.Scalar: _pow,
    aten.pow.Tensor_Scalar: _pow,
    aten.pow.Tensor_Tensor: _pow,
    aten.prod.default: _prod,
    aten.prod.dim_int: _prod_along,
    aten.reciprocal.default: _reciprocal,
    aten.rsqrt.default: _rsqrt,
    aten.rsub.Scalar: _rsub,
    aten.rsub.Tensor: _rsub,
    aten.sgn.default: _sgn,
    aten.sigmoid.default: _sigmoid,
    aten.sin.default: _in_double(_turned(_sinh)),
    aten.sinh.default: _in_double(_sinh),
    aten.sqrt.default: _in_double(_sqrt),
    aten.square.default: _square,
    aten.std.correction: _std,
    aten.sub.Scalar: _sub,
    aten.sub.Tensor: _sub,
    aten.tan.default: _in_double(_turned(_tanh)),
    aten.tanh.default: _in_double(_tanh),
    aten.var.correction: _var,
    aten.var_mean.correction: _var_mean,
    aten.vdot.default: _vdot,
    aten.where.self: _where,
    prims.conj_physical.default: _conj_physical,
}

RULES: Rules = {
    **{op: complex_rule(rule) for op, rule in _OPS.items()},
    aten.complex.default: _complex,
    aten.eye.default: Conditional(_has_complex_dtype, _eye),
    aten.eye.m: Conditional(_has_complex_dtype, _eye),
    aten.polar.default: _polar,
}
