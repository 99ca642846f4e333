"""Which results of a function on buffers are memory of their own, that nothing else has."""

from collections.abc import Collection

from torch_mlir import ir

from plumbline.bindings.walk import defining_operation, users_through

_VIEWS = frozenset({"memref.cast", "memref.collapse_shape", "memref.expand_shape"})
"""Operations that look at a whole buffer in another shape."""

_PARTS = frozenset({"memref.subview"})
"""Operations that look at a part of a buffer."""

_DEALLOCATIONS = frozenset({"gpu.dealloc", "memref.dealloc"})


def origin_of(buffer: ir.Value) -> ir.Value:
    """The buffer that one looks at as a whole."""
    return _looked_at(buffer, _VIEWS)


def memory_of(buffer: ir.Value) -> ir.Value:
    """The buffer that one looks at as a whole or in part: whose memory it is."""
    return _looked_at(buffer, _VIEWS | _PARTS)


def _looked_at(buffer: ir.Value, views: Collection[str]) -> ir.Value:
    while (op := defining_operation(buffer)) is not None and op.name in views:
        buffer = op.operands[0]
    return buffer


def is_own(buffer: ir.Value, block: ir.Block, allocation: str) -> bool:
    """Whether an `allocation` of a block leaves the function by the block's end alone."""
    op = defining_operation(buffer)
    return (
        op is not None
        and op.name == allocation
        and op.block == block
        and all(user.name not in _DEALLOCATIONS for user in users_through(buffer, _VIEWS))
    )
