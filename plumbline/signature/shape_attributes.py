"""How a module says what it knows of the shapes of a function's arguments.

In the Torch dialect and in TCP, ops say it (`symbolic_int`, `bind_symbolic_shape`). Where they are
dropped, attributes take over: `plumbline.symbols` of the function lists its symbols and their
bounds, and `plumbline.shape` of an argument has its sizes, as functions of all of these symbols.
"""

from collections.abc import Iterable, Mapping, Sequence

from torch_mlir import ir

from plumbline.bindings.pipeline import PassFailure
from plumbline.bindings.walk import all_operations
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.size_expressions import (
    Operation,
    Size,
    Symbol,
    SymbolUse,
    renumbered,
    symbols_of,
)

_SYMBOLS = "plumbline.symbols"
_SHAPE = "plumbline.shape"

# Both are written for "no bound": torch.export's int_oo, and the largest size itself.
_UNBOUNDED = 2**63 - 2

_BINARY = {
    "+": (ir.AffineAddExpr, ir.AffineExpr.get_add),
    "*": (ir.AffineMulExpr, ir.AffineExpr.get_mul),
    "mod": (ir.AffineModExpr, ir.AffineExpr.get_mod),
    "floordiv": (ir.AffineFloorDivExpr, ir.AffineExpr.get_floor_div),
    "ceildiv": (ir.AffineCeilDivExpr, ir.AffineExpr.get_ceil_div),
}


def from_ops(function: ir.OpView, sizes: Sequence[Sequence[int | None]]) -> ArgumentShapes:
    """The shapes of the arguments of a function, of which ops say what the symbols are.

    `sizes` are those that the types of the arguments have; None stands for a dynamic one.
    """
    ops = [
        op for op in all_operations(function.operation) if op.name.startswith(("torch.", "tcp."))
    ]
    symbols: dict[ir.Value, int] = {}
    table: list[Symbol] = []
    shapes: list[Sequence[Size | None]] = list(sizes)
    arguments = list(function.regions[0].blocks[0].arguments)
    for op in ops:
        if op.name.endswith(".symbolic_int"):
            symbols[op.results[0]] = len(table)
            table.append(_symbol_of(op.attributes["symbol_name"], op.attributes))
        elif op.name.endswith(".bind_symbolic_shape") and op.operands[0] in arguments:
            index = arguments.index(op.operands[0])
            indices = [symbols[symbol] for symbol in list(op.operands)[1:]]
            map_ = ir.AffineMapAttr(op.attributes["shape_expressions"]).value
            shapes[index] = [
                _size(expression, indices) if size is None else size
                for size, expression in zip(sizes[index], map_.results, strict=True)
            ]
    return _without_unused(table, shapes)


def attach(function: ir.OpView) -> None:
    """Makes attributes of what ops say of the arguments of a `func.func` on tensors.

    Raises:
      PassFailure: it has such attributes, which are malformed; that has been reported.
    """
    attached(function, skipped=0)
    arguments = function.regions[0].blocks[0].arguments
    shapes = from_ops(function, [_static_sizes(argument.type) for argument in arguments])
    if not shapes.symbols:
        return
    old: Iterable[ir.Attribute] = [ir.DictAttr.get({})] * len(arguments)
    if "arg_attrs" in function.attributes:
        old = function.attributes["arg_attrs"]
    attributes = []
    for given, shape in zip(old, shapes.shapes, strict=True):
        entries = {entry.name: entry.attr for entry in ir.DictAttr(given)}
        if any(not isinstance(size, int | None) for size in shape):
            entries[_SHAPE] = sizes_attribute(shape, len(shapes.symbols))
        attributes.append(ir.DictAttr.get(entries))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    function.attributes[_SYMBOLS] = _symbols_attribute(shapes.symbols)


def attached(function: ir.OpView, skipped: int) -> ArgumentShapes:
    """The shapes of the arguments of a `func.func` on tensors or memrefs after the first `skipped`.

    Raises:
      PassFailure: its attributes are malformed; that has been reported.
    """
    try:
        symbols = _symbols(function)
    except (ValueError, KeyError) as error:
        function.location.emit_error(
            f"{_SYMBOLS} is {function.attributes[_SYMBOLS]}; it lists the symbols of a function's "
            'sizes: [{name = "n", min_val = 0 : i64, max_val = 9 : i64}]'
        )
        raise PassFailure from error
    shapes: list[Sequence[Size | None]] = []
    attributes = [ir.DictAttr.get({})] * len(function.regions[0].blocks[0].arguments)
    if "arg_attrs" in function.attributes:
        attributes = [ir.DictAttr(entry) for entry in function.attributes["arg_attrs"]]
    for argument, given in zip(function.regions[0].blocks[0].arguments, attributes, strict=True):
        sizes: Sequence[Size | None] = _static_sizes(argument.type)
        if _SHAPE in given:
            try:
                stated = _stated_sizes(given[_SHAPE], len(sizes), len(symbols))
            except ValueError as error:
                function.location.emit_error(
                    f"{_SHAPE} of argument {len(shapes)} is {given[_SHAPE]}; it is an affine map "
                    f"of the {len(symbols)} symbols in {_SYMBOLS} to the {len(sizes)} sizes of "
                    f"{argument.type}"
                )
                raise PassFailure from error
            sizes = [
                expression if size is None else size
                for size, expression in zip(sizes, stated, strict=True)
            ]
        shapes.append(sizes)
    return ArgumentShapes(symbols, tuple(map(tuple, shapes[skipped:])))


def detach(function: ir.OpView) -> None:
    """Takes away what is said of the arguments of a function, once it has been read."""
    for name in (_SYMBOLS, "arg_attrs"):
        if name in function.attributes:
            del function.attributes[name]


def _stated_sizes(attribute: ir.Attribute, rank: int, symbol_count: int) -> list[Size | None]:
    sizes = sizes_in(attribute)
    if len(sizes) != rank or ir.AffineMapAttr(attribute).value.n_symbols != symbol_count:
        raise ValueError
    return sizes


def _symbols(function: ir.OpView) -> tuple[Symbol, ...]:
    if _SYMBOLS not in function.attributes:
        return ()
    entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.attributes[_SYMBOLS])]
    return tuple(_symbol_of(entry["name"], entry) for entry in entries)


def _symbol_of(name: ir.Attribute, bounds: ir.DictAttr | Mapping[str, ir.Attribute]) -> Symbol:
    max_ = ir.IntegerAttr(bounds["max_val"]).value
    return Symbol(
        ir.StringAttr(name).value,
        ir.IntegerAttr(bounds["min_val"]).value,
        max_ if max_ < _UNBOUNDED else None,
    )


def _symbols_attribute(symbols: Sequence[Symbol]) -> ir.ArrayAttr:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get(
        [
            ir.DictAttr.get(
                {
                    "name": ir.StringAttr.get(symbol.name),
                    "min_val": ir.IntegerAttr.get(i64, symbol.min),
                    "max_val": ir.IntegerAttr.get(
                        i64, 2**63 - 1 if symbol.max is None else symbol.max
                    ),
                }
            )
            for symbol in symbols
        ]
    )


def _static_sizes(type_: ir.Type) -> list[int | None]:
    if not isinstance(type_, ir.RankedTensorType | ir.MemRefType):
        return []
    return [
        None if type_.is_dynamic_dim(axis) else type_.get_dim_size(axis)
        for axis in range(type_.rank)
    ]


def sizes_attribute(shape: Sequence[Size | None], symbol_count: int) -> ir.AffineMapAttr:
    """Sizes as an attribute, in which d0 stands for one of which nothing is known."""
    return ir.AffineMapAttr.get(
        ir.AffineMap.get(1 if None in shape else 0, symbol_count, [_expression(s) for s in shape])
    )


def sizes_in(attribute: ir.Attribute) -> list[Size | None]:
    """What `sizes_attribute` made one of."""
    map_ = ir.AffineMapAttr(attribute).value
    return [_size(expression, range(map_.n_symbols)) for expression in map_.results]


def _expression(size: Size | None) -> ir.AffineExpr:
    match size:
        case None:
            return ir.AffineExpr.get_dim(0)
        case SymbolUse(index):
            return ir.AffineExpr.get_symbol(index)
        case Operation(operator, left, right):
            return _BINARY[operator][1](_expression(left), _expression(right))
        case _:
            return ir.AffineExpr.get_constant(size)


def _size(expression: ir.AffineExpr, symbols: Sequence[int]) -> Size | None:
    """The size that an expression stands for; `symbols` are the indices of those in it."""
    if isinstance(expression, ir.AffineConstantExpr):
        return int(expression.value)
    if isinstance(expression, ir.AffineSymbolExpr):
        return SymbolUse(symbols[expression.position])
    for operator, (class_, _) in _BINARY.items():
        if isinstance(expression, class_):
            left, right = _size(expression.lhs, symbols), _size(expression.rhs, symbols)
            return None if left is None or right is None else Operation(operator, left, right)
    return None


def _without_unused(
    table: Sequence[Symbol], shapes: Sequence[Sequence[Size | None]]
) -> ArgumentShapes:
    used = sorted(
        {
            index
            for shape in shapes
            for size in shape
            if size is not None
            for index in symbols_of(size)
        }
    )
    position = {index: place for place, index in enumerate(used)}
    return ArgumentShapes(
        tuple(table[index] for index in used),
        tuple(
            tuple(None if size is None else renumbered(size, position) for size in shape)
            for shape in shapes
        ),
    )
