"""Has what is read of a tensor that nothing is written to be zero.

It is read never: such a tensor is left where there is no element to write. But a kernel would have
no memory to read it from.
"""

from torch_mlir import ir

from plumbline.bindings.walk import defining_operation, operations_named
from plumbline.tcp_to_linalg.building import zero


def zero_unwritten_elements(module: ir.Operation) -> None:
    """Puts zeros in the place of elements that `module` extracts from `tensor.empty`."""
    with module.context:
        for op in operations_named(module, "tensor.extract"):
            source = defining_operation(op.operands[0])
            if source is not None and source.name == "tensor.empty":
                (value,) = op.results
                with ir.InsertionPoint(op), op.location:
                    value.replace_all_uses_with(zero(value.type))
                op.erase()
