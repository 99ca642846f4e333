"""Ops of ONNX that draw random numbers, which are refused."""

from collections.abc import Mapping
from typing import NoReturn

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value


def _refuse(node: Node, *operands: Value) -> NoReturn:
    raise Unsupported(
        "it draws random numbers, of which ONNX does not say how: have the model take them as "
        "an input"
    )


PATTERNS: Mapping[str, Pattern] = dict.fromkeys(
    (
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    ),
    _refuse,
)
