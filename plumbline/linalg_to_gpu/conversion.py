"""Lowers a module from linalg on tensors to kernels of a GPU, and what launches them."""

from torch_mlir import ir

from plumbline.called_functions import SEPARATE_CALLED_FUNCTIONS
from plumbline.elementary_functions.conversion import EXPAND_ELEMENTARY_FUNCTIONS
from plumbline.linalg_to_gpu.device_memory import place_on_device
from plumbline.linalg_to_gpu.launch_loops import launch_loops
from plumbline.linalg_to_gpu.outline_kernels import name_launches
from plumbline.linalg_to_gpu.strategies import GpuStrategies
from plumbline.linalg_to_kernels.build_kernels import build_kernels
from plumbline.linalg_to_kernels.conversion import (
    EXPAND_CONTRACTIONS,
    FILL_SPLATS,
    OUTLINE_LOOPS,
    PLAN_MEMORY,
    PREPARE_ARGUMENTS,
    REASSOCIATE_REDUCTIONS,
    SPECIALISE_KERNELS,
)
from plumbline.linalg_to_kernels.fusion_groups import form_fusion_groups
from plumbline.linalg_to_kernels.pipelines import (
    BUFFERIZE,
    MAKE_LOOPS,
    NAME_COMPUTATIONS,
    PREPARE_TENSORS,
)
from plumbline.pipeline import Pass, Pipeline

FORM_GPU_FUSION_GROUPS = Pass(
    "form-gpu-fusion-groups",
    "Move what one kernel of a GPU is to compute into functions on tensors, which are shared",
    lambda module: form_fusion_groups(module, GpuStrategies()),
)

BUILD_GPU_KERNELS = Pass(
    "build-gpu-kernels",
    "Turn groups into launches of kernels on buffers",
    lambda module: build_kernels(module, GpuStrategies()),
)

LAUNCH_LOOPS = Pass(
    "launch-loops",
    "Launch what is done to buffers outside of groups, by a thread for each iteration or by one",
    launch_loops,
)

NAME_LAUNCHES = Pass(
    "name-launches",
    "Say what kernels are to be called, and make barriers of the calls that stand for them",
    name_launches,
)

PLACE_ON_DEVICE = Pass(
    "place-on-device",
    "Move buffers to device memory, and copy arguments there and results back",
    place_on_device,
)

LINALG_TO_GPU = Pipeline(
    "linalg-to-gpu-pipeline",
    (
        SEPARATE_CALLED_FUNCTIONS,
        PREPARE_ARGUMENTS.with_options("called-from=c"),
        PREPARE_TENSORS,
        FILL_SPLATS,
        REASSOCIATE_REDUCTIONS,
        EXPAND_CONTRACTIONS,
        FORM_GPU_FUSION_GROUPS,
        BUILD_GPU_KERNELS,
        BUFFERIZE,
        SPECIALISE_KERNELS,
        NAME_COMPUTATIONS,
        OUTLINE_LOOPS,
        PLAN_MEMORY,
        # Half precision is computed in f32 and rounded, as PyTorch does.
        "func.func(math-extend-to-supported-types)",
        EXPAND_ELEMENTARY_FUNCTIONS,
        MAKE_LOOPS,
        LAUNCH_LOOPS,
        PLACE_ON_DEVICE,
        NAME_LAUNCHES,
        "canonicalize",
        "cse",
        "func.func(gpu-launch-sink-index-computations)",
        "gpu-kernel-outlining",
        # What is launched stands where it was called.
        "inline",
        "symbol-dce",
        "canonicalize",
        "cse",
    ),
    summary="Lower linalg on tensors to kernels of a GPU, and what launches them",
)


def convert_linalg_to_gpu(module: ir.Module) -> None:
    """Lowers `module` in place: each public function launches kernels, functions of a `gpu.module`.

    It takes and gives buffers of the host, and says what device memory is allocated when. Arguments
    of public functions are never written, and each result is memory of its own.

    Raises:
      LoweringError: a public function takes or returns something other than ranked tensors, or
        there is something that no kernel does; or a pass refused the module.
    """
    LINALG_TO_GPU.run(module)
