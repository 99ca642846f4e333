"""The parts of the pipeline, in the order in which they run."""

from plumbline.bindings.pipeline import Pass, Pipeline
from plumbline.linalg_to_kernels.block_sums import block_sums
from plumbline.linalg_to_kernels.collapse_loops import collapse_loops
from plumbline.linalg_to_kernels.control_flow_buffers import settle_buffers
from plumbline.linalg_to_kernels.inout_arguments import store_inout_arguments
from plumbline.linalg_to_kernels.jam_updates import jam_updates
from plumbline.linalg_to_kernels.jam_windows import jam_windows
from plumbline.linalg_to_kernels.long_updates import divide_long_updates
from plumbline.linalg_to_kernels.tm_tensor import bufferize_tm_tensor
from plumbline.linalg_to_kernels.trimmed_sorts import trim_sorts
from plumbline.linalg_to_kernels.unroll_quotients import unroll_quotients
from plumbline.linalg_to_kernels.unwritten_tensors import zero_unwritten_elements
from plumbline.linalg_to_kernels.while_arguments import align_while_arguments

DECOMPOSE_PADS = "func.func(refback-generalize-tensor-pad)"

DECOMPOSE_CONCATENATIONS = "func.func(refback-generalize-tensor-concat)"

DECOMPOSE_TENSOR_OPS = Pipeline(
    "decompose-tensor-ops",
    (DECOMPOSE_PADS, DECOMPOSE_CONCATENATIONS),
    summary="Spell tensor.pad and tensor.concat in fills and slices, which bufferize",
)

TRIM_SORTS = Pass(
    "trim-sorts",
    "Leave out of sorts what nobody reads, and have them count the places of elements themselves",
    trim_sorts,
)

ZERO_UNWRITTEN_ELEMENTS = Pass(
    "zero-unwritten-elements",
    "Have what is extracted of tensors without elements be zero",
    zero_unwritten_elements,
)

PREPARE_TENSORS = Pipeline(
    "prepare-tensors",
    (
        "convert-shape-to-std",
        "func.func(linalg-generalize-named-ops)",
        # So that nobody computes a tensor to ask for its sizes.
        "resolve-shaped-type-result-dims",
        TRIM_SORTS,
        ZERO_UNWRITTEN_ELEMENTS,
        "canonicalize",
        "cse",
    ),
    summary="Spell what is done to tensors in linalg.generic",
)

ALIGN_WHILE_ARGUMENTS = Pass(
    "align-while-arguments",
    "Order what an scf.while carries as its condition hands it on, so that it stays where it is",
    align_while_arguments,
)

SETTLE_BUFFERS = Pass(
    "settle-buffers",
    "Have each tensor that a loop carries, or a branch gives, be in one buffer",
    settle_buffers,
)

BUFFERIZE_TM_TENSOR = Pass(
    "bufferize-tm-tensor",
    "Put the ops of tm_tensor on buffers",
    bufferize_tm_tensor,
)

STORE_INOUT_ARGUMENTS = Pass(
    "store-inout-arguments",
    "Write the new values of in-out arguments where these lie, in place of returning them",
    store_inout_arguments,
)

DIVIDE_LONG_UPDATES = Pass(
    "divide-long-updates",
    "Have bufferization look at a few at a time of many updates of one tensor",
    divide_long_updates,
)

_ONE_SHOT = " ".join(
    (
        # What a loop hands on need not lie where it did before.
        "allow-return-allocs-from-loops",
        "bufferize-function-boundaries",
        "function-boundary-type-conversion=identity-layout-map",
    )
)

BUFFERIZE = Pipeline(
    "bufferize",
    (
        BUFFERIZE_TM_TENSOR,
        ALIGN_WHILE_ARGUMENTS,
        DIVIDE_LONG_UPDATES,
        f"one-shot-bufferize{{{_ONE_SHOT}}}",
        "refback-mlprogram-bufferize",
        "canonicalize",
        SETTLE_BUFFERS,
        # Takes out of loops and branches what they hand on as it came.
        "canonicalize",
        STORE_INOUT_ARGUMENTS,
        # Gives every result of a public function memory of its own, unless another result
        # already owns it: what the C ABI promises about ownership is made true here.
        "buffer-deallocation-pipeline",
        "convert-bufferization-to-memref",
    ),
)

NAME_COMPUTATIONS = Pipeline(
    "name-computations",
    (
        "func.func(tm-tensor-to-loops)",
        "func.func(refback-munge-memref-copy)",
    ),
    summary="Spell what is done to buffers in loops and linalg.generic",
)

COLLAPSE_LOOPS = Pass(
    "collapse-loops",
    "Make one loop of two where elements are contiguous across both",
    collapse_loops,
)

BLOCK_SUMS = Pass(
    "block-sums",
    "Add up in f32 what a loop computes in that, for a block at a time, and blocks in f64",
    block_sums,
)

UNROLL_QUOTIENTS = Pass(
    "unroll-quotients",
    "Unroll loops that divide their count by a small number",
    unroll_quotients,
)

JAM_WINDOWS = Pass(
    "jam-windows",
    "Compute several neighbouring results at once, where their windows overlap",
    jam_windows,
)

JAM_UPDATES = Pass(
    "jam-updates",
    "Load and store once what several rows in a row are added to",
    jam_updates,
)

MAKE_LOOPS = Pipeline(
    "make-loops",
    (
        "func.func(convert-linalg-to-loops)",
        "lower-affine",
    ),
    summary="Spell linalg.generic in loops over the elements of buffers",
)
