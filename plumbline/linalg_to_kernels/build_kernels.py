"""Turns groups into kernels: functions over buffers, which write results where they are told to."""

import sys
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from torch_mlir import ir
from torch_mlir.dialects import bufferization, func, memref

from plumbline.bindings.pipeline import PassFailure
from plumbline.bindings.views import NOALIAS
from plumbline.bindings.walk import all_operations, callee
from plumbline.linalg_to_kernels.building import ALIGNMENT, in_any_layout, loosely_typed
from plumbline.linalg_to_kernels.computations import DYNAMIC, Computation, computation
from plumbline.linalg_to_kernels.equal_sizes import SIZES, notes_of_sizes
from plumbline.linalg_to_kernels.fusion_groups import GROUP
from plumbline.linalg_to_kernels.laid_out_weights import LaidOutWeights
from plumbline.linalg_to_kernels.shared_functions import SharedFunctions
from plumbline.linalg_to_kernels.sizes import size_of
from plumbline.linalg_to_kernels.strategies import Strategies
from plumbline.linalg_to_kernels.timed_calls import WORK
from plumbline.signature.packed_layout import PackedLayout
from plumbline.signature.weight_layout import WeightLayout

KERNEL = "no_inline"
"""The attribute of a function that is a kernel: LLVM's optimiser takes more than twice as long for
a function twice as long."""

CONTIGUOUS = "plumbline.contiguous"
"""The attribute of a kernel that does not take elements wherever they lie: for each argument the
axis from which on they are contiguous."""

ANY_AXES = sys.maxsize
"""Of an argument whose elements may lie anywhere."""

INLINED = "always_inline"
"""The attribute of a function that was a kernel, and is to be part of what calls it after all."""


def build_kernels(module: ir.Operation, strategies: Strategies) -> None:
    """Replaces each group of `module`, and the calls of it.

    Raises:
      PassFailure: there is nothing to compute in one, which a file has said is a group.
    """
    with module.context:
        groups = {
            ir.StringAttr(op.attributes["sym_name"]).value: op.operation
            for op in module.regions[0].blocks[0].operations
            if GROUP in op.attributes
        }
        empty = [function for function in groups.values() if not members_of(function)[0]]
        for function in empty:
            function.location.emit_error(
                f"'func.func' op has {GROUP}, which only a function that consists of computations "
                "on tensors has; leave it out, groups are formed of what a function computes"
            )
        if empty:
            raise PassFailure
        calls = [
            op for op in all_operations(module) if op.name == "func.call" and callee(op) in groups
        ]
        for name, function in groups.items():
            # Kernels take the names of their groups.
            function.attributes["sym_name"] = ir.StringAttr.get(f"{name}_group")
        functions = SharedFunctions(module)
        kernels = {name: _kernel(function, strategies) for name, function in groups.items()}
        shared = functions.all_shared(
            (kernel, ir.StringAttr(groups[name].attributes[GROUP]).value)
            for name, (kernel, _) in kernels.items()
        )
        names = dict(zip(kernels, shared, strict=True))
        symbols = ir.SymbolTable(module)
        weights = LaidOutWeights()
        for call in calls:
            name = callee(call)
            for number, layout in kernels[name][1].items():
                packed = WeightLayout(packed=layout)
                call.operands[number] = weights.laid_out(call.operands[number], packed)
            _call(call, groups[name], symbols[names[name]].operation)
        weights.finish()
        for function in groups.values():
            function.erase()


def members_of(function: ir.Operation) -> tuple[list[Computation], frozenset[ir.Value]]:
    """The computations of a group, and its outputs."""
    block = function.regions[0].blocks[0]
    operations = [view.operation for view in block.operations]
    found = [computation(op) for op in operations]
    members = [member for member in found if member is not None]
    return members, frozenset(operations[-1].operands)


_Packed = dict[int, PackedLayout]
"""Numbers of arguments that a kernel takes packed."""


def _kernel(function: ir.Operation, strategies: Strategies) -> tuple[ir.Operation, _Packed]:
    """Builds the kernel of a group."""
    block = function.regions[0].blocks[0]
    arguments = list(block.arguments)
    results = list(block.operations[len(block.operations) - 1].operands)
    plan = strategies.plan(*members_of(function))
    types = [
        _buffer_type(
            _packed_type(value.type, plan.packed.get(value)), loosely=plan.is_loosely_typed
        )
        if isinstance(value.type, ir.RankedTensorType)
        else value.type
        for value in (*arguments, *results)
    ]
    types += plan.scratch.values()
    with ir.InsertionPoint(function), function.location:
        kernel = func.FuncOp(SharedFunctions.UNNAMED, (types, []), visibility="private")
        # Results and scratch are new memory, and nothing else is written.
        kernel.attributes[KERNEL] = ir.UnitAttr.get()
        if plan.contiguous is not None:
            kernel.attributes[CONTIGUOUS] = ir.DenseI64ArrayAttr.get(
                [plan.contiguous if number == len(arguments) else 0 for number in range(len(types))]
            )
        notes = notes_of_sizes(function, [*arguments, *results]) if plan.notes_sizes else []
        kernel.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [_attributes(type_, note) for type_, note in zip_longest(types, notes)]
        )
        values = list(kernel.add_entry_block().arguments)
        given = dict(zip(arguments, values, strict=False))
        given |= zip(plan.scratch, values[len(arguments) + len(results) :], strict=True)
        outputs = dict(zip(results, values[len(arguments) :], strict=False))
        with ir.InsertionPoint(kernel.entry_block):
            plan.build(given, outputs)
            func.ReturnOp([])
    return kernel.operation, {
        number: plan.packed[value] for number, value in enumerate(arguments) if value in plan.packed
    }


def _packed_type(type_: ir.RankedTensorType, layout: PackedLayout | None) -> ir.RankedTensorType:
    if layout is None:
        return type_
    return ir.RankedTensorType.get(layout.shape(type_.shape), type_.element_type)


def _attributes(type_: ir.Type, sizes: ir.DenseI64ArrayAttr | None) -> ir.DictAttr:
    known: dict[str, ir.Attribute] = {}
    if isinstance(type_, ir.MemRefType):
        known[NOALIAS] = ir.UnitAttr.get()
    if sizes is not None:
        known[SIZES] = sizes
    return ir.DictAttr.get(known)


def _buffer_type(type_: ir.Type, *, loosely: bool) -> ir.MemRefType:
    """The type of a buffer for such a tensor, wherever in memory its elements lie."""
    buffer = in_any_layout(ir.RankedTensorType(type_))
    return loosely_typed(buffer) if loosely else buffer


def _call(call: ir.Operation, group: ir.Operation, kernel: ir.Operation) -> None:
    """Puts a call of the kernel in the place of one of its group."""
    block = group.regions[0].blocks[0]
    given = dict(zip(block.arguments, call.operands, strict=True))
    results = list(block.operations[len(block.operations) - 1].operands)
    types = list(ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value).inputs)
    with ir.InsertionPoint(call), call.location:
        buffers = [
            _as(type_, _read_only(value)) if isinstance(type_, ir.MemRefType) else value
            for value, type_ in zip(call.operands, types, strict=False)
        ]
        taken = [_new(result, given) for result in results]
        targets = [
            _as(type_, buffer) for buffer, type_ in zip(taken, types[len(buffers) :], strict=False)
        ]
        scratch = [
            memref.alloc(type_, [], [], alignment=ALIGNMENT)
            for type_ in types[len(buffers) + len(targets) :]
        ]
        name = ir.FlatSymbolRefAttr.get(ir.StringAttr(kernel.attributes["sym_name"]).value)
        made = func.CallOp([], name, [*buffers, *targets, *scratch])
        if WORK in call.attributes:
            made.attributes[WORK] = call.attributes[WORK]
        for old, buffer in zip(call.results, taken, strict=True):
            new = bufferization.ToTensorOp(old.type, buffer, restrict=True, writable=True).result
            old.replace_all_uses_with(new)
    call.erase()


def _as(type_: ir.Type, buffer: ir.Value) -> ir.Value:
    return buffer if buffer.type == type_ else memref.cast(type_, buffer)


def _read_only(value: ir.Value) -> ir.Value:
    type_ = _buffer_type(value.type, loosely=False)
    return bufferization.ToBufferOp(type_, value, read_only=True).result


def _new(result: ir.Value, given: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """New memory for a result."""
    type_ = ir.RankedTensorType(result.type)
    sizes: Sequence[ir.Value] = [
        size_of(result, axis, given) for axis, size in enumerate(type_.shape) if size == DYNAMIC
    ]
    buffer = ir.MemRefType.get(type_.shape, type_.element_type)
    return memref.alloc(buffer, sizes, [], alignment=ALIGNMENT)
