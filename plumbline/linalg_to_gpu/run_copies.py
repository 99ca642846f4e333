"""Copies whose elements lie next to one another on both sides, so that 16 bytes are one of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import scf, vector

from plumbline.bindings.walk import constant_integer
from plumbline.linalg_to_gpu.contraction_tiles import VECTOR_BYTES
from plumbline.linalg_to_gpu.element_runs import common_length
from plumbline.linalg_to_kernels.planned_memory import element_bytes


@dataclass(frozen=True)
class RunCopy:
    """A copy of one buffer to another, element by element."""

    source: ir.Value
    target: ir.Value
    length: int
    """How many elements of the last axis are copied at once."""

    def build(self, places: Sequence[ir.Value]) -> None:
        """Builds the copy of so many, from a place on."""
        element = ir.MemRefType(self.source.type).element_type
        type_ = ir.VectorType.get([self.length], element)
        alignment = self.length * element_bytes(element)
        read = vector.LoadOp(type_, self.source, list(places), alignment=alignment).result
        vector.StoreOp(read, self.target, list(places), alignment=alignment)


def run_copy(loops: Sequence[scf.ForOp], body: Sequence[ir.Operation]) -> RunCopy | None:
    """The copy that loops are, if vectors of both buffers begin at the same places.

    Args:
      loops: a nest, of which each goes from 0 in steps of 1.
      body: what the last of them does.
    """
    if [op.name for op in body] != ["memref.load", "memref.store"]:
        return None
    load, store = body
    source, *read = load.operands
    value, target, *written = store.operands
    places = [loop.induction_variable for loop in loops]
    if value != load.results[0] or read != places or written != places or not places:
        return None
    size = constant_integer(loops[-1].upperBound)
    if size is None:
        return None
    length = common_length([ir.MemRefType(source.type).element_type], size)
    if length == 1 or not (_begins_vectors(source) and _begins_vectors(target)):
        return None
    return RunCopy(source, target, length)


def _begins_vectors(buffer: ir.Value) -> bool:
    """Whether each line of a buffer lies where a vector may begin, and has no gaps."""
    type_ = ir.MemRefType(buffer.type)
    most = VECTOR_BYTES // element_bytes(type_.element_type)
    strides, offset = type_.get_strides_and_offset()
    *outer, last = strides
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    return last == 1 and all(step != unknown and step % most == 0 for step in (*outer, offset))
