"""Matrix products of ONNX."""

from collections.abc import Mapping

import torch

from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, tensor, tensors


def _matmul(node: Node, one: Value, other: Value) -> torch.Tensor:
    return torch.matmul(tensor(one), tensor(other))


def _gemm(node: Node, one: Value, other: Value, bias: Value = None) -> torch.Tensor:
    a, b = tensor(one), tensor(other)
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    a = a.T if node.attribute("transA", 0) else a
    b = b.T if node.attribute("transB", 0) else b
    if bias is None:
        product = a @ b
        return product if alpha == 1 else alpha * product
    return torch.addmm(tensor(bias), a, b, alpha=alpha, beta=beta)


def _einsum(node: Node, *operands: Value) -> torch.Tensor:
    return torch.einsum(node.required("equation").replace(" ", ""), *tensors(operands))


PATTERNS: Mapping[str, Pattern] = {
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": _matmul,
}
