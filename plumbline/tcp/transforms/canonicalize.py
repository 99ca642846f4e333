"""Folds what is known when the program is compiled, and merges constants.

MLIR's own canonicalization knows nothing of the ops of a dialect that is defined in Python.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.tcp.attributes import case_of
from plumbline.tcp.constraints import I64Array, is_bool, is_float
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import data_movement, elementwise
from plumbline.tcp.ops.data_movement import ConstOp
from plumbline.tcp.ops.pooling import ArgmaxPoolOp, PoolOp, WindowOp
from plumbline.tcp.transforms.concatenated_slices import concatenate_slices
from plumbline.tcp.transforms.counted_indices import counted_from_start
from plumbline.tcp.transforms.known_numbers import number_everywhere
from plumbline.tcp.transforms.lower import Pattern, lower
from plumbline.tcp.transforms.scopes import visit_in_scopes
from plumbline.tcp.transforms.sums_of_parts import concatenate_summands
from plumbline.tcp.windows import Windows

Array = np.ndarray[Any, np.dtype[Any]]

# A larger result than this stays computed at run time, lest the program grow. A tensor that has one
# value everywhere counts as one element.
_MAX_ELEMENTS = 1024


# -- constants ---------------------------------------------------------------------------------


def _constant(value: ir.Value) -> ir.Attribute | None:
    """The elements of `value`, if they are known and of a type that numpy has."""
    if isinstance(value.owner, ir.Block) or value.owner.name != ConstOp.OPERATION_NAME:
        return None
    attribute = value.owner.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr):
        return None
    return None if value.type.element_type == ir.BF16Type.get() else attribute


def _fold_constants(op: TcpOp, compute: Callable[..., Array | None]) -> ir.Value | None:
    """A constant in the place of an op on constants; `compute` takes them as arrays.

    Where all operands have one value everywhere, it takes arrays of that one element.
    """
    found = [_constant(operand) for operand in op.operands]
    attributes = [attribute for attribute in found if attribute is not None]
    type_ = op.results[0].type
    if not attributes or len(attributes) < len(found) or not type_.has_static_shape:
        return None
    if type_.element_type == ir.BF16Type.get() or not _count(type_):
        return None
    splat = all(attribute.is_splat for attribute in attributes)
    if not splat and _count(type_) > _MAX_ELEMENTS:
        return None
    # Not copied: a splat is one element that numpy sees everywhere, as often as may be.
    arrays = [np.asarray(attribute) for attribute in attributes]
    if splat:
        arrays = [array.reshape(-1)[:1] for array in arrays]
    with np.errstate(all="ignore"):
        result = compute(op, *arrays)
    if result is None:
        return None
    # What is made of one element everywhere may still have several.
    if splat and result.size == 1:
        return _const(result.reshape(-1), type_)
    return _const(result, type_) if list(result.shape) == list(type_.shape) else None


def _count(type_: ir.RankedTensorType) -> int:
    return int(np.prod(type_.shape, dtype=np.int64))


def _const(array: Array, type_: ir.RankedTensorType) -> ir.Value:
    """A constant of `type_`; an array of one element gives it one value everywhere."""
    array = np.ascontiguousarray(array)
    return ConstOp(value=ir.DenseElementsAttr.get(array, type=type_)).out


# -- what numpy computes just as the compiled program would ------------------------------------


def _ufunc(function: Callable[..., Any]) -> Callable[..., Array]:
    return lambda _, *arrays: function(*arrays)


def _signed(op: TcpOp, array: Array) -> Array:
    """Integers as the op takes them; those of an array are signed."""
    name = "int_signedness"
    if name not in op.attributes or case_of(op.attributes[name]) != "Unsigned":
        return array
    return array.view(f"uint{8 * array.itemsize}")


def _signed_ufunc(function: Callable[..., Any]) -> Callable[..., Array]:
    return lambda op, *arrays: function(*(_signed(op, array) for array in arrays))


_COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _compare(op: TcpOp, first: Array, second: Array) -> Array:
    relation = _COMPARISONS[case_of(op.predicate)]
    return np.asarray(relation(_signed(op, first), _signed(op, second)))


_DTYPES = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool"}


def _cast(op: TcpOp, array: Array) -> Array | None:
    source, target = op.input.type.element_type, op.out.type.element_type
    if is_bool(target):
        return np.not_equal(array, 0)
    if is_float(source) and not is_float(target):
        # What does not fit is undefined; it is left to the machine.
        return None
    if not is_float(source) and not is_bool(source):
        array = (
            array.view(f"uint{8 * array.itemsize}")
            if case_of(op.in_int_signedness) == "Unsigned"
            else array
        )
        if target == ir.F16Type.get():
            # As PyTorch does, which rounds twice then.
            array = array.astype("float32")
    return array.astype(_DTYPES.get(str(target), f"int{getattr(target, 'width', 0)}"))


def _transpose(op: TcpOp, array: Array) -> Array:
    return np.transpose(array, [axis.value for axis in op.permutation]) if array.ndim else array


def _transpose_unless_splat(op: TcpOp, array: Array) -> Array:
    return array if array.shape == (1,) else _transpose(op, array)


def _reverse(op: TcpOp, array: Array) -> Array:
    return array if array.size == 1 else np.flip(array, tuple(axis.value for axis in op.axes))


def _concat(op: TcpOp, *arrays: Array) -> Array | None:
    if all(array.size == 1 for array in arrays) and len({a.tobytes() for a in arrays}) == 1:
        return arrays[0].reshape(-1)
    if _count(op.out.type) > _MAX_ELEMENTS:
        return None
    whole = [
        np.broadcast_to(array, operand.type.shape)
        for array, operand in zip(arrays, op.operands, strict=True)
    ]
    return np.concatenate(whole, axis=op.dim.value)


_FOLDS: Mapping[type[TcpOp], Callable[..., Array | None]] = {
    elementwise.AbsOp: _ufunc(np.abs),
    elementwise.AddOp: _ufunc(np.add),
    elementwise.BitwiseAndOp: _ufunc(np.bitwise_and),
    elementwise.BitwiseNotOp: _ufunc(np.invert),
    elementwise.BitwiseOrOp: _ufunc(np.bitwise_or),
    elementwise.BitwiseXorOp: _ufunc(np.bitwise_xor),
    elementwise.CastOp: _cast,
    elementwise.CeilOp: _ufunc(np.ceil),
    elementwise.CompareOp: _compare,
    elementwise.DivfOp: _ufunc(np.divide),
    elementwise.FloorOp: _ufunc(np.floor),
    elementwise.LogicalAndOp: _ufunc(np.logical_and),
    elementwise.LogicalNotOp: _ufunc(np.logical_not),
    elementwise.LogicalOrOp: _ufunc(np.logical_or),
    elementwise.LogicalXorOp: _ufunc(np.logical_xor),
    elementwise.MaximumOp: _signed_ufunc(np.maximum),
    elementwise.MinimumOp: _signed_ufunc(np.minimum),
    elementwise.MulOp: _ufunc(np.multiply),
    elementwise.NegOp: _ufunc(np.negative),
    elementwise.RoundEvenOp: _ufunc(np.rint),
    elementwise.SelectOp: _ufunc(np.where),
    elementwise.SqrtOp: _ufunc(np.sqrt),
    elementwise.SubOp: _ufunc(np.subtract),
    data_movement.ConcatOp: _concat,
    data_movement.ReverseOp: _reverse,
    data_movement.TransposeOp: _transpose_unless_splat,
}


# -- ops that change nothing -------------------------------------------------------------------


def _is_identity_between_equal_types(op: TcpOp) -> bool:
    return True


def _is_identity_transpose(op: TcpOp) -> bool:
    return [axis.value for axis in op.permutation] == list(range(op.out.type.rank))


def _has_no_axes(op: TcpOp) -> bool:
    return not list(op.axes)


def _has_one_operand(op: TcpOp) -> bool:
    return len(op.operands) == 1


_IDENTITIES: Mapping[type[TcpOp], Callable[[TcpOp], bool]] = {
    # Of equal types, which is asked of all.
    elementwise.BitcastOp: _is_identity_between_equal_types,
    elementwise.CastOp: _is_identity_between_equal_types,
    data_movement.BroadcastOp: _has_no_axes,
    data_movement.ConcatOp: _has_one_operand,
    data_movement.ReverseOp: _has_no_axes,
    data_movement.TransposeOp: _is_identity_transpose,
}


def _compose_transposes(op: TcpOp) -> ir.Value | None:
    inner = op.input.owner
    if isinstance(inner, ir.Block) or inner.name != data_movement.TransposeOp.OPERATION_NAME:
        return None
    first = [axis.value for axis in inner.opview.permutation]
    second = [axis.value for axis in op.permutation]
    return data_movement.TransposeOp(
        inner.operands[0], permutation=[first[axis] for axis in second], results=op.out.type
    ).out


def _fold_broadcast(op: TcpOp) -> ir.Value | None:
    """One value everywhere stays so; an array of several is left to be stretched at run time."""
    attribute = _constant(op.input)
    type_ = op.out.type
    if attribute is None or not attribute.is_splat:
        return None
    if not type_.has_static_shape or not _count(type_):
        return None
    return _const(np.asarray(attribute).reshape(-1)[:1], type_)


# x + 0.0 is no identity: it makes 0.0 of -0.0.
_NEUTRAL_RIGHT: Mapping[type[TcpOp], tuple[float, int]] = {
    elementwise.AddOp: (-0.0, 0),
    elementwise.DivfOp: (1.0, 1),
    elementwise.DivsiOp: (1.0, 1),
    elementwise.DivuiOp: (1.0, 1),
    elementwise.MulOp: (1.0, 1),
    elementwise.SubOp: (0.0, 0),
}
"""The float and the integer that change nothing as the second operand."""
_COMMUTATIVE = (elementwise.AddOp, elementwise.MulOp)


def _drop_neutral(op: TcpOp) -> ir.Value | None:
    """The operand that the other one does not change."""
    first, second = op.operands
    neutral = _NEUTRAL_RIGHT[type(op)][not is_float(op.out.type.element_type)]
    pairs = (
        [(first, second), (second, first)] if isinstance(op, _COMMUTATIVE) else [(first, second)]
    )
    for kept, other in pairs:
        # repr tells -0.0 from 0.0.
        if kept.type == op.out.type and repr(number_everywhere(other)) == repr(neutral):
            return kept
    return None


def _simplify_sum(op: elementwise.AddOp) -> ir.Value | None:
    return _drop_neutral(op) or concatenate_summands(op)


def _trim_windows(op: WindowOp) -> ir.Value | None:
    """Windows without elements that are padding in all of them, which would be made and read."""
    windows = Windows.verified(
        [entry.value for entry in op.kernel],
        strides=op.strides,
        dilations=op.dilations,
        padding_low=op.padding_low,
        padding_high=op.padding_high,
    )
    trimmed = windows.trimmed(op.input.type.shape[-len(windows.kernel) :])
    if trimmed == windows:
        return None
    copy = op.clone()
    copy.attributes["kernel"] = I64Array.build(trimmed.kernel)
    copy.attributes["padding_high"] = I64Array.build(trimmed.padding_high)
    return copy.results[0]


_REWRITES: Mapping[type[TcpOp], Pattern] = {
    **dict.fromkeys(_NEUTRAL_RIGHT, _drop_neutral),
    **dict.fromkeys((ArgmaxPoolOp, PoolOp), _trim_windows),
    elementwise.AddOp: _simplify_sum,
    data_movement.BroadcastOp: _fold_broadcast,
    data_movement.SliceOp: concatenate_slices,
    data_movement.TransposeOp: _compose_transposes,
    elementwise.SelectOp: counted_from_start,
}


def _pattern(op_class: type[TcpOp]) -> Pattern:
    def simplify(op: TcpOp) -> ir.Value | None:
        is_identity = _IDENTITIES.get(op_class)
        operand_type = op.operands[0].type if op.operands else None
        if is_identity and operand_type == op.results[0].type and is_identity(op):
            return op.operands[0]
        folded = _fold_constants(op, _FOLDS[op_class]) if op_class in _FOLDS else None
        if folded is None and op_class in _REWRITES:
            return _REWRITES[op_class](op)
        return folded

    return simplify


_PATTERNS = {op: _pattern(op) for op in {**_FOLDS, **_IDENTITIES, **_REWRITES}}


# -- merging -----------------------------------------------------------------------------------


def _merge_constants(op: ir.Operation) -> None:
    """Has the constants in `op` that equal an earlier one be that one."""
    visit_in_scopes(op, _merge_constant, {})


def _merge_constant(op: ir.Operation, known: dict[ir.Attribute, ir.Value]) -> None:
    if op.name != ConstOp.OPERATION_NAME:
        return
    first = known.setdefault(op.attributes["value"], op.results[0])
    if first != op.results[0]:
        op.results[0].replace_all_uses_with(first)
        op.erase()


def _canonicalize(operation: ir.Operation) -> None:
    lower(operation, _PATTERNS)
    _merge_constants(operation)


TCP_CANONICALIZE = Pass(
    "tcp-canonicalize",
    "Fold ops of TCP on constants and ops that change nothing, concatenate slices in place of "
    "slicing what is concatenated, and parts in place of adding them up in zeros, and merge "
    "constants",
    _canonicalize,
)

TCP_MERGE_CONSTANTS = Pass(
    "tcp-merge-constants",
    "Have equal constants of TCP be one, as canonicalize does it for MLIR's dialects",
    _merge_constants,
)
