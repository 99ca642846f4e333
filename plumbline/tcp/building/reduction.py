"""Combines the elements of a tensor along dimensions."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.tcp.building.dtypes import computed_in, element_type, signedness, summed_in
from plumbline.tcp.building.shapes import scalar, unsqueeze
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops.reduction import ArgReductionOp, ReduceOp


def accumulation_type(combiner: str, dtype: str) -> ir.Type | None:
    """The type to combine elements of a dtype in; None where it is their own."""
    if combiner == "sum":
        return element_type(summed_in(dtype))
    return element_type(computed_in(dtype)) if combiner == "prod" else None


def reduce(operand: Tensor, axes: Sequence[int], combiner: str, *, keepdim: bool = False) -> Tensor:
    """The elements along `axes` combined; `keepdim` leaves dimensions of size 1 in their place."""
    axes = sorted(axes)
    kept = tuple(size for place, size in enumerate(operand.type.sizes) if place not in axes)
    type_ = TensorType(kept, operand.type.dtype)
    op = ReduceOp(
        operand.value,
        axes=axes,
        combiner=combiner,
        accumulation_type=accumulation_type(combiner, type_.dtype),
        int_signedness=signedness(type_.dtype),
        results=type_.builtin(),
    )
    result = Tensor(op.out, type_)
    return unsqueeze(result, axes) if keepdim else result


def arg_reduce(
    operand: Tensor,
    dim: int,
    op: type[ArgReductionOp],
    *,
    keepdim: bool = False,
    dtype: str = "si64",
) -> Tensor:
    """The places of elements along `dim`, in `dtype`."""
    if operand.type.rank == 0:
        return scalar(0, dtype)
    kept = (*operand.type.sizes[:dim], *operand.type.sizes[dim + 1 :])
    type_ = TensorType(kept, dtype)
    places = op(
        operand.value,
        dim=dim,
        int_signedness=signedness(operand.type.dtype),
        results=type_.builtin(),
    ).out
    result = Tensor(places, type_)
    return unsqueeze(result, [dim]) if keepdim else result
