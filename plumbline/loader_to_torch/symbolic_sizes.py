"""Names and bounds of dynamic sizes, as far as torch-mlir's importer does not give them."""

import contextlib
import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree
from torch.utils._sympy.symbol import SymT, symbol_is_type
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy
from torch_mlir import ir
from torch_mlir.extras.fx_importer import sympy_expr_to_semi_affine_expr

from plumbline.bindings.walk import operations_of
from plumbline.errors import UserError
from plumbline.loader_to_torch.node_locations import all_nodes
from plumbline.loader_to_torch.size_guards import stretched_sizes
from plumbline.loader_to_torch.structure import dims_of_leaves
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.shape_attributes import from_ops

_LARGEST = 2**63 - 1


def fix_settled_sizes(
    exported: torch.export.ExportedProgram, ranges: dict[Any, ValueRanges[Any]]
) -> None:
    """Makes numbers of sizes that are one number, whatever those of the inputs are in `ranges`.

    Those, too, that guards of `exported` say to be 1, where an op takes them for that.

    PyTorch writes such a number as a symbol's, where it is that of a `Dim.AUTO`, or leaves the
    expression: of a dimension that it has broadcast, as its size is 1, that may be
    `1 - Max(0, 1 - s)`. torch-mlir takes either for a size that is not known, and an op of such a
    tensor reads one element for each of the result's.
    """
    numbers: dict[Any, int | None] = dict.fromkeys(stretched_sizes(exported), 1)
    # Of inputs from 2 on, as PyTorch has it; for what is less, the program is followed by itself.
    ranges = {
        symbol: ValueRanges(max(sizes.lower, 2), max(sizes.upper, 2))
        # A number that a call passes goes by such a symbol, too, and may be negative.
        if symbol_is_type(symbol, SymT.SIZE) and sizes.lower >= 0
        else sizes
        for symbol, sizes in ranges.items()
        # There are those of expressions, too: of `2 * n`.
        if symbol.is_symbol
    }

    def fixed_sizes(value: FakeTensor) -> torch.Tensor:
        shape = [_settled(size, ranges, numbers) for size in value.shape]
        if [*map(type, shape)] == [*map(type, value.shape)]:
            return value
        strides = [_settled(stride, ranges, numbers) for stride in value.stride()]
        with value.fake_mode:
            return torch.empty_strided(shape, strides, dtype=value.dtype)

    for node in all_nodes(exported):
        value = node.meta.get("val")
        settled = pytree.tree_map_only(FakeTensor, fixed_sizes, value)
        leaves = zip(pytree.tree_leaves(settled), pytree.tree_leaves(value), strict=True)
        if any(new is not old for new, old in leaves):
            node.meta["val"] = settled
            # The same once more, which torch-mlir would rather have.
            node.meta.pop("tensor_meta", None)


def _settled(
    size: int | torch.SymInt,
    ranges: dict[Any, ValueRanges[Any]],
    numbers: dict[Any, int | None],
) -> int | torch.SymInt:
    """The size as a number, if it is one; `numbers` has what expressions are found to be."""
    if not isinstance(size, torch.SymInt):
        return size
    expression = _expression(size)
    if expression not in numbers:
        numbers[expression] = _number(expression, ranges)
    number = numbers[expression]
    return size if number is None else number


def _number(expression: Any, ranges: dict[Any, ValueRanges[Any]]) -> int | None:
    """The one that an expression is, for all sizes in their ranges.

    PyTorch's own are narrower, after its decompositions: to what was so for the example.
    """
    if expression.is_symbol or not expression.free_symbols <= ranges.keys():
        return None
    bounds = bound_sympy(expression, ranges)
    return int(bounds.lower) if bounds.is_singleton() else None


Size = tuple[int, int]
"""One of the sizes of inputs: the input and the axis."""


def automatic_sizes(
    model: torch.nn.Module,
    inputs: Sequence[torch.Tensor],
    dynamic_shapes: Any,
    exported: torch.export.ExportedProgram,
    symbols: Collection[Any],
) -> set[Size]:
    """Which sizes have one of `symbols` in them, of those that are `Dim.AUTO`."""
    nodes = _placeholders(exported, len(inputs))
    dims = dims_of_inputs(model, inputs, dynamic_shapes)
    return {
        (number, axis)
        for number, (node, entries) in enumerate(zip(nodes, dims, strict=False))
        for axis, size in enumerate(node.meta["val"].shape)
        if entries.get(axis) is torch.export.Dim.AUTO
        and not _symbols([_expression(size)]).isdisjoint(symbols)
    }


@contextlib.contextmanager
def fixed(model: torch.nn.Module, sizes: Collection[Size]) -> Iterator[None]:
    """Has an export of `model` find that these sizes are one number, that of the example."""

    def ask(_: torch.nn.Module, arguments: tuple[Any, ...]) -> None:
        for number, axis in sizes:
            int(arguments[number].shape[axis])

    hook = model.register_forward_pre_hook(ask)
    try:
        yield
    finally:
        hook.remove()


def names_of_dims(
    model: torch.nn.Module,
    inputs: Sequence[torch.Tensor],
    dynamic_shapes: Any,
    exported: torch.export.ExportedProgram,
) -> dict[str, str]:
    """What the user calls the symbols of `exported`: "s77" is the `Dim("batch")`, say.

    PyTorch keeps no such names. A symbol that goes by no name, as that of `Dim.AUTO`, is left out.
    """
    names: dict[str, str] = {}
    nodes = _placeholders(exported, len(inputs))
    for node, dims in zip(nodes, dims_of_inputs(model, inputs, dynamic_shapes), strict=False):
        for axis, size in enumerate(node.meta["val"].shape):
            dim = dims.get(axis)
            if not isinstance(size, torch.SymInt) or not isinstance(dim, torch.export.Dim):
                continue
            symbols = size.node.expr.free_symbols
            if len(symbols) == 1:
                # A derived one (2*n) is called after its root.
                names[str(next(iter(symbols)))] = getattr(dim, "root", dim).__name__
    return names


def names_of_automatic_sizes(
    who: str,
    inputs: Sequence[torch.Tensor],
    names_of_sizes: Sequence[Mapping[int, str]] | None,
    exported: torch.export.ExportedProgram,
) -> dict[str, str]:
    """What the user calls the symbols of `exported` that are sizes of `Dim.AUTO`.

    Raises:
      UserError: one that has a name is one number, whatever it is.
    """
    names: dict[str, str] = {}
    nodes = _placeholders(exported, len(inputs))
    for node, named in zip(nodes, names_of_sizes or (), strict=False):
        for axis, name in named.items():
            size = _expression(node.meta["val"].shape[axis])
            if isinstance(size, int) or size.is_number:
                raise UserError(f"{who}: the program holds for {name} = {size} alone: {_FIX_SIZE}")
            # One that follows from others has no symbol of its own.
            if size.is_symbol:
                names[str(size)] = name
    return names


_FIX_SIZE = "fix that size (of a model of ONNX: by onnx_sizes, or --size)"
"""What to do where a size is to be dynamic, and cannot be."""


def refuse_lost_sizes(
    who: str,
    model: torch.nn.Module,
    inputs: Sequence[torch.Tensor],
    dynamic_shapes: Any,
    exported: torch.export.ExportedProgram,
) -> None:
    """Refuses a program in which a size by the name of a `Dim` is that of the example alone.

    So it is where an op is taken apart for one size, which torch.export knows nothing of.

    Raises:
      UserError: there is such a size.
    """
    nodes = _placeholders(exported, len(inputs))
    for node, dims in zip(nodes, dims_of_inputs(model, inputs, dynamic_shapes), strict=False):
        for axis, size in enumerate(node.meta["val"].shape):
            dim = dims.get(axis)
            if isinstance(size, torch.SymInt) or not isinstance(dim, torch.export.Dim):
                continue
            if dim.min != dim.max:
                raise UserError(
                    f"{who}: dimension {axis} of {node.name} is {dim.__name__} in dynamic_shapes, "
                    f"but an op of the program is only lowered for one size of it, here {size} "
                    "(some are of a part of it that has one element here): give an example of a "
                    "larger size, leave it out there, or make it Dim.AUTO"
                )


def rename(module: ir.Module, names: Mapping[str, str]) -> None:
    """Gives the symbols of `module` other names."""
    with module.context:
        for op in operations_of(module, "torch"):
            if op.name == "torch.symbolic_int":
                name = ir.StringAttr(op.attributes["symbol_name"]).value
                op.attributes["symbol_name"] = ir.StringAttr.get(names.get(name, name))


def bind_arguments(
    module: ir.Module, func_name: str, exported: torch.export.ExportedProgram
) -> None:
    """Writes what sizes the arguments of a function have, as the importer does for all tensors.

    The importer gives up on a program where one size is an expression that MLIR does not have;
    those of arguments hardly ever are.
    """
    block = _function(module, func_name).regions[0].blocks[0]
    values = zip(_placeholders(exported, len(block.arguments)), block.arguments, strict=True)
    shapes = {
        argument: [_expression(size) for size in node.meta["val"].shape]
        for node, argument in values
    }
    with module.context, ir.Location.unknown(), ir.InsertionPoint.at_block_begin(block):
        used = {symbol for shape in shapes.values() for symbol in _symbols(shape)}
        symbols = {
            symbol: _symbolic_int(symbol, exported.range_constraints.get(symbol))
            for symbol in sorted(used, key=str)
        }
        for argument, shape in shapes.items():
            own = sorted(_symbols(shape), key=str)
            positions = {str(s): ir.AffineSymbolExpr.get(index) for index, s in enumerate(own)}
            try:
                sizes = [sympy_expr_to_semi_affine_expr(size, positions) for size in shape]
            except NotImplementedError:
                continue
            if own:
                ir.Operation.create(
                    "torch.bind_symbolic_shape",
                    operands=[argument, *(symbols[symbol] for symbol in own)],
                    attributes={
                        "shape_expressions": ir.AffineMapAttr.get(
                            ir.AffineMap.get(0, len(own), sizes)
                        )
                    },
                )


def argument_shapes(
    module: ir.Module, func_name: str, exported: torch.export.ExportedProgram, skipped: int
) -> ArgumentShapes:
    """The shapes of the arguments of a function after the first `skipped`."""
    function = _function(module, func_name)
    arguments = function.regions[0].blocks[0].arguments
    sizes = [
        [None if isinstance(size, torch.SymInt) else int(size) for size in node.meta["val"].shape]
        for node in _placeholders(exported, len(arguments))
    ]
    shapes = from_ops(function, sizes)
    return ArgumentShapes(shapes.symbols, shapes.shapes[skipped:])


def _function(module: ir.Module, name: str) -> ir.OpView:
    return next(
        op
        for op in module.body.operations
        if op.operation.name == "func.func"
        and ir.StringAttr(op.attributes["sym_name"]).value == name
    )


def _placeholders(exported: torch.export.ExportedProgram, count: int) -> list[torch.fx.Node]:
    """The nodes of the `count` inputs that are arguments of the function."""
    # Before them are constants, which are part of the function.
    nodes = list(exported.graph.find_nodes(op="placeholder"))
    return nodes[len(nodes) - count :]


def _expression(size: int | torch.SymInt) -> Any:
    return size.node.expr if isinstance(size, torch.SymInt) else size


def _symbols(shape: Sequence[Any]) -> set[Any]:
    return {s for size in shape if not isinstance(size, int) for s in size.free_symbols}


def _symbolic_int(symbol: Any, range_: Any) -> ir.Value:
    i64 = ir.IntegerType.get_signless(64)
    low, high = (0, _LARGEST) if range_ is None else (range_.lower, range_.upper)
    return ir.Operation.create(
        "torch.symbolic_int",
        results=[ir.Type.parse("!torch.int")],
        attributes={
            "symbol_name": ir.StringAttr.get(str(symbol)),
            "min_val": ir.IntegerAttr.get(i64, int(low) if _is_number(low) else 0),
            "max_val": ir.IntegerAttr.get(i64, int(high) if _is_number(high) else _LARGEST),
        },
    ).result


def _is_number(bound: Any) -> bool:
    # Others are PyTorch's infinities.
    return isinstance(bound, int) or bool(bound.is_Integer)


def dims_of_inputs(
    model: torch.nn.Module, inputs: Sequence[torch.Tensor], dynamic_shapes: Any
) -> Iterator[dict[int, Any]]:
    """For each tensor in the inputs, the entry of `dynamic_shapes` for each dimension that has one.

    Raises:
      TypeError: forward does not take the inputs, or the entries are not nested as they are.
    """
    for entry in entries_of_leaves(model, inputs, dynamic_shapes):
        yield dict(entry if isinstance(entry, Mapping) else enumerate(entry or ()))


def entries_of_leaves(
    model: torch.nn.Module, inputs: Sequence[Any], dynamic_shapes: Any
) -> Iterator[Any]:
    """For each leaf of the inputs what `dynamic_shapes` has for it, as it is there.

    Raises:
      TypeError: forward does not take the inputs, or the entries are not nested as they are.
    """
    bound = inspect.signature(model.forward).bind(*inputs)
    by_name = dynamic_shapes
    if not isinstance(dynamic_shapes, Mapping):
        by_name = dict(zip(bound.arguments, dynamic_shapes or (), strict=False))
    for name, value in bound.arguments.items():
        yield from dims_of_leaves(value, by_name.get(name))
