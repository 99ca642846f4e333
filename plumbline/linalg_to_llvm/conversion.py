"""Lowers a module from linalg on tensors to the LLVM dialect, for a CPU."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.linalg_to_llvm import c_abi
from plumbline.linalg_to_llvm.calls import separate_called_functions
from plumbline.linalg_to_llvm.elementary_functions import expand_elementary_functions
from plumbline.linalg_to_llvm.failures import RETURN_FAILURES
from plumbline.linalg_to_llvm.kernels import attach_promises, outline_kernels
from plumbline.linalg_to_llvm.loop_order import order_loops
from plumbline.linalg_to_llvm.pipelines import (
    BUFFERIZE,
    BUFFERIZE_COPYING,
    BUFFERS_TO_LLVM,
    FUSE,
    NAME_COMPUTATIONS,
    PREPARE_TENSORS,
)
from plumbline.linalg_to_llvm.reassociation import reassociate_reductions
from plumbline.linalg_to_llvm.recomputation import keep_computations_apart, let_computations_go
from plumbline.linalg_to_llvm.splats import fill_splats
from plumbline.pipeline import Option, Pass, Pipeline
from plumbline.vector_unit import AVX2, VectorUnit
from plumbline.walk import operations_of


def _prepare_c_abi(operation: ir.Operation) -> None:
    c_abi.check_signatures(operation)
    c_abi.prepare_functions(operation)


def _bufferize(operation: ir.Operation) -> None:
    (BUFFERIZE_COPYING if operations_of(operation, "tm_tensor") else BUFFERIZE).run(operation)


def _outline_kernels(
    operation: ir.Operation, vector_bytes: Sequence[str], vector_registers: Sequence[str]
) -> None:
    given = [*map(int, (*vector_bytes, *vector_registers))]
    outline_kernels(operation, VectorUnit(*given) if given else AVX2)


SEPARATE_CALLED_FUNCTIONS = Pass(
    "separate-called-functions",
    "Give public functions that others call a private one, which both call",
    separate_called_functions,
)

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

KEEP_COMPUTATIONS_APART = Pass(
    "keep-computations-apart",
    "Give tensors a second use whose computed elements are read more than once",
    keep_computations_apart,
)

LET_COMPUTATIONS_GO = Pass(
    "let-computations-go",
    "Take the uses away that keep-computations-apart gave",
    let_computations_go,
)

FILL_SPLATS = Pass(
    "fill-splats",
    "Fill tensors in a loop that would else be large constants with one value everywhere",
    fill_splats,
)

REASSOCIATE_REDUCTIONS = Pass(
    "reassociate-reductions",
    "Let sums and products over many elements be taken in any order",
    reassociate_reductions,
)

ORDER_LOOPS = Pass(
    "order-loops",
    "Put the loop innermost along which elements lie one beside the other",
    order_loops,
)

OUTLINE_KERNELS = Pass(
    "outline-kernels",
    "Move each computation over buffers into a function, which computations alike share",
    _outline_kernels,
    (
        Option("vector-bytes", "what a vector register of the CPU holds"),
        Option("vector-registers", "how many of them the CPU has"),
    ),
)

EXPAND_ELEMENTARY_FUNCTIONS = Pass(
    "expand-elementary-functions",
    "Spell exp, tanh and erf of f32 in arithmetic",
    expand_elementary_functions,
)

ATTACH_PROMISES = Pass(
    "attach-promises",
    "Tell LLVM which buffers of a kernel are apart in memory",
    attach_promises,
)

WRAP_C_ABI = Pass(
    "wrap-c-abi",
    "Put a checked and an unchecked entry, which C can call, before each public function",
    c_abi.wrap_public_functions,
)


def linalg_to_llvm_pipeline(unit: VectorUnit) -> Pipeline:
    """The whole lowering, for a CPU with such vectors."""
    options = f"vector-bytes={unit.bytes} vector-registers={unit.registers}"
    return Pipeline(
        "linalg-to-llvm-pipeline",
        (
            SEPARATE_CALLED_FUNCTIONS,
            PREPARE_C_ABI,
            "func.func(linalg-generalize-named-ops)",
            KEEP_COMPUTATIONS_APART,
            FUSE,
            LET_COMPUTATIONS_GO,
            FILL_SPLATS,
            PREPARE_TENSORS,
            BUFFERIZE_WHOLE_MODULE,
            NAME_COMPUTATIONS,
            REASSOCIATE_REDUCTIONS,
            OUTLINE_KERNELS.with_options(options),
            ORDER_LOOPS,
            EXPAND_ELEMENTARY_FUNCTIONS,
            BUFFERS_TO_LLVM,
            RETURN_FAILURES,
            ATTACH_PROMISES,
            WRAP_C_ABI,
        ),
        summary="Lower linalg on tensors to the LLVM dialect, for a CPU",
    )


LINALG_TO_LLVM = linalg_to_llvm_pipeline(AVX2)


def convert_linalg_to_llvm(module: ir.Module, unit: VectorUnit = AVX2) -> None:
    """Lowers `module` in place; each public function follows the C ABI of `tools/aot/abi.h`.

    Inputs are never written. Every result is memory from aligned_alloc that the caller frees.
    Kernels are made to suit the vectors of `unit`, and run on every CPU.

    Raises:
      LoweringError: a public function takes or returns something other than ranked tensors, or a
        pass refused the module.
    """
    linalg_to_llvm_pipeline(unit).run(module)
