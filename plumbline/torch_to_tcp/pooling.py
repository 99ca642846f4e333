"""Pooling."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import concatenate, slice_along
from plumbline.tcp.building.dtypes import computed_in, element_type, is_float, signedness
from plumbline.tcp.building.reduction import arg_reduce, reduce
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast, broadcast_to, cast, from_size, full, scalar
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops.elementwise import AddOp, DivfOp, DivsiOp, MulOp
from plumbline.tcp.ops.indexing import GatherOp
from plumbline.tcp.ops.pooling import ArgmaxPoolOp, PoolOp
from plumbline.tcp.ops.reduction import ArgmaxOp
from plumbline.tcp.shapes import DYNAMIC
from plumbline.torch_to_tcp.pattern import (
    Pattern,
    Patterns,
    integer,
    integers,
    number,
    one_each,
    tensor,
    tensor_type,
)
from plumbline.torch_to_tcp.reduction import mean


@dataclass(frozen=True)
class _Windows:
    """The windows of an op of PyTorch, one entry for each spatial dimension."""

    kernel: Sequence[int]
    strides: Sequence[int]
    padding: Sequence[int]
    dilations: Sequence[int]
    ceil_mode: bool

    @classmethod
    def of(cls, op: ir.OpView, count: int, *, dilated: bool) -> "_Windows":
        """Those that the operands after the tensor describe.

        Raises:
          Unsupported: they are not constant.
        """
        kernel, strides, padding = (one_each(entries, count) for entries in op.operands[1:4])
        dilations = one_each(op.operands[4], count) if dilated else [1] * count
        ceil_mode = bool(integer(op.operands[5 if dilated else 4]))
        return cls(kernel, strides or kernel, padding, dilations, ceil_mode)

    @classmethod
    def side_by_side(cls, kernel: Sequence[int]) -> "_Windows":
        """Those that take each element once."""
        none, ones = [0] * len(kernel), [1] * len(kernel)
        return cls(kernel, kernel, none, ones, ceil_mode=False)

    def extent(self, axis: int) -> int:
        """From the first element of a window to the last, both counted."""
        return self.dilations[axis] * (self.kernel[axis] - 1) + 1

    def counted_up(self, axis: int, size: Size) -> Size:
        """How many windows PyTorch takes along an axis of that size.

        In ceil mode those that end beyond the padding too, if they begin before it
        (pooling_output_shape in ATen/native/Pool.h).
        """
        padding, stride = self.padding[axis], self.strides[axis]
        room = size_arithmetic.add(size, 2 * padding - self.extent(axis))
        if not self.ceil_mode:
            return size_arithmetic.add(size_arithmetic.divide_down(room, stride), 1)
        count = size_arithmetic.add(size_arithmetic.divide_up(room, stride), 1)
        begun = size_arithmetic.divide_up(size_arithmetic.add(size, padding), stride)
        return size_arithmetic.least(count, begun)

    def padding_high(self, axis: int, size: int) -> int:
        """The padding behind an axis that makes room for at least those windows."""
        padding, stride = self.padding[axis], self.strides[axis]
        if not self.ceil_mode:
            return padding
        if size == DYNAMIC:
            return padding + stride - 1
        count = self.counted_up(axis, size)
        assert isinstance(count, int)
        return max((count - 1) * stride + self.extent(axis) - size - padding, padding)

    def may_be_too_many(self, axis: int, size: int) -> bool:
        """Whether that padding makes room for a window that PyTorch does not take."""
        # One that begins in the padding: then that and the step are longer than a window.
        longest = self.padding[axis] + self.strides[axis] - 1
        return self.ceil_mode and size == DYNAMIC and longest >= self.extent(axis)


def _pool(
    op_class: type[TcpOp], operand: Tensor, windows: _Windows, dtype: str, **attributes: object
) -> Tensor:
    """Pools over the last dimensions; the result has as many windows as PyTorch takes."""
    count = len(windows.kernel)
    spatial = range(operand.type.rank - count, operand.type.rank)
    sizes = [operand.type.sizes[axis] for axis in spatial]
    counts = [
        size_arithmetic.static(DYNAMIC if size == DYNAMIC else windows.counted_up(axis, size))
        for axis, size in enumerate(sizes)
    ]
    type_ = TensorType((*operand.type.sizes[: spatial.start], *counts), dtype)
    out = op_class(
        operand.value,
        kernel=windows.kernel,
        strides=windows.strides,
        dilations=windows.dilations,
        padding_low=windows.padding,
        padding_high=[windows.padding_high(axis, size) for axis, size in enumerate(sizes)],
        int_signedness=signedness(operand.type.dtype),
        results=type_.builtin(),
        **attributes,
    ).out
    result = Tensor(out, type_)
    if not any(windows.may_be_too_many(axis, size) for axis, size in enumerate(sizes)):
        return result
    for place, axis in enumerate(spatial):
        taken = windows.counted_up(place, size_arithmetic.of(operand, axis))
        result = slice_along(result, axis, 0, taken)
    return result


def _max_pool(count: int, *, with_indices: bool) -> Pattern:
    """The pattern of `max_pool` over that many dimensions."""

    def convert(op: ir.OpView) -> ir.Value | list[ir.Value]:
        operand = tensor(op.operands[0])
        windows = _Windows.of(op, count, dilated=True)
        greatest = _pool(PoolOp, operand, windows, operand.type.dtype, combiner="max").value
        if not with_indices:
            return greatest
        return [greatest, _pool(ArgmaxPoolOp, operand, windows, "si64").value]

    return convert


def _avg_pool(count: int) -> Pattern:
    """The pattern of `avg_pool` over that many dimensions, summed in the type PyTorch sums in."""

    def convert(op: ir.OpView) -> ir.Value:
        operand, result = tensor(op.operands[0]), tensor_type(op.result)
        windows = _Windows.of(op, count, dilated=False)
        counts_padding = bool(integer(op.operands[5]))
        # `avg_pool1d` has no such operand.
        override = number(op.operands[6]) if len(op.operands) > 6 else None
        wide = cast(operand, computed_in(result.dtype))
        total = _sum_pool(wide, windows)
        if override is not None:
            divisor = full(override, wide.type.dtype, (total,), total.type.sizes)
        else:
            divisor = _window_sizes(wide, total, windows, counts_padding=counts_padding)
        divide = DivfOp if is_float(result.dtype) else _divide_integers
        quotient = divide(total.value, divisor.value).out
        return cast(Tensor(quotient, total.type), result.dtype).value

    return convert


def _divide_integers(left: ir.Value, right: ir.Value) -> DivsiOp:
    return DivsiOp(left, right, rounding_mode="Trunc")


def _sum_pool(operand: Tensor, windows: _Windows) -> Tensor:
    dtype = operand.type.dtype
    return _pool(
        PoolOp, operand, windows, dtype, combiner="sum", accumulation_type=element_type(dtype)
    )


def _window_sizes(
    operand: Tensor, total: Tensor, windows: _Windows, *, counts_padding: bool
) -> Tensor:
    """How many elements each window has, those beyond the padding left out, like `total`."""
    dtype, sizes = operand.type.dtype, total.type.sizes
    if not windows.ceil_mode and (counts_padding or not any(windows.padding)):
        whole = size_arithmetic.product(windows.kernel)
        assert isinstance(whole, int)
        return full(whole, dtype, (total,), sizes)
    # The sum over windows of a tensor of ones: each is an element that counts.
    count = len(windows.kernel)
    lengths = size_arithmetic.all_of(operand)[-count:]
    if not counts_padding:
        counted = _sum_pool(broadcast_to(scalar(1, dtype), lengths), windows)
        return broadcast(counted, (total,), sizes)
    lengths = [
        size_arithmetic.add(length, 2 * padding)
        for length, padding in zip(lengths, windows.padding, strict=True)
    ]
    unpadded = replace(windows, padding=[0] * count)
    counted = _sum_pool(broadcast_to(scalar(1, dtype), lengths), unpadded)
    # Without padding, a window may begin where PyTorch takes the input's to be over.
    for axis, taken in enumerate(size_arithmetic.all_of(total)[-count:]):
        counted = slice_along(counted, axis, 0, taken)
    return broadcast(counted, (total,), sizes)


# -- adaptive --------------------------------------------------------------------------------------


def _even_windows(operand: Tensor, counts: Sequence[int]) -> _Windows | None:
    """The windows that `counts` of lie side by side along each of the last axes, if they do."""
    sizes = operand.type.sizes[-len(counts) :]
    if any(
        size == DYNAMIC or size == 0 or count == 0 or size % count
        for size, count in zip(sizes, counts, strict=True)
    ):
        return None
    kernel = [size // count for size, count in zip(sizes, counts, strict=True)]
    return _Windows.side_by_side(kernel)


def _parts(operand: Tensor, axis: int, count: int) -> Iterator[tuple[Size, Tensor]]:
    """The parts of a tensor that adaptive pooling takes along an axis, with where each begins.

    They may overlap: ATen/native/AdaptivePooling.h.
    """
    size = size_arithmetic.of(operand, axis)
    if count == 1:
        yield 0, operand
        return
    for part in range(count):
        begin = size_arithmetic.divide_down(size_arithmetic.multiply(size, part), count)
        end = size_arithmetic.divide_up(size_arithmetic.multiply(size, part + 1), count)
        yield begin, slice_along(operand, axis, begin, size_arithmetic.subtract(end, begin))


def _joined(parts: Sequence[Tensor], axis: int) -> Tensor:
    sizes = list(parts[0].type.sizes)
    sizes[axis] = len(parts)
    return concatenate(parts, axis, sizes)


def _spatial_axes(operand: Tensor, counts: Sequence[int]) -> list[int]:
    """The last axes, one for each of `counts`, in reverse.

    Raises:
      Unsupported: a count is 0.
    """
    if 0 in counts:
        raise Unsupported("adaptive pooling to nothing")
    return list(reversed(range(operand.type.rank - len(counts), operand.type.rank)))


def convert_adaptive_avg_pool(op: ir.OpView) -> ir.Value:
    """The mean of each part: along one axis after the other, since parts are rectangular."""
    operand, result = tensor(op.operands[0]), tensor_type(op.result)
    counts = integers(op.operands[1])
    axes = _spatial_axes(operand, counts)
    wide = cast(operand, computed_in(operand.type.dtype))
    if all(count == 1 for count in counts):
        pooled = mean(wide, axes, keepdim=True)
    elif windows := _even_windows(wide, counts):
        total = _sum_pool(wide, windows)
        divisor = _window_sizes(wide, total, windows, counts_padding=True)
        pooled = Tensor(DivfOp(total.value, divisor.value).out, total.type)
    else:
        pooled = wide
        # Along rows comes last, of the fewer rows that there are then.
        for axis, count in zip(reversed(axes), counts, strict=True):
            pooled = _means_along(pooled, axis, count)
    return cast(pooled, result.dtype).value


def _means_along(operand: Tensor, axis: int, count: int) -> Tensor:
    """The mean of each of the `count` parts along an axis.

    What divides the size and the number of parts is how often the same parts follow one another:
    of 60 elements in 45 parts, there are 15 times those of 4 elements in 3.
    """
    sizes = size_arithmetic.all_of(operand)
    before, size, behind = sizes[:axis], sizes[axis], sizes[axis + 1 :]
    if size == count:
        return operand
    repeats = math.gcd(size, count) if isinstance(size, int) else 1
    if repeats == 1:
        parts = [mean(part, [axis], keepdim=True) for _, part in _parts(operand, axis, count)]
        return _joined(parts, axis)
    once = reshape(operand, (*before, repeats, size // repeats, *behind))
    return reshape(_means_along(once, axis + 1, count // repeats), (*before, count, *behind))


def convert_adaptive_max_pool(op: ir.OpView) -> list[ir.Value]:
    """The greatest element of each part, and its place among all, counted row by row."""
    operand = tensor(op.operands[0])
    counts = integers(op.operands[1])
    axes = _spatial_axes(operand, counts)
    if windows := _even_windows(operand, counts):
        greatest = _pool(PoolOp, operand, windows, operand.type.dtype, combiner="max")
        return [greatest.value, _pool(ArgmaxPoolOp, operand, windows, "si64").value]
    values, places = operand, None
    # How many elements there are from one place along the axis to the next.
    step: Size = 1
    for axis, count in zip(axes, reversed(counts), strict=True):
        value_parts, place_parts = [], []
        old_places = None if places is None else _parts(places, axis, count)
        for begin, part in _parts(values, axis, count):
            value_parts.append(reduce(part, [axis], "max", keepdim=True))
            along = arg_reduce(part, axis, ArgmaxOp, keepdim=True)
            place = _scaled(_moved(along, begin), step)
            if old_places is not None:
                _, old = next(old_places)
                inner = GatherOp(old.value, along.value, dim=axis).out
                place = Tensor(AddOp(place.value, inner).out, place.type)
            place_parts.append(place)
        step = size_arithmetic.multiply(step, size_arithmetic.of(operand, axis))
        values, places = _joined(value_parts, axis), _joined(place_parts, axis)
    assert places is not None
    return [values.value, places.value]


def _moved(places: Tensor, by: Size) -> Tensor:
    return places if by == 0 else _with_size(AddOp, places, by)


def _scaled(places: Tensor, by: Size) -> Tensor:
    return places if by == 1 else _with_size(MulOp, places, by)


def _with_size(op: type[TcpOp], places: Tensor, size: Size) -> Tensor:
    stretched = broadcast(from_size(size, places.type.dtype), (places,), places.type.sizes)
    return Tensor(op(places.value, stretched.value).out, places.type)


PATTERNS: Patterns = {
    **{f"torch.aten.max_pool{count}d": _max_pool(count, with_indices=False) for count in (1, 2, 3)},
    **{
        f"torch.aten.max_pool{count}d_with_indices": _max_pool(count, with_indices=True)
        for count in (1, 2, 3)
    },
    **{f"torch.aten.avg_pool{count}d": _avg_pool(count) for count in (1, 2, 3)},
    **{
        f"torch.aten.{name}adaptive_avg_pool{count}d": convert_adaptive_avg_pool
        for name in ("", "_")
        for count in (1, 2, 3)
    },
    **{f"torch.aten.adaptive_max_pool{count}d": convert_adaptive_max_pool for count in (1, 2, 3)},
}
