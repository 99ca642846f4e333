"""Innermost loops over elements, and the same done to vectors of them."""

from collections.abc import Callable, Collection

from torch_mlir import ir
from torch_mlir.dialects import scf

from plumbline.bindings.walk import clone_operations
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.vectors import on_lanes

LOAD, STORE = "memref.load", "memref.store"

_BOOLEAN = 1
"""Bits."""

Load = Callable[[ir.VectorType, ir.Value, list[ir.Value]], ir.Value]
"""Builds a load of a vector, of a buffer and where it begins."""

Store = Callable[[ir.Value, ir.Value, list[ir.Value]], object]
"""Builds a store of a number or vector, to a buffer and where it begins."""


class ElementLoop:
    """An innermost loop of steps of 1, and what it does to an element, `but` for some."""

    def __init__(self, loop: scf.ForOp, but: Collection[ir.Operation] = ()) -> None:
        self.at = loop.induction_variable
        *ops, _ = (view.operation for view in loop.body.operations)
        self.ops: list[ir.Operation] = [op for op in ops if op not in but]
        self._varying = {self.at}
        """The values that differ from element to element."""
        for op in self.ops:
            if any(operand in self._varying for operand in op.operands):
                self._varying.update(op.results)

    @property
    def stores(self) -> list[ir.Operation]:
        """What it does to memory."""
        return [op for op in self.ops if op.name == STORE]

    @property
    def of_elements(self) -> list[ir.Operation]:
        """What gives another number for each element."""
        return [op for op in self.ops if not self._varying.isdisjoint(op.results)]

    def can_be_vectors(self, widths: Collection[int] | None = None) -> bool:
        """Whether what it does to elements can be done to vectors, as far as operations go.

        With `widths`, in bits, elements in memory must have one of them, and other values as well
        unless they are booleans.
        """
        return all(self._can_be_vector(op, widths) for op in self.ops)

    def _can_be_vector(self, op: ir.Operation, widths: Collection[int] | None) -> bool:
        if op.name == STORE:
            return self._is_run(op.operands[1], list(op.operands)[2:], widths)
        if op.name.partition(".")[0] not in ("arith", "math") and op.name != LOAD:
            return False
        if op.results[0] not in self._varying:
            return True
        if op.name == LOAD:
            is_element = _is_element(op.results[0].type, widths)
            return is_element and self._is_run(op.operands[0], list(op.operands)[1:], widths)
        return all(_is_element(value.type, widths) for value in (*op.operands, *op.results))

    def _is_run(
        self, buffer: ir.Value, places: list[ir.Value], widths: Collection[int] | None
    ) -> bool:
        """Whether each element is beside the one before it."""
        type_ = ir.MemRefType(buffer.type)
        strides, _ = type_.get_strides_and_offset()
        return (
            bool(places)
            and bool(places[-1] == self.at)
            and self._varying.isdisjoint(places[:-1])
            and strides[-1] == 1
            and (widths is None or 8 * element_bytes(type_.element_type) in widths)
        )

    def in_vectors(
        self, values: dict[ir.Value, ir.Value], lanes: int, load: Load, store: Store
    ) -> None:
        """Builds what an iteration does for so many elements at once.

        `values` has in place of what differs from element to element what that is here, such as
        where the first element is; to them are added the others.
        """
        for op in self.ops:
            operands = [values.get(operand, operand) for operand in op.operands]
            if op.name == STORE:
                store(operands[0], operands[1], operands[2:])
            elif op.results[0] not in self._varying:
                clone_operations([op], values)
            elif op.name == LOAD:
                type_ = ir.VectorType.get([lanes], op.results[0].type)
                values[op.results[0]] = load(type_, operands[0], operands[1:])
            else:
                values |= zip(op.results, on_lanes(op, operands, [lanes]), strict=True)


def _is_element(type_: ir.Type, widths: Collection[int] | None) -> bool:
    if not isinstance(type_, ir.FloatType | ir.IntegerType):
        return False
    return widths is None or type_.width == _BOOLEAN or type_.width in widths
