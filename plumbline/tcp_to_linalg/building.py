"""Builds tensors: what is computed for each element, filled, padded."""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.tcp_to_linalg.loop_nest import PARALLEL, loop_nest

DYNAMIC = ir.ShapedType.get_dynamic_size()


def index(value: int) -> ir.Value:
    """A constant of type index."""
    return arith.constant(ir.IndexType.get(), value)


def empty(type_: ir.RankedTensorType, sizes: Sequence[ir.Value]) -> ir.Value:
    """A tensor of `type_` to be written, with the given sizes for its dynamic dimensions."""
    return ir.Operation.create("tensor.empty", results=[type_], operands=list(sizes)).result


def empty_like(value: ir.Value, element: ir.Type) -> ir.Value:
    """A tensor of such elements to be written, of the sizes of another."""
    type_ = ir.RankedTensorType(value.type)
    sizes = [dim(value, axis) for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]
    return empty(ir.RankedTensorType.get(type_.shape, element), sizes)


def zero(type_: ir.Type) -> ir.Value:
    """The number 0, as a float or an integer."""
    return arith.constant(type_, 0.0 if isinstance(type_, ir.FloatType) else 0)


def dim(value: ir.Value, axis: int) -> ir.Value:
    """The size of `value` along `axis`."""
    return tensor.dim(value, index(axis))


def generic(
    out: ir.Value,
    inputs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    payload: Callable[[Sequence[ir.Value]], ir.Value],
) -> ir.Value:
    """A `linalg.generic` that computes every element of `out` from elements of `inputs`.

    `maps` say at which place of each input to read, given the place in `out`; `payload` builds
    the computation of one element.
    """
    rank = out.type.rank
    identity = ir.AffineMap.get_identity(rank)
    (result,) = loop_nest(
        [out], inputs, [*maps, identity], [PARALLEL] * rank, lambda elements, _: payload(elements)
    )
    return result


def fill(type_: ir.RankedTensorType, sizes: Sequence[ir.Value], value: ir.Value) -> ir.Value:
    """A tensor of `type_` with `value`, a single element, everywhere."""
    return generic(empty(type_, sizes), [], [], lambda _: value)


def padded(value: ir.Value, low: Sequence[int], high: Sequence[int], element: ir.Value) -> ir.Value:
    """A tensor with so many of an element before and after it along each axis."""
    type_ = ir.RankedTensorType(value.type)
    shape = [
        size if size == DYNAMIC else size + before + after
        for size, before, after in zip(type_.shape, low, high, strict=True)
    ]
    result = ir.RankedTensorType.get(shape, type_.element_type)
    pad = tensor.PadOp(result, value, [], [], list(low), list(high))
    block = pad.regions[0].blocks.append(
        *[ir.IndexType.get()] * type_.rank, arg_locs=[pad.location] * type_.rank
    )
    with ir.InsertionPoint(block):
        tensor.YieldOp(element)
    return pad.result


def dynamic_sizes(type_: ir.RankedTensorType, sizes: Sequence[ir.Value]) -> list[ir.Value]:
    """Those of `sizes`, which are there for each dimension, that `type_` does not tell."""
    return [size for size, own in zip(sizes, type_.shape, strict=True) if own == DYNAMIC]
