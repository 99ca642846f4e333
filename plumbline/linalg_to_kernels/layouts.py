"""How tensors will lie in memory: contiguous, but for what is a part of another."""

import itertools
import math

from torch_mlir import ir

from plumbline.linalg_to_kernels.computations import DYNAMIC, reassociation
from plumbline.linalg_to_kernels.constants import argument_attributes

LAYOUT = "plumbline.strides"
"""The attribute of an argument of a group that is not contiguous where the group is called: the
type of its buffer."""

_UNKNOWN = ir.ShapedType.get_dynamic_stride_or_offset()

_VECTOR = 16
"""Elements that no vector of 16 bytes has more of: a GPU loads these from multiples of that."""


def layout_of(value: ir.Value) -> ir.MemRefType:
    """The type of the buffer that a tensor will be, of which some strides may not be known.

    A slice is a view of what it is a part of, and so are reshapes of it where they can be. One that
    begins where no vector does is not said to be contiguous.
    """
    type_ = ir.RankedTensorType(value.type)
    strides = _strides(value)
    contiguous = ir.MemRefType.get(type_.shape, type_.element_type)
    usual, _ = contiguous.get_strides_and_offset()
    are_usual = strides is None or all(
        size == 1 or (stride == other and stride != _UNKNOWN)
        for size, stride, other in zip(type_.shape, strides, usual, strict=True)
    )
    if strides is None or (are_usual and _begins_evenly(value)):
        return contiguous
    layout = ir.StridedLayoutAttr.get(_UNKNOWN, strides)
    return ir.MemRefType.get(type_.shape, type_.element_type, layout)


def _begins_evenly(value: ir.Value) -> bool:
    """Whether a part of a tensor begins where vectors of the tensor do."""
    if isinstance(value.owner, ir.Block):
        return LAYOUT not in argument_attributes(value)
    op = value.owner.operation
    if op.name in ("tensor.cast", "tensor.collapse_shape", "tensor.expand_shape"):
        return _begins_evenly(op.operands[0])
    if op.name != "tensor.extract_slice":
        return True
    source = op.operands[0]
    shape, strides = ir.RankedTensorType(source.type).shape, _strides(source)
    for axis, offset in enumerate(ir.DenseI64ArrayAttr(op.attributes["static_offsets"])):
        known = [size for size in shape[axis + 1 :] if size != DYNAMIC]
        stride = math.prod(known) if strides is None else strides[axis]
        factors = [factor for factor in (offset, stride) if factor not in (DYNAMIC, _UNKNOWN)]
        if math.prod(factors) % _VECTOR:
            return False
    return _begins_evenly(source)


def is_contiguous(type_: ir.MemRefType) -> bool:
    """Whether elements of such a buffer follow one another, from where a vector may begin."""
    return bool(type_.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank)))


def _strides(value: ir.Value) -> list[int] | None:
    """The strides of a part of another tensor; None of what is contiguous."""
    if isinstance(value.owner, ir.Block):
        noted = argument_attributes(value)
        if LAYOUT not in noted:
            return None
        return list(ir.MemRefType(ir.TypeAttr(noted[LAYOUT]).value).get_strides_and_offset()[0])
    op = value.owner.operation
    match op.name:
        case "tensor.cast":
            return _strides(op.operands[0])
        case "tensor.extract_slice":
            return _of_slice(op)
        case "tensor.collapse_shape":
            strides = _strides(op.operands[0])
            return None if strides is None else _of_collapsed(op, strides)
        case "tensor.expand_shape":
            strides = _strides(op.operands[0])
            return None if strides is None else _of_expanded(op, strides)
    return None


def _of_slice(op: ir.Operation) -> list[int]:
    source = layout_of(op.operands[0])
    if source.rank != ir.RankedTensorType(op.results[0].type).rank:
        return [_UNKNOWN] * ir.RankedTensorType(op.results[0].type).rank
    steps = ir.DenseI64ArrayAttr(op.attributes["static_strides"])
    strides, _ = source.get_strides_and_offset()
    return [
        _UNKNOWN if _UNKNOWN in (step, stride) else step * stride
        for step, stride in zip(steps, strides, strict=True)
    ]


def _of_collapsed(op: ir.Operation, strides: list[int]) -> list[int]:
    sizes = ir.RankedTensorType(op.operands[0].type).shape
    result = []
    for group in reassociation(op):
        long = [axis for axis in group if sizes[axis] != 1]
        inner = [
            strides[outer] == sizes[axis] * strides[axis]
            and _UNKNOWN not in (strides[outer], strides[axis])
            and sizes[axis] != DYNAMIC
            for outer, axis in itertools.pairwise(long)
        ]
        # Where axes are not one after the other, the whole is copied, or not: it cannot be told.
        result.append(strides[(long or group)[-1]] if all(inner) else _UNKNOWN)
    return result


def _of_expanded(op: ir.Operation, strides: list[int]) -> list[int]:
    sizes = ir.RankedTensorType(op.results[0].type).shape
    result = []
    for group, stride in zip(reassociation(op), strides, strict=True):
        steps: list[int] = []
        for axis in reversed(group):
            steps.insert(0, stride)
            is_known = stride != _UNKNOWN and sizes[axis] != DYNAMIC
            stride = stride * sizes[axis] if is_known else _UNKNOWN
        result += steps
    return result
