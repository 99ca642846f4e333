"""The pass that splits what is complex in a TCP module."""

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass, PassFailure
from plumbline.bindings.walk import all_operations
from plumbline.tcp.complex_numbers.parts import CAST, has_complex_tensor
from plumbline.tcp.complex_numbers.rules import RULES
from plumbline.tcp.complex_numbers.splitting import Splitting


def _split(operation: ir.Operation) -> None:
    if not Splitting(RULES).run(operation):
        return
    left = [op for op in all_operations(operation) if op.name != CAST and has_complex_tensor(op)]
    for op in left:
        op.location.emit_error(
            f"'{op.name}' op has no lowering for complex numbers: compute with the real and the "
            "imaginary part as tensors of their own"
        )
    if left:
        raise PassFailure


TCP_SPLIT_COMPLEX_NUMBERS = Pass(
    "tcp-split-complex-numbers",
    "Make two tensors of real numbers of each tensor of complex ones",
    _split,
)
