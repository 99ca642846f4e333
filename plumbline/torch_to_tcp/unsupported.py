"""Which ops of a program have no lowering from the Torch dialect, and what would help."""

from torch_mlir import ir

from plumbline.errors.unsupported_ops import from_operation, report
from plumbline.torch_to_tcp.beside_tcp import ops_without_lowering
from plumbline.torch_to_tcp.patterns import PATTERNS
from plumbline.torch_to_tcp.torch_ops import full_name, pytorch_name

_COMPLEX = (
    "few ops on complex numbers have a lowering: compute with the real and the imaginary part as "
    "two tensors (torch.view_as_real)"
)
_DECOMPOSE = "write a decomposition of it in plumbline/loader_to_torch/decompositions"


def unsupported(module: ir.Module) -> str:
    """The report of the ops in a half-lowered `module` that nothing lowers; empty without any."""
    ops = [
        from_operation(op, pytorch_name(op), _advice(op, reason))
        for op, reason in ops_without_lowering(module)
    ]
    return f"there is no lowering to TCP or linalg for these ops:\n{report(ops)}" if ops else ""


def _advice(op: ir.Operation, reason: str) -> str:
    types = [str(value.type) for value in (*op.operands, *op.results)]
    if any("complex<" in type_ for type_ in types):
        return _COMPLEX
    if full_name(op) not in PATTERNS:
        return (
            f"{_DECOMPOSE}, or a pattern in plumbline/torch_to_tcp (docs/adding_an_op.md); with "
            "tcp-opt, -convert-torch-to-tcp-custom-op keeps it as tcp.custom_op"
        )
    refusal = f"TCP takes it, but not {reason}" if reason else "TCP takes it, but not like this"
    return f"{refusal}: call it otherwise, such as with another dtype, or {_DECOMPOSE}"
