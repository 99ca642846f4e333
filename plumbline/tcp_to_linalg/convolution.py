"""Convolutions, as loops that add one product at a time."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.tcp.ops.convolution import ConvOp, ConvTransposeOp, WindowProductOp
from plumbline.tcp_to_linalg.accumulators import (
    accumulator_type,
    add_product,
    all_narrowed,
    with_elements,
)
from plumbline.tcp_to_linalg.building import DYNAMIC, dim, dynamic_sizes, fill, index
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, REDUCTION, dims_map, loop_nest
from plumbline.tcp_to_linalg.pattern import Patterns
from plumbline.tcp_to_linalg.scalars import constant
from plumbline.tcp_to_linalg.transposed_convolution import can_gather, gather
from plumbline.tcp_to_linalg.windows import Windows

# The loops of both: over the batch, the channels of the weight, the elements of a window and the
# windows. The windows come last, since those of one row lie one beside the other.
_BATCH, _OUT_CHANNEL, _IN_CHANNEL, _FIRST_OF_WINDOW = range(4)


def convert_conv(op: ConvOp) -> ir.Value:
    """Each window times the weights; the channels of groups are told apart by their numbers."""
    if _has_groups_of_channels(op):
        return _convert_grouped_conv(op)
    windows, element = Windows.of(op), op.input.type.element_type
    elements, places = _window_loops(op, _FIRST_OF_WINDOW)
    in_channel: int | ir.AffineExpr = _IN_CHANNEL
    if op.groups.value > 1:
        outputs, inner = op.weight.type.shape[:2]
        group = _quotient(_OUT_CHANNEL, outputs // op.groups.value)
        in_channel = group * inner + ir.AffineDimExpr.get(_IN_CHANNEL)
    sizes = [
        dim(op.input, 0),
        dim(op.weight, 0),
        *(
            windows.count(axis, dim(op.input, axis + 2), dim(op.weight, axis + 2))
            for axis in range(len(places))
        ),
    ]
    out_type = with_elements(op.out.type, accumulator_type(element))
    result = _add_products(
        op,
        fill(out_type, dynamic_sizes(out_type, sizes), constant(out_type.element_type, 0)),
        windows.padded(op.input, constant(element, 0)),
        [_BATCH, in_channel, *windows.places(places, elements)],
        [_OUT_CHANNEL, _IN_CHANNEL, *elements],
        [_BATCH, _OUT_CHANNEL, *places],
        [
            *[PARALLEL] * 2,
            *[REDUCTION] * (places[0] - _IN_CHANNEL),
            *[PARALLEL] * len(places),
        ],
    )
    return all_narrowed(result, element)


def _has_groups_of_channels(op: ConvOp) -> bool:
    """Whether there are groups of several channels each, or of numbers that are not known."""
    groups, (outputs, inner) = op.groups.value, op.weight.type.shape[:2]
    return groups > 1 and (DYNAMIC in (outputs, inner) or outputs > groups)


def _convert_grouped_conv(op: ConvOp) -> ir.Value:
    """Groups as a dimension of their own, over which there is a loop of its own.

    So each place is a sum of multiples of loops, as in the products of a batch of matrices.
    """
    windows, element = Windows.of(op), op.input.type.element_type
    batch, group, out_channel, in_channel, first = range(5)
    count = op.input.type.rank - 2
    elements, places = _window_loops(op, first)
    sum_type = accumulator_type(element)
    weight = _split(op.weight, 0, op.groups.value)
    sizes = [
        dim(op.input, 0),
        index(op.groups.value),
        dim(weight, 1),
        *(
            windows.count(axis, dim(op.input, axis + 2), dim(op.weight, axis + 2))
            for axis in range(count)
        ),
    ]
    shape = list(op.out.type.shape)
    shape[1:2] = _parted(shape[1], op.groups.value)
    out_type = ir.RankedTensorType.get(shape, sum_type)
    dynamic = dynamic_sizes(out_type, sizes)
    (result,) = loop_nest(
        [fill(out_type, dynamic, constant(sum_type, 0))],
        [
            _split(windows.padded(op.input, constant(element, 0)), 1, op.groups.value),
            weight,
        ],
        [
            dims_map(places[-1] + 1, each)
            for each in (
                [batch, group, in_channel, *windows.places(places, elements)],
                [group, out_channel, in_channel, *elements],
                [batch, group, out_channel, *places],
            )
        ],
        [*[PARALLEL] * 3, *[REDUCTION] * (places[0] - in_channel), *[PARALLEL] * count],
        lambda elements, so_far: add_product(so_far[0], *elements),
    )
    joined = tensor.collapse_shape(
        with_elements(op.out.type, sum_type), result, _split_axes(op.out.type.rank, 1)
    )
    return all_narrowed(joined, element)


def _split(value: ir.Value, axis: int, parts: int) -> ir.Value:
    """A tensor with an axis as two, the first of `parts` places."""
    type_ = value.type
    shape = list(type_.shape)
    shape[axis : axis + 1] = _parted(shape[axis], parts)
    sizes = [
        arith.divsi(dim(value, at), index(parts)) if at == axis else dim(value, at)
        for at, size in enumerate(type_.shape)
        if size == DYNAMIC
    ]
    return tensor.ExpandShapeOp(
        ir.RankedTensorType.get(shape, type_.element_type),
        value,
        _split_axes(type_.rank, axis),
        sizes,
        shape,
    ).result


def _parted(size: int, parts: int) -> list[int]:
    """The sizes of an axis as two."""
    return [parts, DYNAMIC if size == DYNAMIC else size // parts]


def _split_axes(rank: int, split: int) -> list[list[int]]:
    """Which axes each of `rank` axes becomes, if that at `split` becomes two."""
    return [[axis, axis + 1] if axis == split else [axis + (axis > split)] for axis in range(rank)]


def convert_conv_transpose(op: ConvTransposeOp) -> ir.Value | None:
    """What is added to each element is gathered if it is known which weights that is with.

    Else each element times the weights is added where the window lies, padding included, which is
    cut off in the end. Nothing is multiplied by zeros between the elements, which would make NaN of
    infinite weights.
    """
    if can_gather(op):
        return gather(op)
    windows, element = Windows.of(op), op.input.type.element_type
    elements, places = _spatial_loops(op)
    out_channel: int | ir.AffineExpr = _OUT_CHANNEL
    groups, (inputs, inner) = op.groups.value, op.weight.type.shape[:2]
    if groups > 1:
        if DYNAMIC in (inputs, inner):
            return None
        group = _quotient(_IN_CHANNEL, inputs // groups)
        out_channel = group * inner + ir.AffineDimExpr.get(_OUT_CHANNEL)
    channels = arith.muli(dim(op.weight, 1), index(groups))
    whole = [
        arith.addi(
            windows.covered(axis, dim(op.input, axis + 2), dim(op.weight, axis + 2)),
            index(extra.value),
        )
        for axis, extra in enumerate(op.output_padding)
    ]
    shape = [
        size if size == DYNAMIC else size + low + high
        for size, low, high in zip(
            op.out.type.shape,
            [0, 0, *windows.padding_low],
            [0, 0, *windows.padding_high],
            strict=True,
        )
    ]
    whole_type = ir.RankedTensorType.get(shape, accumulator_type(element))
    sizes = dynamic_sizes(whole_type, [dim(op.input, 0), channels, *whole])
    result = _add_products(
        op,
        fill(whole_type, sizes, constant(whole_type.element_type, 0)),
        op.input,
        [_BATCH, _IN_CHANNEL, *places],
        [_IN_CHANNEL, _OUT_CHANNEL, *elements],
        [_BATCH, out_channel, *windows.places(places, elements)],
        [PARALLEL, PARALLEL, REDUCTION, *[REDUCTION] * (len(elements) + len(places))],
    )
    return all_narrowed(_cut(result, op, windows), element)


def _spatial_loops(op: WindowProductOp) -> tuple[list[int], list[int]]:
    """The loops over the elements of a window, and over the windows."""
    count = op.input.type.rank - 2
    elements = list(range(_FIRST_OF_WINDOW, _FIRST_OF_WINDOW + count))
    return elements, [loop + count for loop in elements]


def _window_loops(op: ConvOp, first: int) -> tuple[list[int | ir.AffineExpr], list[int]]:
    """The loops over the elements of a window, from the `first` one on, and over the windows.

    Along an axis with one element there is no loop: so it is plain that the windows are as many as
    elements of the input, of whatever size, and that rows of them may be gone over as one.
    """
    elements: list[int | ir.AffineExpr] = []
    loop = first
    for size in op.weight.type.shape[2:]:
        elements.append(ir.AffineConstantExpr.get(0) if size == 1 else loop)
        loop += size != 1
    return elements, list(range(loop, loop + len(elements)))


def _quotient(loop: int, divisor: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_floor_div(ir.AffineDimExpr.get(loop), divisor)


def _add_products(
    op: WindowProductOp,
    out: ir.Value,
    input_: ir.Value,
    input_places: Sequence[int | ir.AffineExpr],
    weight_places: Sequence[int | ir.AffineExpr],
    out_places: Sequence[int | ir.AffineExpr],
    loops: Sequence[str],
) -> ir.Value:
    def payload(elements: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> ir.Value:
        return add_product(so_far[0], *elements)

    places = (input_places, weight_places, out_places)
    (result,) = loop_nest(
        [out],
        [input_, op.weight],
        [dims_map(len(loops), each) for each in places],
        loops,
        payload,
    )
    return result


def _cut(value: ir.Value, op: ConvTransposeOp, windows: Windows) -> ir.Value:
    """A tensor without its padding."""
    if not any((*windows.padding_low, *windows.padding_high)):
        return value
    low, high = [0, 0, *windows.padding_low], [0, 0, *windows.padding_high]
    shape = list(op.out.type.shape)
    sizes = [
        arith.subi(dim(value, axis), index(low[axis] + high[axis]))
        for axis, size in enumerate(shape)
        if size == DYNAMIC
    ]
    return tensor.ExtractSliceOp(
        ir.RankedTensorType.get(shape, value.type.element_type),
        value,
        [],
        sizes,
        [],
        low,
        shape,
        [1] * len(shape),
    ).result


PATTERNS: Patterns = {
    ConvOp: convert_conv,
    ConvTransposeOp: convert_conv_transpose,
}
