"""Which sizes of a kernel's arguments are the same, where they are only known as it runs.

What is computed of tensors element by element says that these have the same sizes; of the buffers
that a kernel takes in their place nothing does. So each argument has a note, a number for each of
its axes, the same for those that are as long; a size that is an argument itself has its own.

    func.func private @add(%n: index {plumbline.sizes = array<i64: 0>},
        %x: memref<?x4xf32> {plumbline.sizes = array<i64: 0, -1>}, ...
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from torch_mlir import ir

from plumbline.bindings.views import NEW_MEMORY
from plumbline.bindings.walk import constant_integer, defining_operation
from plumbline.linalg_to_kernels.computations import DYNAMIC, GENERIC, is_tensor, reassociation

SIZES = "plumbline.sizes"
"""The attribute of an argument."""

_NOTHING_KNOWN = -1
"""The number of an axis that no other one is known to be as long as, or whose type tells."""

_Size = tuple[ir.Value, int | None]
"""A size of a tensor, by its axis, or a number that is a size."""


def notes_of_sizes(
    group: ir.Operation, taken: Sequence[ir.Value]
) -> list[ir.DenseI64ArrayAttr | None]:
    """What is to be noted with the arguments of a kernel, of the tensors and numbers of a group.

    Args:
      group: a function on tensors.
      taken: the values of it that the arguments stand for.
    """
    classes = _Classes()
    for op in group.regions[0].blocks[0].operations:
        for one, other in _equal(op.operation):
            classes.join(one, other)
    sizes = [
        [None if size is None else classes.of(size) for size in _unknown_sizes(value)]
        for value in taken
    ]
    count = Counter(size for each in sizes for size in each if size is not None)
    numbers: dict[_Size, int] = {}
    for size, times in count.items():
        if times > 1:
            numbers[size] = len(numbers)
    notes = []
    for each in sizes:
        note = [_NOTHING_KNOWN if size is None else numbers.get(size, -1) for size in each]
        known = any(number != _NOTHING_KNOWN for number in note)
        notes.append(ir.DenseI64ArrayAttr.get(note) if known else None)
    return notes


class _Classes:
    """Sizes that are the same, each class known by one of them."""

    def __init__(self) -> None:
        self._others: dict[_Size, _Size] = {}

    def of(self, size: _Size) -> _Size:
        passed = []
        while size in self._others:
            passed.append(size)
            size = self._others[size]
        # The next one goes there at once: of a recurrence the way is as long as that.
        self._others.update(dict.fromkeys(passed, size))
        return size

    def join(self, one: _Size, other: _Size) -> None:
        first, second = self.of(one), self.of(other)
        if first != second:
            self._others[second] = first


def _unknown_sizes(value: ir.Value) -> list[_Size | None]:
    """The sizes of an argument that its type does not tell; None in the place of others."""
    if isinstance(value.type, ir.IndexType):
        return [(value, None)]
    shape = ir.RankedTensorType(value.type).shape if is_tensor(value) else []
    return [(value, axis) if size == DYNAMIC else None for axis, size in enumerate(shape)]


def _equal(op: ir.Operation) -> Iterator[tuple[_Size, _Size]]:
    """Pairs of sizes that an operation of a group says are the same."""
    match op.name:
        case name if name == GENERIC:
            yield from _equal_in_computation(op)
        case "tensor.cast":
            rank = ir.RankedTensorType(op.result.type).rank
            yield from (((op.result, axis), (op.operands[0], axis)) for axis in range(rank))
        case "tensor.empty":
            shape = ir.RankedTensorType(op.result.type).shape
            dynamic = [axis for axis, size in enumerate(shape) if size == DYNAMIC]
            for axis, size in zip(dynamic, op.operands, strict=True):
                yield (op.result, axis), (size, None)
        case "tensor.collapse_shape":
            yield from _equal_in_reshape(op, op.operands[0], op.result)
        case "tensor.expand_shape":
            yield from _equal_in_reshape(op, op.result, op.operands[0])


def _equal_in_computation(op: ir.Operation) -> Iterator[tuple[_Size, _Size]]:
    first: dict[int, _Size] = {}
    for operand, map_ in zip(op.operands, op.attributes["indexing_maps"], strict=True):
        for axis, expression in enumerate(ir.AffineMapAttr(map_).value.results):
            dim = expression.maybe_downcast()
            if is_tensor(operand) and isinstance(dim, ir.AffineDimExpr):
                yield first.setdefault(dim.position, (operand, axis)), (operand, axis)
    inits = list(op.operands)[len(op.operands) - len(op.results) :]
    for result, init in zip(op.results, inits, strict=True):
        for axis in range(ir.RankedTensorType(result.type).rank):
            yield (result, axis), (init, axis)


def _equal_in_reshape(
    op: ir.Operation, apart: ir.Value, together: ir.Value
) -> Iterator[tuple[_Size, _Size]]:
    """What axes are as long as the one that they are put together in: those beside ones of 1."""
    shape = ir.RankedTensorType(apart.type).shape
    for axis, group in enumerate(reassociation(op)):
        long = [inner for inner in group if shape[inner] != 1]
        if len(long) == 1:
            yield (apart, long[0]), (together, axis)


def forget_sizes(function: ir.Operation) -> None:
    """Takes off what is noted with the arguments of a function."""
    if "arg_attrs" in function.attributes:
        given = [ir.DictAttr(known) for known in function.attributes["arg_attrs"]]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [
                ir.DictAttr.get({entry.name: entry.attr for entry in known if entry.name != SIZES})
                for known in given
            ]
        )


class EqualSizes:
    """What is known of the sizes of buffers in a function."""

    def __init__(self, function: ir.Operation) -> None:
        arguments = function.regions[0].blocks[0].arguments
        given = function.attributes.get("arg_attrs") or [ir.DictAttr.get({})] * len(arguments)
        self._notes = {
            argument: list(ir.DenseI64ArrayAttr(ir.DictAttr(known)[SIZES]))
            for argument, known in zip(arguments, given, strict=True)
            if SIZES in ir.DictAttr(known)
        }

    def is_size(self, value: ir.Value, buffer: ir.Value, axis: int) -> bool:
        """Whether a number is how long an axis of a buffer is."""
        return _product(self._factors(value)) == _product(self._factors_along(buffer, axis))

    def _factors(self, value: ir.Value) -> list[object]:
        """What a size is the product of: the same for the same sizes, as far as that is known."""
        known = constant_integer(value)
        if known is not None:
            return [known]
        op = defining_operation(value)
        if op is not None and op.name == "memref.dim":
            axis = constant_integer(op.operands[1])
            if axis is not None:
                return self._factors_along(op.operands[0], axis)
        return self._noted(value, 0) or [value]

    def _factors_along(self, buffer: ir.Value, axis: int) -> list[object]:
        type_ = ir.MemRefType(buffer.type)
        if not type_.is_dynamic_dim(axis):
            return [type_.shape[axis]]
        made = defining_operation(buffer)
        if made is not None and made.name in NEW_MEMORY:
            return self._factors(made.operands[sum(map(type_.is_dynamic_dim, range(axis)))])
        if made is not None and made.name == "memref.collapse_shape":
            of, axes = made.operands[0], reassociation(made)[axis]
            return [factor for inner in axes for factor in self._factors_along(of, inner)]
        return self._noted(buffer, axis) or [(buffer, axis)]

    def _noted(self, argument: ir.Value, axis: int) -> list[object]:
        number = self._notes[argument][axis] if argument in self._notes else _NOTHING_KNOWN
        return [] if number == _NOTHING_KNOWN else [("number", number)]


def _product(factors: Sequence[object]) -> list[object]:
    """The same product for the same size, however it was put together of known numbers."""
    known = [factor for factor in factors if isinstance(factor, int)]
    return [math.prod(known), *(factor for factor in factors if not isinstance(factor, int))]
