"""Builds what computes an element of a tensor at a place, from the computations of a group."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, ub

from plumbline.bindings.walk import all_operations, captured_values, replace_operands
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import (
    Computation,
    Indices,
    composed,
    is_tensor,
    seen_through,
)
from plumbline.linalg_to_kernels.group import Group

Load = Callable[[Computation, ir.Value, Indices], ir.Value]
"""Gives an element of a step's result for indices by the loops of the step being built."""


def index_value(expression: ir.AffineExpr, loops: Mapping[int, ir.Value]) -> ir.Value:
    """Builds an expression of loops, given these, as a value of type index."""

    def at(part: ir.AffineExpr) -> ir.Value:
        return index_value(part, loops)

    match expression.maybe_downcast():
        case ir.AffineDimExpr() as dim:
            return loops[dim.position]
        case ir.AffineConstantExpr() as constant:
            return index(constant.value)
        case ir.AffineAddExpr() as both:
            if (taken := _opposite(both.lhs)) is not None:
                return arith.subi(at(both.rhs), at(taken))
            return arith.addi(at(both.lhs), at(both.rhs))
        case ir.AffineMulExpr() as both:
            return arith.muli(at(both.lhs), at(both.rhs))
        case ir.AffineFloorDivExpr() as both:
            divide = arith.floordivsi if _may_be_negative(both.lhs) else arith.divui
            return divide(at(both.lhs), at(both.rhs))
        case ir.AffineCeilDivExpr() as both:
            return arith.ceildivui(at(both.lhs), at(both.rhs))
        case ir.AffineModExpr() as both:
            if _may_be_negative(both.lhs):
                return _remainder(at(both.lhs), at(both.rhs))
            return arith.remui(at(both.lhs), at(both.rhs))
    raise NotImplementedError(f"an affine expression {expression}")


def _may_be_negative(expression: ir.AffineExpr) -> bool:
    """Whether an expression of loops subtracts, as MLIR has it of a remainder that it expands."""
    match expression.maybe_downcast():
        case ir.AffineConstantExpr() as constant:
            return bool(constant.value < 0)
        case ir.AffineAddExpr() | ir.AffineMulExpr() as both:
            return _may_be_negative(both.lhs) or _may_be_negative(both.rhs)
        case ir.AffineFloorDivExpr() | ir.AffineCeilDivExpr() as both:
            return _may_be_negative(both.lhs)
    return False


def _remainder(number: ir.Value, divisor: ir.Value) -> ir.Value:
    """What is left of a number, which may be negative, above the multiple of `divisor` below it."""
    rest = arith.remsi(number, divisor)
    is_below = arith.cmpi(arith.CmpIPredicate.slt, rest, index(0))
    return arith.select(is_below, arith.addi(rest, divisor), rest)


def _opposite(expression: ir.AffineExpr) -> ir.AffineExpr | None:
    """What an expression is the opposite of, if it says so."""
    both = expression.maybe_downcast()
    if not isinstance(both, ir.AffineMulExpr):
        return None
    factor = both.rhs.maybe_downcast()
    is_opposite = isinstance(factor, ir.AffineConstantExpr) and factor.value == -1
    return both.lhs if is_opposite else None


def captured_value(value: ir.Value, given: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """What stands for a value from outside of a body, be it a scalar, a buffer or a constant."""
    if value in given:
        return given[value]
    if not isinstance(value.owner, ir.Block) and value.owner.name == "arith.constant":
        clone = value.owner.operation.clone(ip=ir.InsertionPoint.current)
        return clone.operation.results[0]
    return value


class Evaluation:
    """Elements of tensors within the loops of one step.

    Args:
      group: whose members are inlined where their elements are read.
      buffers: where the tensors from outside lie, and scalars that stand for those of the group.
      loops: the step's loops, as values of type index, by number; they may be given later.
      load: what gives elements of other steps' results.
    """

    def __init__(
        self, group: Group, step: Computation, buffers: Mapping[ir.Value, ir.Value], load: Load
    ) -> None:
        self._group, self._step, self._buffers, self._load = group, step, buffers, load
        self.loops: dict[int, ir.Value] = {}
        self._known: list[dict[object, ir.Value]] = [{}]

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is computed within it is in a block of its own, and so not known after it."""
        self._known.append({})
        try:
            yield
        finally:
            self._known.pop()

    def element(self, value: ir.Value, indices: Indices) -> ir.Value:
        """The element of a tensor at a place."""
        if not is_tensor(value):
            return self._captured(value)
        source, indices = seen_through(value, indices)
        return self._once((source, indices), lambda: self._element(source, indices))

    def results(
        self, member: Computation, loops: Indices, inits: Sequence[ir.Value]
    ) -> list[ir.Value]:
        """What the body of `member` yields in one iteration.

        `inits` are what the results were before, where the body needs it.
        """
        count = len(self._step.reduces)
        arguments: dict[ir.Value, ir.Value] = {}
        places = list(zip(member.inputs, member.maps[: len(member.inputs)], strict=True))
        formal = list(member.body.arguments)
        for argument, (value, map_), is_read in zip(
            formal, places, member.reads_operands, strict=False
        ):
            if is_read:
                arguments[argument] = self.element(value, composed(map_, loops, count))
        arguments |= dict(zip(formal[len(places) :], inits, strict=True))
        for op in member.body_ops:
            arguments |= zip(op.results, self._built(op, arguments, loops), strict=True)
        return [arguments.get(value) or self._captured(value) for value in member.yielded]

    def init(self, member: Computation, number: int, loops: Indices) -> ir.Value:
        """What a result of `member` is at a place before the first iteration."""
        map_ = member.maps[len(member.inputs) + number]
        return self.element(member.inits[number], composed(map_, loops, len(self._step.reduces)))

    def at(self, expression: ir.AffineExpr) -> ir.Value:
        """An expression of the loops as a value of type index."""
        return self._once(expression, lambda: index_value(expression, self.loops))

    def know(self, source: ir.Value, indices: Indices, value: ir.Value) -> None:
        """Says what the element of a tensor at a place is, so that it is not read."""
        self._known[-1][source, indices] = value

    def _once(self, key: object, build: Callable[[], ir.Value]) -> ir.Value:
        for known in self._known:
            if key in known:
                return known[key]
        value = build()
        self._known[-1][key] = value
        return value

    def _element(self, source: ir.Value, indices: Indices) -> ir.Value:
        producer = self._group.producer(source)
        if producer is not None:
            if self._group.is_inlined(producer):
                return self._inlined(producer, indices)
            return self._load(producer, source, indices)
        if source in self._buffers:
            return memref.load(self._buffers[source], [self.at(at) for at in indices])
        return self._constant(source)

    def _inlined(self, producer: Computation, indices: Indices) -> ir.Value:
        loops = producer.loops_for(indices)
        return self.results(producer, loops, self.needed_inits(producer, loops))[0]

    def needed_inits(self, member: Computation, loops: Indices) -> list[ir.Value]:
        """What results are before an iteration; what its body does not look at is nothing."""
        return [
            self.init(member, number, loops) if needed else self._nothing(member.results[number])
            for number, needed in enumerate(member.reads_inits)
        ]

    def _nothing(self, result: ir.Value) -> ir.Value:
        return ub.poison(ir.RankedTensorType(result.type).element_type)

    def _constant(self, source: ir.Value) -> ir.Value:
        op = source.owner.operation
        if op.name == "tensor.empty":
            return self._nothing(source)
        value = op.attributes["value"]
        element = ir.RankedTensorType(source.type).element_type
        return arith.ConstantOp(element, value.get_splat_value()).result

    def _captured(self, value: ir.Value) -> ir.Value:
        return captured_value(value, self._buffers)

    def _built(
        self, op: ir.Operation, known: Mapping[ir.Value, ir.Value], loops: Indices
    ) -> list[ir.Value]:
        if op.name == "linalg.index":
            return [self.at(loops[ir.IntegerAttr(op.attributes["dim"]).value])]
        operands = [known.get(value) or self._captured(value) for value in op.operands]
        if op.name == "tensor.extract":
            return [memref.load(operands[0], operands[1:])]
        if op.name == "tensor.dim":
            return [memref.dim(operands[0], operands[1])]
        # Constants are built before what uses them.
        outside = {
            operand: known.get(operand) or self._captured(operand)
            for operand in captured_values(op)
        }
        clone = op.clone(ip=ir.InsertionPoint.current).operation
        replace_operands(clone, outside)
        for inner in all_operations(clone)[1:]:
            if inner.name == "tensor.extract":
                with ir.InsertionPoint(inner), inner.location:
                    loaded = memref.load(inner.operands[0], list(inner.operands)[1:])
                inner.results[0].replace_all_uses_with(loaded)
                inner.erase()
        return list(clone.results)
