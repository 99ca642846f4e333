"""Lowers a module from linalg on tensors to kernels on buffers, for a CPU."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.c_signature import check_signatures, functions_with_bodies
from plumbline.linalg_to_kernels.calls import separate_called_functions
from plumbline.linalg_to_kernels.elementary_functions import expand_elementary_functions
from plumbline.linalg_to_kernels.kernels import outline_kernels
from plumbline.linalg_to_kernels.loop_order import order_loops
from plumbline.linalg_to_kernels.pipelines import (
    BUFFERIZE,
    FUSE,
    MAKE_LOOPS,
    NAME_COMPUTATIONS,
    PREPARE_TENSORS,
)
from plumbline.linalg_to_kernels.reassociation import reassociate_reductions
from plumbline.linalg_to_kernels.recomputation import keep_computations_apart, let_computations_go
from plumbline.linalg_to_kernels.splats import fill_splats
from plumbline.pipeline import Option, Pass, Pipeline
from plumbline.shape_attributes import attached
from plumbline.vector_unit import AVX2, VectorUnit


def _prepare_arguments(module: ir.Operation) -> None:
    check_signatures(module, ir.RankedTensorType)
    with module.context:
        read_only = ir.BoolAttr.get(False)
        for function in functions_with_bodies(module, "func.func", public=True):
            # What is malformed is refused here, though a later stage is the first to need it.
            attached(function, skipped=0)
            count = len(function.regions[0].blocks[0].arguments)
            given = function.attributes.get("arg_attrs") or [ir.DictAttr.get({})] * count
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(
                [_with(ir.DictAttr(entry), "bufferization.writable", read_only) for entry in given]
            )


def _with(attributes: ir.DictAttr, name: str, value: ir.Attribute) -> ir.DictAttr:
    entries = {entry.name: entry.attr for entry in attributes}
    return ir.DictAttr.get({**entries, name: value})


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

PREPARE_ARGUMENTS = Pass(
    "prepare-arguments",
    "Check that C can call public functions, and mark their arguments as read-only",
    _prepare_arguments,
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


def linalg_to_kernels_pipeline(unit: VectorUnit) -> Pipeline:
    """The whole lowering, for a CPU with such vectors."""
    options = f"vector-bytes={unit.bytes} vector-registers={unit.registers}"
    return Pipeline(
        "linalg-to-kernels-pipeline",
        (
            SEPARATE_CALLED_FUNCTIONS,
            PREPARE_ARGUMENTS,
            "func.func(linalg-generalize-named-ops)",
            KEEP_COMPUTATIONS_APART,
            FUSE,
            LET_COMPUTATIONS_GO,
            FILL_SPLATS,
            PREPARE_TENSORS,
            BUFFERIZE,
            NAME_COMPUTATIONS,
            REASSOCIATE_REDUCTIONS,
            OUTLINE_KERNELS.with_options(options),
            ORDER_LOOPS,
            EXPAND_ELEMENTARY_FUNCTIONS,
            MAKE_LOOPS,
        ),
        summary="Lower linalg on tensors to kernels on buffers, for a CPU",
    )


LINALG_TO_KERNELS = linalg_to_kernels_pipeline(AVX2)


def convert_linalg_to_kernels(module: ir.Module, unit: VectorUnit = AVX2) -> None:
    """Lowers `module` in place: each public function calls kernels, which are private functions.

    All are on memrefs. Arguments of public functions are never written, and each result is memory
    of its own. Kernels are made to suit the vectors of `unit`, and run on every CPU.

    Raises:
      LoweringError: a public function takes or returns something other than ranked tensors, or a
        pass refused the module.
    """
    linalg_to_kernels_pipeline(unit).run(module)
