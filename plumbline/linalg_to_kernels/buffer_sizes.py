"""How large buffers are, so that it is seen which are as large as others."""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.bindings.walk import constant_integer, defining_operation, is_inside
from plumbline.linalg_to_kernels.building import index

_DIM = "memref.dim"


@dataclass(frozen=True)
class BufferSize:
    """A number, or how large a buffer is along an axis."""

    of: ir.Value
    axis: int | None = None

    def value(self) -> ir.Value:
        """Builds it as a number."""
        return self.of if self.axis is None else memref.dim(self.of, index(self.axis))


def dynamic_axes(type_: ir.MemRefType) -> list[int]:
    """The axes along which a type does not say how large a buffer is."""
    return [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]


def uncast(buffer: ir.Value) -> ir.Value:
    """The buffer that others of the same sizes and elements are casts of."""
    while (op := defining_operation(buffer)) is not None and op.name == "memref.cast":
        buffer = op.operands[0]
    return buffer


class BufferSizes:
    """The sizes of buffers, as of what they were made from."""

    def __init__(self, start: Callable[[ir.Value], ir.Value | None]) -> None:
        """`start` tells of what a loop carries, in it and behind it, what it was before.

        That is for buffers that stay as large.
        """
        self._start = start

    def of(self, buffer: ir.Value, axis: int) -> BufferSize:
        """How large a buffer is along an axis: as large as has been asked for, if it is told."""
        while True:
            buffer = uncast(buffer)
            start = self._start(buffer)
            if start is not None:
                buffer = start
                continue
            op = defining_operation(buffer)
            axes = dynamic_axes(ir.MemRefType(buffer.type))
            if op is None or axis not in axes:
                return BufferSize(buffer, axis)
            number = axes.index(axis)
            if op.name == "scf.if":
                return self._of_branches(op, buffer, axis)
            if op.name == "memref.collapse_shape":
                along = _longer(op, axis)
                if len(along) != 1:
                    return BufferSize(buffer, axis)
                (buffer,), (axis,) = op.operands, along
                continue
            if op.name == "memref.alloc":
                asked = op.operands[number]
            elif op.name == "memref.expand_shape":
                asked = op.operands[1 + number]
            elif op.name == "memref.subview":
                asked = op.opview.sizes[number]
            else:
                return BufferSize(buffer, axis)
            of = _asked(asked)
            if of is None:
                return BufferSize(asked)
            buffer, axis = of

    def _of_branches(self, choice: ir.Operation, buffer: ir.Value, axis: int) -> BufferSize:
        number = list(choice.results).index(buffer)
        ends = [list(region.blocks[0].operations)[-1] for region in choice.regions]
        size = self.in_front(choice, [end.operands[number] for end in ends], axis)
        return BufferSize(buffer, axis) if size is None else size

    def in_front(self, choice: ir.Operation, given: list[ir.Value], axis: int) -> BufferSize | None:
        """How large the buffers of all branches are, as is known in front of them; else None."""
        size, *others = {self.of(buffer, axis) for buffer in given}
        return None if others or is_inside(size.of, choice) else size


def _longer(collapse: ir.Operation, axis: int) -> list[int]:
    """The axes that one is made of, but for those along which there is one element."""
    shape = ir.MemRefType(collapse.operands[0].type).shape
    group = ir.ArrayAttr(collapse.attributes["reassociation"])[axis]
    axes = [ir.IntegerAttr(of).value for of in ir.ArrayAttr(group)]
    return [of for of in axes if shape[of] != 1]


def _asked(number: ir.Value) -> tuple[ir.Value, int] | None:
    """The buffer, and its axis, that something is asked to be as large as."""
    dim = defining_operation(number)
    if dim is not None and dim.name == "arith.maxsi" and constant_integer(dim.operands[1]) == 0:
        # An extent that is computed may be below 0, but no size is.
        dim = defining_operation(dim.operands[0])
    if dim is None or dim.name != _DIM:
        return None
    axis = constant_integer(dim.operands[1])
    return None if axis is None else (dim.operands[0], axis)
