"""Lowers a module from linalg on tensors to kernels on buffers, for a CPU."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from torch_mlir import ir

from plumbline.bindings.pipeline import Option, Pass, Pipeline, Step
from plumbline.elementary_functions.conversion import (
    EXPAND_ELEMENTARY_FUNCTIONS,
    LOOK_UP_FUNCTIONS,
    PERIODIC,
)
from plumbline.elementary_functions.pieces import FUNCTIONS_IN_PIECES
from plumbline.errors import UserError
from plumbline.linalg_to_kernels.block_scans import block_scans
from plumbline.linalg_to_kernels.build_kernels import build_kernels
from plumbline.linalg_to_kernels.byte_convolutions import lay_channels_last
from plumbline.linalg_to_kernels.carried_scalars import carry_scalars
from plumbline.linalg_to_kernels.channels_last import keep_channels_last
from plumbline.linalg_to_kernels.computations import loops_remembered
from plumbline.linalg_to_kernels.count_work import count_work
from plumbline.linalg_to_kernels.dequantized_weights import read_dequantized_weights
from plumbline.linalg_to_kernels.direct_reshapes import reshape_directly
from plumbline.linalg_to_kernels.exact_roundings import drop_exact_roundings
from plumbline.linalg_to_kernels.expand_contractions import expand_contractions
from plumbline.linalg_to_kernels.extracted_elements import compute_extracted_elements
from plumbline.linalg_to_kernels.float_quotients import divide_as_floats
from plumbline.linalg_to_kernels.fold_casts import fold_casts
from plumbline.linalg_to_kernels.fold_constant_products import fold_constant_products
from plumbline.linalg_to_kernels.fused_products import fuse_products
from plumbline.linalg_to_kernels.fusion_groups import form_fusion_groups
from plumbline.linalg_to_kernels.halves import multiply_halves
from plumbline.linalg_to_kernels.inlining import inline_small_kernels
from plumbline.linalg_to_kernels.interleave_parts import interleave_parts
from plumbline.linalg_to_kernels.keep_widened import keep_widened
from plumbline.linalg_to_kernels.late_transpositions import transpose_late
from plumbline.linalg_to_kernels.loop_temporaries import put_loop_temporaries_on_stack
from plumbline.linalg_to_kernels.memory_plan import plan_memory
from plumbline.linalg_to_kernels.merge_axes import merge_axes
from plumbline.linalg_to_kernels.merge_sorts import merge_sorts
from plumbline.linalg_to_kernels.number_timers import number_timers
from plumbline.linalg_to_kernels.order_reductions import order_reductions
from plumbline.linalg_to_kernels.outlining import outline_loops
from plumbline.linalg_to_kernels.pads import pad_by_elements
from plumbline.linalg_to_kernels.paired_channels import pair_channels
from plumbline.linalg_to_kernels.parallelisation import parallelise
from plumbline.linalg_to_kernels.parts_in_place import (
    compute_parts_in_place,
    separate_destinations,
)
from plumbline.linalg_to_kernels.pipelines import (
    BLOCK_SUMS,
    BUFFERIZE,
    COLLAPSE_LOOPS,
    DECOMPOSE_CONCATENATIONS,
    DECOMPOSE_PADS,
    JAM_UPDATES,
    JAM_WINDOWS,
    MAKE_LOOPS,
    NAME_COMPUTATIONS,
    PREPARE_TENSORS,
    UNROLL_QUOTIENTS,
)
from plumbline.linalg_to_kernels.prefetch_rows import prefetch_rows
from plumbline.linalg_to_kernels.rearrange_weights import rearrange_weights
from plumbline.linalg_to_kernels.reassociation import reassociate_reductions
from plumbline.linalg_to_kernels.rounded_clamps import round_by_sums
from plumbline.linalg_to_kernels.select_clamps import select_clamps
from plumbline.linalg_to_kernels.separate_windows import separate_windows
from plumbline.linalg_to_kernels.share_groups import share_groups
from plumbline.linalg_to_kernels.short_sums import sum_short_rows
from plumbline.linalg_to_kernels.small_angles import reduce_small_angles
from plumbline.linalg_to_kernels.specialise_kernels import specialise_kernels
from plumbline.linalg_to_kernels.splats import fill_splats
from plumbline.linalg_to_kernels.split_sums import split_sums
from plumbline.linalg_to_kernels.strategies import CpuStrategies
from plumbline.linalg_to_kernels.stream_results import stream_results
from plumbline.linalg_to_kernels.tell_sizes import tell_sizes
from plumbline.linalg_to_kernels.tile_scans import tile_scans
from plumbline.linalg_to_kernels.transpose_tiles import transpose_tiles
from plumbline.linalg_to_kernels.vector_widths import choose_vector_widths
from plumbline.linalg_to_kernels.vectorise_functions import vectorise_functions
from plumbline.linalg_to_kernels.widen_sums import widen_sums
from plumbline.signature.c_signature import CALLED_FROM, check_signatures, functions_with_bodies
from plumbline.signature.called_functions import SEPARATE_CALLED_FUNCTIONS
from plumbline.signature.inout_arguments import inout_arguments
from plumbline.signature.shape_attributes import attached
from plumbline.target.vector_unit import AVX2, VectorUnit

_WRITABLE = "bufferization.writable"


def _prepare_arguments(module: ir.Operation, called_from: Sequence[str]) -> None:
    check_signatures(module, ir.RankedTensorType, called_from)
    with module.context:
        for function in functions_with_bodies(module, "func.func", public=True):
            # What is malformed is refused here, though a later stage is the first to need it.
            attached(function, skipped=0)
            count = len(function.regions[0].blocks[0].arguments)
            written = inout_arguments(function)
            given = function.attributes.get("arg_attrs") or [ir.DictAttr.get({})] * count
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(
                [
                    _with(ir.DictAttr(entry), _WRITABLE, ir.BoolAttr.get(number in written))
                    for number, entry in enumerate(given)
                ]
            )


def _with(attributes: ir.DictAttr, name: str, value: ir.Attribute) -> ir.DictAttr:
    entries = {entry.name: entry.attr for entry in attributes}
    return ir.DictAttr.get({**entries, name: value})


def _for_unit(run: Callable[[ir.Operation, VectorUnit], None]) -> Callable[..., None]:
    """`run` with what is said of the vector unit as options."""

    def run_for(
        operation: ir.Operation,
        vector_bytes: Sequence[str],
        vector_registers: Sequence[str],
        vector_dots: Sequence[str],
        vector_scalable: Sequence[str],
        scratch_bytes: Sequence[str],
        shared: Sequence[str],
    ) -> None:
        sizes = (*vector_bytes, *vector_registers, *scratch_bytes)
        is_shared = "true" in shared
        if not sizes:
            run(operation, replace(AVX2, is_shared=is_shared))
            return
        counts = len(vector_bytes), len(vector_registers)
        if (
            counts != (1, 1)
            or len(scratch_bytes) > 1
            or not all(size.isdecimal() and int(size) for size in sizes)
        ):
            raise UserError(
                "vector-bytes and vector-registers are given together, one number each, and "
                "scratch-bytes with them alone"
            )
        bytes_, registers = int(*vector_bytes), int(*vector_registers)
        unit = VectorUnit(
            bytes_,
            registers,
            tuple(vector_dots),
            "true" in vector_scalable,
            is_shared=is_shared,
        )
        run(operation, replace(unit, scratch_bytes=int(*scratch_bytes)) if scratch_bytes else unit)

    return run_for


def _form_fusion_groups(module: ir.Operation, unit: VectorUnit) -> None:
    form_fusion_groups(module, CpuStrategies(unit))


def _share_groups(module: ir.Operation, unit: VectorUnit) -> None:
    share_groups(module, CpuStrategies(unit))


def _build_kernels(module: ir.Operation, unit: VectorUnit) -> None:
    build_kernels(module, CpuStrategies(unit))


_UNIT_OPTIONS = (
    Option("vector-bytes", "what a vector register of the CPU holds"),
    Option("vector-registers", "how many of them the CPU has"),
    Option(
        "vector-dots", "its instructions that add up several products at once, such as vdpbf16ps"
    ),
    Option("vector-scalable", "true: it also has vectors as long as each machine has them"),
    Option("scratch-bytes", "how many bytes a kernel may have on the stack for what it works on"),
    Option("shared", "true: several threads do a kernel"),
)


PREPARE_ARGUMENTS = Pass(
    "prepare-arguments",
    "Check that C can call public functions, and mark arguments as read-only unless in-out",
    _prepare_arguments,
    (CALLED_FROM,),
)

FOLD_CASTS = Pass(
    "fold-casts",
    "Have contractions take narrow elements, and widen them themselves",
    fold_casts,
)

READ_DEQUANTIZED_WEIGHTS = Pass(
    "read-dequantized-weights",
    "Have rows multiplied with weights that are computed of narrower ones as those are read",
    read_dequantized_weights,
)

PAIR_CHANNELS = Pass(
    "pair-channels",
    "Have convolutions read pairs of channels, where the CPU multiplies two at once",
    _for_unit(pair_channels),
    _UNIT_OPTIONS,
)

LAY_CHANNELS_LAST = Pass(
    "lay-channels-last",
    "Have convolutions of bytes go through channels that lie side by side, and give such",
    _for_unit(lay_channels_last),
    _UNIT_OPTIONS,
)

WIDEN_SUMS = Pass(
    "widen-sums",
    "Add up a few elements side by side as many, and then what that gives",
    widen_sums,
)

MERGE_AXES = Pass(
    "merge-axes",
    "Make one axis of the last two of tensors that are reduced along others, if the last is short",
    merge_axes,
)

REARRANGE_WEIGHTS = Pass(
    "rearrange-weights",
    "Have weights lie as contractions read them, where that is a part or in another order",
    rearrange_weights,
)

FOLD_CONSTANT_PRODUCTS = Pass(
    "fold-constant-products",
    "Make one computation of products with known numbers and the sum of these",
    fold_constant_products,
)

FILL_SPLATS = Pass(
    "fill-splats",
    "Fill tensors in a loop that would else be large constants with one value everywhere",
    fill_splats,
)

TRANSPOSE_LATE = Pass(
    "transpose-late",
    "Have transpositions come after parts, pads, windows and the like, and reads go before them",
    transpose_late,
)

KEEP_CHANNELS_LAST = Pass(
    "keep-channels-last",
    "Have depthwise convolutions compute channels side by side, where images have them so",
    keep_channels_last,
)

TILE_SCANS = Pass(
    "tile-scans",
    "Do scans of slices for a tile of contiguous elements at a time",
    tile_scans,
)

INTERLEAVE_PARTS = Pass(
    "interleave-parts",
    "Compute tensors that few parts make, by an innermost axis, part beside part",
    interleave_parts,
)

PAD_BY_ELEMENTS = Pass(
    "pad-by-elements",
    "Spell tensor.pad in loops that write each element of the result once",
    pad_by_elements,
)

RESHAPE_DIRECTLY = Pass(
    "reshape-directly",
    "Reshape tensors without a detour by one axis, where sizes are seen to be the same",
    reshape_directly,
)

COMPUTE_EXTRACTED_ELEMENTS = Pass(
    "compute-extracted-elements",
    "Compute updates in the loops that scatter them, where nothing else reads these",
    compute_extracted_elements,
)

REASSOCIATE_REDUCTIONS = Pass(
    "reassociate-reductions",
    "Let sums and products over many elements be taken in any order, and extremes of zeros",
    reassociate_reductions,
)

SEPARATE_WINDOWS = Pass(
    "separate-windows",
    "Combine what is in windows of planes along one axis first, and then along the others",
    separate_windows,
)

ORDER_REDUCTIONS = Pass(
    "order-reductions",
    "Have the loops of reductions go along tensors as these lie, where they may be in any order",
    order_reductions,
)

SPLIT_SUMS = Pass(
    "split-sums",
    "Add up what lies in short runs for each place of a run first, then over the run",
    split_sums,
)

EXPAND_CONTRACTIONS = Pass(
    "expand-contractions",
    "Compute contractions in the shape that their results are given next",
    expand_contractions,
)

TELL_SIZES = Pass(
    "tell-sizes",
    "Ask for sizes what tells them, so that no tensor is computed for its size alone",
    tell_sizes,
)

FORM_FUSION_GROUPS = Pass(
    "form-fusion-groups",
    "Move what one kernel is to compute into functions on tensors, which are shared",
    _for_unit(_form_fusion_groups),
    _UNIT_OPTIONS,
)

SHARE_GROUPS = Pass(
    "share-groups",
    "Have groups that differ in numbers alone be one, which takes these numbers",
    _for_unit(_share_groups),
    _UNIT_OPTIONS,
)

BUILD_KERNELS = Pass(
    "build-kernels",
    "Turn groups into kernels on buffers, of loops or register tiles",
    _for_unit(_build_kernels),
    _UNIT_OPTIONS,
)

CARRY_SCALARS = Pass(
    "carry-scalars",
    "Have loops carry numbers as such, not as tensors of rank 0",
    carry_scalars,
)

SPECIALISE_KERNELS = Pass(
    "specialise-kernels",
    "Give kernels the layouts of the buffers that they are called with",
    specialise_kernels,
)

SEPARATE_DESTINATIONS = Pass(
    "separate-destinations",
    "Have what is put together of parts be in memory of its own, where it is put together",
    separate_destinations,
)

COMPUTE_PARTS_IN_PLACE = Pass(
    "compute-parts-in-place",
    "Compute what is only copied into a part of a buffer there",
    compute_parts_in_place,
)

MERGE_SORTS = Pass(
    "merge-sorts",
    "Sort rows of buffers by merging, in kernels",
    merge_sorts,
)

OUTLINE_LOOPS = Pass(
    "outline-loops",
    "Move what is done to buffers outside of kernels into kernels, which are shared",
    outline_loops,
)

BLOCK_SCANS = Pass(
    "block-scans",
    "Take a block of elements of a scan at once",
    _for_unit(block_scans),
    _UNIT_OPTIONS,
)

SUM_SHORT_ROWS = Pass(
    "sum-short-rows",
    "Add up the few elements of a row by vectors, without a loop",
    _for_unit(sum_short_rows),
    _UNIT_OPTIONS,
)

DROP_EXACT_ROUNDINGS = Pass(
    "drop-exact-roundings",
    "Leave out roundings to half precision of what it holds, and of all but the extreme",
    drop_exact_roundings,
)

FUSE_PRODUCTS = Pass(
    "fuse-products",
    "Multiply and add f32 in one operation, where it is done in f64 so that it is rounded once",
    fuse_products,
)

ROUND_BY_SUMS = Pass(
    "round-by-sums",
    "Round by a sum what is clamped to a few integers, which its bits are then",
    round_by_sums,
)

SELECT_CLAMPS = Pass(
    "select-clamps",
    "Spell extremes of a number and a constant in a comparison, of which zeros keep their signs",
    select_clamps,
)

DIVIDE_AS_FLOATS = Pass(
    "divide-as-floats",
    "Have loops divide integers of up to 32 bits as floats, of which there are vectors",
    _for_unit(divide_as_floats),
    _UNIT_OPTIONS,
)

TRANSPOSE_TILES = Pass(
    "transpose-tiles",
    "Exchange rows and columns by squares of vectors, where loops read along the outer one",
    _for_unit(transpose_tiles),
    _UNIT_OPTIONS,
)

STREAM_RESULTS = Pass(
    "stream-results",
    "Write results that are larger than caches by vectors that go to memory at once",
    _for_unit(stream_results),
    _UNIT_OPTIONS,
)

PREFETCH_ROWS = Pass(
    "prefetch-rows",
    "Ask memory for long rows while the ones before them are computed",
    prefetch_rows,
)

REDUCE_SMALL_ANGLES = Pass(
    "reduce-small-angles",
    "Have loops that take sines look whether all angles are small, and take them by less then",
    reduce_small_angles,
)

VECTORISE_FUNCTIONS = Pass(
    "vectorise-functions",
    "Have loops that compute exp, exp2, erf or tanh take vectors, which can look these up",
    vectorise_functions,
)

_LOOK_UPS: tuple[Step, ...] = (
    VECTORISE_FUNCTIONS,
    LOOK_UP_FUNCTIONS,
    EXPAND_ELEMENTARY_FUNCTIONS,
    # Moves their tables out of loops.
    "canonicalize",
)

CHOOSE_VECTOR_WIDTHS = Pass(
    "choose-vector-widths",
    "Say of loops how many elements their vectors are to have, and how many are done at once",
    _for_unit(choose_vector_widths),
    _UNIT_OPTIONS,
)

KEEP_WIDENED = Pass(
    "keep-widened",
    "Keep LLVM from computing in half precision what kernels compute in f32",
    keep_widened,
)

PUT_LOOP_TEMPORARIES_ON_STACK = Pass(
    "put-loop-temporaries-on-stack",
    "Put the small temporaries of loops that call kernels on the stack",
    put_loop_temporaries_on_stack,
)

INLINE_SMALL_KERNELS = Pass(
    "inline-small-kernels",
    "Mark kernels that loops call, and that do little, as ones that LLVM is to inline",
    inline_small_kernels,
)

COUNT_WORK = Pass(
    "count-work",
    "Note with each call of a group how much it computes, reads and writes",
    count_work,
)

NUMBER_TIMERS = Pass(
    "number-timers",
    "Number the calls of kernels that are to be timed",
    number_timers,
)

MULTIPLY_HALVES = Pass(
    "multiply-halves",
    "Add up products of bytes by instructions that take them as halves of registers",
    multiply_halves,
)

NARROW_INDICES = Pipeline(
    "narrow-indices",
    ("func.func(arith-int-range-narrowing{int-bitwidths-supported=32})", "canonicalize", "cse"),
    summary="Count by integers of 32 bits, where sizes are known to be within these",
)

PLAN_MEMORY = Pass(
    "plan-memory",
    "Put the temporaries of a function into one arena, sharing bytes by lifetime",
    plan_memory,
)


PARALLELISE = Pass(
    "parallelise",
    "Split the outermost loops of kernels between threads, where iterations are independent",
    parallelise,
    (Option("threads", "how many threads a program runs on, unless the environment says else"),),
)


def linalg_to_kernels_pipeline(
    unit: VectorUnit,
    threads: int = 1,
    temporaries: str = "arena",
    called_from: str = "",
    *,
    timed: bool = False,
) -> Pipeline:
    """The whole lowering, for a CPU with such vectors, and so many threads.

    `temporaries` is one of `choices.TEMPORARIES`. Where it is `timed`, calls of kernels say that
    they are to be, and what they do (`timed_calls.py`).
    """
    options = f"vector-bytes={unit.bytes} vector-registers={unit.registers}"
    options += f" vector-dots={','.join(unit.dots)}" if unit.dots else ""
    options += " vector-scalable=true" if unit.scalable else ""
    if unit.scratch_bytes != AVX2.scratch_bytes:
        options += f" scratch-bytes={unit.scratch_bytes}"
    options += " shared=true" if threads > 1 else ""
    functions = ",".join(FUNCTIONS_IN_PIECES) if unit.looks_up else ""
    return Pipeline(
        "linalg-to-kernels-pipeline",
        (
            SEPARATE_CALLED_FUNCTIONS,
            PREPARE_ARGUMENTS.with_options(f"called-from={called_from}"),
            TILE_SCANS,
            INTERLEAVE_PARTS,
            DECOMPOSE_CONCATENATIONS,
            PREPARE_TENSORS,
            RESHAPE_DIRECTLY,
            COMPUTE_EXTRACTED_ELEMENTS,
            FOLD_CONSTANT_PRODUCTS,
            FILL_SPLATS,
            LAY_CHANNELS_LAST.with_options(options),
            KEEP_CHANNELS_LAST,
            TRANSPOSE_LATE,
            FOLD_CASTS,
            READ_DEQUANTIZED_WEIGHTS,
            PAIR_CHANNELS.with_options(options),
            REASSOCIATE_REDUCTIONS,
            SEPARATE_WINDOWS,
            ORDER_REDUCTIONS,
            SPLIT_SUMS,
            WIDEN_SUMS,
            MERGE_AXES,
            REARRANGE_WEIGHTS,
            EXPAND_CONTRACTIONS,
            TELL_SIZES,
            FORM_FUSION_GROUPS.with_options(options),
            SHARE_GROUPS.with_options(options),
            *([COUNT_WORK] if timed else []),
            BUILD_KERNELS.with_options(options),
            # Of pads those are left that no kernel does.
            PAD_BY_ELEMENTS,
            DECOMPOSE_PADS,
            "func.func(linalg-generalize-named-ops)",
            CARRY_SCALARS,
            SEPARATE_DESTINATIONS,
            BUFFERIZE,
            MERGE_SORTS,
            COMPUTE_PARTS_IN_PLACE,
            # So far all is released at the end of a block: of what comes to lie in no arena, a
            # network of many layers would touch the memory of each anew.
            "func.func(optimize-allocation-liveness)",
            SPECIALISE_KERNELS,
            NAME_COMPUTATIONS,
            OUTLINE_LOOPS,
            PUT_LOOP_TEMPORARIES_ON_STACK,
            *([PLAN_MEMORY] if temporaries == "arena" else []),
            # Half precision is computed in f32 and rounded, as PyTorch does.
            "func.func(math-extend-to-supported-types)",
            DROP_EXACT_ROUNDINGS,
            # Of CPUs without such vectors not all have one operation for it.
            *([FUSE_PRODUCTS] if unit.bytes >= AVX2.bytes else []),
            EXPAND_ELEMENTARY_FUNCTIONS.with_options(f"but={functions} later={','.join(PERIODIC)}"),
            ROUND_BY_SUMS,
            SELECT_CLAMPS,
            MAKE_LOOPS,
            PARALLELISE.with_options(f"threads={threads}"),
            "canonicalize",
            COLLAPSE_LOOPS,
            BLOCK_SCANS.with_options(options),
            UNROLL_QUOTIENTS,
            SUM_SHORT_ROWS.with_options(options),
            BLOCK_SUMS,
            JAM_WINDOWS,
            JAM_UPDATES,
            "canonicalize",
            "cse",
            *([REDUCE_SMALL_ANGLES] if unit.lanes(32) > 1 else []),
            EXPAND_ELEMENTARY_FUNCTIONS.with_options(f"but={functions}"),
            DIVIDE_AS_FLOATS.with_options(options),
            TRANSPOSE_TILES.with_options(options),
            STREAM_RESULTS.with_options(options),
            # What is written past the caches is not asked for.
            *([PREFETCH_ROWS] if unit.fetches_ahead else []),
            *(_LOOK_UPS if unit.looks_up else ()),
            CHOOSE_VECTOR_WIDTHS.with_options(options),
            KEEP_WIDENED,
            INLINE_SMALL_KERNELS,
            *([MULTIPLY_HALVES] if "smlad" in unit.dots else []),
            *([NARROW_INDICES] if unit.index_bits == 32 else []),
            *([NUMBER_TIMERS] if timed else []),
        ),
        summary="Lower linalg on tensors to kernels on buffers, for a CPU",
    )


LINALG_TO_KERNELS = linalg_to_kernels_pipeline(AVX2)


def convert_linalg_to_kernels(
    module: ir.Module,
    unit: VectorUnit = AVX2,
    threads: int = 1,
    temporaries: str = "arena",
    *,
    timed: bool = False,
) -> None:
    """Lowers `module` in place: each public function calls kernels, which are private functions.

    All are on memrefs. Arguments of public functions are never written, but for those that are
    in-out, and each result is memory of its own. Kernels are made to suit the vectors of `unit`,
    and may name instructions that others lack. With several `threads`, those that do much say what
    may run at once.
    `temporaries` is one of `choices.TEMPORARIES`. With `timed`, calls of kernels are numbered.

    Raises:
      LoweringError: a public function takes or returns something other than ranked tensors, or a
        pass refused the module.
    """
    pipeline = linalg_to_kernels_pipeline(unit, threads, temporaries, called_from="c", timed=timed)
    with loops_remembered():
        pipeline.run(module)
