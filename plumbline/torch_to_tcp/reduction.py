"""Reductions, and what PyTorch composes of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from torch_mlir import ir
from torch_mlir.dialects import arith, cf
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import iota
from plumbline.tcp.building.dtypes import computed_in, element_type, is_float, signedness, summed_in
from plumbline.tcp.building.elementwise import apply, compare, like
from plumbline.tcp.building.reduction import arg_reduce, reduce
from plumbline.tcp.building.shapes import broadcast, cast, from_size, full, scalar, unsqueeze
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops import elementwise as tcp
from plumbline.tcp.ops.reduction import ArgmaxOp, ArgminOp, ArgReductionOp, ScanOp
from plumbline.tcp.shapes import DYNAMIC
from plumbline.torch_to_tcp.pattern import (
    Pattern,
    Patterns,
    axis,
    integer,
    items,
    number,
    tensor,
    tensor_type,
)
from plumbline.torch_to_tcp.torch_ops import pytorch_name


def _axes(dims: ir.Value, rank: int) -> list[int]:
    """The dimensions that a list names: all, if it is empty or None.

    Raises:
      Unsupported: it is not constant.
    """
    if not isinstance(dims.owner, ir.Block) and dims.owner.name == "torch.constant.none":
        return list(range(rank))
    named = {axis(dim, rank) for dim in items(dims)}
    return sorted(named)[:rank] if named else list(range(rank))


def _axis(dim: ir.Value, rank: int) -> list[int]:
    """The one dimension that an int names, which a tensor of rank 0 does not have."""
    return [axis(dim, rank)][:rank]


def _all(rank: int) -> list[int]:
    return list(range(rank))


def _flag(value: ir.Value) -> bool:
    return bool(integer(value))


def _require_elements(op: ir.OpView, operand: Tensor, axes: Sequence[int]) -> None:
    """Asserts that there are elements along `axes`, as PyTorch does where one is picked."""
    for dim in axes:
        size = size_arithmetic.of(operand, dim)
        if not isinstance(size, int) or size == 0:
            value = size_arithmetic.value
            some = arith.cmpi(arith.CmpIPredicate.ne, value(size), value(0))
            cf.AssertOp(
                some, f"{pytorch_name(op.operation)} over dimension {dim}, which has size 0"
            )


# -- sums, products, extremes ----------------------------------------------------------------------


def _reduction(combiner: str, axes: str) -> Pattern:
    """The pattern of a reduction of a tensor, along axes and with keepdim if it takes them.

    `axes` says whether they are a list, one int, or all.
    """

    def convert(op: ir.OpView) -> ir.Value:
        operand, result = tensor(op.operands[0]), tensor_type(op.result)
        rank = operand.type.rank
        keep = False
        if axes == "all":
            chosen = _all(rank)
        else:
            chosen = (_axes if axes == "list" else _axis)(op.operands[1], rank)
            keep = _flag(op.operands[2])
        if combiner in ("max", "min"):
            _require_elements(op, operand, chosen)
        dtype = "i1" if combiner in ("and", "or") else result.dtype
        return cast(
            reduce(cast(operand, dtype), chosen, combiner, keepdim=keep), result.dtype
        ).value

    return convert


def _extreme(combiner: str, arg_op: type[ArgReductionOp]) -> Pattern:
    """The pattern of `max.dim` and `min.dim`, which give the element and its place."""

    def convert(op: ir.OpView) -> list[ir.Value]:
        operand = tensor(op.operands[0])
        chosen, keepdim = _axis(op.operands[1], operand.type.rank), _flag(op.operands[2])
        _require_elements(op, operand, chosen)
        places = arg_reduce(operand, (*chosen, 0)[0], arg_op, keepdim=keepdim)
        return [reduce(operand, chosen, combiner, keepdim=keepdim).value, places.value]

    return convert


def _arg(arg_op: type[ArgReductionOp]) -> Pattern:
    """The pattern of `argmax` and `argmin`; without a dimension, all elements stand in one row."""

    def convert(op: ir.OpView) -> ir.Value:
        operand = tensor(op.operands[0])
        keepdim = _flag(op.operands[2])
        if number(op.operands[1]) is not None:
            dim = axis(op.operands[1], operand.type.rank)
            _require_elements(op, operand, _axis(op.operands[1], operand.type.rank))
            return arg_reduce(operand, dim, arg_op, keepdim=keepdim).value
        _require_elements(op, operand, _all(operand.type.rank))
        place = arg_reduce(_in_one_row(operand), 0, arg_op, keepdim=False)
        return (unsqueeze(place, range(operand.type.rank)) if keepdim else place).value

    return convert


def _in_one_row(operand: Tensor) -> Tensor:
    rank, sizes = operand.type.rank, operand.type.sizes
    if rank <= 1:
        return operand
    total = size_arithmetic.static(DYNAMIC if DYNAMIC in sizes else size_arithmetic.product(sizes))
    type_ = TensorType((total,), operand.type.dtype)
    value = tensor_dialect.collapse_shape(type_.builtin(), operand.value, [list(range(rank))])
    return Tensor(value, type_)


# -- statistics ------------------------------------------------------------------------------------


def mean(operand: Tensor, axes: Sequence[int], *, keepdim: bool = False) -> Tensor:
    """The sum divided by the count, in the operand's dtype."""
    total = reduce(operand, axes, "sum", keepdim=keepdim)
    return apply(tcp.DivfOp, total, _stretched(_count(operand, axes), total))


def _count(operand: Tensor, axes: Sequence[int]) -> Tensor:
    """How many elements there are along `axes`, of rank 0 and the operand's dtype."""
    count = size_arithmetic.product([size_arithmetic.of(operand, place) for place in axes])
    return from_size(count, operand.type.dtype)


def _stretched(operand: Tensor, like: Tensor) -> Tensor:
    return broadcast(operand, (like,), like.type.sizes)


def _mean(*, over_all: bool) -> Pattern:
    """The pattern of `mean`, in f32 for half precision, so that a sum has the range it needs."""

    def convert(op: ir.OpView) -> ir.Value:
        operand, result = tensor(op.operands[0]), tensor_type(op.result)
        rank = operand.type.rank
        chosen = _all(rank) if over_all else _axes(op.operands[1], rank)
        keepdim = False if over_all else _flag(op.operands[2])
        wide = cast(operand, computed_in(result.dtype))
        return cast(mean(wide, chosen, keepdim=keepdim), result.dtype).value

    return convert


def _var_and_mean(op: ir.OpView) -> tuple[Tensor, Tensor]:
    """The mean, and the mean square of the distance from it, corrected for the freedom that has.

    Computed in the type that PyTorch sums in.
    """
    operand = tensor(op.operands[0])
    chosen = _axes(op.operands[1], operand.type.rank)
    stated, keepdim = number(op.operands[2]), _flag(op.operands[3])
    correction = 1 if stated is None else stated
    dtype = operand.type.dtype
    wide = cast(operand, summed_in(dtype))
    middle = mean(wide, chosen, keepdim=True)
    distance = apply(tcp.SubOp, wide, _stretched(middle, wide))
    total = reduce(apply(tcp.MulOp, distance, distance), chosen, "sum", keepdim=keepdim)
    freedom = apply(tcp.SubOp, _count(wide, chosen), scalar(correction, wide.type.dtype))
    freedom = apply(tcp.MaximumOp, freedom, scalar(0, wide.type.dtype))
    var = apply(tcp.DivfOp, total, _stretched(freedom, total))
    return cast(var, dtype), cast(mean(wide, chosen, keepdim=keepdim), dtype)


def convert_aten_var(op: ir.OpView) -> ir.Value:
    """The variance."""
    return _var_and_mean(op)[0].value


def convert_aten_var_mean(op: ir.OpView) -> list[ir.Value]:
    """The variance and the mean."""
    return [result.value for result in _var_and_mean(op)]


@dataclass(frozen=True)
class _Softmax:
    """What softmax and its like are made of, in the type that they are computed in."""

    greatest: Tensor
    """The greatest x of each row."""
    shifted: Tensor
    """X less that, so that no exp overflows."""
    powers: Tensor
    """Exp of that."""
    total: Tensor
    """The sum of those of each row."""

    @property
    def weights(self) -> Tensor:
        """The powers over their sum.

        By the reciprocal of the sum, which is at least 1: a CPU multiplies ten numbers while it
        divides one, and errors stay below those of PyTorch.
        """
        factor = apply(tcp.DivfOp, like(self.total, 1), self.total)
        return apply(tcp.MulOp, self.powers, _stretched(factor, self.powers))


def _softmax(op: ir.OpView) -> _Softmax:
    operand = tensor(op.operands[0])
    chosen = _axis(op.operands[1], operand.type.rank)
    wide = cast(operand, computed_in(tensor_type(op.result).dtype))
    greatest = reduce(wide, chosen, "max", keepdim=True)
    shifted = apply(tcp.SubOp, wide, _stretched(greatest, wide))
    powers = apply(tcp.ExpOp, shifted)
    return _Softmax(greatest, shifted, powers, reduce(powers, chosen, "sum", keepdim=True))


def convert_aten_softmax(op: ir.OpView) -> ir.Value:
    """exp(x) / sum(exp(x))."""
    return cast(_softmax(op).weights, tensor_type(op.result).dtype).value


def convert_aten_safe_softmax(op: ir.OpView) -> ir.Value:
    """The same, but for rows that are -inf as a whole, which have zeros.

    These are those of which the greatest is, so that no other pass has to look at them.
    """
    parts = _softmax(op)
    weights = parts.weights
    is_masked = _stretched(compare("eq", parts.greatest, like(parts.greatest, -inf)), weights)
    chosen = apply(tcp.SelectOp, is_masked, like(weights, 0), weights)
    return cast(chosen, tensor_type(op.result).dtype).value


def convert_aten_log_softmax(op: ir.OpView) -> ir.Value:
    """X - log(sum(exp(x)))."""
    parts = _softmax(op)
    logarithm = _stretched(apply(tcp.LogOp, parts.total), parts.shifted)
    difference = apply(tcp.SubOp, parts.shifted, logarithm)
    return cast(difference, tensor_type(op.result).dtype).value


def convert_aten_linalg_vector_norm(op: ir.OpView) -> ir.Value:
    """(sum |x|^p)^(1/p), and what that goes to for p of 0, infinity and minus infinity."""
    operand, result = tensor(op.operands[0]), tensor_type(op.result)
    order = number(op.operands[1])
    if order is None or not is_float(operand.type.dtype):
        raise Unsupported("a norm of other than floats, or of no order")
    chosen, keepdim = _axes(op.operands[2], operand.type.rank), _flag(op.operands[3])
    if order in (inf, -inf) or order < 0:
        _require_elements(op, operand, chosen)
    wide = cast(operand, computed_in(result.dtype))
    return cast(_norm(wide, float(order), chosen, keepdim=keepdim), result.dtype).value


def _norm(operand: Tensor, order: float, axes: Sequence[int], *, keepdim: bool) -> Tensor:
    if order == 2:
        squares = apply(tcp.MulOp, operand, operand)
        return apply(tcp.SqrtOp, reduce(squares, axes, "sum", keepdim=keepdim))
    if order == 0:
        zero = _stretched(scalar(0, operand.type.dtype), operand)
        counted = cast(compare("ne", operand, zero), operand.type.dtype)
        return reduce(counted, axes, "sum", keepdim=keepdim)
    magnitude = apply(tcp.AbsOp, operand)
    if order in (inf, -inf):
        return reduce(magnitude, axes, "max" if order > 0 else "min", keepdim=keepdim)
    if order == 1:
        return reduce(magnitude, axes, "sum", keepdim=keepdim)
    dtype, sizes = operand.type.dtype, operand.type.sizes
    powers = apply(tcp.PowOp, magnitude, full(order, dtype, (operand,), sizes))
    total = reduce(powers, axes, "sum", keepdim=keepdim)
    return apply(tcp.PowOp, total, full(1 / order, dtype, (total,), total.type.sizes))


# -- scans -----------------------------------------------------------------------------------------


def _scan(combiner: str) -> Pattern:
    """The pattern of a cumulative op."""

    def convert(op: ir.OpView) -> ir.Value:
        operand, result = tensor(op.operands[0]), tensor_type(op.result)
        chosen = _axis(op.operands[1], operand.type.rank)
        wide = summed_in(result.dtype)
        # Sums and products are carried in a wider type; what is carried else is cast before.
        carried = combiner in ("sum", "prod")
        operand = cast(operand, result.dtype if carried else wide)
        for dim in chosen:
            scanned = ScanOp(
                operand.value,
                dim=dim,
                combiner=combiner,
                accumulation_type=element_type(wide) if carried else None,
                int_signedness=signedness(operand.type.dtype),
            ).out
            operand = Tensor(scanned, operand.type)
        return cast(operand, result.dtype).value

    return convert


def _running(combiner: str) -> Pattern:
    """The pattern of `cummax` and `cummin`: the extreme so far, and the last place that has it.

    That is the last one of an element which is the extreme of all up to it. From the first NaN on
    that is the extreme.
    """

    def convert(op: ir.OpView) -> list[ir.Value]:
        operand = tensor(op.operands[0])
        dtype, sizes = operand.type.dtype, operand.type.sizes
        chosen = _axis(op.operands[1], operand.type.rank)
        if not chosen:
            return [operand.value, scalar(0, "si64").value]
        (dim,) = chosen
        wide = cast(operand, computed_in(dtype))
        extremes = _scanned(wide, dim, combiner)
        is_extreme = compare("eq", wide, extremes)
        if is_float(dtype):
            is_extreme = apply(tcp.LogicalOrOp, is_extreme, compare("ne", wide, wide))
        places = iota(size_arithmetic.all_of(operand), dim, "si64")
        first = full(0, "si64", (operand,), sizes)
        last = apply(tcp.SelectOp, is_extreme, places, first)
        return [cast(extremes, dtype).value, _scanned(last, dim, "max").value]

    return convert


def _scanned(operand: Tensor, dim: int, combiner: str) -> Tensor:
    """What a combiner that carries its operand's type gives along a dimension."""
    scanned = ScanOp(
        operand.value,
        dim=dim,
        combiner=combiner,
        accumulation_type=None,
        int_signedness=signedness(operand.type.dtype),
    ).out
    return Tensor(scanned, operand.type)


PATTERNS: Patterns = {
    "torch.aten.all": _reduction("and", "all"),
    "torch.aten.all.dim": _reduction("and", "int"),
    "torch.aten.amax": _reduction("max", "list"),
    "torch.aten.amin": _reduction("min", "list"),
    "torch.aten.any": _reduction("or", "all"),
    "torch.aten.any.dim": _reduction("or", "int"),
    "torch.aten.max": _reduction("max", "all"),
    "torch.aten.min": _reduction("min", "all"),
    "torch.aten.prod": _reduction("prod", "all"),
    "torch.aten.prod.dim_int": _reduction("prod", "int"),
    "torch.aten.sum": _reduction("sum", "all"),
    "torch.aten.sum.dim_IntList": _reduction("sum", "list"),
    "torch.aten.argmax": _arg(ArgmaxOp),
    "torch.aten.argmin": _arg(ArgminOp),
    "torch.aten.max.dim": _extreme("max", ArgmaxOp),
    "torch.aten.min.dim": _extreme("min", ArgminOp),
    "torch.aten.mean": _mean(over_all=True),
    "torch.aten.mean.dim": _mean(over_all=False),
    "torch.aten.var.correction": convert_aten_var,
    "torch.aten.var_mean.correction": convert_aten_var_mean,
    "torch.aten._softmax": convert_aten_softmax,
    "torch.aten._safe_softmax": convert_aten_safe_softmax,
    "torch.aten._log_softmax": convert_aten_log_softmax,
    "torch.aten.linalg_vector_norm": convert_aten_linalg_vector_norm,
    "torch.aten.cumsum": _scan("sum"),
    "torch.aten.cumprod": _scan("prod"),
    "torch.aten.logcumsumexp": _scan("logaddexp"),
    "torch.aten.cummax": _running("max"),
    "torch.aten.cummin": _running("min"),
}
