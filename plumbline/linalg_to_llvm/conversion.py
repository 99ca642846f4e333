"""Lowers a module from linalg on tensors to the LLVM dialect, for a CPU."""

from torch_mlir import ir

from plumbline.linalg_to_llvm import c_abi
from plumbline.linalg_to_llvm.pipelines import (
    BUFFERIZE,
    BUFFERIZE_COPYING,
    BUFFERS_TO_LLVM,
    PREPARE_TENSORS,
)
from plumbline.walk import operations_of


def convert_linalg_to_llvm(module: ir.Module) -> None:
    """Lowers `module` in place; each public function follows the C ABI of `tools/aot/abi.h`.

    Inputs are never written. Every result is memory from aligned_alloc that the caller frees.

    Raises:
      UserError: a public function takes or returns something other than ranked tensors.
      LoweringError: a pass refused the module.
    """
    c_abi.check_signatures(module)
    c_abi.prepare_functions(module)
    PREPARE_TENSORS.run(module)
    (BUFFERIZE_COPYING if operations_of(module, "tm_tensor") else BUFFERIZE).run(module)
    BUFFERS_TO_LLVM.run(module)
    c_abi.wrap_public_functions(module)
