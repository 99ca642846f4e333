"""Windows that move over a tensor, and the elements of each combined."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith, cf

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp.bodies import combiner, is_neutral, kept_of_two, with_initial
from plumbline.stablehlo_to_tcp.convolution import padding
from plumbline.stablehlo_to_tcp.data_movement import spread
from plumbline.stablehlo_to_tcp.pattern import Patterns, integers, tensor, tensor_type, tensors
from plumbline.stablehlo_to_tcp.shape_tensors import elements
from plumbline.stablehlo_to_tcp.uniform_tensors import Uniform, summed, uniform
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import pad, reverse, transpose
from plumbline.tcp.building.dtypes import is_float, signedness
from plumbline.tcp.building.elementwise import apply
from plumbline.tcp.building.reduction import accumulation_type
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast_to
from plumbline.tcp.building.size_polynomials import same
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops.elementwise import BitwiseNotOp, NegOp
from plumbline.tcp.ops.indexing import ScatterOp
from plumbline.tcp.ops.pooling import ArgmaxPoolOp, PoolOp
from plumbline.tcp.ops.reduction import ScanOp
from plumbline.tcp.shapes import DYNAMIC


@dataclass(frozen=True)
class _Windows:
    """How windows lie, one entry for each dimension of the tensor."""

    kernel: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    spread: Sequence[int]
    """The distance from one element to the next, with padding between them."""
    low: Sequence[int]
    high: Sequence[int]

    @classmethod
    def of(cls, op: ir.OpView, rank: int) -> "_Windows":
        """Those that an op's attributes describe."""
        ones = [1] * rank
        low, high = padding(op, rank)
        return cls(
            kernel=integers(op, "window_dimensions", ones),
            strides=integers(op, "window_strides", ones),
            dilations=integers(op, "window_dilations", ones),
            spread=integers(op, "base_dilations", ones),
            low=low,
            high=high,
        )

    def along(self, axes: Sequence[int]) -> "_Windows":
        """The same, for some dimensions only."""
        entries = {name: [whole[axis] for axis in axes] for name, whole in asdict(self).items()}
        return _Windows(**entries)

    def attributes(self) -> dict[str, Sequence[int]]:
        """Those of an op of TCP over as many dimensions, whose elements are next to each other."""
        return {
            "kernel": self.kernel,
            "strides": self.strides,
            "dilations": self.dilations,
            "padding_low": self.low,
            "padding_high": self.high,
        }

    def axes(self) -> list[int]:
        """The dimensions along which a window takes or leaves out anything."""
        return [
            axis
            for axis, entries in enumerate(zip(self.kernel, self.strides, strict=True))
            if entries != (1, 1)
        ]

    def is_scan(self, axis: int, size: int) -> bool:
        """Whether windows take each all elements up to one."""
        return (
            self.kernel[axis] == size != DYNAMIC
            and (self.strides[axis], self.dilations[axis]) == (1, 1)
            and size - 1 in (self.low[axis], self.high[axis])
            and self.low[axis] + self.high[axis] == size - 1
        )


def convert_reduce_window(op: ir.OpView) -> list[Tensor]:
    """The elements of windows combined by one op, of several tensors side by side."""
    operands = tensors(op)
    count = len(operands) // 2
    block = op.regions[0].blocks[0]
    combiners = [combiner(block, number) for number in range(count)]
    windows = _Windows.of(op, operands[0].type.rank)
    return [
        _pool(operand, initial, name, windows, tensor_type(result))
        for operand, initial, name, result in zip(
            operands[:count], operands[count:], combiners, op.results, strict=True
        )
    ]


def convert_dynamic_reduce_window(op: ir.OpView) -> list[Tensor]:
    """A call by which JAX spells windows of sizes that are known at run time: those of a scan.

    Each takes all elements up to one, or from it on, along one dimension.
    """
    body = _called(op)
    if body is None or len(op.operands) != len(body.arguments) + 5:
        raise Unsupported("windows that are not described as JAX does it")
    # How windows lie is in five tensors of integers.
    *values, kernel, strides, spread, dilations, padding = op.operands
    if any(step != 1 for each in (strides, spread, dilations) for step in elements(each)):
        raise Unsupported("windows of dynamic sizes that are not next to each other")
    operands = [tensor(value) for value in values]
    inputs, initials = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    sizes, counts = size_arithmetic.all_of(inputs[0]), elements(kernel)
    axes = [axis for axis, count in enumerate(counts) if count != 1]
    if len(counts) != len(sizes) or len(axes) != 1 or not same(counts[axes[0]], sizes[axes[0]]):
        raise Unsupported("windows of dynamic sizes that do not each go up to an element")
    (axis,) = axes
    amounts = elements(padding)
    if len(amounts) != 2 * len(sizes):
        raise Unsupported("windows of dynamic sizes without padding for each dimension")
    low, high = amounts[2 * axis : 2 * axis + 2]
    others = [amount for place, amount in enumerate(amounts) if place // 2 != axis]
    if any(amount != 0 for amount in others) or 0 not in (low, high):
        raise Unsupported("windows of dynamic sizes with padding that is not before or behind them")
    combiners = [combiner(body, number) for number in range(len(inputs))]
    _assert_whole(low if high == 0 else high, sizes[axis])
    return [
        with_initial(name, _scan(operand, name, axis, backwards=high != 0), initial)
        for operand, initial, name in zip(inputs, initials, combiners, strict=True)
    ]


def _called(op: ir.OpView) -> ir.Block | None:
    """The body of the one function that a call names, if there is one."""
    if "called_computations" not in op.attributes:
        return None
    names = [
        ir.FlatSymbolRefAttr(each).value
        for each in ir.ArrayAttr(op.attributes["called_computations"])
    ]
    root = op.operation
    while root.parent is not None:
        root = root.parent.operation
    symbols = ir.SymbolTable(root)
    blocks = [
        block for name in names if name in symbols for block in symbols[name].regions[0].blocks
    ]
    return blocks[0] if len(names) == len(blocks) == 1 else None


def _assert_whole(padding: Size, size: Size) -> None:
    """Asserts that there is one element less of padding than of elements: a window for each."""
    wanted = size_arithmetic.value(size_arithmetic.subtract(size, 1))
    holds = arith.cmpi(arith.CmpIPredicate.eq, size_arithmetic.value(padding), wanted)
    cf.AssertOp(holds, "windows of dynamic sizes: there is not one for each element")


def _pool(
    operand: Tensor, initial: Tensor, name: str, windows: _Windows, result: TensorType
) -> Tensor:
    if 0 in result.sizes:
        if DYNAMIC in result.sizes:
            raise Unsupported("a dimension of size 0 beside one that is known at run time only")
        return broadcast_to(initial, result.sizes)
    interior = [distance - 1 for distance in windows.spread]
    axes = windows.axes()
    is_plain = is_neutral(name, initial)
    if is_plain and name == "sum" and not any(interior):
        given = uniform(operand)
        sums = None if given is None else _summed(given, result, windows)
        if sums is not None:
            return sums
    order = _windows_last(operand, axes)
    scans = len(axes) == 1 and windows.is_scan(axes[0], operand.type.sizes[axes[0]])
    # What is padded is copied, and a copy is best of what lies as it does: what puts windows last
    # is then only another way to read it.
    own_padding = is_plain and (scans or order == [*range(operand.type.rank)])

    # What TCP's windows do not do by themselves is done before.
    def done_before(amounts: Sequence[int]) -> list[int]:
        return [
            amount if amount < 0 or not own_padding or axis not in axes else 0
            for axis, amount in enumerate(amounts)
        ]

    low, high = done_before(windows.low), done_before(windows.high)
    if any((*interior, *low, *high)):
        operand = pad(spread(operand, initial, interior), initial, low, high)
    windows = replace(
        windows,
        low=[amount - done for amount, done in zip(windows.low, low, strict=True)],
        high=[amount - done for amount, done in zip(windows.high, high, strict=True)],
    )
    if not axes:
        return with_initial(name, operand, initial)
    if own_padding and scans and not any(interior):
        return _scan(operand, name, axes[0], backwards=windows.low[axes[0]] == 0)
    pooled = _pool_last(transpose(operand, order), name, windows.along(axes))
    return with_initial(name, transpose(pooled, _inverse(order)), initial)


def _summed(given: Uniform, result: TensorType, windows: _Windows) -> Tensor | None:
    """The sums of what windows have of a tensor that is one number everywhere."""
    if min(*windows.low, *windows.high) < 0:
        return None
    return summed(
        given,
        result,
        kernel=windows.kernel,
        strides=windows.strides,
        dilations=windows.dilations,
        low=windows.low,
    )


def _windows_last(operand: Tensor, axes: Sequence[int]) -> list[int]:
    """The order of dimensions in which those that windows are over come last, as in TCP."""
    return [*(axis for axis in range(operand.type.rank) if axis not in axes), *axes]


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=lambda axis: order[axis])


def _pooled_type(operand: Tensor, windows: _Windows) -> TensorType:
    """That of one element for each of the windows over the last dimensions."""
    count = len(windows.kernel)
    sizes = [
        DYNAMIC
        if size == DYNAMIC
        else (size + low + high - dilation * (kernel - 1) - 1) // stride + 1
        for size, kernel, stride, dilation, low, high in zip(
            operand.type.sizes[-count:],
            windows.kernel,
            windows.strides,
            windows.dilations,
            windows.low,
            windows.high,
            strict=True,
        )
    ]
    return TensorType((*operand.type.sizes[:-count], *sizes), operand.type.dtype)


def _pool_last(operand: Tensor, name: str, windows: _Windows) -> Tensor:
    type_ = _pooled_type(operand, windows)
    op = PoolOp(
        operand.value,
        **windows.attributes(),
        combiner=name,
        accumulation_type=accumulation_type(name, type_.dtype),
        int_signedness=signedness(type_.dtype),
        results=type_.builtin(),
    )
    return Tensor(op.out, type_)


def _scan(operand: Tensor, name: str, axis: int, *, backwards: bool) -> Tensor:
    """Each element combined with all before it, or after it."""
    axes = [axis] if backwards else []
    turned = reverse(operand, axes)
    op = ScanOp(
        turned.value,
        dim=axis,
        combiner=name,
        accumulation_type=accumulation_type(name, operand.type.dtype),
        int_signedness=signedness(operand.type.dtype),
        results=operand.type.builtin(),
    )
    return reverse(Tensor(op.out, operand.type), axes)


def convert_select_and_scatter(op: ir.OpView) -> Tensor:
    """The gradient of a pooling: what a window is given, where its greatest or least element is."""
    operand, source, initial = tensors(op)
    choice, combination = (region.blocks[0] for region in op.regions)
    name, kept = combiner(combination, 0), kept_of_two(choice)
    if not kept:
        raise Unsupported(
            "a choice that is neither the first greatest (GE) nor the first least (LE) of a window"
        )
    windows = _Windows.of(op, operand.type.rank)
    if min(*windows.low, *windows.high) < 0:
        raise Unsupported("padding below zero; slice what the windows move over before")
    axes = windows.axes()
    if not axes:
        return with_initial(name, source, initial)
    order = _windows_last(operand, axes)
    ordered = transpose(operand if kept == "max" else _turned(operand), order)
    places = _greatest_places(ordered, windows.along(axes))
    sizes = size_arithmetic.all_of(ordered)
    outside = sizes[: -len(axes)]
    whole = size_arithmetic.product(sizes[-len(axes) :])
    given = reshape(transpose(source, order), [*outside, None])
    base = broadcast_to(initial, [*outside, whole])
    put = ScatterOp(
        base.value,
        reshape(places, [*outside, None]).value,
        given.value,
        dim=len(outside),
        combiner=name,
        int_signedness=signedness(base.type.dtype),
    ).out
    return transpose(reshape(Tensor(put, base.type), sizes), _inverse(order))


def _turned(operand: Tensor) -> Tensor:
    """Numbers in the opposite order: the least is the greatest."""
    return apply(NegOp if is_float(operand.type.dtype) else BitwiseNotOp, operand)


def _greatest_places(operand: Tensor, windows: _Windows) -> Tensor:
    """Where each window over the last dimensions has its first greatest element, row by row."""
    type_ = replace(_pooled_type(operand, windows), dtype="si64")
    op = ArgmaxPoolOp(
        operand.value,
        **windows.attributes(),
        int_signedness=signedness(operand.type.dtype),
        results=type_.builtin(),
    )
    return Tensor(op.out, type_)


PATTERNS: Patterns = {
    "stablehlo.reduce_window": convert_reduce_window,
    "stablehlo.select_and_scatter": convert_select_and_scatter,
}
