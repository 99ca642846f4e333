"""Moves each computation over buffers into a function of its own, a kernel.

LLVM's optimiser takes more than twice as long for a function twice as long, so a model in one
function is out of its reach. In a function of its own a loop nest also knows which of its buffers
are apart in memory, which makes it a loop over vectors. Computations that are alike share a kernel.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func, memref

from plumbline.linalg_to_kernels.building import loosely_typed
from plumbline.linalg_to_kernels.contraction import build_contraction, lies_along_summed, tile_for
from plumbline.linalg_to_kernels.products import (
    SumOfProducts,
    product_of,
    static_sizes,
    sum_of_products,
)
from plumbline.vector_unit import VectorUnit
from plumbline.walk import all_operations

_NOALIAS = "llvm.noalias"
"""The attribute of an argument whose memory is that of no other argument."""

_SMALL = 4096
"""Up to how many products plain loops are as good."""

_FEW_ROWS = 8
"""Up to how many rows plain loops are faster: what is packed is used so often only."""

_VIEWS = frozenset(
    {
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.reinterpret_cast",
        "memref.subview",
        "memref.transpose",
    }
)


def outline_kernels(module: ir.Operation, unit: VectorUnit) -> None:
    """Moves each `linalg.generic` of `module` into a kernel, and calls that in its place."""
    with module.context:
        kernels = _Kernels(module, unit)
        for op in all_operations(module):
            if op.name == "linalg.generic":
                kernels.outline(op)


@dataclass(frozen=True)
class _Contraction:
    """A sum of products with what its kernel depends on."""

    sum: SumOfProducts
    columns: int | None
    along: tuple[bool, bool]


class _Kernels:
    """The kernels of a module."""

    def __init__(self, module: ir.Operation, unit: VectorUnit) -> None:
        self._body = module.regions[0].blocks[0]
        self._unit = unit
        self._names = {
            ir.StringAttr(op.attributes["sym_name"]).value
            for op in self._body.operations
            if "sym_name" in op.attributes
        }
        self._by_text: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def outline(self, op: ir.Operation) -> None:
        """Replaces one op by a call."""
        if contraction := _contraction(op):
            self._outline_contraction(op, contraction)
        else:
            self._outline_loops(op)

    def _outline_contraction(self, op: ir.Operation, contraction: _Contraction) -> None:
        result = ir.MemRefType(op.operands[2].type).element_type
        tile = tile_for(self._unit, result, contraction.columns)
        types = [loosely_typed(ir.MemRefType(value.type)) for value in op.operands]
        distinct = _distinct(list(op.operands), op)
        text = repr((contraction.sum, contraction.along, tile, [*map(str, types)], distinct))

        def build(arguments: Sequence[ir.Value]) -> None:
            build_contraction(contraction.sum, arguments, tile, contraction.along)

        if text not in self._by_text:
            kernel = self._function("contraction", types, distinct, build, op.location)
            self._by_text[text] = ir.StringAttr(kernel.attributes["sym_name"]).value
        with ir.InsertionPoint(op), op.location:
            arguments = [
                value if value.type == type_ else memref.cast(type_, value)
                for value, type_ in zip(op.operands, types, strict=True)
            ]
            func.call([], self._by_text[text], arguments)
        op.erase()

    def _outline_loops(self, op: ir.Operation) -> None:
        captured, constants = _captured(op)
        distinct = _distinct(captured, op)
        with ir.InsertionPoint(op), op.location:
            call = func.CallOp([], ir.FlatSymbolRefAttr.get("kernel"), captured)

        def build(arguments: Sequence[ir.Value]) -> None:
            replaced = dict(zip(captured, arguments, strict=True))
            for constant in constants:
                clone = constant.clone(ip=ir.InsertionPoint.current)
                replaced |= dict(zip(constant.results, clone.operation.results, strict=True))
            op.detach_from_parent()
            ir.InsertionPoint.current.insert(op)
            for inner in all_operations(op):
                for number, operand in enumerate(inner.operands):
                    if operand in replaced:
                        inner.operands[number] = replaced[operand]

        types = [value.type for value in captured]
        kernel = self._function(_kind(op), types, distinct, build, op.location)
        own_name = ir.StringAttr(kernel.attributes["sym_name"]).value
        kernel.attributes["sym_name"] = ir.StringAttr.get("kernel")
        text = kernel.get_asm(use_local_scope=True, enable_debug_info=False)
        kernel.attributes["sym_name"] = ir.StringAttr.get(own_name)
        name = self._by_text.setdefault(text, own_name)
        if name != own_name:
            kernel.erase()
            self._names.discard(own_name)
            self._counts[_kind_of_name(own_name)] -= 1
        call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)

    def _function(
        self,
        kind: str,
        types: Sequence[ir.Type],
        distinct: Sequence[int],
        build: Callable[[Sequence[ir.Value]], None],
        location: ir.Location,
    ) -> ir.Operation:
        with ir.InsertionPoint(self._body), location:
            function = func.FuncOp(self._name(kind), (list(types), []), visibility="private")
            function.attributes["no_inline"] = ir.UnitAttr.get()
            if distinct:
                function.attributes["arg_attrs"] = ir.ArrayAttr.get(
                    [
                        ir.DictAttr.get({_NOALIAS: ir.UnitAttr.get()} if number in distinct else {})
                        for number in range(len(types))
                    ]
                )
            block = function.add_entry_block()
            with ir.InsertionPoint(block):
                build(list(block.arguments))
                func.ReturnOp([])
        return function.operation

    def _name(self, kind: str) -> str:
        while True:
            number = self._counts.get(kind, 0)
            self._counts[kind] = number + 1
            name = f"{kind}_{number}"
            if name not in self._names:
                self._names.add(name)
                return name


def _kind_of_name(name: str) -> str:
    return name.rpartition("_")[0]


def _contraction(op: ir.Operation) -> _Contraction | None:
    """How an op is a sum of products that packing pays for."""
    sum_ = sum_of_products(op)
    if sum_ is None:
        return None
    sizes = static_sizes(op, sum_.accesses)
    if sizes is None:
        return None
    rows, columns, summed = (
        product_of([sizes[loop] for loop in loops])
        for loops in (sum_.rows, sum_.columns, sum_.summed)
    )
    if (rows is not None and rows <= _FEW_ROWS) or columns == 1:
        return None
    if rows and columns and summed and rows * columns * summed <= _SMALL:
        return None
    left, right = (
        lies_along_summed(
            sum_.accesses[number], ir.MemRefType(op.operands[number].type), sum_.summed
        )
        for number in (sum_.left, sum_.right)
    )
    return _Contraction(sum_, columns, (left, right))


def _kind(op: ir.Operation) -> str:
    iterators = [str(attribute) for attribute in op.attributes["iterator_types"]]
    if any("reduction" in iterator for iterator in iterators):
        return "reduction"
    return "elementwise" if len(op.regions[0].blocks[0].operations) > 1 else "copy"


def _captured(op: ir.Operation) -> tuple[list[ir.Value], list[ir.Operation]]:
    """The values from outside that `op` uses, and of these the constants, as operations."""
    inside = all_operations(op)
    defined = {result for inner in inside for result in inner.results}
    defined |= {
        argument
        for inner in inside
        for region in inner.regions
        for block in region.blocks
        for argument in block.arguments
    }
    values: dict[ir.Value, None] = {}
    constants: dict[ir.Operation, None] = {}
    for inner in inside:
        for operand in inner.operands:
            if operand in defined:
                continue
            owner = operand.owner
            if not isinstance(owner, ir.Block) and owner.name == "arith.constant":
                constants[owner] = None
            else:
                values[operand] = None
    return list(values), list(constants)


def _distinct(values: Sequence[ir.Value], op: ir.Operation) -> list[int]:
    """Of the arguments of a kernel the buffers that share no memory with another."""
    roots = [_root(value) if isinstance(value.type, ir.MemRefType) else None for value in values]
    buffers = [root for root in roots if root is not None]
    if not all(map(_is_known, buffers)):
        return []
    return [
        number for number, root in enumerate(roots) if root is not None and buffers.count(root) == 1
    ]


def _root(value: ir.Value) -> ir.Value:
    """The buffer that `value` is a view of."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in _VIEWS:
        value = value.owner.operands[0]
    return value


def _is_known(root: ir.Value) -> bool:
    """Whether a buffer is new, a constant, or an argument of a public function.

    Arguments may be one buffer given twice, but are never written.
    """
    owner = root.owner
    if isinstance(owner, ir.Block):
        parent = owner.owner
        return (
            parent.operation.name == "func.func"
            and "sym_visibility" not in parent.operation.attributes
            and owner == parent.operation.regions[0].blocks[0]
        )
    return owner.name in ("memref.alloc", "memref.alloca", "memref.get_global")
