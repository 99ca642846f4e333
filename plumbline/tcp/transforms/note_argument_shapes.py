"""Keeps what symbolic-shape ops say of a function's arguments, as attributes of the function."""

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import all_operations
from plumbline.signature.shape_attributes import attach


def _note(operation: ir.Operation) -> None:
    for op in all_operations(operation):
        if op.name == "func.func" and op.regions[0].blocks:
            with op.context:
                attach(op)


NOTE_ARGUMENT_SHAPES = Pass(
    "note-argument-shapes",
    "Make attributes of what symbolic-shape ops say of arguments",
    _note,
)
