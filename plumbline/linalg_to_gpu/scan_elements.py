"""Spells scans of slices as scans of elements.

On a CPU a scan goes from slice to slice where elements are contiguous across, as loops over these
are loops over vectors. On a GPU each slice would be a launch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from plumbline.bindings.walk import all_operations, clone_operations, defining_operation
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import (
    Computation,
    computation,
    number_everywhere,
)
from plumbline.tcp_to_linalg.loop_nest import SCAN

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def scan_elements(module: ir.Operation) -> None:
    """Replaces the loops of `module` over slices that are scans by nests over elements."""
    with module.context:
        for op in all_operations(module):
            if SCAN in op.attributes and (scan := _scan_of_slices(op.opview)) is not None:
                with ir.InsertionPoint(op), op.location:
                    op.results[0].replace_all_uses_with(scan.built())
                op.erase()


@dataclass(frozen=True)
class _Scan:
    loop: scf.ForOp
    source: ir.Value
    axis: int
    start: ir.Attribute
    """What each row starts from."""
    combine: Computation
    """It takes a slice, and gives one of the result and what was combined so far."""

    def built(self) -> ir.Value:
        """Builds the nest; gives its result."""
        out = self.loop.initArgs[0]
        type_ = ir.RankedTensorType(self.source.type)
        sizes = [
            tensor.dim(self.source, index(axis)) if size == _DYNAMIC else index(size)
            for axis, size in enumerate(type_.shape)
        ]
        del sizes[self.axis]
        start = arith.ConstantOp(self.combine.results[1].type.element_type, self.start).result

        def row(out: ir.Value, places: Sequence[ir.Value]) -> ir.Value:
            bounds = self.loop.lowerBound, self.loop.upperBound, self.loop.step
            loop = scf.ForOp(*bounds, [out, start])
            loop.operation.attributes[SCAN] = ir.UnitAttr.get()
            with ir.InsertionPoint(loop.body):
                place = [*places[: self.axis], loop.induction_variable, *places[self.axis :]]
                element = tensor.extract(self.source, place)
                stored, so_far = self._combined(element, loop.inner_iter_args[1])
                scf.YieldOp([tensor.insert(stored, loop.inner_iter_args[0], place), so_far])
            return loop.results[0]

        return _nest(out, sizes, row)

    def _combined(self, element: ir.Value, so_far: ir.Value) -> list[ir.Value]:
        taken, _, before = self.combine.body.arguments
        values = {taken: element, before: so_far}
        clone_operations(self.combine.body_ops, values)
        return [values.get(value, value) for value in self.combine.yielded]


def _nest(
    out: ir.Value,
    sizes: Sequence[ir.Value],
    body: Callable[[ir.Value, Sequence[ir.Value]], ir.Value],
    places: tuple[ir.Value, ...] = (),
) -> ir.Value:
    """Loops of such sizes, of which each iteration of the innermost does the body to a tensor."""
    if len(places) == len(sizes):
        return body(out, places)
    loop = scf.ForOp(index(0), sizes[len(places)], index(1), [out])
    with ir.InsertionPoint(loop.body):
        place = (*places, loop.induction_variable)
        scf.YieldOp([_nest(loop.inner_iter_args[0], sizes, body, place)])
    return loop.results[0]


def _scan_of_slices(loop: scf.ForOp) -> _Scan | None:
    """What a loop scans, if it does so slice by slice; what it combined last is of no use then."""
    if len(loop.inner_iter_args) != 2 or any(True for _ in loop.results[1].uses):
        return None
    out, so_far = loop.inner_iter_args
    end = loop.body.operations[len(loop.body.operations) - 1]
    insert, found = map(defining_operation, end.operands)
    combine = None if found is None else computation(found)
    if insert is None or insert.name != "tensor.insert_slice" or combine is None:
        return None
    start = number_everywhere(loop.initArgs[1])
    slices = [defining_operation(value) for value in combine.inputs]
    if start is None or combine.inits[1:] != (so_far,) or combine.is_reduction or len(slices) != 1:
        return None
    (extract,) = slices
    axis = _axis(insert, loop)
    if (
        extract is None
        or extract.name != "tensor.extract_slice"
        or list(insert.operands)[:2] != [combine.results[0], out]
        or axis is None
        or _axis(extract, loop) != axis
        or any(map_ != ir.AffineMap.get_identity(len(combine.reduces)) for map_ in combine.maps)
    ):
        return None
    return _Scan(loop, extract.operands[0], axis, start, combine)


def _axis(op: ir.Operation, loop: scf.ForOp) -> int | None:
    """The one axis along which a slice is at the loop's place; it is whole along all others."""
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[name]))
        for name in ("static_offsets", "static_sizes", "static_strides")
    )
    axes = [axis for axis, offset in enumerate(offsets) if offset == _DYNAMIC]
    if len(axes) != 1 or sizes[axes[0]] != 1 or set(strides) != {1}:
        return None
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    at = sum(segments[:-3])
    return (
        axes[0]
        if op.operands[at] == loop.induction_variable
        and not any(offset for axis, offset in enumerate(offsets) if axis != axes[0])
        else None
    )
