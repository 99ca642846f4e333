"""Views of buffers: other types of the same memory."""

from torch_mlir import ir

VIEWS = frozenset(
    {
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.reinterpret_cast",
        "memref.subview",
        "memref.transpose",
    }
)
"""The operations that give one of their first operand."""


def root(value: ir.Value) -> ir.Value:
    """The buffer that `value` is a view of."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in VIEWS:
        value = value.owner.operands[0]
    return value
