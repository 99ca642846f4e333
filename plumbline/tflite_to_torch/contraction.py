"""Products of matrices."""

from collections.abc import Mapping

import tflite
import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.node import Node, Pattern
from plumbline.tflite_to_torch.tensors import Operand


def _fully_connected(
    node: Node, x: Operand, weight: Operand, bias: Operand | None = None
) -> torch.Tensor:
    order = tflite.FullyConnectedOptionsWeightsFormat.DEFAULT
    if node.option("WeightsFormat", order) != order:
        raise Unsupported("its weights are shuffled, as one kind of processor has them")
    rows = x.real
    if not node.option("KeepNumDims", False) or rows.shape[-1] != weight.stored.shape[1]:
        rows = rows.reshape(-1, weight.stored.shape[1])
    return node.store(F.linear(rows, weight.real, None if bias is None else bias.real))


def _batch_matmul(node: Node, one: Operand, other: Operand) -> torch.Tensor:
    left, right = one.real, other.real
    if node.option("AdjX", False):
        left = left.mT
    if node.option("AdjY", False):
        right = right.mT
    return node.store(torch.matmul(left, right))


PATTERNS: Mapping[str, Pattern] = {
    "BATCH_MATMUL": _batch_matmul,
    "FULLY_CONNECTED": _fully_connected,
}
