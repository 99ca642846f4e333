"""Holds each op against ONNX's own tests of it, which ONNX makes by NumPy.

The programs run in PyTorch: what is compiled of them is what is compiled of all of PyTorch's.
"""

import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from plumbline.errors import UserError
from plumbline.onnx_to_torch.constants import constant_tensor
from plumbline.onnx_to_torch.program import OnnxProgram

REFUSED = {
    "test_(cast|castlike)_e8m0_.*_to_FLOAT8E8M0": "rounds to powers of 2",
    "test_training_dropout": "in training mode",
    "test_bernoulli|test_randomuniform": "random",
    "test_(adagrad|adam|momentum|nesterov|image_decoder|tfidf)": "no pattern for these ops",
    # ONNX does not take it apart where inputs are left out between others.
    "test_linear_attention_(gated|delta|explicit|fp16)(?!.*_expanded)": "no pattern for these ops",
}
"""Tests whose names match, and what the message says: what cannot be had of a compiled program."""


def _cases() -> Iterator[Any]:
    with warnings.catch_warnings():
        # Of NumPy's, where a test is of what overflows.
        warnings.simplefilter("ignore")
        for case in collect_testcases():
            if case.model is not None and _are_tensors(case.model.graph):
                yield pytest.param(case, id=case.name.removeprefix("test_"))


def _are_tensors(graph: onnx.GraphProto) -> bool:
    """Whether all that goes in and out has a dtype that a compiled program's tensors can have."""
    return all(
        each.type.WhichOneof("value") == "tensor_type"
        and each.type.tensor_type.elem_type not in _NO_DTYPES
        for each in (*graph.input, *graph.output)
    )


_NO_DTYPES = [
    getattr(onnx.TensorProto, name)
    for name in ("STRING", "INT4", "UINT4", "INT2", "UINT2", "FLOAT4E2M1")
]


def _tensor(given: Any, type_: onnx.TypeProto) -> torch.Tensor:
    if isinstance(given, onnx.TensorProto):
        return constant_tensor(given, "")
    dtype = helper.tensor_dtype_to_np_dtype(type_.tensor_type.elem_type)
    return constant_tensor(numpy_helper.from_array(np.asarray(given, dtype)), "")


@pytest.mark.parametrize("case", _cases())
def test_node(case: Any, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    onnx.save_model(case.model, file)
    refusals = [why for name, why in REFUSED.items() if re.match(name, case.name)]
    if refusals:
        with pytest.raises(UserError, match=refusals[0]):
            list(_run(case, OnnxProgram(file)))
        return
    for results, expected in _run(case, OnnxProgram(file)):
        for result, reference in zip(results, expected, strict=True):
            _check(result, reference, case)


def _run(
    case: Any, program: OnnxProgram
) -> Iterator[tuple[list[torch.Tensor], list[torch.Tensor]]]:
    """What a program gives for each data set of a test, and what is expected."""
    graph = case.model.graph
    for inputs, outputs in case.data_sets:
        given = [_tensor(x, each.type) for x, each in zip(inputs, graph.input, strict=True)]
        expected = [_tensor(y, each.type) for y, each in zip(outputs, graph.output, strict=True)]
        with torch.no_grad():
            yield list(program(*given).values()), expected


def _check(result: torch.Tensor, expected: torch.Tensor, case: Any) -> None:
    assert result.dtype == expected.dtype
    if expected.dtype.itemsize == 1 and expected.dtype.is_floating_point:
        result, expected = result.float(), expected.float()
    # Of what is summed to about 0, in float32.
    rtol, atol = case.rtol, max(case.atol, 1e-6)
    if expected.dtype in (torch.float16, torch.bfloat16):
        # What is made of several ops is rounded after each, which NumPy has others of.
        rtol, atol = 1e-2, 4e-3
    torch.testing.assert_close(result, expected, rtol=rtol, atol=atol, equal_nan=True)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
