"""Batch norms of StableHLO, compiled and held against PyTorch; the interpreter has none."""

import sys

import numpy as np
import pytest
import torch

from test.stablehlo_to_tcp.program import compiled

# ruff: noqa: E501 - lines of MLIR are as long as its types

EPSILON = 0.125

INFERENCE = """
func.func @program(%x: tensor<XxDTYPE>, %s: tensor<3xDTYPE>, %o: tensor<3xDTYPE>, %m: tensor<3xDTYPE>, %v: tensor<3xDTYPE>) -> tensor<XxDTYPE> {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) {epsilon = 0.125 : f32, feature_index = FEATURE : i64} : (tensor<XxDTYPE>, tensor<3xDTYPE>, tensor<3xDTYPE>, tensor<3xDTYPE>, tensor<3xDTYPE>) -> tensor<XxDTYPE>
  return %0 : tensor<XxDTYPE>
}
"""
TRAINING = """
func.func @program(%x: tensor<XxDTYPE>, %s: tensor<3xDTYPE>, %o: tensor<3xDTYPE>) -> (tensor<XxDTYPE>, tensor<3xDTYPE>, tensor<3xDTYPE>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.125 : f32, feature_index = FEATURE : i64} : (tensor<XxDTYPE>, tensor<3xDTYPE>, tensor<3xDTYPE>) -> (tensor<XxDTYPE>, tensor<3xDTYPE>, tensor<3xDTYPE>)
  return %0#0, %0#1, %0#2 : tensor<XxDTYPE>, tensor<3xDTYPE>, tensor<3xDTYPE>
}
"""


def _text(program: str, shape: str, feature: int, dtype: str) -> str:
    return (
        program.replace("Xx", f"{shape}x").replace("FEATURE", str(feature)).replace("DTYPE", dtype)
    )


def _features(count: int, dtype: torch.dtype) -> list[torch.Tensor]:
    return [torch.rand(3, dtype=torch.float64).to(dtype) for _ in range(count)]


@pytest.mark.parametrize("shape", ["4x3x5", "?x3x?"])
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
def test_inference(shape: str, dtype: str) -> None:
    torch_dtype = {"f16": torch.float16, "f32": torch.float32, "f64": torch.float64}[dtype]
    x = torch.rand(4, 3, 5, dtype=torch.float64).to(torch_dtype)
    scale, offset, mean, variance = _features(4, torch_dtype)
    expected = torch.nn.functional.batch_norm(x, mean, variance, scale, offset, eps=EPSILON)
    given = [tensor.numpy() for tensor in (x, scale, offset, mean, variance)]
    (result,) = compiled(_text(INFERENCE, shape, 1, dtype))(*given)
    torch.testing.assert_close(torch.from_numpy(result), expected)


@pytest.mark.parametrize("shape", ["4x5x3", "?x?x3"])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_training(shape: str, dtype: str) -> None:
    torch_dtype = {"f32": torch.float32, "f64": torch.float64}[dtype]
    x = torch.rand(4, 5, 3, dtype=torch_dtype)
    scale, offset = _features(2, torch_dtype)
    expected = torch.nn.functional.batch_norm(
        x.movedim(2, 1), None, None, scale, offset, training=True, eps=EPSILON
    )
    given = [tensor.numpy() for tensor in (x, scale, offset)]
    result, mean, variance = compiled(_text(TRAINING, shape, 2, dtype))(*given)
    torch.testing.assert_close(torch.from_numpy(result), expected.movedim(1, 2).contiguous())
    np.testing.assert_allclose(mean, x.mean((0, 1)).numpy(), rtol=1e-6)
    np.testing.assert_allclose(variance, x.var((0, 1), correction=0).numpy(), rtol=1e-5)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
