"""Products of matrices."""

import dataclasses
from collections.abc import Mapping

import tflite
import torch

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.integer_products import linear, matmul
from plumbline.tflite_to_torch.node import Node, Pattern
from plumbline.tflite_to_torch.tensors import Operand


def _fully_connected(
    node: Node, x: Operand, weight: Operand, bias: Operand | None = None
) -> torch.Tensor:
    order = tflite.FullyConnectedOptionsWeightsFormat.DEFAULT
    if node.option("WeightsFormat", order) != order:
        raise Unsupported("its weights are shuffled, as one kind of processor has them")
    rows, summed = x.stored, weight.stored.shape[1]
    if not node.option("KeepNumDims", False) or rows.shape[-1] != summed:
        rows = rows.reshape(-1, summed)
    operand = dataclasses.replace(x, stored=rows)
    return node.store(linear(operand, weight, None if bias is None else bias.real))


def _batch_matmul(node: Node, one: Operand, other: Operand) -> torch.Tensor:
    left, right = (
        dataclasses.replace(each, stored=each.stored.mT) if node.option(name, False) else each
        for each, name in ((one, "AdjX"), (other, "AdjY"))
    )
    return node.store(matmul(left, right))


PATTERNS: Mapping[str, Pattern] = {
    "BATCH_MATMUL": _batch_matmul,
    "FULLY_CONNECTED": _fully_connected,
}
