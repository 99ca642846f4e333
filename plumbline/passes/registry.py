"""The passes and pipelines of Plumbline, by the names that are their flags."""

from collections.abc import Iterable
from typing import TypeVar

from plumbline.bindings.pipeline import Pass, Pipeline
from plumbline.elementary_functions.conversion import (
    EXPAND_ELEMENTARY_FUNCTIONS,
    LOOK_UP_FUNCTIONS,
)
from plumbline.gpu_to_nvvm import conversion as gpu_to_nvvm
from plumbline.kernels_to_llvm import conversion as kernels_to_llvm
from plumbline.kernels_to_llvm.allocation_sizes import CHECK_ALLOCATION_SIZES
from plumbline.kernels_to_llvm.assertions import LOWER_ASSERTIONS
from plumbline.kernels_to_llvm.bfloats import MOVE_BF16_AS_INTEGERS
from plumbline.kernels_to_llvm.booleans import MOVE_BOOLEANS_AS_BYTES
from plumbline.kernels_to_llvm.byte_counts import MULTIPLY_BYTE_COUNTS
from plumbline.kernels_to_llvm.failures import RETURN_FAILURES
from plumbline.kernels_to_llvm.forks import FORK_THREADS
from plumbline.kernels_to_llvm.huge_pages import USE_HUGE_PAGES
from plumbline.kernels_to_llvm.parallel_loops import OUTLINE_PARALLEL_LOOPS
from plumbline.kernels_to_llvm.thread_count import DEFINE_THREAD_COUNT
from plumbline.kernels_to_llvm.tile_permission import ASK_FOR_TILES
from plumbline.kernels_to_llvm.time_kernels import TIME_KERNELS
from plumbline.linalg_to_gpu import conversion as linalg_to_gpu
from plumbline.linalg_to_kernels import conversion as linalg_to_kernels
from plumbline.linalg_to_kernels.pipelines import (
    ALIGN_WHILE_ARGUMENTS,
    BLOCK_SUMS,
    BUFFERIZE_TM_TENSOR,
    COLLAPSE_LOOPS,
    DECOMPOSE_TENSOR_OPS,
    DIVIDE_LONG_UPDATES,
    JAM_UPDATES,
    JAM_WINDOWS,
    SETTLE_BUFFERS,
    STORE_INOUT_ARGUMENTS,
    TRIM_SORTS,
    UNROLL_QUOTIENTS,
    ZERO_UNWRITTEN_ELEMENTS,
)
from plumbline.signature.called_functions import SEPARATE_CALLED_FUNCTIONS
from plumbline.stablehlo_to_tcp.complex_numbers import STABLEHLO_SPLIT_COMPLEX_NUMBERS
from plumbline.stablehlo_to_tcp.conversion import (
    CONVERT_STABLEHLO_TO_TCP,
    STABLEHLO_TO_TCP,
    STABLEHLO_VERIFY_TCP_BACKEND_CONTRACT,
)
from plumbline.stablehlo_to_tcp.random_bits import STABLEHLO_EXPAND_RANDOM_BITS
from plumbline.stablehlo_to_tcp.signatures import STABLEHLO_NOTE_SIGNATURES
from plumbline.stablehlo_to_tcp.tuples import STABLEHLO_SPLIT_TUPLES
from plumbline.tcp.complex_numbers.conversion import TCP_SPLIT_COMPLEX_NUMBERS
from plumbline.tcp.transforms.canonicalize import TCP_CANONICALIZE, TCP_MERGE_CONSTANTS
from plumbline.tcp.transforms.drop_symbolic_shape_ops import DROP_SYMBOLIC_SHAPE_OPS
from plumbline.tcp.transforms.fuse_elementwise_ops import TCP_FUSE_ELEMENTWISE_OPS
from plumbline.tcp.transforms.inline_group_ops import TCP_INLINE_GROUP_OPS
from plumbline.tcp.transforms.isolate_group_ops import TCP_ISOLATE_GROUP_OPS
from plumbline.tcp.transforms.note_argument_shapes import NOTE_ARGUMENT_SHAPES
from plumbline.tcp.transforms.resolve_sizes import TCP_RESOLVE_SIZES
from plumbline.tcp.transforms.simplify_sizes import TCP_SIMPLIFY_SIZES
from plumbline.tcp_to_arith.conversion import CONVERT_TCP_TO_ARITH
from plumbline.tcp_to_linalg.conversion import (
    CONVERT_TCP_TO_LINALG,
    DROP_ASSERTIONS,
    TCP_TO_LINALG,
    VERIFY_NO_TCP_OPS,
)
from plumbline.tcp_to_linalg.runtime_checks import (
    CHECK_TENSOR_SHAPES,
    GENERATE_RUNTIME_CHECKS,
    LOCATE_ASSERTIONS,
    NAME_TCP_OPS,
)
from plumbline.tcp_to_linalg.strided_slices import CONVERT_STRIDED_SLICES_TO_LINALG
from plumbline.tcp_to_linalg.value_checks import CHECK_PARTS, CHECK_VALUES
from plumbline.tcp_to_tensor.conversion import CONVERT_TCP_TO_TENSOR
from plumbline.torch_to_tcp.backend_contract import TORCH_VERIFY_TCP_BACKEND_CONTRACT
from plumbline.torch_to_tcp.beside_tcp import CONVERT_TORCH_TO_LINALG_BESIDE_TCP
from plumbline.torch_to_tcp.conversion import CONVERT_TORCH_TO_TCP, TORCH_BACKEND_TO_TCP_BACKEND
from plumbline.torch_to_tcp.counted_places import COMPUTE_COUNTED_PLACES
from plumbline.torch_to_tcp.custom_op import CONVERT_TORCH_TO_TCP_CUSTOM_OP
from plumbline.torch_to_tcp.eliminate_unused_torch_ops import ELIMINATE_UNUSED_TORCH_OPS

_Named = TypeVar("_Named", Pass, Pipeline)

TCP_TO_LLVM = Pipeline(
    "tcp-to-llvm-pipeline",
    (TCP_TO_LINALG, linalg_to_kernels.LINALG_TO_KERNELS, kernels_to_llvm.KERNELS_TO_LLVM),
    summary="Lower TCP to the LLVM dialect, for a CPU",
)


def _by_name(entries: Iterable[_Named]) -> dict[str, _Named]:
    return {entry.name: entry for entry in sorted(entries, key=lambda entry: entry.name)}


PASSES = _by_name(
    (
        ASK_FOR_TILES,
        CONVERT_STABLEHLO_TO_TCP,
        CONVERT_STRIDED_SLICES_TO_LINALG,
        CONVERT_TCP_TO_ARITH,
        CONVERT_TCP_TO_LINALG,
        CONVERT_TCP_TO_TENSOR,
        CONVERT_TORCH_TO_LINALG_BESIDE_TCP,
        CONVERT_TORCH_TO_TCP,
        CONVERT_TORCH_TO_TCP_CUSTOM_OP,
        DROP_SYMBOLIC_SHAPE_OPS,
        ELIMINATE_UNUSED_TORCH_OPS,
        COMPUTE_COUNTED_PLACES,
        EXPAND_ELEMENTARY_FUNCTIONS,
        LOOK_UP_FUNCTIONS,
        ALIGN_WHILE_ARGUMENTS,
        DIVIDE_LONG_UPDATES,
        SETTLE_BUFFERS,
        BLOCK_SUMS,
        BUFFERIZE_TM_TENSOR,
        CHECK_ALLOCATION_SIZES,
        CHECK_PARTS,
        CHECK_TENSOR_SHAPES,
        CHECK_VALUES,
        COLLAPSE_LOOPS,
        DEFINE_THREAD_COUNT,
        DROP_ASSERTIONS,
        FORK_THREADS,
        JAM_UPDATES,
        JAM_WINDOWS,
        LOCATE_ASSERTIONS,
        LOWER_ASSERTIONS,
        MOVE_BF16_AS_INTEGERS,
        MOVE_BOOLEANS_AS_BYTES,
        MULTIPLY_BYTE_COUNTS,
        NAME_TCP_OPS,
        NOTE_ARGUMENT_SHAPES,
        OUTLINE_PARALLEL_LOOPS,
        RETURN_FAILURES,
        SEPARATE_CALLED_FUNCTIONS,
        STABLEHLO_EXPAND_RANDOM_BITS,
        STABLEHLO_NOTE_SIGNATURES,
        STABLEHLO_SPLIT_COMPLEX_NUMBERS,
        STABLEHLO_SPLIT_TUPLES,
        STABLEHLO_VERIFY_TCP_BACKEND_CONTRACT,
        STORE_INOUT_ARGUMENTS,
        TIME_KERNELS,
        TRIM_SORTS,
        TCP_CANONICALIZE,
        TCP_FUSE_ELEMENTWISE_OPS,
        TCP_INLINE_GROUP_OPS,
        TCP_ISOLATE_GROUP_OPS,
        TCP_MERGE_CONSTANTS,
        TCP_RESOLVE_SIZES,
        TCP_SIMPLIFY_SIZES,
        TCP_SPLIT_COMPLEX_NUMBERS,
        TORCH_VERIFY_TCP_BACKEND_CONTRACT,
        UNROLL_QUOTIENTS,
        ZERO_UNWRITTEN_ELEMENTS,
        USE_HUGE_PAGES,
        VERIFY_NO_TCP_OPS,
        gpu_to_nvvm.CALL_INTRINSICS,
        gpu_to_nvvm.DECLARE_SHARED_MEMORY,
        gpu_to_nvvm.LOWER_DEVICE_CALLS,
        kernels_to_llvm.ATTACH_LOOP_ANNOTATIONS,
        kernels_to_llvm.ATTACH_NOALIAS,
        kernels_to_llvm.BUILD_C_ABI,
        kernels_to_llvm.NOTE_NOALIAS,
        linalg_to_gpu.ALIGN_SHARED_BUFFERS,
        linalg_to_gpu.KEEP_TILES_IN_REGISTERS,
        linalg_to_gpu.SHARE_AT_LAUNCH,
        linalg_to_gpu.BUILD_GPU_KERNELS,
        linalg_to_gpu.EXPAND_REMAINDERS,
        linalg_to_gpu.FORM_GPU_FUSION_GROUPS,
        linalg_to_gpu.GIVE_SCANS_MEMORY,
        linalg_to_gpu.LAUNCH_LOOPS,
        linalg_to_gpu.LAUNCH_ONCE,
        linalg_to_gpu.NAME_LAUNCHES,
        linalg_to_gpu.NOTE_FLOPS,
        linalg_to_gpu.PLACE_ON_DEVICE,
        linalg_to_gpu.COPY_PARTS_OF_RESULTS,
        linalg_to_gpu.RANK_SORTS,
        linalg_to_gpu.SCAN_ELEMENTS,
        linalg_to_gpu.PUT_CHANNELS_LAST,
        linalg_to_gpu.TELL_PADS,
        linalg_to_gpu.COMPUTE_GATHERED,
        linalg_to_gpu.WIDEN_LATE,
        linalg_to_kernels.FILL_SPLATS,
        linalg_to_kernels.BUILD_KERNELS,
        linalg_to_kernels.BLOCK_SCANS,
        linalg_to_kernels.CHOOSE_VECTOR_WIDTHS,
        linalg_to_kernels.KEEP_WIDENED,
        linalg_to_kernels.COUNT_WORK,
        linalg_to_kernels.NUMBER_TIMERS,
        linalg_to_kernels.COMPUTE_EXTRACTED_ELEMENTS,
        linalg_to_kernels.SEPARATE_DESTINATIONS,
        linalg_to_kernels.COMPUTE_PARTS_IN_PLACE,
        linalg_to_kernels.STREAM_RESULTS,
        linalg_to_kernels.SUM_SHORT_ROWS,
        linalg_to_kernels.PREFETCH_ROWS,
        linalg_to_kernels.FORM_FUSION_GROUPS,
        linalg_to_kernels.SHARE_GROUPS,
        linalg_to_kernels.MERGE_SORTS,
        linalg_to_kernels.OUTLINE_LOOPS,
        linalg_to_kernels.PAD_BY_ELEMENTS,
        linalg_to_kernels.PARALLELISE,
        linalg_to_kernels.PLAN_MEMORY,
        linalg_to_kernels.CARRY_SCALARS,
        linalg_to_kernels.INLINE_SMALL_KERNELS,
        linalg_to_kernels.MULTIPLY_HALVES,
        linalg_to_kernels.LAY_CHANNELS_LAST,
        linalg_to_kernels.INTERLEAVE_PARTS,
        linalg_to_kernels.PUT_LOOP_TEMPORARIES_ON_STACK,
        linalg_to_kernels.FUSE_PRODUCTS,
        linalg_to_kernels.ROUND_BY_SUMS,
        linalg_to_kernels.SELECT_CLAMPS,
        linalg_to_kernels.SPECIALISE_KERNELS,
        linalg_to_kernels.SEPARATE_WINDOWS,
        linalg_to_kernels.ORDER_REDUCTIONS,
        linalg_to_kernels.SPLIT_SUMS,
        linalg_to_kernels.WIDEN_SUMS,
        linalg_to_kernels.MERGE_AXES,
        linalg_to_kernels.DIVIDE_AS_FLOATS,
        linalg_to_kernels.TILE_SCANS,
        linalg_to_kernels.KEEP_CHANNELS_LAST,
        linalg_to_kernels.TRANSPOSE_LATE,
        linalg_to_kernels.TRANSPOSE_TILES,
        linalg_to_kernels.PREPARE_ARGUMENTS,
        linalg_to_kernels.REASSOCIATE_REDUCTIONS,
        linalg_to_kernels.FOLD_CASTS,
        linalg_to_kernels.DROP_EXACT_ROUNDINGS,
        linalg_to_kernels.VECTORISE_FUNCTIONS,
        linalg_to_kernels.REDUCE_SMALL_ANGLES,
        linalg_to_kernels.PAIR_CHANNELS,
        linalg_to_kernels.READ_DEQUANTIZED_WEIGHTS,
        linalg_to_kernels.FOLD_CONSTANT_PRODUCTS,
        linalg_to_kernels.REARRANGE_WEIGHTS,
        linalg_to_kernels.RESHAPE_DIRECTLY,
        linalg_to_kernels.EXPAND_CONTRACTIONS,
        linalg_to_kernels.TELL_SIZES,
    )
)

PIPELINES = _by_name(
    (
        DECOMPOSE_TENSOR_OPS,
        GENERATE_RUNTIME_CHECKS,
        STABLEHLO_TO_TCP,
        TCP_TO_LINALG,
        TCP_TO_LLVM,
        TORCH_BACKEND_TO_TCP_BACKEND,
        gpu_to_nvvm.GPU_TO_NVVM,
        gpu_to_nvvm.LOWER_KERNELS,
        kernels_to_llvm.KERNELS_TO_LLVM,
        linalg_to_gpu.LINALG_TO_GPU,
        linalg_to_kernels.LINALG_TO_KERNELS,
    )
)

FOLLOWED = {"canonicalize": TCP_MERGE_CONSTANTS}
"""What the flags of passes of MLIR's run after them. A dialect that is defined in Python cannot say
what its constants are."""
