"""Lowers a module from kernels on buffers, and what calls them, to the LLVM dialect."""

from torch_mlir import ir

from plumbline.called_functions import SEPARATE_CALLED_FUNCTIONS
from plumbline.kernels_to_llvm.allocation_sizes import CHECK_ALLOCATION_SIZES
from plumbline.kernels_to_llvm.assertions import LOWER_ASSERTIONS
from plumbline.kernels_to_llvm.bfloats import MOVE_BF16_AS_INTEGERS
from plumbline.kernels_to_llvm.c_abi import build_entries
from plumbline.kernels_to_llvm.failures import RETURN_FAILURES
from plumbline.kernels_to_llvm.forks import FORK_THREADS
from plumbline.kernels_to_llvm.loop_annotations import attach_loop_annotations
from plumbline.kernels_to_llvm.noalias import attach_noalias, note_noalias
from plumbline.kernels_to_llvm.parallel_loops import OUTLINE_PARALLEL_LOOPS
from plumbline.kernels_to_llvm.thread_count import DEFINE_THREAD_COUNT
from plumbline.pipeline import Pass, Pipeline

BUILD_C_ABI = Pass(
    "build-c-abi",
    "Put a checked and an unchecked entry, which C can call, before each public function",
    build_entries,
)

NOTE_NOALIAS = Pass(
    "note-noalias",
    "Note with kernels which of their memrefs share no memory with another",
    note_noalias,
)

ATTACH_NOALIAS = Pass(
    "attach-noalias",
    "Tell LLVM which pointers of a kernel are noalias",
    attach_noalias,
)

ATTACH_LOOP_ANNOTATIONS = Pass(
    "attach-loop-annotations",
    "Tell LLVM what is said of loops",
    attach_loop_annotations,
)

KERNELS_TO_LLVM = Pipeline(
    "kernels-to-llvm-pipeline",
    (
        SEPARATE_CALLED_FUNCTIONS,
        OUTLINE_PARALLEL_LOOPS,
        BUILD_C_ABI,
        NOTE_NOALIAS,
        "func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32})",
        "func.func(arith-expand{include-bf16=true})",
        "func.func(memref-expand)",
        "func.func(convert-complex-to-standard)",
        "expand-strided-metadata",
        "lower-affine",
        "convert-scf-to-cf",
        CHECK_ALLOCATION_SIZES,
        LOWER_ASSERTIONS,
        # `approximate-log1p` would spell log1p(x) as log(1 + x), which loses every small x.
        "convert-math-to-llvm{approximate-log1p=false}",
        "convert-math-to-libm",
        "convert-complex-to-llvm",
        "convert-vector-to-llvm",
        # Aligning what malloc gives would go through integers, where LLVM loses sight of the fact
        # that new memory aliases nothing.
        "finalize-memref-to-llvm{use-aligned-alloc=true}",
        "convert-arith-to-llvm",
        "convert-index-to-llvm",
        "convert-ub-to-llvm",
        "convert-func-to-llvm",
        "convert-cf-to-llvm",
        "reconcile-unrealized-casts",
        MOVE_BF16_AS_INTEGERS,
        "canonicalize",
        "cse",
        RETURN_FAILURES,
        DEFINE_THREAD_COUNT,
        FORK_THREADS,
        ATTACH_NOALIAS,
        ATTACH_LOOP_ANNOTATIONS,
    ),
    summary="Lower kernels on buffers to the LLVM dialect, with a C ABI",
)


def convert_kernels_to_llvm(module: ir.Module) -> None:
    """Lowers `module` in place; each public function follows the C ABI of `tools/aot/abi.h`.

    Inputs are never written. Every result is memory from aligned_alloc that the caller frees.

    Raises:
      LoweringError: a public function takes or returns something other than memrefs that C can
        pass, or a pass refused the module.
    """
    KERNELS_TO_LLVM.run(module)
