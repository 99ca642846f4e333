"""Matrix products of ONNX."""

from collections.abc import Mapping

import torch
from torch.nn import functional

from plumbline.onnx_to_torch.integer_products import matmul_of_dequantized
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Dequantized, Value, tensor, tensors


def _matmul(node: Node, one: Value, other: Value) -> torch.Tensor:
    if (product := matmul_of_dequantized(one, other)) is not None:
        return product
    return torch.matmul(tensor(one), tensor(other))


def gemm(node: Node, one: Value, other: Value, bias: Value = None) -> torch.Tensor:
    """The product of two matrices, and what is added to it."""
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    one = _transposed(one) if node.attribute("transA", 0) else one
    # As a layer of PyTorch's has its weight, a row for each result.
    weight = other if node.attribute("transB", 0) else _transposed(other)
    added = None if bias is None else _scaled(tensor(bias), beta)
    if alpha == 1 and isinstance(weight, Dequantized):
        product = matmul_of_dequantized(one, weight.transposed)
        if product is not None:
            return product if added is None else product + added
    a, b = tensor(one), tensor(weight)
    if added is None or alpha != 1 or added.ndim != 1 or added.shape[0] != b.shape[0]:
        product = _scaled(functional.linear(a, b), alpha)
        return product if added is None else product + added
    return functional.linear(a, b, added)


def _scaled(x: torch.Tensor, by: float) -> torch.Tensor:
    return x if by == 1 else torch.mul(x, by)


def _transposed(matrix: Value) -> Value:
    return matrix.transposed if isinstance(matrix, Dequantized) else tensor(matrix).T


def _einsum(node: Node, *operands: Value) -> torch.Tensor:
    return torch.einsum(node.required("equation").replace(" ", ""), *tensors(operands))


def _determinant(node: Node, data: Value) -> torch.Tensor:
    determinants: torch.Tensor = torch.linalg.det(tensor(data))
    return determinants


PATTERNS: Mapping[str, Pattern] = {
    "Det": _determinant,
    "Einsum": _einsum,
    "Gemm": gemm,
    "MatMul": _matmul,
}
