"""Fourier transforms."""

from collections.abc import Mapping

import torch

from plumbline.tflite_to_torch.node import Node, Pattern
from plumbline.tflite_to_torch.tensors import Operand


def _of_real(node: Node, x: Operand, lengths: Operand) -> torch.Tensor:
    rows, columns = node.numbers(1)
    is_of_rows = rows == 1 == x.stored.shape[-2]
    lengths_of_axes = {-1: columns} if is_of_rows else {-2: rows, -1: columns}
    spectrum: torch.Tensor = torch.fft.rfftn(
        x.stored, [*lengths_of_axes.values()], [*lengths_of_axes]
    )
    return spectrum


PATTERNS: Mapping[str, Pattern] = {"RFFT2D": _of_real}
