"""Has sizes be asked of what tells them, and not of tensors that are computed.

What is made of a computation has the sizes of its result, as `tensor.dim` asks for them. Where that
turns out to be read by nobody else, as a copy is that a kernel reads through, it would be computed
all the same: attention of half precision had its keys turned for their number alone.
"""

from torch_mlir import ir

from plumbline.bindings.walk import constant_integer, defining_operation, operations_named
from plumbline.linalg_to_kernels.computations import erase_unused
from plumbline.linalg_to_kernels.sizes import told_size


def tell_sizes(module: ir.Operation) -> None:
    """Replaces each `tensor.dim` of `module` whose size is told, and erases what nobody reads."""
    for op in operations_named(module, "tensor.dim"):
        axis, value = constant_integer(op.operands[1]), op.operands[0]
        if axis is None or defining_operation(value) is None:
            continue
        with module.context, ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(told_size(value, axis))
        op.erase()
        erase_unused(value)
