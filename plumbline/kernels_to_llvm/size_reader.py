"""The sizes of buffers in a function, as expressions of the sizes of its arguments.

They are read off the operations that compute them, on buffers and numbers of type index.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import callee, defining_operation
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.size_expressions import Operation, Size, difference, lower_bound, operation

_BINARY: dict[str, str] = {
    "arith.addi": "+",
    "arith.muli": "*",
    "arith.floordivsi": "floordiv",
    "arith.ceildivsi": "ceildiv",
    "arith.minsi": "min",
    "arith.maxsi": "max",
}
"""What is the same for whatever numbers."""

_BINARY_OF_NATURAL_NUMBERS: dict[str, str] = {
    "arith.divsi": "floordiv",
    "arith.divui": "floordiv",
    "arith.ceildivui": "ceildiv",
    "arith.remsi": "mod",
    "arith.remui": "mod",
    "arith.minui": "min",
    "arith.maxui": "max",
}
"""What is the same where neither number is below 0."""

_BINARY_OF_FLOATS: dict[str, str] = {
    "arith.addf": "+.",
    "arith.mulf": "*.",
    "arith.divf": "/.",
}

_FLOATS = frozenset({*_BINARY_OF_FLOATS, "arith.negf", "arith.subf"})

_ROUNDED: dict[str, str] = {"math.ceil": "ceil/.", "math.floor": "floor/."}

_WHOLE = frozenset({"arith.fptosi", "arith.fptoui"})
"""What makes a whole number of one that is rounded already."""

SAME = frozenset({"arith.index_cast", "arith.index_castui", "arith.extsi", "memref.cast"})
"""What gives the number, or the buffer, that it takes."""

_LESS: dict[arith.CmpIPredicate, Callable[[Size, Size], tuple[Size, Size, int]]] = {
    arith.CmpIPredicate.slt: lambda left, right: (left, right, 0),
    arith.CmpIPredicate.sgt: lambda left, right: (right, left, 0),
    arith.CmpIPredicate.sle: lambda left, right: (left, right, 1),
    arith.CmpIPredicate.sge: lambda left, right: (right, left, 1),
}
"""A comparison as one of the form left < right + number."""


_SIZES = 3
"""The field of a memref's descriptor that has its sizes (`building.memref_struct`)."""


class UnknownSize(Exception):
    """No expression is known for a size."""


def returned(function: ir.OpView) -> list[ir.Value]:
    """What a function without branches to other blocks returns."""
    return list(list(function.regions[0].blocks[0].operations)[-1].operands)


class SizeReader:
    """The expressions of values in one function, for arguments of certain sizes."""

    def __init__(
        self,
        function: ir.OpView,
        arguments: Sequence[Sequence[Size | None]],
        shapes: ArgumentShapes,
        numbers: Sequence[Size | None] = (),
    ) -> None:
        self._function, self._arguments, self._shapes = function, arguments, shapes
        self._numbers = numbers
        """The values of those arguments that are numbers."""
        self._carried: dict[tuple[ir.Value, int], Size] = {}
        """The sizes of what loops carry that are about to be proved."""

    def of_dimension(self, buffer: ir.Value, axis: int) -> Size:
        """The size of a buffer in a dimension."""
        type_ = ir.MemRefType(buffer.type)
        if not type_.is_dynamic_dim(axis):
            return int(type_.get_dim_size(axis))
        owner = defining_operation(buffer)
        if owner is None:
            return self._of_argument(ir.BlockArgument(buffer), axis)
        match owner.name:
            case "gpu.alloc" | "memref.alloc":
                return self.of_number(owner.operands[_dynamic_before(type_, axis)])
            case "builtin.unrealized_conversion_cast":
                return self._of_descriptor(owner.operands[0], axis)
            case "memref.cast":
                return self.of_dimension(owner.operands[0], axis)
            case "memref.collapse_shape":
                group = ir.ArrayAttr(owner.attributes["reassociation"])[axis]
                size: Size = 1
                for part in ir.ArrayAttr(group):
                    inner = self.of_dimension(owner.operands[0], ir.IntegerAttr(part).value)
                    size = operation("*", size, inner)
                return size
            case "memref.view":
                # The bytes and where in them it begins come before the sizes.
                return self.of_number(owner.operands[2 + _dynamic_before(type_, axis)])
            case "memref.expand_shape":
                return self.of_number(owner.operands[1 + _dynamic_before(type_, axis)])
            case "memref.subview" | "memref.reinterpret_cast":
                view = owner.opview
                return self.of_number(view.sizes[_dynamic_before(type_, axis)])
            case "scf.for" | "scf.while":
                return self.of_dimension(_out_of_loop(owner, _number_of(buffer)), axis)
            case "scf.if" | "scf.index_switch":
                return self._of_branches(owner, _number_of(buffer), axis)
            case "func.call":
                return self._of_call(owner, _number_of(buffer), axis)
        raise UnknownSize(f"it comes out of {owner.name}")

    def _of_descriptor(self, struct: ir.Value, axis: int) -> Size:
        """The size in a dimension of a memref that was put together of its words."""
        while (owner := defining_operation(struct)) is not None:
            if owner.name != "llvm.insertvalue":
                break
            struct, word = owner.operands
            if list(ir.DenseI64ArrayAttr(owner.attributes["position"])) == [_SIZES, axis]:
                return self.of_number(word)
        raise UnknownSize("it comes out of words that are not known")

    def of_number(self, value: ir.Value) -> Size:
        """A number of type index, or another integer."""
        owner = defining_operation(value)
        if owner is None:
            number = int(ir.BlockArgument(value).arg_number)
            if self._is_argument(value) and number < len(self._numbers):
                known = self._numbers[number]
                if known is not None:
                    return known
            raise UnknownSize("it is counted by a loop")
        operands = list(owner.operands)
        if owner.name == "arith.constant":
            value_ = owner.attributes["value"]
            if isinstance(value_, ir.FloatAttr):
                return float(value_.value)
            return int(ir.IntegerAttr(value_).value)
        if owner.name == "memref.dim":
            axis = self.of_number(operands[1])
            if isinstance(axis, int):
                return self.of_dimension(operands[0], axis)
        if owner.name == "memref.extract_strided_metadata":
            # The buffer and its offset come before the sizes.
            axis = _number_of(value) - 2
            if 0 <= axis < ir.MemRefType(operands[0].type).rank:
                return self.of_dimension(operands[0], axis)
        if owner.name in SAME:
            return self.of_number(operands[0])
        if owner.name == "arith.select":
            holds, yes, no = operands
            return self._chosen(self._condition(holds), self.of_number(yes), self.of_number(no))
        if owner.name == "arith.subi":
            return difference(self.of_number(operands[0]), self.of_number(operands[1]))
        if operator := _BINARY.get(owner.name):
            left, right = map(self.of_number, operands)
            return (
                self._greater(left, right)
                if operator == "max"
                else operation(operator, left, right)
            )
        if owner.name in ("arith.sitofp", "arith.uitofp", "arith.truncf", "arith.extf"):
            is_single = isinstance(owner.results[0].type, ir.F32Type)
            return Operation("*.f32" if is_single else "*.", self.of_number(operands[0]), 1.0)
        if owner.name in _FLOATS and isinstance(value.type, ir.F64Type):
            return self._of_floats(owner)
        if owner.name in _ROUNDED:
            return Operation(_ROUNDED[owner.name], self.of_number(operands[0]), 1.0)
        if owner.name in _WHOLE and _is_rounded(whole := self.of_number(operands[0])):
            return whole
        if operator := _BINARY_OF_NATURAL_NUMBERS.get(owner.name):
            left, right = map(self.of_number, operands)
            if self._is_natural(left) and self._is_natural(right):
                return operation(operator, left, right)
        raise UnknownSize(f"it is computed by {owner.name}")

    def _of_floats(self, owner: ir.Operation) -> Size:
        """What is computed in float64; float32 rounds in between, which no expression does."""
        left, *right = map(self.of_number, owner.operands)
        match owner.name:
            case "arith.negf":
                return Operation("*.", left, -1.0)
            case "arith.subf":
                return Operation("+.", left, Operation("*.", right[0], -1.0))
            case _:
                return Operation(_BINARY_OF_FLOATS[owner.name], left, right[0])

    def _chosen(self, holds: Size, yes: Size, no: Size) -> Size:
        if isinstance(holds, int):
            return yes if holds else no
        return operation("+", no, operation("*", holds, difference(yes, no)))

    def _condition(self, value: ir.Value) -> Size:
        """A condition as 1 or 0."""
        owner = defining_operation(value)
        if owner is None or owner.name not in ("arith.cmpi", "arith.constant"):
            raise UnknownSize("it is chosen by what is no comparison of sizes")
        if owner.name == "arith.constant":
            return int(bool(ir.IntegerAttr(owner.attributes["value"]).value))
        predicate = arith.CmpIPredicate(ir.IntegerAttr(owner.attributes["predicate"]).value)
        left, right = map(self.of_number, owner.operands)
        if predicate == arith.CmpIPredicate.eq:
            return operation("==", left, right)
        if predicate == arith.CmpIPredicate.ne:
            return difference(1, operation("==", left, right))
        if predicate not in _LESS:
            raise UnknownSize(f"it is chosen by arith.cmpi {predicate}")
        left, right, more = _LESS[predicate](left, right)
        right = operation("+", right, more)
        if self._is_natural(difference(left, right)):
            return 0
        if self._is_natural(difference(right, operation("+", left, 1))):
            return 1
        return operation("<", left, right)

    def _greater(self, left: Size, right: Size) -> Size:
        """The greater one, where that is told: so many numbers as are counted are max(n, 0)."""
        if self._is_natural(difference(left, right)):
            return left
        if self._is_natural(difference(right, left)):
            return right
        return operation("max", left, right)

    def _is_natural(self, size: Size) -> bool:
        bound = lower_bound(size, self._shapes.symbols)
        return bound is not None and bound >= 0

    def _of_argument(self, argument: ir.BlockArgument, axis: int) -> Size:
        if self._is_argument(argument):
            size = self._arguments[int(argument.arg_number)][axis]
            if size is None:
                raise UnknownSize("it is that of an argument that is not known")
            return size
        start, after = _around_loop(argument)
        if after is None:
            return self.of_dimension(start, axis)
        # By induction: what has this size before a round has it after that.
        key = (argument, axis)
        if key in self._carried:
            return self._carried[key]
        self._carried[key] = size = self.of_dimension(start, axis)
        try:
            if self.of_dimension(after, axis) != size:
                raise UnknownSize("a loop changes it")
        finally:
            del self._carried[key]
        return size

    def _is_argument(self, value: ir.Value) -> bool:
        return bool(value.owner == self._function.regions[0].blocks[0])

    def _of_branches(self, owner: ir.Operation, number: int, axis: int) -> Size:
        sizes = self._sizes_of_branches(owner, number, axis)
        if any(size != sizes[0] for size in sizes):
            raise UnknownSize(f"it differs by the way that {owner.name} takes")
        return sizes[0]

    def _sizes_of_branches(self, owner: ir.Operation, number: int, axis: int) -> list[Size]:
        return [
            self.of_dimension(list(region.blocks[0].operations)[-1].operands[number], axis)
            for region in owner.regions
        ]

    def _of_call(self, owner: ir.Operation, number: int, axis: int) -> Size:
        name = callee(owner)
        module = self._function.operation.parent.operation
        function = ir.SymbolTable(module)[name]
        return self.of_callee(function, owner).of_dimension(returned(function)[number], axis)

    def of_callee(self, callee: ir.OpView, call: ir.Operation) -> "SizeReader":
        """What is known in a function that this one calls."""
        buffers, numbers = self._of_operands(call)
        return SizeReader(callee, buffers, self._shapes, numbers)

    def _of_operands(
        self, call: ir.Operation
    ) -> tuple[list[Sequence[Size | None]], list[Size | None]]:
        """The sizes of what a function is called with, and the numbers among it."""
        buffers: list[Sequence[Size | None]] = []
        numbers: list[Size | None] = []
        for operand in call.operands:
            is_buffer = isinstance(operand.type, ir.MemRefType)
            rank = operand.type.rank if is_buffer else 0
            buffers.append([self.or_none(self.of_dimension, operand, a) for a in range(rank)])
            numbers.append(None if is_buffer else self.or_none(self.of_number, operand))
        return buffers, numbers

    @staticmethod
    def or_none(read: Callable[..., Size], *arguments: object) -> Size | None:
        """What a method of this class reads, or None where that is not known."""
        try:
            return read(*arguments)
        except UnknownSize:
            return None


def _terminator(block: ir.Block) -> ir.Operation:
    return list(block.operations)[-1].operation


def _out_of_loop(loop: ir.Operation, number: int) -> ir.Value:
    """What a result of a loop is, within it."""
    body = loop.regions[0].blocks[0]
    if loop.name == "scf.for":
        # The number of the round is before what is carried.
        return body.arguments[1 + number]
    return _terminator(body).operands[1 + number]


def _around_loop(argument: ir.BlockArgument) -> tuple[ir.Value, ir.Value | None]:
    """What an argument of a loop's body is in the first round, and what in another; None: the same.

    Raises:
      UnknownSize: it is of no such loop.
    """
    block, number = argument.owner, int(argument.arg_number)
    loop = block.owner.operation
    if loop.name == "scf.for":
        return loop.operands[3 + number - 1], _terminator(block).operands[number - 1]
    if loop.name != "scf.while":
        raise UnknownSize(f"it goes round in {loop.name}")
    before, after = (region.blocks[0] for region in loop.regions)
    if block == after:
        return _terminator(before).operands[1 + number], None
    return loop.operands[number], _terminator(after).operands[number]


def _is_rounded(size: Size) -> bool:
    return isinstance(size, int) or (
        isinstance(size, Operation) and size.operator in _ROUNDED.values()
    )


def _dynamic_before(type_: ir.MemRefType, axis: int) -> int:
    """How many of the dimensions before `axis` are dynamic, so that an operand has their size."""
    return sum(type_.is_dynamic_dim(other) for other in range(axis))


def _number_of(value: ir.Value) -> int:
    return int(ir.OpResult(value).result_number)
