"""Convolutions."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.attributes import convolution_dimensions
from plumbline.stablehlo_to_tcp.contraction import product_dtype
from plumbline.stablehlo_to_tcp.pattern import Patterns, integer, integers, tensor_type, tensors
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import pad, reverse, slice_, transpose
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast_to, cast, scalar
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops.convolution import ConvOp, ConvTransposeOp
from plumbline.tcp.shapes import DYNAMIC


def convert_convolution(op: ir.OpView) -> Tensor:
    """Windows multiplied by weights; a dilated input makes it the transpose of such.

    Dimensions are put in TCP's order before, and in that of the result after.
    """
    source, weight = tensors(op)
    result = tensor_type(op.results[0])
    dims = convolution_dimensions(op)
    spatial = source.type.rank - 2
    if not 1 <= spatial <= 3:
        raise Unsupported("a convolution over other than one to three spatial dimensions")
    dtype = product_dtype(source.type.dtype, weight.type.dtype, result.dtype)
    source = transpose(
        cast(source, dtype),
        [
            dims.input_batch_dimension,
            dims.input_feature_dimension,
            *dims.input_spatial_dimensions,
        ],
    )
    weight = transpose(
        cast(weight, dtype),
        [
            dims.kernel_output_feature_dimension,
            dims.kernel_input_feature_dimension,
            *dims.kernel_spatial_dimensions,
        ],
    )
    groups = integer(op, "feature_group_count", 1)
    batch_groups = integer(op, "batch_group_count", 1)
    if batch_groups > 1:
        source, groups = _as_channels(source, batch_groups), batch_groups
    if groups > 1 and DYNAMIC in weight.type.sizes[:2]:
        raise Unsupported("groups of channels whose number is known at run time only")
    if "window_reversal" in op.attributes:
        turned = list(ir.DenseBoolArrayAttr(op.attributes["window_reversal"]))
        weight = reverse(weight, [axis + 2 for axis, turn in enumerate(turned) if turn])
    if 0 in (*source.type.sizes, *weight.type.sizes, *result.sizes):
        return _zeros(result)
    ones = [1] * spatial
    strides = integers(op, "window_strides", ones)
    dilations = integers(op, "rhs_dilation", ones)
    spread = integers(op, "lhs_dilation", ones)
    low, high = padding(op, spatial)
    if any(amount > 1 for amount in spread):
        product = _transposed(source, weight, groups, spread, strides, dilations, low, high)
    else:
        product = _plain(source, weight, groups, strides, dilations, low, high)
    order = [
        dims.output_batch_dimension,
        dims.output_feature_dimension,
        *dims.output_spatial_dimensions,
    ]
    back = sorted(range(len(order)), key=lambda axis: order[axis])
    return cast(transpose(product, back), result.dtype)


def padding(op: ir.OpView, count: int) -> tuple[list[int], list[int]]:
    """The padding before and after each of `count` dimensions, which may be below zero."""
    if "padding" not in op.attributes:
        return [0] * count, [0] * count
    entries = [int(entry) for entry in ir.DenseIntElementsAttr(op.attributes["padding"])]
    return entries[::2], entries[1::2]


def _as_channels(source: Tensor, groups: int) -> Tensor:
    """Groups of the batch side by side, as groups of channels."""
    batch, channels, *spatial = size_arithmetic.all_of(source)
    inner = size_arithmetic.divide_down(batch, groups)
    split = reshape(source, [groups, inner, channels, *spatial])
    swapped = transpose(split, [1, 0, *range(2, split.type.rank)])
    return reshape(swapped, [inner, size_arithmetic.multiply(channels, groups), *spatial])


def _zeros(result: TensorType) -> Tensor:
    """What windows without elements, or none of them, come to."""
    if DYNAMIC in result.sizes:
        raise Unsupported("a dimension of size 0 beside one that is known at run time only")
    return broadcast_to(scalar(0, result.dtype), result.sizes)


def _plain(
    source: Tensor,
    weight: Tensor,
    groups: int,
    strides: Sequence[int],
    dilations: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
) -> Tensor:
    """A convolution; padding below zero takes elements away first."""
    if any(amount < 0 for amount in (*low, *high)):
        less = [[0, 0, *(min(amount, 0) for amount in amounts)] for amounts in (low, high)]
        source = pad(source, scalar(0, source.type.dtype), *less)
        low, high = ([max(amount, 0) for amount in amounts] for amounts in (low, high))
    counts = [
        DYNAMIC
        if DYNAMIC in (size, window)
        else (size + before + after - dilation * (window - 1) - 1) // stride + 1
        for size, window, stride, dilation, before, after in zip(
            source.type.sizes[2:],
            weight.type.sizes[2:],
            strides,
            dilations,
            low,
            high,
            strict=True,
        )
    ]
    type_ = TensorType((source.type.sizes[0], weight.type.sizes[0], *counts), source.type.dtype)
    op = ConvOp(
        source.value,
        weight.value,
        strides=strides,
        dilations=dilations,
        padding_low=low,
        padding_high=high,
        groups=groups,
        results=type_.builtin(),
    )
    return Tensor(op.out, type_)


def _transposed(
    source: Tensor,
    weight: Tensor,
    groups: int,
    spread: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
) -> Tensor:
    """A convolution of a tensor with zeros between its elements: each of them adds a window.

    A window that slides over the spread elements with weights w reads what an element adds with
    the weights turned round. What it would read before the first element, the padding, is what
    the others cover beyond the result.
    """
    kernel = weight.type.sizes[2:]
    if DYNAMIC in kernel:
        raise Unsupported("a dilated input under windows whose size is known at run time only")
    reach = [(window - 1) * dilation for window, dilation in zip(kernel, dilations, strict=True)]
    cut = [
        [extent - amount for extent, amount in zip(reach, amounts, strict=True)]
        for amounts in (low, high)
    ]
    cut_low, cut_high = ([max(amount, 0) for amount in amounts] for amounts in cut)
    covered = [
        DYNAMIC if size == DYNAMIC else (size - 1) * step + extent + 1 - before - after
        for size, step, extent, before, after in zip(
            source.type.sizes[2:], spread, reach, cut_low, cut_high, strict=True
        )
    ]
    turned = reverse(weight, range(2, weight.type.rank))
    outputs = weight.type.sizes[0]
    type_ = TensorType((source.type.sizes[0], outputs, *covered), source.type.dtype)
    op = ConvTransposeOp(
        source.value,
        _inputs_first(turned, groups).value,
        strides=spread,
        dilations=dilations,
        padding_low=cut_low,
        padding_high=cut_high,
        output_padding=[0] * len(kernel),
        groups=groups,
        results=type_.builtin(),
    )
    beyond = [[0, 0, *(max(-amount, 0) for amount in amounts)] for amounts in cut]
    whole = pad(Tensor(op.out, type_), scalar(0, type_.dtype), *beyond)
    if all(stride == 1 for stride in strides):
        return whole
    steps: list[Size] = [1, 1, *strides]
    sizes = [
        size_arithmetic.divide_up(size, step)
        for size, step in zip(size_arithmetic.all_of(whole), steps, strict=True)
    ]
    return slice_(whole, [0] * len(steps), sizes, steps)


def _inputs_first(weight: Tensor, groups: int) -> Tensor:
    """Weights [outputs, inputs / groups, ..] as [inputs, outputs / groups, ..]."""
    rest = range(2, weight.type.rank)
    if groups == 1:
        return transpose(weight, [1, 0, *rest])
    outputs, inner, *spatial = size_arithmetic.all_of(weight)
    split = reshape(weight, [groups, size_arithmetic.divide_down(outputs, groups), inner, *spatial])
    swapped = transpose(split, [0, 2, 1, *range(3, split.type.rank)])
    merged = size_arithmetic.multiply(inner, groups)
    return reshape(swapped, [merged, size_arithmetic.divide_down(outputs, groups), *spatial])


PATTERNS: Patterns = {"stablehlo.convolution": convert_convolution}
