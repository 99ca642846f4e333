"""Lowers a module from linalg on tensors to kernels of a GPU, and what launches them."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.bindings.pipeline import Option, Pass, Pipeline
from plumbline.elementary_functions.conversion import EXPAND_ELEMENTARY_FUNCTIONS
from plumbline.linalg_to_gpu.channels_last import put_channels_last
from plumbline.linalg_to_gpu.contiguous_results import copy_parts
from plumbline.linalg_to_gpu.device_memory import place_on_device
from plumbline.linalg_to_gpu.flops import note_flops
from plumbline.linalg_to_gpu.gathered_computations import compute_gathered
from plumbline.linalg_to_gpu.late_widening import widen_late
from plumbline.linalg_to_gpu.launch_loops import launch_loops
from plumbline.linalg_to_gpu.launch_once import launch_once
from plumbline.linalg_to_gpu.outline_kernels import (
    align_shared_buffers,
    keep_tiles_in_registers,
    name_launches,
    share_at_launch,
)
from plumbline.linalg_to_gpu.rank_sorts import rank_sorts
from plumbline.linalg_to_gpu.remainders import expand_remainders
from plumbline.linalg_to_gpu.scan_elements import scan_elements
from plumbline.linalg_to_gpu.scan_memory import give_scans_memory
from plumbline.linalg_to_gpu.strategies import GpuStrategies
from plumbline.linalg_to_gpu.told_pads import tell_pads
from plumbline.linalg_to_kernels.build_kernels import build_kernels
from plumbline.linalg_to_kernels.computations import loops_remembered
from plumbline.linalg_to_kernels.conversion import (
    EXPAND_CONTRACTIONS,
    FILL_SPLATS,
    FOLD_CONSTANT_PRODUCTS,
    OUTLINE_LOOPS,
    PLAN_MEMORY,
    PREPARE_ARGUMENTS,
    REARRANGE_WEIGHTS,
    REASSOCIATE_REDUCTIONS,
    RESHAPE_DIRECTLY,
    SELECT_CLAMPS,
    SPECIALISE_KERNELS,
    TELL_SIZES,
)
from plumbline.linalg_to_kernels.fusion_groups import form_fusion_groups
from plumbline.linalg_to_kernels.pipelines import (
    BUFFERIZE,
    DECOMPOSE_TENSOR_OPS,
    MAKE_LOOPS,
    NAME_COMPUTATIONS,
    PREPARE_TENSORS,
)
from plumbline.signature.called_functions import SEPARATE_CALLED_FUNCTIONS
from plumbline.target.gpu_chip import DEFAULT_ARCH, GpuChip

_CHIP_OPTIONS = (
    Option("gpu-arch", "the GPUs that kernels are for, sm_80 unless given"),
    Option("allow-tf32", "true: products of f32 may be taken of numbers rounded to TF32"),
)


def _chip(gpu_arch: Sequence[str], allow_tf32: Sequence[str]) -> GpuChip:
    return GpuChip.of(*gpu_arch, allows_tf32=list(allow_tf32) == ["true"])


def _form_fusion_groups(module: ir.Operation, **options: Sequence[str]) -> None:
    form_fusion_groups(module, GpuStrategies(_chip(**options)))


def _build_kernels(module: ir.Operation, **options: Sequence[str]) -> None:
    build_kernels(module, GpuStrategies(_chip(**options)))


FORM_GPU_FUSION_GROUPS = Pass(
    "form-gpu-fusion-groups",
    "Move what one kernel of a GPU is to compute into functions on tensors, which are shared",
    _form_fusion_groups,
    _CHIP_OPTIONS,
)

BUILD_GPU_KERNELS = Pass(
    "build-gpu-kernels",
    "Turn groups into launches of kernels on buffers",
    _build_kernels,
    _CHIP_OPTIONS,
)

SCAN_ELEMENTS = Pass(
    "scan-elements",
    "Spell scans of slices as scans of elements, of which one kernel does all",
    scan_elements,
)

GIVE_SCANS_MEMORY = Pass(
    "give-scans-memory",
    "Give scans of few long rows memory for what parts of these come to",
    give_scans_memory,
)

RANK_SORTS = Pass(
    "rank-sorts",
    "Sort rows of buffers, in launches in which each element finds its place",
    rank_sorts,
)

LAUNCH_LOOPS = Pass(
    "launch-loops",
    "Launch what is done to buffers outside of groups, by a thread for each iteration or by one",
    launch_loops,
)

NAME_LAUNCHES = Pass(
    "name-launches",
    "Say what kernels are to be called, and make operations of the calls that stand for them",
    name_launches,
)

SHARE_AT_LAUNCH = Pass(
    "share-at-launch",
    "Have launches give kernels the shared memory that is more than these may declare",
    share_at_launch,
)

ALIGN_SHARED_BUFFERS = Pass(
    "align-shared-buffers",
    "Have shared memory begin where a thread can read or write 16 bytes at once",
    align_shared_buffers,
)

KEEP_TILES_IN_REGISTERS = Pass(
    "keep-tiles-in-registers",
    "Have kernels with shared memory take the registers that they need",
    keep_tiles_in_registers,
)

COPY_PARTS_OF_RESULTS = Pass(
    "copy-parts-of-results",
    "Return copies of what is a part of another tensor, and does not lie as callers have it",
    copy_parts,
)

EXPAND_REMAINDERS = Pass(
    "expand-remainders",
    "Spell remainders of floats in arithmetic of integers",
    expand_remainders,
)

WIDEN_LATE = Pass(
    "widen-late",
    "Widen elements after pads, and for each reader by itself, which then takes narrow ones",
    widen_late,
)

PUT_CHANNELS_LAST = Pass(
    "put-channels-last",
    "Have convolutions of half precision read images whose channels are last",
    put_channels_last,
)

COMPUTE_GATHERED = Pass(
    "compute-gathered",
    "Compute what is cheap where it is gathered from",
    compute_gathered,
)

TELL_PADS = Pass(
    "tell-pads",
    "Have the elements of padded tensors be told by their places",
    tell_pads,
)

LAUNCH_ONCE = Pass(
    "launch-once",
    "Launch loops whole that launch nothing but kernels of few blocks",
    launch_once,
)

NOTE_FLOPS = Pass(
    "note-flops",
    "Say of launches how many operations on numbers their kernels do",
    note_flops,
)

PLACE_ON_DEVICE = Pass(
    "place-on-device",
    "Move buffers to device memory, and copy arguments there and results back",
    place_on_device,
    (Option("tensors", "where callers have theirs: host (the default) or device"),),
)


def linalg_to_gpu_pipeline(
    gpu_arch: str = DEFAULT_ARCH, *, allow_tf32: bool = False, tensors: str = "host"
) -> Pipeline:
    """The whole lowering, for such a GPU, and callers that have tensors in `choices.PLACES`."""
    options = f"gpu-arch={gpu_arch} allow-tf32={str(allow_tf32).lower()}"
    return Pipeline(
        "linalg-to-gpu-pipeline",
        (
            SEPARATE_CALLED_FUNCTIONS,
            PREPARE_ARGUMENTS.with_options("called-from=c"),
            SCAN_ELEMENTS,
            DECOMPOSE_TENSOR_OPS,
            PREPARE_TENSORS,
            RESHAPE_DIRECTLY,
            FOLD_CONSTANT_PRODUCTS,
            COPY_PARTS_OF_RESULTS,
            FILL_SPLATS,
            REASSOCIATE_REDUCTIONS,
            REARRANGE_WEIGHTS,
            EXPAND_CONTRACTIONS,
            WIDEN_LATE,
            PUT_CHANNELS_LAST,
            TELL_PADS,
            COMPUTE_GATHERED,
            TELL_SIZES,
            FORM_GPU_FUSION_GROUPS.with_options(options),
            BUILD_GPU_KERNELS.with_options(options),
            BUFFERIZE,
            RANK_SORTS,
            SPECIALISE_KERNELS,
            NAME_COMPUTATIONS,
            OUTLINE_LOOPS,
            GIVE_SCANS_MEMORY,
            PLAN_MEMORY,
            # Half precision is computed in f32 and rounded, as PyTorch does.
            "func.func(math-extend-to-supported-types)",
            # Before those of which a CPU makes vectors of doubles.
            EXPAND_REMAINDERS,
            EXPAND_ELEMENTARY_FUNCTIONS,
            SELECT_CLAMPS,
            MAKE_LOOPS,
            LAUNCH_LOOPS,
            PLACE_ON_DEVICE.with_options(f"tensors={tensors}"),
            NAME_LAUNCHES,
            "canonicalize",
            "cse",
            "func.func(gpu-launch-sink-index-computations)",
            "gpu-kernel-outlining",
            SHARE_AT_LAUNCH,
            NOTE_FLOPS,
            # What is launched stands where it was called.
            "inline",
            "symbol-dce",
            "canonicalize",
            "cse",
            LAUNCH_ONCE,
            "canonicalize",
            "func.func(gpu-launch-sink-index-computations)",
            "gpu-kernel-outlining",
            ALIGN_SHARED_BUFFERS,
            KEEP_TILES_IN_REGISTERS,
            "canonicalize",
            "cse",
        ),
        summary="Lower linalg on tensors to kernels of a GPU, and what launches them",
    )


LINALG_TO_GPU = linalg_to_gpu_pipeline()


def convert_linalg_to_gpu(
    module: ir.Module,
    gpu_arch: str = DEFAULT_ARCH,
    *,
    allow_tf32: bool = False,
    tensors: str = "host",
) -> None:
    """Lowers `module` in place: each public function launches kernels, functions of a `gpu.module`.

    It takes and gives buffers of the host, or with `tensors` "device" of the device, and says what
    device memory is allocated when. Arguments of public functions are never written, but for those
    that are in-out, and each result is memory of its own.

    Args:
      module: linalg on tensors.
      gpu_arch: the oldest GPUs that kernels run on, such as "sm_80".
      allow_tf32: whether products of f32 may be taken of numbers rounded to TF32, on tensor cores.
      tensors: where callers have theirs, one of `choices.PLACES`.

    Raises:
      LoweringError: a public function takes or returns something other than ranked tensors, or
        there is something that no kernel does; or a pass refused the module.
    """
    pipeline = linalg_to_gpu_pipeline(gpu_arch, allow_tf32=allow_tf32, tensors=tensors)
    with loops_remembered():
        pipeline.run(module)
