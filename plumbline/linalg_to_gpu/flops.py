"""How many operations on numbers a kernel does, said where it is launched.

They are those of the computations that it does, of those that its group was formed of: an addition,
a product, a quotient, a maximum or a function of floats is one, a fused multiply-add two; of
integers they count in sums of products alone. A launch that adds up what parts of sums come to does
one for each of these, of which there may be fewer in a call than there is room for. What several
readers compute anew counts once, and what a mask leaves out counts.
"""

import math
from collections.abc import Mapping, Sequence

from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.kernels_to_llvm.size_reader import SizeReader, UnknownSize
from plumbline.linalg_to_kernels.building import product
from plumbline.linalg_to_kernels.computations import DYNAMIC, Computation
from plumbline.linalg_to_kernels.products import sum_of_products
from plumbline.linalg_to_kernels.sizes import loop_size, loop_sizes
from plumbline.linalg_to_kernels.strategies import Values
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.shape_attributes import sizes_attribute, sizes_in
from plumbline.signature.size_expressions import (
    Size,
    Symbol,
    SymbolUse,
    operation,
    renumbered,
    substituted,
    symbols_of,
)

FLOPS = "plumbline.flops"
"""The attribute of a launch: how many operations, as an affine map of sizes without a name.

That of the function around has a result for each launch in it.
"""

FLOP_SIZES = "plumbline.flop_sizes"
"""Which these sizes are: for each the number of an operand of the kernel, and the axis of that."""

_OF_FLOATS: Mapping[str, int] = {
    "arith.addf": 1,
    "arith.divf": 1,
    "arith.maximumf": 1,
    "arith.maxnumf": 1,
    "arith.minimumf": 1,
    "arith.minnumf": 1,
    "arith.mulf": 1,
    "arith.negf": 1,
    "arith.remf": 1,
    "arith.subf": 1,
    "complex.add": 2,
    "complex.mul": 6,
    "complex.sub": 2,
    "math.fma": 2,
}
_OF_INTEGERS: Mapping[str, int] = {"arith.addi": 1, "arith.muli": 1}
_FUNCTION = 1
"""Of any other in the dialect math."""


def count_flops(
    launches: Sequence[Sequence[Computation]],
    given: Values,
    outputs: Values,
    partials: Sequence[ir.Value] = (),
) -> None:
    """Notes on the function around the insertion point, a kernel, what its launches do.

    Args:
      launches: for each the members of the group that it computes.
      given: what the function takes (`strategies.Build`).
      outputs: the same.
      partials: the buffers of what the first launch leaves to the second to add up.
    """
    function = ir.InsertionPoint.current.block.owner.operation
    known = {**given, **outputs}
    sizes = _Sizes(function)
    try:
        counts = []
        for members in launches:
            count: Size = 0
            for member in members:
                count = operation("+", count, _flops(member, sizes, known))
            counts.append(renumbered(count, _representatives(members, sizes, known)))
        for buffer in partials:
            counts[1] = operation("+", counts[1], sizes.of_buffer(buffer))
    except (UnknownSize, NotImplementedError):
        # So it stays unknown: what a kernel computes does not depend on it.
        return
    function.attributes[FLOPS] = sizes_attribute(counts, len(sizes.places))


def note_flops(module: ir.Operation) -> None:
    """Has launches say what was noted on the functions that they are in, by their own operands."""
    with module.context:
        for view in module.regions[0].blocks[0].operations:
            function = view.operation
            if FLOPS not in function.attributes:
                continue
            launches = [op for op in all_operations(function) if op.name == "gpu.launch_func"]
            counts = sizes_in(function.attributes[FLOPS])
            if len(launches) == len(counts):
                for launch, count in zip(launches, counts, strict=True):
                    assert count is not None
                    _note(function, launch, count)
            del function.attributes[FLOPS]


def launched_flops(launch: ir.Operation, reader: SizeReader) -> Size:
    """How many there are, by what is known around a `gpu.launch_func`.

    Raises:
      UnknownSize: nothing is said of it, or of a size.
    """
    if FLOPS not in launch.attributes:
        raise UnknownSize("it is not counted")
    (count,) = sizes_in(launch.attributes[FLOPS])
    assert count is not None
    operands = list(launch.opview.kernelOperands)
    values = []
    for place in ir.ArrayAttr(launch.attributes[FLOP_SIZES]):
        number, *axes = ir.DenseI64ArrayAttr(place)
        buffer = operands[number]
        values.append(reader.of_dimension(buffer, *axes) if axes else reader.of_number(buffer))
    return substituted(count, dict(enumerate(values)))


class _Sizes:
    """The sizes in a kernel that a launch decides on, each a symbol."""

    def __init__(self, function: ir.Operation) -> None:
        arguments = list(function.regions[0].blocks[0].arguments)
        self.places = [
            (number, axis)
            for number, argument in enumerate(arguments)
            for axis in _dynamic_axes(argument.type)
        ]
        """For each symbol the argument and the axis of that; None: it is the argument, a number."""
        uses = {place: SymbolUse(symbol) for symbol, place in enumerate(self.places)}
        shapes = [
            [uses.get((number, axis), size) for axis, size in enumerate(_shape(argument.type))]
            for number, argument in enumerate(arguments)
        ]
        numbers = [uses.get((number, None)) for number in range(len(arguments))]
        symbols = tuple(Symbol(f"s{symbol}", 0, None) for symbol in range(len(self.places)))
        self._reader = SizeReader(function.opview, shapes, ArgumentShapes(symbols, ()), numbers)

    def of_number(self, value: ir.Value) -> Size:
        """What a number of type index is.

        Raises:
          UnknownSize: it does not follow from sizes.
        """
        return self._reader.of_number(value)

    def of_buffer(self, buffer: ir.Value) -> Size:
        """How many elements a buffer has.

        Raises:
          UnknownSize: it does not follow from sizes.
        """
        count: Size = 1
        for axis in range(ir.MemRefType(buffer.type).rank):
            count = operation("*", count, self._reader.of_dimension(buffer, axis))
        return count

    def of_operand(self, operand: ir.Value) -> list[tuple[list[int], Size | None]]:
        """The axes of a buffer and their sizes; of a number, itself with no axis."""
        reader = self._reader
        if isinstance(operand.type, ir.IndexType):
            return [([], reader.or_none(reader.of_number, operand))]
        return [
            ([axis], reader.or_none(reader.of_dimension, operand, axis))
            for axis in range(len(_shape(operand.type)))
        ]


def _dynamic_axes(type_: ir.Type) -> list[int | None]:
    if isinstance(type_, ir.IndexType):
        return [None]
    return [axis for axis, size in enumerate(_shape(type_)) if size == DYNAMIC]


def _shape(type_: ir.Type) -> Sequence[int]:
    return ir.MemRefType(type_).shape if isinstance(type_, ir.MemRefType) else ()


def _flops(member: Computation, sizes: _Sizes, known: Values) -> Size:
    """What a computation does in all its iterations."""
    number = _in_iteration(member) * math.prod(size for size in member.sizes if size != DYNAMIC)
    dynamic = [loop for loop, size in enumerate(member.sizes) if size == DYNAMIC]
    if number == 0 or not dynamic:
        return number
    iterations = product([loop_size(member, loop, known) for loop in dynamic])
    return operation("*", sizes.of_number(iterations), number)


def _in_iteration(member: Computation) -> int:
    # A computation's own operation is the first.
    names = [op.name for op in all_operations(member.op)[1:]]
    is_product = sum_of_products(member.op.opview) is not None
    costs = {**_OF_FLOATS, **_OF_INTEGERS} if is_product else _OF_FLOATS
    return sum(costs.get(name, _FUNCTION * name.startswith("math.")) for name in names)


def _representatives(
    members: Sequence[Computation], sizes: _Sizes, known: Values
) -> dict[int, int]:
    """For each symbol the one that stands for all that are equal: those along which a loop runs.

    Those of buffers come first: of a number a kernel knows only that a buffer has that size.
    """
    standing = {symbol: symbol for symbol in range(len(sizes.places))}
    for member in members:
        for loop, size in enumerate(member.sizes):
            if size != DYNAMIC:
                continue
            found = {
                standing[read.index]
                for read in map(sizes.of_number, loop_sizes(member, loop, known))
                if isinstance(read, SymbolUse)
            }
            if not found:
                # A size that is computed, not one of a buffer or an argument.
                continue
            first = min(found, key=lambda symbol: (sizes.places[symbol][1] is None, symbol))
            standing |= {symbol: first for symbol, other in standing.items() if other in found}
    return standing


def _note(function: ir.Operation, launch: ir.Operation, count: Size) -> None:
    """Says of a launch what is noted of it on its function, if all sizes of that are operands'."""
    sizes = _Sizes(function)
    places = {
        size.index: [number, *axes]
        for number, operand in enumerate(launch.opview.kernelOperands)
        for axes, size in sizes.of_operand(operand)
        if isinstance(size, SymbolUse)
    }
    symbols = sorted(symbols_of(count))
    if not places.keys() >= set(symbols):
        return
    renamed = {symbol: place for place, symbol in enumerate(symbols)}
    launch.attributes[FLOPS] = sizes_attribute([renumbered(count, renamed)], len(symbols))
    launch.attributes[FLOP_SIZES] = ir.ArrayAttr.get(
        [ir.DenseI64ArrayAttr.get(places[symbol]) for symbol in symbols]
    )
