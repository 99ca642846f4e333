import sys

import numpy as np
import pytest
from torch_mlir import ir

from plumbline.context import make_context
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.kernels_to_llvm.program_signature import program_signature
from plumbline.library.linked_code import linked_function
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.target.cpu import cpu_target
from plumbline.tcp.assembly.module import parse_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg

_T = "tensor<?xf32>"
_PROGRAM = f"""
func.func @same(%x: {_T}) -> {_T} {{
  return %x : {_T}
}}
func.func @pair(%x: {_T}) -> ({_T}, {_T}) {{
  %0 = func.call @same(%x) : ({_T}) -> {_T}
  %1 = tcp.abs %0 : {_T} -> {_T}
  return %0, %1 : {_T}, {_T}
}}
func.func @swapped(%x: {_T}) -> ({_T}, {_T}) {{
  %0:2 = func.call @pair(%x) : ({_T}) -> ({_T}, {_T})
  return %0#1, %0#0 : {_T}, {_T}
}}
func.func @same_called() -> tensor<f32> {{
  %0 = tcp.const {{value = dense<1.0> : tensor<f32>}} : tensor<f32>
  return %0 : tensor<f32>
}}
"""


def _kernels(text: str) -> ir.Module:
    module = parse_module(text, make_context(torch=True), "in.mlir")
    convert_tcp_to_linalg(module)
    convert_linalg_to_kernels(module)
    return module


@pytest.mark.parametrize(("name", "results"), [("same", 1), ("pair", 2), ("swapped", 2)])
def test_public_functions_call_each_other_and_own_their_results(name: str, results: int) -> None:
    target = cpu_target("baseline")
    module = _kernels(_PROGRAM)
    signature = program_signature(module, name)
    convert_kernels_to_llvm(module, "pointers")
    function = linked_function(emit_object(translate_to_llvm_ir(module), target), signature)
    given = np.array([1.0, -2.0, 3.0], np.float32)
    expected = [given, np.abs(given)][:results]
    if name == "swapped":
        expected.reverse()
    for answer, right in zip(function(given), expected, strict=True):
        np.testing.assert_array_equal(answer, right)
        answer[:] = 0  # Memory of its own.
    np.testing.assert_array_equal(given, [1.0, -2.0, 3.0])


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
