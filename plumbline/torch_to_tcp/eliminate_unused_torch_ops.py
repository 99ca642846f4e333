"""Drops ops of the Torch dialect whose results nothing uses.

The size computations of torch-mlir's shape arithmetic are such, once the ops that asked for them
are converted; canonicalization keeps some of them.
"""

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_of


def _eliminate(operation: ir.Operation) -> None:
    # In reverse, since the uses of a result come after it.
    for op in reversed(operations_of(operation, "torch")):
        # Without a result, or with a region, an op is there for what it does.
        if op.results and not op.regions and not any(list(result.uses) for result in op.results):
            op.erase()


ELIMINATE_UNUSED_TORCH_OPS = Pass(
    "eliminate-unused-torch-ops",
    "Drop ops of the Torch dialect whose results nothing uses",
    _eliminate,
)
