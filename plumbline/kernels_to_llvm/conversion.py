"""Lowers a module from kernels on buffers, and what calls them, to the LLVM dialect."""

from torch_mlir import ir

from plumbline.bindings.pipeline import Option, Pass, Pipeline
from plumbline.kernels_to_llvm.allocation_sizes import CHECK_ALLOCATION_SIZES
from plumbline.kernels_to_llvm.assertions import LOWER_ASSERTIONS
from plumbline.kernels_to_llvm.bfloats import MOVE_BF16_AS_INTEGERS
from plumbline.kernels_to_llvm.booleans import MOVE_BOOLEANS_AS_BYTES
from plumbline.kernels_to_llvm.byte_counts import MULTIPLY_BYTE_COUNTS
from plumbline.kernels_to_llvm.c_abi import build_entries
from plumbline.kernels_to_llvm.failures import RETURN_FAILURES
from plumbline.kernels_to_llvm.forks import FORK_THREADS
from plumbline.kernels_to_llvm.huge_pages import USE_HUGE_PAGES
from plumbline.kernels_to_llvm.loop_annotations import attach_loop_annotations
from plumbline.kernels_to_llvm.noalias import attach_noalias, note_noalias
from plumbline.kernels_to_llvm.parallel_loops import OUTLINE_PARALLEL_LOOPS
from plumbline.kernels_to_llvm.thread_count import DEFINE_THREAD_COUNT
from plumbline.kernels_to_llvm.tile_permission import ASK_FOR_TILES
from plumbline.kernels_to_llvm.time_kernels import TIME_KERNELS
from plumbline.signature.c_signature import CALLED_FROM
from plumbline.signature.called_functions import SEPARATE_CALLED_FUNCTIONS

BUILD_C_ABI = Pass(
    "build-c-abi",
    "Put entries, which C can call, before each public function",
    build_entries,
    (
        Option("abi", "the calling convention: memref (the default) or pointers"),
        Option("memory", "where temporaries come from: malloc (the default) or pool"),
        Option("weights", "what weights are: embedded (the default), arguments or file"),
        Option("queue", "what a GPU's work is queued on: own (the default) or stream"),
        CALLED_FROM,
    ),
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


def kernels_to_llvm_pipeline(
    abi: str,
    memory: str = "malloc",
    weights: str = "embedded",
    queue: str = "own",
    called_from: str = "",
    *,
    timed: bool = False,
) -> Pipeline:
    """The whole lowering, for callers of that convention.

    These are one of `choices.ABIS`, `choices.MEMORIES`, `choices.WEIGHTS` and, for programs that
    run on a GPU, `choices.QUEUES`. A program that is `timed`
    adds up how long the calls take that are to be.
    """
    return Pipeline(
        "kernels-to-llvm-pipeline",
        (
            SEPARATE_CALLED_FUNCTIONS,
            *([TIME_KERNELS] if timed else []),
            ASK_FOR_TILES,
            OUTLINE_PARALLEL_LOOPS,
            BUILD_C_ABI.with_options(
                f"abi={abi} memory={memory} weights={weights} queue={queue} "
                f"called-from={called_from}"
            ),
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
            # Aligning what malloc gives would go through integers, where LLVM loses sight of the
            # fact that new memory aliases nothing.
            "finalize-memref-to-llvm{use-aligned-alloc=true}",
            MOVE_BOOLEANS_AS_BYTES,
            "convert-arith-to-llvm",
            "convert-index-to-llvm",
            "convert-ub-to-llvm",
            "convert-func-to-llvm",
            "convert-cf-to-llvm",
            "reconcile-unrealized-casts",
            MULTIPLY_BYTE_COUNTS,
            MOVE_BF16_AS_INTEGERS,
            "canonicalize",
            "cse",
            RETURN_FAILURES,
            USE_HUGE_PAGES,
            DEFINE_THREAD_COUNT,
            FORK_THREADS,
            ATTACH_NOALIAS,
            ATTACH_LOOP_ANNOTATIONS,
        ),
        summary="Lower kernels on buffers to the LLVM dialect, with a C ABI",
    )


KERNELS_TO_LLVM = kernels_to_llvm_pipeline("memref")


def convert_kernels_to_llvm(
    module: ir.Module,
    abi: str = "memref",
    memory: str = "malloc",
    weights: str = "embedded",
    *,
    timed: bool = False,
) -> None:
    """Lowers `module` in place; its public functions are called by the convention `abi`.

    That is "memref", as `tools/aot/abi.h` says: every result is memory from aligned_alloc that the
    caller frees; or "pointers": the caller brings the memory along. With the `memory` "pool" it
    brings that of temporaries along as well, and with the `weights` "file" it has the program map
    them. Inputs are never written, but for those that are in-out. With `timed`, calls that are
    numbered are (`time_kernels.py`).

    Raises:
      LoweringError: a public function takes or returns something other than memrefs that C can
        pass, or a pass refused the module.
    """
    kernels_to_llvm_pipeline(abi, memory, weights, called_from="c", timed=timed).run(module)
