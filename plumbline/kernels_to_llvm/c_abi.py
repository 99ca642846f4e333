"""Puts the C functions that a program is called by in the place of its public functions."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func, memref

from plumbline.errors import UserError
from plumbline.kernels_to_llvm.building import INTERNAL
from plumbline.kernels_to_llvm.device_arguments import begins_device
from plumbline.kernels_to_llvm.load_weights import LoadedWeights
from plumbline.kernels_to_llvm.memref_entries import build_memref_entries, build_status_entries
from plumbline.kernels_to_llvm.pointer_entries import PointerEntries
from plumbline.kernels_to_llvm.result_sizes import ResultSizes, result_sizes
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.signature.c_names import c_names
from plumbline.signature.c_signature import (
    check_signatures,
    embedded_weights,
    functions_with_bodies,
)
from plumbline.signature.device_tensors import has_device_tensors
from plumbline.signature.name_attributes import drop_names, noted_names
from plumbline.signature.shape_attributes import attached, detach
from plumbline.signature.tensor_names import shapes_of_elements
from plumbline.signature.weight_arguments import EmbeddedWeight
from plumbline.target.choices import ABIS, MEMORIES, QUEUES, WEIGHTS, one_of

_BODY_SUFFIX = "_body"


def build_entries(
    module: ir.Operation,
    abi: Sequence[str],
    memory: Sequence[str],
    weights: Sequence[str],
    queue: Sequence[str],
    called_from: Sequence[str],
) -> None:
    """Puts entries of the convention `abi`, one of `ABIS`, in the place of public functions.

    Each function itself stays, private, as `<name>_body`.

    Raises:
      UserError: there is no public function, or no such convention, or one function has results
        that cannot be called by it.
      PassFailure: C cannot call one; that has been reported.
    """
    convention = one_of(ABIS, "abi", abi)
    from_ = one_of(MEMORIES, "memory", memory)
    weights_are = one_of(WEIGHTS, "weights", weights)
    queued = one_of(QUEUES, "queue", queue)
    if queued == "stream" and from_ != "pool":
        raise UserError("queue=stream goes with memory=pool")
    if convention != "pointers" and (from_ == "pool" or weights_are == "file"):
        raise UserError("memory=pool and weights=file go with abi=pointers")
    check_signatures(module, ir.MemRefType, called_from)
    with module.context:
        symbols = ir.SymbolTable(module)
        for function in functions_with_bodies(module, "func.func", public=True):
            with ir.InsertionPoint(function), function.location:
                _build_entries(symbols, function, convention, from_, weights_are, queued)
        for function in functions_with_bodies(module, "func.func", public=False):
            function.attributes["llvm.linkage"] = ir.Attribute.parse(INTERNAL)


def _build_entries(
    symbols: ir.SymbolTable,
    body: func.FuncOp,
    abi: str,
    memory: str,
    weights_are: str,
    queue: str,
) -> None:
    name = body.sym_name.value
    if abi != "pointers" and has_device_tensors(body):
        raise UserError("tensors on the device (on_gpu_tensors) go with abi=pointers")
    if memory == "pool" and begins_device(body) and not has_device_tensors(body):
        raise UserError("memory=pool of a GPU goes with tensors there (on_gpu_tensors)")
    weights = [weight for weight in embedded_weights(body) if weight is not None]
    shapes = attached(body, skipped=len(weights))
    closed = shapes.closed()
    # No caller could bring memory for results that it cannot measure.
    results = result_sizes(body, closed) if abi == "pointers" else ResultSizes((), ())
    detach(body)
    tensors = noted_names(body)
    drop_names(body)
    _embed(body, weights)
    hidden_name = name + _BODY_SUFFIX
    while hidden_name in symbols:
        hidden_name += "_"
    ir.SymbolTable.set_symbol_name(body, hidden_name)
    body.sym_visibility = ir.StringAttr.get("private")
    # One copy of it is enough.
    body.attributes["no_inline"] = ir.UnitAttr.get()
    if abi == "pointers":
        names = c_names(tensors, closed, len(weights), results.unbacked)
        scalars = [tensor.is_scalar for tensor in tensors.inputs[len(weights) :]]
        loaded = LoadedWeights(name) if weights and weights_are == "file" else None
        if loaded is not None:
            loaded.define(symbols)
        counted = shapes_of_elements(tensors.outputs, results.shapes)
        PointerEntries(
            name, body, names, closed, results, counted, scalars, memory, loaded, queue
        ).build(symbols)
    elif abi == "memref-status":
        build_status_entries(name, body, shapes)
    else:
        build_memref_entries(name, body, shapes)


def _embed(function: func.FuncOp, weights: Sequence[EmbeddedWeight]) -> None:
    """Has a function find its first arguments, which are weights, in memory of the library.

    The assembler fills that (`llvm_to_asm/weights.py`).
    """
    block, type_ = function.entry_block, function.type
    for weight in weights:
        argument = block.arguments[0]
        memory = weight.symbol(function.sym_name.value)
        alignment = element_bytes(argument.type.element_type)
        memref.global_(memory, argument.type, constant=True, alignment=alignment)
        with ir.InsertionPoint.at_block_begin(block):
            argument.replace_all_uses_with(memref.get_global(argument.type, memory))
        block.erase_argument(0)
    left = ir.FunctionType.get(type_.inputs[len(weights) :], type_.results)
    function.attributes["function_type"] = ir.TypeAttr.get(left)
