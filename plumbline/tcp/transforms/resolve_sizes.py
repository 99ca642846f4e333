"""Has sizes be read from the arguments that they come from."""

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_of
from plumbline.tcp.building.size_origins import origin_of_dimension


def _resolve(operation: ir.Operation) -> None:
    for op in operations_of(operation, "tensor"):
        if op.name != "tensor.dim":
            continue
        place = origin_of_dimension(op)
        if place is None:
            continue
        tensor, axis = place
        with ir.InsertionPoint(op), op.location:
            size = tensor_dialect.dim(tensor, arith.constant(ir.IndexType.get(), axis))
        op.results[0].replace_all_uses_with(size)
        op.erase()


TCP_RESOLVE_SIZES = Pass(
    "tcp-resolve-sizes",
    "Read sizes from where they come from, and those of one symbol from the first argument with it",
    _resolve,
)
