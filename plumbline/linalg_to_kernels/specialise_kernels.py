"""Gives kernels the layouts of the buffers that they are called with.

While tensors become buffers, a kernel takes any layout. Where it is known that elements are
contiguous, LLVM can make vectors of them.

A kernel of any size is told what all its calls agree on, such as the windows of convolutions. What
is the same in all of them LLVM would find out by itself, but for kernels that threads share: these
take their arguments from memory. A grouped convolution took 1.4 times as long then (AMD Zen 3).
"""

from collections import defaultdict
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.bindings.walk import callee, operations_named
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.computations import DYNAMIC

_Types = tuple[ir.Type, ...]


def specialise_kernels(module: ir.Operation) -> None:
    """Takes casts of arguments into the kernels that are called with them."""
    with module.context:
        symbols = ir.SymbolTable(module)
        calls: dict[str, dict[_Types, list[ir.Operation]]] = defaultdict(lambda: defaultdict(list))
        for op in operations_named(module, "func.call"):
            name = callee(op)
            if KERNEL in symbols[name].attributes:
                types = tuple(_known_type(value) for value in op.operands)
                calls[name][types].append(op)
        for name, by_types in calls.items():
            kernel = symbols[name].operation
            first, *others = by_types.values()
            for alike in others:
                clone = kernel.clone(ip=ir.InsertionPoint(kernel)).operation
                symbols.insert(clone)
                _specialise(clone, alike)
            _specialise(kernel, first)


def _known_type(value: ir.Value) -> ir.Type:
    """The type of an argument with what a cast of it forgets of where elements lie.

    A kernel of any size goes on being one for all sizes: it is told of an axis along which
    elements follow one another, as most have, not how far the rows of this argument are apart.
    """
    if not _is_cast(value):
        return value.type
    given, source = ir.MemRefType(value.type), ir.MemRefType(value.owner.operands[0].type)
    if source.shape == given.shape:
        return source
    if not isinstance(given.layout, ir.StridedLayoutAttr):
        return given
    known, _ = source.get_strides_and_offset()
    strides = list(given.layout.strides)
    if 1 in known:
        # The last of several: the sizes of the others are 1.
        strides[len(known) - 1 - known[::-1].index(1)] = 1
    layout = ir.StridedLayoutAttr.get(given.layout.offset, strides)
    return ir.MemRefType.get(given.shape, given.element_type, layout, given.memory_space)


def _is_cast(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name == "memref.cast"


def _common_type(values: Sequence[ir.Value]) -> ir.Type:
    """The type of an argument of several calls, with what is the same in all of them."""
    types = [*map(_type_before_cast, values)]
    if len({*types}) == 1:
        return types[0]
    memrefs = [*map(ir.MemRefType, types)]
    strides, offsets = zip(*(type_.get_strides_and_offset() for type_ in memrefs), strict=True)
    (offset,) = _common([[offset] for offset in offsets])
    layout = ir.StridedLayoutAttr.get(offset, _common(strides))
    first = memrefs[0]
    shape = _common([type_.shape for type_ in memrefs])
    return ir.MemRefType.get(shape, first.element_type, layout, first.memory_space)


def _type_before_cast(value: ir.Value) -> ir.Type:
    """The type of an argument, or of what it is a cast of that forgets some of the sizes."""
    source = _before_cast(value).type
    if source == value.type:
        return source
    sizes = zip(ir.MemRefType(value.type).shape, ir.MemRefType(source).shape, strict=True)
    return source if all(given in (DYNAMIC, known) for given, known in sizes) else value.type


def _before_cast(value: ir.Value) -> ir.Value:
    return value.owner.operands[0] if _is_cast(value) else value


def _common(numbers: Sequence[Sequence[int]]) -> list[int]:
    """For each place the number that all have there, or DYNAMIC."""
    return [each[0] if len({*each}) == 1 else DYNAMIC for each in zip(*numbers, strict=True)]


def _specialise(kernel: ir.Operation, calls: list[ir.Operation]) -> None:
    types = [*map(_common_type, zip(*(call.operands for call in calls), strict=True))]
    kernel.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
    for argument, type_ in zip(kernel.regions[0].blocks[0].arguments, types, strict=True):
        argument.set_type(type_)
    name = ir.StringAttr(kernel.attributes["sym_name"]).value
    for call in calls:
        call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)
        for number, (operand, type_) in enumerate(zip(call.operands, types, strict=True)):
            if operand.type != type_:
                source = _before_cast(operand)
                with call.location, ir.InsertionPoint(call):
                    cast = source if source.type == type_ else memref.cast(type_, source)
                call.operands[number] = cast
