"""Has what is in windows of planes be combined along one axis first, and then along the others.

The greatest of 3x3 elements is that of the greatest of each of 3 columns, which windows side by
side have in common: for each row of windows columns are combined first, whole vectors of them as
they lie, then those of each window. Both are steps of one kernel, so that columns stay in the first
caches. With all elements of each window by themselves, a pooling of 112x112 planes by windows of
3x3 that are two columns apart took 1.5 times as long, one of 13x13 by as large ones 12 times (AMD
Zen 5).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import clone_operations, operations_of
from plumbline.linalg_to_kernels.computations import (
    GENERIC,
    Computation,
    composed,
    computation,
    is_zero,
    number_everywhere,
)
from plumbline.linalg_to_kernels.order_reductions import is_in_any_order
from plumbline.linalg_to_kernels.products import DYNAMIC, access_of
from plumbline.tcp_to_linalg.building import dim, empty, fill
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, REDUCTION, dims_map, loop_nest

_LEAST_SAVED, _LEAST_OTHERWISE_SHARED = 3, 9
"""Elements of a window that are not combined any more, for which it is worth two steps: of 2x2
there are none. Rows of windows that are one column apart, and those of images whose channels are
last, have most in common as it is (`jam_windows`): those of 3x3 in rows of 180 took 1.3 times as
long in two steps."""

_LONG_ROW = 128

_SUMS = ("arith.addf", "arith.addi")


def separate_windows(module: ir.Operation) -> None:
    """Separates the axes of windows of `module` that have more than a few elements."""
    with module.context:
        for op in operations_of(module, "linalg"):
            found = computation(op) if op.name == GENERIC else None
            while found is not None and (windows := _worthwhile_windows(found)):
                found = _separated(found, windows[0])


@dataclass(frozen=True)
class _Window:
    """An axis along which windows move."""

    axis: int
    """Of the tensor that they move over."""
    places: int
    """The loop over the windows."""
    elements: int
    """The loop over the elements of one."""
    stride: int
    dilation: int
    is_contiguous: bool
    """Whether it is the last axis, along which vectors are."""


def _worthwhile_windows(found: Computation) -> Sequence[_Window]:
    """All axes along which windows move over planes, if it is worth it to separate these."""
    if len(found.results) != 1 or not is_in_any_order(found):
        return ()
    windows = _windows(found)
    sizes = [found.sizes[window.elements] for window in windows]
    if len(windows) < 2 or math.prod(sizes) - sum(sizes) < _least_saved(found, windows[-1]):
        return ()
    # Each step begins with it, which is once more for what is added up.
    start = number_everywhere(found.inits[0])
    is_neutral = is_zero(start) or found.yielded[0].owner.name not in _SUMS
    return windows if start is not None and is_neutral else ()


def _least_saved(found: Computation, inner: _Window) -> int:
    """For how many elements less of each window it is worth it, by the innermost axis of these."""
    row = found.sizes[inner.places]
    is_long = inner.stride == 1 and (row == DYNAMIC or row > _LONG_ROW)
    return _LEAST_OTHERWISE_SHARED if is_long or not inner.is_contiguous else _LEAST_SAVED


def _windows(found: Computation) -> list[_Window]:
    """The windows over axes of a tensor, if they are all that is reduced, and it is alone read."""
    read = _read(found)
    access = access_of(found.maps[read[0]]) if len(read) == 1 else None
    if access is None:
        return []
    windows, last = [], len(access.axes) - 1
    for axis, terms in enumerate(access.axes):
        loops = sorted((found.reduces[loop], loop, factor) for loop, factor in terms)
        match loops:
            case [(False, places, stride), (True, elements, dilation)]:
                windows.append(_Window(axis, places, elements, stride, dilation, axis == last))
            case [(False, _, 1)] | []:
                pass
            case _:
                return []
    are_all = len(windows) == sum(found.reduces)
    are_several = all(found.sizes[window.places] != 1 for window in windows)
    return windows if are_all and are_several else []


def _read(found: Computation) -> list[int]:
    """The inputs that are looked at: another one tells the size of windows."""
    inputs = found.reads_operands[: len(found.inputs)]
    return [number for number, is_read in enumerate(inputs) if is_read]


def _separated(found: Computation, first: _Window) -> Computation | None:
    """Combines elements along one axis, then what that gives along the others: the latter."""
    (number,), (init,), dims = _read(found), found.inits, len(found.reduces) - 1
    loops = [ir.AffineDimExpr.get(loop) for loop in range(dims)]
    loops.insert(first.elements, ir.AffineConstantExpr.get(0))
    read, written = (list(composed(found.maps[operand], loops, dims)) for operand in (number, -1))
    read[first.axis] = loops[first.places]
    kinds = [REDUCTION if reduces else PARALLEL for reduces in found.reduces]
    del kinds[first.elements]
    others = [loop for loop, kind in enumerate(kinds) if kind == REDUCTION]
    left = [size for loop, size in enumerate(found.sizes) if loop != first.elements]
    with ir.InsertionPoint(found.op), found.op.location:
        columns = _combined_along(found, first, found.inputs[number])
        (result,) = loop_nest(
            [init],
            [columns, _window_of([left[loop] for loop in others], columns)],
            [dims_map(dims, places) for places in (read, others, written)],
            kinds,
            lambda read, so_far: _once_more(found, read[0], so_far[0]),
        )
    found.results[0].replace_all_uses_with(result)
    found.op.erase()
    return computation(result.owner)


def _combined_along(found: Computation, first: _Window, source: ir.Value) -> ir.Value:
    """What windows are over, with its elements combined along one axis of these."""
    (init,) = found.inits
    axes = found.result_loops(0)
    assert axes is not None
    along = axes.index(first.places)
    of_result, of_source = ir.RankedTensorType(init.type), ir.RankedTensorType(source.type)
    shape, element = [*of_source.shape], of_result.element_type
    shape[first.axis] = of_result.shape[along]
    sizes = [
        dim(init, along) if axis == first.axis else dim(source, axis)
        for axis, size in enumerate(shape)
        if size == DYNAMIC
    ]
    start = arith.constant(element, number_everywhere(init))
    rank = len(shape)
    read: list[int | ir.AffineExpr] = [*range(rank)]
    read[first.axis] = (
        ir.AffineDimExpr.get(first.axis) * first.stride
        + ir.AffineDimExpr.get(rank) * first.dilation
    )
    (combined,) = loop_nest(
        [fill(ir.RankedTensorType.get(shape, element), sizes, start)],
        [source, _window_of([found.sizes[first.elements]], source)],
        [dims_map(rank + 1, places) for places in (read, [rank], range(rank))],
        [*[PARALLEL] * rank, REDUCTION],
        lambda read, so_far: _combined(found, read[0], so_far[0]),
    )
    return combined


def _window_of(sizes: Sequence[int], source: ir.Value) -> ir.Value:
    """A tensor of no elements that are read, which tells how many there are in a window."""
    element = ir.RankedTensorType(source.type).element_type
    return empty(ir.RankedTensorType.get(sizes, element), [])


def _combined(found: Computation, element: ir.Value, so_far: ir.Value) -> ir.Value:
    """What comes of an element and those before it."""
    values = dict.fromkeys(found.body.arguments, element)
    values[found.body.arguments[len(found.inputs)]] = so_far
    clone_operations(found.body_ops, values)
    return values[found.yielded[0]]


def _once_more(found: Computation, combined: ir.Value, so_far: ir.Value) -> ir.Value:
    """What comes of elements that are combined and those before them."""
    combine = found.yielded[0].owner.operation
    before = found.body.arguments[len(found.inputs)]
    values = {operand: so_far if operand == before else combined for operand in combine.operands}
    clone_operations([combine], values)
    return values[found.yielded[0]]
