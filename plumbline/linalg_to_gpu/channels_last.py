"""Has convolutions of half precision read images whose channels are last.

Windows begin anywhere in a line of an image, so that its elements could be read two bytes at a
time. Its channels at one place are read 16 bytes at a time where they lie side by side. An image
that is padded is written anew in any case: its channels are put last before that, and those of the
weights, which is done to these when a program is built.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.bindings.walk import all_operations, defining_operation
from plumbline.linalg_to_gpu.contraction_tiles import FEW, VECTOR_BYTES
from plumbline.linalg_to_gpu.fills import sizes_of, unfilled
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    computation,
    erase_unused,
    is_zero,
    loops_in,
    number_everywhere,
    widening_of,
)
from plumbline.linalg_to_kernels.constants import argument_attributes
from plumbline.linalg_to_kernels.contraction_groups import is_large_sum_of_products
from plumbline.linalg_to_kernels.laid_out_weights import LaidOutWeights
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.signature.strided_layout import StridedLayout
from plumbline.signature.weight_arguments import EMBEDDED, LAYOUT
from plumbline.signature.weight_layout import WeightLayout
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, dims_map, loop_nest

_HALF_BYTES = 2


@dataclass(frozen=True)
class _Convolution:
    """A convolution of a padded image and a weight, both of half precision."""

    member: Computation
    image: int
    """The number of the operand; the other one is the weight's."""
    insert: tensor.InsertSliceOp
    """What puts the image among zeros."""
    weight: ir.Value
    axes: tuple[int, int]
    """Those of the image and the weight that channels are along."""


def put_channels_last(module: ir.Operation) -> None:
    """Turns the images and weights about of those convolutions of `module` that gain by it."""
    with module.context:
        weights = LaidOutWeights()
        for op in all_operations(module):
            member = computation(op)
            if member is None or not is_large_sum_of_products(member):
                continue
            for image in range(2):
                if (found := _convolution(member, image)) is not None:
                    with ir.InsertionPoint(op), op.location:
                        _turn(found, weights)
                    break
        weights.finish()


def _convolution(member: Computation, image: int) -> _Convolution | None:
    images, weights = member.maps[image], member.maps[1 - image]
    padded, weight = _narrow(member.inputs[image]), _narrow(member.inputs[1 - image])
    if padded is None or weight is None:
        return None
    insert, attributes = defining_operation(padded), argument_attributes(weight)
    if insert is None or not _is_pad(insert):
        return None
    if EMBEDDED not in attributes or LAYOUT in attributes:
        return None
    axes = _channels(member, images, weights)
    if axes is None or axes[0] == len(images.results) - 1:
        return None
    # How many images there are need not be known.
    if DYNAMIC in list(ir.RankedTensorType(insert.operands[0].type).shape)[axes[0] :]:
        return None
    return _Convolution(member, image, insert.opview, weight, axes)


def _is_pad(insert: ir.Operation) -> bool:
    """Whether an operation lays so many zeros around a tensor."""
    if insert.name != "tensor.insert_slice":
        return False
    offsets, strides = (
        {*ir.DenseI64ArrayAttr(insert.attributes[f"static_{name}"])}
        for name in ("offsets", "strides")
    )
    is_known = DYNAMIC not in offsets and strides <= {1}
    return is_known and is_zero(number_everywhere(insert.operands[1]))


def _narrow(value: ir.Value) -> ir.Value | None:
    """The tensor of half precision that one is, or was before each element of it was widened."""
    widening = widening_of(value)
    if widening is not None:
        identity = ir.AffineMap.get_identity(len(widening.reduces))
        if any(map_ != identity for map_ in widening.maps):
            return None
        value = widening.inputs[0]
    element = ir.RankedTensorType(value.type).element_type
    is_half = isinstance(element, ir.FloatType) and element_bytes(element) == _HALF_BYTES
    return value if is_half else None


def _channels(
    member: Computation, images: ir.AffineMap, weights: ir.AffineMap
) -> tuple[int, int] | None:
    """The axes that channels are along, which are summed up; None if tiles would not do it."""
    of_images = [loops_in(index) for index in images.results]
    of_weights = [loops_in(index) for index in weights.results]
    shared = set[int]().union(*of_images) & set[int]().union(*of_weights)
    moves = any(len(loops) > 1 for loops in of_images)
    if not moves or not all(member.reduces[loop] for loop in shared):
        return None
    columns = [loop for loops in of_weights for loop in loops if loop not in shared]
    if math.prod(member.sizes[loop] for loop in columns) < FEW:
        return None
    for axis, loops in enumerate(of_images):
        if len(loops) != 1 or not loops <= shared or loops not in of_weights:
            continue
        (loop,) = loops
        if member.sizes[loop] % (VECTOR_BYTES // _HALF_BYTES) == 0:
            return axis, of_weights.index(loops)
    return None


def _turn(found: _Convolution, weights: LaidOutWeights) -> None:
    """Has a convolution read its operands in another order."""
    member, insert = found.member, found.insert
    image_axis, weight_axis = found.axes
    images = _order(insert.dest, image_axis)
    shape = ir.RankedTensorType(found.weight.type).shape
    axes = _order(found.weight, weight_axis)
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    view = StridedLayout(
        0, tuple(((shape[axis], strides[axis]),) if shape[axis] != 1 else () for axis in axes)
    )
    operands = [
        (found.image, _padded(insert, images), images),
        (1 - found.image, weights.laid_out(found.weight, WeightLayout(view)), axes),
    ]
    maps = list(member.op.attributes["indexing_maps"])
    for number, narrow, order in operands:
        wide = member.op.operands[number]
        member.op.operands[number] = _as_wide(narrow, wide)
        results = member.maps[number].results
        turned = ir.AffineMap.get(len(member.reduces), 0, [results[axis] for axis in order])
        maps[number] = ir.AffineMapAttr.get(turned)
        erase_unused(wide)
    member.op.attributes["indexing_maps"] = ir.ArrayAttr.get(maps)


def _order(value: ir.Value, last: int) -> list[int]:
    """The axes of a tensor with one of them last."""
    axes = range(ir.RankedTensorType(value.type).rank)
    return [*(axis for axis in axes if axis != last), last]


def _padded(insert: tensor.InsertSliceOp, axes: Sequence[int]) -> ir.Value:
    """What is inserted among zeros, of axes in another order."""
    element = ir.RankedTensorType(insert.dest.type).element_type
    whole = sizes_of(unfilled(insert.dest))
    zero = arith.ConstantOp(element, ir.FloatAttr.get(element, 0.0)).result
    identity = ir.AffineMap.get_identity(len(whole))
    (zeros,) = loop_nest(
        [tensor.empty([whole[axis] for axis in axes], element)],
        [],
        [identity],
        [PARALLEL] * len(whole),
        lambda _, __: zero,
    )
    offsets, sizes, strides = (
        [known[axis] for axis in axes]
        for known in (
            list(ir.DenseI64ArrayAttr(insert.operation.attributes[f"static_{name}"]))
            for name in ("offsets", "sizes", "strides")
        )
    )
    source = _turned(insert.source, axes[-1])
    given = list(insert.sizes)
    return tensor.InsertSliceOp(source, zeros, [], given, [], offsets, sizes, strides).result


def _turned(value: ir.Value, last: int) -> ir.Value:
    """A copy of a tensor with one of its axes last, which those after it come before as one."""
    type_ = ir.RankedTensorType(value.type)
    shape, element = list(type_.shape), type_.element_type
    outer, count, inner = shape[:last], shape[last], shape[last + 1 :]
    alone = [[axis] for axis in range(last + 1)]
    flat = ir.RankedTensorType.get([*outer, count, math.prod(inner)], element)
    lines = tensor.collapse_shape(flat, value, [*alone, list(range(last + 1, len(shape)))])
    sizes = sizes_of(value)[:last]
    out = tensor.empty([*sizes, math.prod(inner), count], element)
    rank = last + 2
    maps = [dims_map(rank, [*range(last), last + 1, last]), ir.AffineMap.get_identity(rank)]
    (turned,) = loop_nest([out], [lines], maps, [PARALLEL] * rank, lambda given, _: given[0])
    result = ir.RankedTensorType.get([*outer, *inner, count], element)
    groups = [*alone[:-1], list(range(last, len(shape) - 1)), [len(shape) - 1]]
    unknown = [size for size in sizes if not isinstance(size, int)]
    return tensor.expand_shape(result, turned, groups, unknown, list(result.shape))


def _as_wide(narrow: ir.Value, wide: ir.Value) -> ir.Value:
    """A tensor, widened if another one is wider."""
    type_ = ir.RankedTensorType(narrow.type)
    element = ir.RankedTensorType(wide.type).element_type
    if element == type_.element_type:
        return narrow
    out = tensor.empty(sizes_of(narrow), element)
    map_ = ir.AffineMap.get_identity(type_.rank)
    (result,) = loop_nest(
        [out],
        [narrow],
        [map_, map_],
        [PARALLEL] * type_.rank,
        lambda given, _: arith.extf(element, given[0]),
    )
    return result
