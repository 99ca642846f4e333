"""Whose memory a buffer is: views of others, and what shares memory with no other."""

from collections.abc import Collection

from torch_mlir import ir

from plumbline.bindings.walk import users_through

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


NEW_MEMORY = frozenset({"memref.alloc", "memref.alloca"})
"""The operations that give a buffer of its own memory."""

NOALIAS = "llvm.noalias"
"""The attribute of an argument whose memory is that of no other argument."""


_USERS = frozenset({"func.call", "memref.copy", "memref.dim", "memref.load", "memref.store"})
_USING_DIALECTS = frozenset({"linalg", "tm_tensor"})


def only_uses(user: ir.Operation) -> bool:
    """Whether an operation that is given a buffer is done with it when it ends.

    Others may hand it on, and it lives on.
    """
    dialect, _, _ = user.name.partition(".")
    return (user.name in _USERS or dialect in _USING_DIALECTS) and not any(
        isinstance(result.type, ir.MemRefType) for result in user.results
    )


def users_of(buffer: ir.Value, views: Collection[str] = VIEWS) -> list[ir.Operation]:
    """The operations that use a buffer, by way of `views` or not."""
    return [user for user in users_through(buffer, views) if user.name not in views]


def root(value: ir.Value) -> ir.Value:
    """The buffer that `value` is a view of."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in VIEWS:
        value = value.owner.operands[0]
    return value


def is_apart(buffer: ir.Value) -> bool:
    """Whether a buffer shares memory with no other that is seen where it is."""
    if not isinstance(buffer.owner, ir.Block):
        return bool(buffer.owner.name in NEW_MEMORY)
    given = buffer.owner.owner.operation.attributes.get("arg_attrs")
    return given is not None and NOALIAS in ir.DictAttr(
        ir.ArrayAttr(given)[ir.BlockArgument(buffer).arg_number]
    )
