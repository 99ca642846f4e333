"""Lowers a module from linalg on tensors to the LLVM dialect, for a CPU."""

from torch_mlir import ir

from plumbline.linalg_to_llvm import c_abi
from plumbline.linalg_to_llvm.pipelines import (
    BUFFERIZE,
    BUFFERIZE_COPYING,
    BUFFERS_TO_LLVM,
    PREPARE_TENSORS,
)
from plumbline.pipeline import Pass, Pipeline
from plumbline.walk import operations_of


def _prepare_c_abi(operation: ir.Operation) -> None:
    c_abi.check_signatures(operation)
    c_abi.prepare_functions(operation)


def _bufferize(operation: ir.Operation) -> None:
    (BUFFERIZE_COPYING if operations_of(operation, "tm_tensor") else BUFFERIZE).run(operation)


PREPARE_C_ABI = Pass(
    "prepare-c-abi",
    "Check that functions fit the C ABI, and tell later passes what it promises",
    _prepare_c_abi,
)

BUFFERIZE_WHOLE_MODULE = Pass(
    "bufferize-whole-module",
    "Decide on buffers in place of tensors, with copies where tm_tensor ops hinder the analysis",
    _bufferize,
)

WRAP_C_ABI = Pass(
    "wrap-c-abi",
    "Give functions that return a struct a pointer to put it at",
    c_abi.wrap_public_functions,
)

LINALG_TO_LLVM = Pipeline(
    "linalg-to-llvm-pipeline",
    (PREPARE_C_ABI, PREPARE_TENSORS, BUFFERIZE_WHOLE_MODULE, BUFFERS_TO_LLVM, WRAP_C_ABI),
    summary="Lower linalg on tensors to the LLVM dialect, for a CPU",
)


def convert_linalg_to_llvm(module: ir.Module) -> None:
    """Lowers `module` in place; each public function follows the C ABI of `tools/aot/abi.h`.

    Inputs are never written. Every result is memory from aligned_alloc that the caller frees.

    Raises:
      LoweringError: a public function takes or returns something other than ranked tensors, or a
        pass refused the module.
    """
    LINALG_TO_LLVM.run(module)
