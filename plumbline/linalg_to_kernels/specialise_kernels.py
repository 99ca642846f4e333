"""Gives kernels the layouts of the buffers that they are called with.

While tensors become buffers, a kernel takes any layout. Where it is known that elements are
contiguous, LLVM can make vectors of them.
"""

from collections import defaultdict

from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.linalg_to_kernels.build_kernels import KERNEL

_Types = tuple[ir.Type, ...]


def specialise_kernels(module: ir.Operation) -> None:
    """Takes casts of arguments into the kernels that are called with them."""
    with module.context:
        symbols = ir.SymbolTable(module)
        calls: dict[str, dict[_Types, list[ir.Operation]]] = defaultdict(lambda: defaultdict(list))
        for op in all_operations(module):
            if op.name == "func.call":
                callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
                if KERNEL in symbols[callee].attributes:
                    types = tuple(_uncast(value).type for value in op.operands)
                    calls[callee][types].append(op)
        for callee, by_types in calls.items():
            kernel = symbols[callee].operation
            first, *others = by_types
            for types in others:
                clone = kernel.clone(ip=ir.InsertionPoint(kernel)).operation
                symbols.insert(clone)
                _specialise(clone, types, by_types[types])
            _specialise(kernel, first, by_types[first])


def _uncast(value: ir.Value) -> ir.Value:
    """What is cast, if all that the cast forgets is where elements lie."""
    if isinstance(value.owner, ir.Block) or value.owner.name != "memref.cast":
        return value
    source = value.owner.operands[0]
    same = ir.MemRefType(source.type).shape == ir.MemRefType(value.type).shape
    return source if same else value


def _specialise(kernel: ir.Operation, types: _Types, calls: list[ir.Operation]) -> None:
    kernel.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(list(types), []))
    for argument, type_ in zip(kernel.regions[0].blocks[0].arguments, types, strict=True):
        argument.set_type(type_)
    name = ir.StringAttr(kernel.attributes["sym_name"]).value
    for call in calls:
        call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)
        for number, operand in enumerate(call.operands):
            call.operands[number] = _uncast(operand)
