"""Loops that scan a tensor slice by slice, of one element's thickness."""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from plumbline.bindings.walk import all_operations, clone_operations, defining_operation
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    computation,
    number_everywhere,
)
from plumbline.tcp_to_linalg.loop_nest import SCAN


def replace_scans(module: ir.Operation, build: Callable[["SliceScan"], ir.Value]) -> None:
    """Replaces the loops of `module` over slices that are scans by what is built of each."""
    with module.context:
        # Without what is in them, which is gone where they are erased.
        for op in [op for op in all_operations(module) if SCAN in op.attributes]:
            if (scan := scan_of_slices(op.opview)) is not None:
                with ir.InsertionPoint(op), op.location:
                    op.results[0].replace_all_uses_with(build(scan))
                op.erase()


@dataclass(frozen=True)
class SliceScan:
    """Such a loop, and what makes other loops of it."""

    loop: scf.ForOp
    source: ir.Value
    axis: int
    start: ir.Attribute
    """What each row along the axis starts from."""
    combine: Computation
    """It takes a slice, and gives one of the result and what was combined so far."""

    @property
    def combined_type(self) -> ir.Type:
        """The type of the elements that are combined."""
        return ir.RankedTensorType(self.combine.results[1].type).element_type

    def sizes(self) -> list[ir.Value]:
        """Builds the sizes of the axes."""
        return [
            tensor.dim(self.source, index(axis)) if size == DYNAMIC else index(size)
            for axis, size in enumerate(ir.RankedTensorType(self.source.type).shape)
        ]

    def start_value(self) -> ir.Value:
        """Builds what a row starts from."""
        return arith.ConstantOp(self.combined_type, self.start).result

    def combined(self, element: ir.Value, so_far: ir.Value) -> list[ir.Value]:
        """Builds the element of the result, and what is combined with one element more."""
        taken, _, before = self.combine.body.arguments
        values = {taken: element, before: so_far}
        clone_operations(self.combine.body_ops, values)
        return [values.get(value, value) for value in self.combine.yielded]


def scan_of_slices(loop: scf.ForOp) -> SliceScan | None:
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
    return SliceScan(loop, extract.operands[0], axis, start, combine)


def _axis(op: ir.Operation, loop: scf.ForOp) -> int | None:
    """The one axis along which a slice is at the loop's place; it is whole along all others."""
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[name]))
        for name in ("static_offsets", "static_sizes", "static_strides")
    )
    axes = [axis for axis, offset in enumerate(offsets) if offset == DYNAMIC]
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
