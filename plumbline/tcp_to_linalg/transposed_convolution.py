"""Transposed convolutions as convolutions: each element of the result gathers what is added to it.

With a stride s, what is added to elements s apart are products with the same weights: those of one
residue are a convolution by every s-th weight, mirrored (Shi et al., "Is the deconvolution layer
the same as a convolutional layer?", 2016). Residues with as many weights are channels of one
convolution, and what comes out is taken apart along the dimensions again.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from plumbline.tcp.ops.convolution import ConvOp, ConvTransposeOp
from plumbline.tcp_to_linalg.building import DYNAMIC, dim, dynamic_sizes, empty, generic, index
from plumbline.tcp_to_linalg.scalars import constant
from plumbline.tcp_to_linalg.windows import Windows


def can_gather(op: ConvTransposeOp) -> bool:
    """Whether the number of weights is known, and those of a residue are at equal distances."""
    windows = Windows.of(op)
    is_static = DYNAMIC not in (*op.weight.type.shape, op.out.type.shape[1])
    return is_static and all(
        1 in steps for steps in zip(windows.strides, windows.dilations, strict=True)
    )


@dataclass(frozen=True)
class _Residues:
    """Places along an axis, padding included, that have as many weights.

    They are `first` to `first` + `count` of each `stride`.
    """

    first: int
    count: int
    taps: int
    """How many weights are added up for each."""
    stride: int


@dataclass(frozen=True)
class _Axis:
    """A spatial axis. Convolutions start at element `start` of a stride each, and pad so."""

    stride: int
    dilation: int
    kernel: int
    padding_low: int
    beyond: int
    """Elements of the result after the last that a window covers, or fewer if negative."""

    @property
    def residues(self) -> list[_Residues]:
        """All of a stride, those with more weights first."""
        most, few = -(-self.kernel // self.stride), self.kernel // self.stride
        with_most = self.kernel - few * self.stride
        if not with_most:
            return [_Residues(0, self.stride, few, self.stride)]
        rest = self.stride - with_most
        return [
            _Residues(0, with_most, most, self.stride),
            _Residues(with_most, rest, few, self.stride),
        ]

    @property
    def start(self) -> int:
        """The first stride that is computed; those before it are padding alone."""
        fewest = min(residues.taps for residues in self.residues if residues.taps)
        return min(self.padding_low // self.stride, self.dilation * (fewest - 1))

    def low(self, residues: _Residues) -> int:
        """How many zeros the input of a convolution begins with."""
        return self.dilation * (residues.taps - 1) - self.start

    @property
    def high(self) -> int:
        """How many it ends with."""
        extent = self.dilation * (self.kernel - 1) + 1
        return max((extent + self.beyond - 1) // self.stride, 0)


def gather(op: ConvTransposeOp) -> ir.Value:
    """The result, of a convolution for each number of weights along each axis."""
    axes = _axes(op)
    element = op.out.type.element_type
    parts = [
        (residues, _convolved(op, axes, residues))
        for residues in itertools.product(*(axis.residues for axis in axes))
        if all(each.taps for each in residues)
    ]
    sizes = dynamic_sizes(
        op.out.type, [dim(op.input, 0), index(0), *(_size(op, axes, at) for at in range(len(axes)))]
    )

    def payload(elements: Sequence[ir.Value]) -> ir.Value:
        value = elements[0] if covers else constant(element, 0)
        for (residues, _), one in zip(parts[covers:], elements[covers:], strict=True):
            value = arith.select(_is_among(axes, residues), one, value)
        return value

    # Where there are no weights, nothing is added.
    covers = int(all(residues.taps for axis in axes for residues in axis.residues))
    return generic(
        empty(op.out.type, sizes),
        [value for _, value in parts],
        [_map(axes, residues) for residues, _ in parts],
        payload,
    )


def _axes(op: ConvTransposeOp) -> list[_Axis]:
    windows = Windows.of(op)
    return [
        _Axis(stride, dilation, kernel, low, extra.value - high)
        for stride, dilation, kernel, low, high, extra in zip(
            windows.strides,
            windows.dilations,
            op.weight.type.shape[2:],
            windows.padding_low,
            windows.padding_high,
            op.output_padding,
            strict=True,
        )
    ]


def _size(op: ConvTransposeOp, axes: Sequence[_Axis], at: int) -> ir.Value:
    """The size of a spatial dimension of the result."""
    axis = axes[at]
    steps = arith.muli(arith.subi(dim(op.input, at + 2), index(1)), index(axis.stride))
    rest = axis.dilation * (axis.kernel - 1) + 1 + axis.beyond - axis.padding_low
    return arith.addi(steps, index(rest))


def _convolved(
    op: ConvTransposeOp, axes: Sequence[_Axis], residues: Sequence[_Residues]
) -> ir.Value:
    """The convolution by the weights of these residues, [n, o, residues.., strides..]."""
    weight = _mirrored(op, residues)
    source, spatial = op.input.type, len(axes)
    counts = [each.count for each in residues]
    places = [
        DYNAMIC if size == DYNAMIC else size + axis.high - axis.start
        for size, axis in zip(source.shape[2:], axes, strict=True)
    ]
    out_type = ir.RankedTensorType.get(
        [source.shape[0], weight.type.shape[0], *places], source.element_type
    )
    out = ConvOp(
        op.input,
        weight,
        strides=[1] * spatial,
        dilations=[axis.dilation for axis in axes],
        padding_low=[axis.low(each) for axis, each in zip(axes, residues, strict=True)],
        padding_high=[axis.high for axis in axes],
        groups=op.groups.value,
        results=out_type,
    ).out
    shape = [source.shape[0], op.out.type.shape[1], *counts, *places]
    sizes = [dim(out, at) for at, size in enumerate(out_type.shape) if size == DYNAMIC]
    apart = [[0], [*range(1, 2 + spatial)], *([2 + spatial + at] for at in range(spatial))]
    return tensor.ExpandShapeOp(
        ir.RankedTensorType.get(shape, source.element_type), out, apart, sizes, shape
    ).result


def _mirrored(op: ConvTransposeOp, residues: Sequence[_Residues]) -> ir.Value:
    """The weights of these residues as a convolution takes them: [o * residues.., c / groups, ..].

    Those of the operand are [c, o / groups, ..].
    """
    type_, groups, spatial = op.weight.type, op.groups.value, len(residues)
    inputs, outputs = type_.shape[0] // groups, type_.shape[1]
    shape = [groups * outputs, inputs, *(each.taps for each in residues)]
    rest, inner, *steps = map(ir.AffineDimExpr.get, range(2 + spatial))
    places = []
    for each, step in reversed(list(zip(residues, steps, strict=True))):
        shape[0] *= each.count
        among = ir.AffineExpr.get_mod(rest, each.count)
        rest = ir.AffineExpr.get_floor_div(rest, each.count)
        last = among + (each.first + (each.taps - 1) * each.stride)
        places.append(last - step * each.stride)
    group, out = ir.AffineExpr.get_floor_div(rest, outputs), ir.AffineExpr.get_mod(rest, outputs)
    places += [out, group * inputs + inner]
    return generic(
        empty(ir.RankedTensorType.get(shape, type_.element_type), []),
        [op.weight],
        [ir.AffineMap.get(len(shape), 0, places[::-1])],
        lambda elements: elements[0],
    )


def _map(axes: Sequence[_Axis], residues: Sequence[_Residues]) -> ir.AffineMap:
    """Where in a convolution's result an element is, if it is of these residues.

    If it is not, the place is one that is there.
    """
    rank = 2 + len(axes)
    places = [ir.AffineDimExpr.get(2 + at) + axis.padding_low for at, axis in enumerate(axes)]
    of = [
        _among(place, axis.stride, each)
        for place, axis, each in zip(places, axes, residues, strict=True)
    ]
    strides = [
        ir.AffineExpr.get_floor_div(place, axis.stride) - axis.start
        for place, axis in zip(places, axes, strict=True)
    ]
    return ir.AffineMap.get(
        rank, 0, [ir.AffineDimExpr.get(0), ir.AffineDimExpr.get(1), *of, *strides]
    )


def _among(place: ir.AffineExpr, stride: int, residues: _Residues) -> ir.AffineExpr:
    """Which of the residues a place has."""
    if residues.count == 1:
        return ir.AffineConstantExpr.get(0)
    of_stride = ir.AffineExpr.get_mod(place + (stride - residues.first) % stride, stride)
    if residues.count == stride:
        return of_stride
    return ir.AffineExpr.get_mod(of_stride, residues.count)


def _is_among(axes: Sequence[_Axis], residues: Sequence[_Residues]) -> ir.Value:
    """Whether the element that is computed has these residues."""
    found: ir.Value | None = None
    for at, (axis, each) in enumerate(zip(axes, residues, strict=True)):
        if each.count == axis.stride:
            continue
        place = arith.addi(
            linalg.IndexOp(2 + at).result, index(axis.padding_low + axis.stride - each.first)
        )
        is_so = arith.cmpi(
            arith.CmpIPredicate.ult, arith.remui(place, index(axis.stride)), index(each.count)
        )
        found = is_so if found is None else arith.andi(found, is_so)
    assert found is not None
    return found
