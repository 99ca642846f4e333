"""Lowers kernels of a GPU to NVVM, and what launches them to the LLVM dialect with a C ABI."""

from torch_mlir import ir

from plumbline.bindings.pipeline import Nested, Option, Pass, Pipeline
from plumbline.gpu_to_nvvm.device_calls import lower_device_calls
from plumbline.gpu_to_nvvm.mathematics import call_intrinsics
from plumbline.gpu_to_nvvm.shared_memory import declare_shared_memory
from plumbline.kernels_to_llvm.conversion import kernels_to_llvm_pipeline
from plumbline.llvm_to_asm.llvm_ir import GPU_MODULE

DECLARE_SHARED_MEMORY = Pass(
    "declare-shared-memory",
    "Declare the shared memory that launches give as defined elsewhere",
    declare_shared_memory,
)

CALL_INTRINSICS = Pass(
    "call-intrinsics",
    "Spell mathematics in kernels as intrinsics, and refuse what a GPU has no instructions for",
    call_intrinsics,
)

LOWER_DEVICE_CALLS = Pass(
    "lower-device-calls",
    "Make calls of the runtime of what the host does to the device",
    lower_device_calls,
    (
        Option("memory", "where temporaries come from: malloc (the default) or pool"),
        Option("queue", "what work is queued on: own (the default) or stream"),
    ),
)

# What MLIR would make of the dialect math are calls of libdevice.
_DIALECTS = "arith,cf,func,index,memref,ub,vector"

_BF16_IN_F32 = "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32}"
"""Conversions between the two are instructions; those that a chip has not LLVM spells."""

LOWER_KERNELS = Pipeline(
    "lower-kernels",
    (
        Nested(
            GPU_MODULE,
            (
                CALL_INTRINSICS,
                _BF16_IN_F32,
                "arith-expand",
                "memref-expand",
                "convert-complex-to-standard",
                "expand-strided-metadata",
                "lower-affine",
                "convert-scf-to-cf",
                "convert-nvgpu-to-nvvm",
                "convert-vector-to-llvm",
                f"convert-gpu-to-nvvm{{allowed-dialects={_DIALECTS}}}",
                "convert-math-to-llvm{approximate-log1p=false}",
                "convert-index-to-llvm",
                "convert-ub-to-llvm",
                "convert-nvvm-to-llvm",
                "reconcile-unrealized-casts",
                DECLARE_SHARED_MEMORY,
                "canonicalize",
                "cse",
            ),
        ),
    ),
    summary="Lower the kernels of a GPU to NVVM",
)


def gpu_to_nvvm_pipeline(
    abi: str, memory: str = "malloc", weights: str = "embedded", queue: str = "own"
) -> Pipeline:
    """The whole lowering, with choices as `kernels_to_llvm_pipeline` takes them."""
    return Pipeline(
        "gpu-to-nvvm-pipeline",
        (
            LOWER_KERNELS,
            LOWER_DEVICE_CALLS.with_options(f"memory={memory} queue={queue}"),
            kernels_to_llvm_pipeline(abi, memory, weights, queue, called_from="c"),
        ),
        summary="Lower kernels of a GPU to NVVM, and what launches them to the LLVM dialect",
    )


GPU_TO_NVVM = gpu_to_nvvm_pipeline("memref")


def convert_gpu_to_nvvm(
    module: ir.Module,
    abi: str = "memref",
    memory: str = "malloc",
    weights: str = "embedded",
    queue: str = "own",
) -> None:
    """Lowers `module` in place; its public functions are called by the convention `abi`.

    With the `memory` "pool" callers bring a workspace in device memory along, and with the `queue`
    "stream" what the work is queued on.

    Raises:
      LoweringError: a kernel does what a GPU has no instructions for, or a pass refused the module.
    """
    gpu_to_nvvm_pipeline(abi, memory, weights, queue).run(module)
