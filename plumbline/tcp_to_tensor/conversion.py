"""Converts what TCP has in common with the tensor dialect."""

from plumbline.bindings.pipeline import Pass
from plumbline.tcp.transforms.lower import lower
from plumbline.tcp_to_tensor import data_movement

CONVERT_TCP_TO_TENSOR = Pass(
    "convert-tcp-to-tensor",
    "Convert data movement of TCP to ops of the tensor dialect",
    lambda operation: lower(operation, data_movement.PATTERNS),
)
