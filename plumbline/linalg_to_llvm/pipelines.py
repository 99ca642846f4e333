"""The pass pipelines of the CPU lowering, in the order in which they run."""

from plumbline.linalg_to_llvm.allocation_sizes import CHECK_ALLOCATION_SIZES
from plumbline.linalg_to_llvm.assertions import LOWER_ASSERTIONS
from plumbline.linalg_to_llvm.bfloats import MOVE_BF16_AS_INTEGERS
from plumbline.pipeline import Pipeline


def _bufferize(name: str, *options: str) -> Pipeline:
    one_shot = " ".join(
        (
            *options,
            # What a loop hands on need not lie where it did before.
            "allow-return-allocs-from-loops",
            "bufferize-function-boundaries",
            "function-boundary-type-conversion=identity-layout-map",
        )
    )
    return Pipeline(
        name,
        (
            "func.func(tm-tensor-bufferize)",
            f"one-shot-bufferize{{{one_shot}}}",
            "refback-mlprogram-bufferize",
            "canonicalize",
            # Gives every result of a public function memory of its own, unless another result
            # already owns it: what the C ABI promises about ownership is made true here.
            "buffer-deallocation-pipeline",
            "convert-bufferization-to-memref",
        ),
    )


DECOMPOSE_TENSOR_OPS = Pipeline(
    "decompose-tensor-ops",
    (
        "func.func(refback-generalize-tensor-pad)",
        "func.func(refback-generalize-tensor-concat)",
    ),
    summary="Spell tensor.pad and tensor.concat in fills and slices, which bufferize",
)

FUSE = Pipeline("fuse", ("func.func(linalg-fuse-elementwise-ops)",))

PREPARE_TENSORS = Pipeline(
    "prepare-tensors",
    (
        "convert-shape-to-std",
        DECOMPOSE_TENSOR_OPS,
        "canonicalize",
        "cse",
    ),
)

BUFFERIZE = _bufferize("bufferize")

# The scatter, scan and sort ops of tm_tensor do not tell the analysis of one-shot-bufferize
# the truth about what they read and write: deciding buffers in place around them gave wrong
# results. So there each write gets a copy.
BUFFERIZE_COPYING = _bufferize("bufferize-copying", "copy-before-write")

NAME_COMPUTATIONS = Pipeline(
    "name-computations",
    (
        "func.func(tm-tensor-to-loops)",
        "func.func(refback-munge-memref-copy)",
    ),
    summary="Spell what is done to buffers in loops and linalg.generic",
)

BUFFERS_TO_LLVM = Pipeline(
    "buffers-to-llvm",
    (
        "func.func(convert-linalg-to-loops)",
        # libm has no half precision: such math is done in f32 and rounded, as PyTorch does.
        "func.func(math-extend-to-supported-types)",
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
    ),
)
