"""Makes reshapes that go by one axis direct, where the same sizes are on both sides.

Of `2x?x?` -> `?` -> `1x2x?x?` nothing tells where an element of the result is from, but that the
sizes which are not known are the same ones, in the same order. So it is seen that attention's
scores are those of its first product where both lengths are dynamic, be these sums, as with keys
that are kept from call to call.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import all_operations, constant_integer, defining_operation
from plumbline.linalg_to_kernels.computations import DYNAMIC, reassociation
from plumbline.signature.c_signature import functions_with_bodies
from plumbline.signature.shape_attributes import attached
from plumbline.signature.size_expressions import Operation, Size

_Size = tuple[int, tuple[Hashable, ...]]
"""A product: of a number, and of what is the same for sizes that are, in a fixed order."""

_ONE: _Size = (1, ())


def reshape_directly(module: ir.Operation) -> None:
    """Replaces each expanding of what is collapsed, in the functions of `module`."""
    with module.context:
        for public in (True, False):
            for function in functions_with_bodies(module, "func.func", public=public):
                sizes = _Sizes(function, public=public)
                for op in all_operations(function.operation):
                    if op.name == "tensor.expand_shape":
                        _make_direct(op, sizes)


def _make_direct(op: ir.Operation, sizes: "_Sizes") -> None:
    collapse = defining_operation(op.operands[0])
    if collapse is None or collapse.name != "tensor.collapse_shape":
        return
    source, result = collapse.operands[0], op.results[0]
    before, after = (ir.RankedTensorType(value.type) for value in (source, result))
    groups = _matched(
        [sizes.of(source, axis) for axis in range(before.rank)],
        [sizes.of(result, axis) for axis in range(after.rank)],
    )
    # The more groups there are, the more is known of where elements are from.
    if len(groups) <= len(reassociation(collapse)):
        return
    of_source, of_result = ([group[side] for group in groups] for side in range(2))
    shape = [_product_of(before.shape, axes) for axes in of_source]
    if shape != [_product_of(after.shape, axes) for axes in of_result]:
        return
    with ir.InsertionPoint(op), op.location:
        value = source
        if before.rank > len(groups):
            collapsed = ir.RankedTensorType.get(shape, before.element_type)
            value = tensor.collapse_shape(collapsed, source, of_source)
        if after.rank > len(groups):
            dynamic = list(op.operands)[1:]
            value = tensor.expand_shape(after, value, of_result, dynamic, list(after.shape))
    result.replace_all_uses_with(value)
    op.erase()
    # Nobody is to take it for another reader.
    if not any(True for _ in collapse.results[0].uses):
        collapse.erase()


def _product_of(shape: Sequence[int], axes: Sequence[int]) -> int:
    sizes = [shape[axis] for axis in axes]
    return DYNAMIC if DYNAMIC in sizes else math.prod(sizes)


def _matched(before: Sequence[_Size], after: Sequence[_Size]) -> list[tuple[list[int], list[int]]]:
    """Axes of both sides, in order, whose products are the same: as small groups as there are."""
    sides = (before, after)
    groups: list[tuple[list[int], list[int]]] = []
    left: tuple[list[int], list[int]] = ([], [])
    at = [0, 0]
    while at != [len(before), len(after)]:
        one, other = _products(sides, left)
        is_first = at[1] == len(after) or (at[0] < len(before) and _lacks(one, other))
        side = 0 if is_first else 1
        left[side].append(at[side])
        at[side] += 1
        one, other = _products(sides, left)
        if one == other and all(left):
            groups.append(left)
            left = ([], [])
    if not any(left):
        return groups
    if not groups or _products(sides, left) != [_ONE, _ONE]:
        return []
    for axes, ones in zip(groups[-1], left, strict=True):
        axes += ones
    return groups


def _products(sides: Sequence[Sequence[_Size]], axes: Sequence[Sequence[int]]) -> list[_Size]:
    return [_product(side[axis] for axis in own) for side, own in zip(sides, axes, strict=True)]


def _lacks(one: _Size, other: _Size) -> bool:
    """Whether the first is to grow, rather than the second."""
    return len(one[1]) < len(other[1]) or (len(one[1]) == len(other[1]) and one[0] <= other[0])


def _product(sizes: Iterable[_Size]) -> _Size:
    number = 1
    factors: list[Hashable] = []
    for known, unknown in sizes:
        number *= known
        factors += unknown
    return number, tuple(sorted(factors, key=hash))


@dataclass(frozen=True)
class _Sum:
    """A factor that is a sum."""

    terms: frozenset[_Size]
    """Each of other factors."""


def _sum(sizes: Iterable[_Size]) -> _Size:
    counts: dict[tuple[Hashable, ...], int] = {}
    for number, factors in sizes:
        inner = factors[0] if len(factors) == 1 else None
        terms = inner.terms if isinstance(inner, _Sum) else [(1, factors)]
        for count, of in terms:
            counts[of] = counts.get(of, 0) + number * count
    found = [(count, of) for of, count in counts.items() if count]
    if not found:
        return 0, ()
    return found[0] if len(found) == 1 else (1, (_Sum(frozenset(found)),))


def _of_affine(at: ir.AffineExpr, dims: Sequence[_Size], symbols: Sequence[_Size]) -> _Size:
    """What such an expression is, of numbers that are these sizes."""
    at = at.maybe_downcast()
    match at:
        case ir.AffineConstantExpr():
            return int(at.value), ()
        case ir.AffineDimExpr():
            return dims[int(at.position)]
        case ir.AffineSymbolExpr():
            return symbols[int(at.position)]
        case ir.AffineAddExpr() | ir.AffineMulExpr():
            combine = _sum if isinstance(at, ir.AffineAddExpr) else _product
            return combine(_of_affine(side, dims, symbols) for side in (at.lhs, at.rhs))
    return 1, ((str(at), tuple(dims), tuple(symbols)),)


def _of_expression(size: Size) -> _Size:
    match size:
        case int():
            return size, ()
        case Operation("+", left, right):
            return _sum(map(_of_expression, (left, right)))
        case Operation("*", left, right):
            return _product(map(_of_expression, (left, right)))
    return 1, (size,)


class _Sizes:
    """The sizes of tensors in a function, as far as they are told apart."""

    def __init__(self, function: ir.OpView, *, public: bool) -> None:
        self._block = function.regions[0].blocks[0]
        self._shapes: Sequence[Sequence[Size | None]] = ()
        if public:
            self._shapes = attached(function, skipped=0).shapes

    def of(self, value: ir.Value, axis: int) -> _Size:
        """A size of a tensor."""
        type_ = ir.RankedTensorType(value.type)
        if type_.shape[axis] != DYNAMIC:
            return int(type_.shape[axis]), ()
        op = defining_operation(value)
        if op is None:
            return self._of_argument(ir.BlockArgument(value), axis)
        before = sum(size == DYNAMIC for size in list(type_.shape)[:axis])
        match op.name:
            case "tensor.empty":
                return self._of_number(op.operands[before])
            case "tensor.expand_shape":
                return self._of_number(op.operands[1 + before])
            case "tensor.extract_slice" if len(op.attributes["static_sizes"]) == type_.rank:
                return self._of_number(op.opview.sizes[before])
            case "tensor.insert_slice":
                return self.of(op.operands[1], axis)
            case "tensor.cast":
                return self.of(op.operands[0], axis)
            case "tensor.collapse_shape":
                return _product(self.of(op.operands[0], at) for at in reassociation(op)[axis])
            case name if name.startswith("linalg."):
                inits = list(op.operands)[len(op.operands) - len(op.results) :]
                return self.of(inits[ir.OpResult(value).result_number], axis)
        return 1, ((value, axis),)

    def _of_argument(self, argument: ir.BlockArgument, axis: int) -> _Size:
        size = None
        if argument.owner == self._block and self._shapes:
            size = self._shapes[argument.arg_number][axis]
        return (1, ((argument, axis),)) if size is None else _of_expression(size)

    def _of_number(self, value: ir.Value) -> _Size:
        op = defining_operation(value)
        known = constant_integer(value)
        if known is not None:
            return known, ()
        if op is not None and op.name == "arith.muli":
            return _product(map(self._of_number, op.operands))
        if op is not None and op.name == "arith.addi":
            return _sum(map(self._of_number, op.operands))
        if op is not None and op.name == "affine.apply":
            map_ = ir.AffineMapAttr(op.attributes["map"]).value
            numbers = [self._of_number(operand) for operand in op.operands]
            return _of_affine(map_.results[0], numbers[: map_.n_dims], numbers[map_.n_dims :])
        if op is not None and op.name == "tensor.dim":
            axis = constant_integer(op.operands[1])
            if axis is not None:
                return self.of(op.operands[0], axis)
        return 1, (value,)
