"""Writes a small model of ONNX, with a batch of any size, as exporters of PyTorch and others do."""

import sys
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def model() -> onnx.ModelProto:
    """Two layers and a softmax; the second has its rows from a shape that the model computes."""
    random = np.random.default_rng(0)
    weights: dict[str, np.ndarray[Any, np.dtype[Any]]] = {
        "first.weight": random.standard_normal((24, 16)).astype(np.float32) / 5,
        "first.bias": random.standard_normal(24).astype(np.float32),
        "second.weight": random.standard_normal((12, 5)).astype(np.float32) / 4,
        "two": np.array([2]),
        "twelve": np.array([12]),
    }
    nodes = [
        helper.make_node(
            "Gemm", ["images", "first.weight", "first.bias"], ["a"], "/first/Gemm", transB=1
        ),
        helper.make_node("Relu", ["a"], ["b"], "/Relu"),
        helper.make_node("Shape", ["images"], ["shape"], "/Shape", start=0, end=1),
        helper.make_node("Concat", ["shape", "two", "twelve"], ["rows"], "/Concat", axis=0),
        helper.make_node("Reshape", ["b", "rows"], ["c"], "/Reshape"),
        helper.make_node("MatMul", ["c", "second.weight"], ["d"], "/second/MatMul"),
        helper.make_node("Softmax", ["d"], ["scores"], "/Softmax", axis=-1),
        helper.make_node("ArgMax", ["scores"], ["best"], "/ArgMax", axis=-1, keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 16])],
        [
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 2, 5]),
            helper.make_tensor_value_info("best", TensorProto.INT64, ["batch", 2]),
        ],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


if __name__ == "__main__":
    onnx.save_model(model(), sys.argv[1])
