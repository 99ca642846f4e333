"""The ops that kernels are made of: `linalg.generic` on tensors, seen through reshapes."""

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.bindings.walk import all_operations, defining_operation
from plumbline.linalg_to_kernels.products import SumOfProducts, reductions_of, sum_of_products

_View = Callable[[ir.Operation, "Indices"], "Indices | None"]
"""Where in its operand an element of a view's result lies."""

GENERIC = "linalg.generic"

DYNAMIC = ir.ShapedType.get_dynamic_size()

MOST_PARTS = 4
"""How many parts may be interleaved along an innermost axis: as many LLVM takes apart and puts
together in vectors."""

_CHOOSES = frozenset({"arith.cmpi", "arith.constant", "arith.select", "linalg.index"})
"""All that is done to an element that is one of several by its place."""

PAD = "plumbline.pad"
"""The attribute of a `linalg.generic` that reads a tensor where one of its elements is, and has a
number around it."""

Indices = tuple[ir.AffineExpr, ...]
"""Where an element of a tensor lies: one expression of the loops for each axis."""


@dataclass(frozen=True, eq=False)
class Computation:
    """A `linalg.generic` on tensors."""

    op: ir.Operation
    maps: tuple[ir.AffineMap, ...]
    """Of each operand, from the loops."""
    reduces: tuple[bool, ...]
    """Of each loop whether it is a reduction."""
    axes: tuple[tuple[int, ...] | None, ...]
    """Of each result the loop along each axis."""

    @functools.cached_property
    def inputs(self) -> tuple[ir.Value, ...]:
        """The tensors that are read."""
        return tuple(self.op.operands)[: len(self.op.operands) - len(self.op.results)]

    @functools.cached_property
    def inits(self) -> tuple[ir.Value, ...]:
        """What the results are before the first iteration."""
        return tuple(self.op.operands)[len(self.op.operands) - len(self.op.results) :]

    @functools.cached_property
    def results(self) -> tuple[ir.Value, ...]:
        """The tensors that are computed."""
        return tuple(self.op.results)

    @functools.cached_property
    def body(self) -> ir.Block:
        """What an iteration does: it takes an element of each operand, and yields the results'."""
        return self.op.regions[0].blocks[0]

    @functools.cached_property
    def is_reduction(self) -> bool:
        """Whether a loop is a reduction."""
        return any(self.reduces)

    @functools.cached_property
    def sum_of_products(self) -> SumOfProducts | None:
        """How it is a sum of products, if it is one."""
        return sum_of_products(self.op)

    @functools.cached_property
    def body_ops(self) -> tuple[ir.Operation, ...]:
        """The operations of the body but its terminator."""
        return tuple(op.operation for op in self.body.operations)[:-1]

    @functools.cached_property
    def body_names(self) -> tuple[str, ...]:
        """What these operations are called."""
        return tuple(op.name for op in self.body_ops)

    @functools.cached_property
    def is_pad(self) -> bool:
        """Whether it lays a number around a tensor."""
        return PAD in self.op.attributes

    @functools.cached_property
    def read_anywhere(self) -> tuple[ir.Value, ...]:
        """What those tensors are reshapes or parts of that the body reads at places it computes."""
        return tuple(
            viewed(operand)
            for op in all_operations(self.op)
            if op.name == "tensor.extract"
            for operand in list(op.operands)[:1]
        )

    @functools.cached_property
    def yielded(self) -> tuple[ir.Value, ...]:
        """What the body yields."""
        return tuple(self.body.operations[len(self.body.operations) - 1].operands)

    @functools.cached_property
    def reads_operands(self) -> tuple[bool, ...]:
        """For each operand whether an iteration looks at its element."""
        return tuple(any(True for _ in argument.uses) for argument in self.body.arguments)

    @functools.cached_property
    def reads_inits(self) -> tuple[bool, ...]:
        """For each result whether an iteration needs what was there before."""
        return self.reads_operands[len(self.inputs) :]

    @functools.cached_property
    def sizes(self) -> tuple[int, ...]:
        """How often each loop runs, `DYNAMIC` where the types do not tell."""
        sizes = [DYNAMIC] * len(self.reduces)
        for operand, map_ in zip(self.op.operands, self.maps, strict=True):
            shape = ir.RankedTensorType(operand.type).shape if is_tensor(operand) else ()
            for size, expression in zip(shape, map_.results, strict=True):
                dim = expression.maybe_downcast()
                if isinstance(dim, ir.AffineDimExpr) and size != DYNAMIC:
                    sizes[dim.position] = size
        return tuple(sizes)

    @functools.cached_property
    def parts_loop(self) -> int | None:
        """The loop over a few parts that are interleaved, if all it does is to choose one of them.

        That is the loop along the result's innermost axis.
        """
        if self.is_reduction or len(self.results) != 1 or not _CHOOSES.issuperset(self.body_names):
            return None
        axes = self.result_loops(0)
        if not axes or not 2 <= self.sizes[axes[-1]] <= MOST_PARTS:
            return None
        counted = {
            ir.IntegerAttr(op.attributes["dim"]).value
            for op in self.body_ops
            if op.name == "linalg.index"
        }
        return axes[-1] if counted == {axes[-1]} else None

    @functools.cached_property
    def loops(self) -> Indices:
        """The loops as expressions of themselves."""
        return tuple(ir.AffineDimExpr.get(loop) for loop in range(len(self.reduces)))

    @functools.cached_property
    def sources(self) -> tuple[ir.Value, ...]:
        """What the inputs are reshapes or parts of."""
        return tuple(seen_through(value, _zeros(value))[0] for value in self.inputs)

    @functools.cached_property
    def viewed_operands(self) -> tuple[ir.Value, ...]:
        """What the tensors among the inputs and inits are reshapes of."""
        return tuple(viewed(value) for value in (*self.inputs, *self.inits) if is_tensor(value))

    def reads(self, loops: Indices, dims: int) -> list[tuple[ir.Value, Indices]]:
        """What an iteration reads, and where, if its loops are expressions of `dims` others."""
        if (loops, dims) not in self._reads:
            self._reads[loops, dims] = [
                seen_through(value, composed(map_, loops, dims))
                for value, map_, is_read in zip(
                    (*self.inputs, *self.inits), self.maps, self.reads_operands, strict=True
                )
                if is_read
            ]
        return self._reads[loops, dims]

    @functools.cached_property
    def _reads(self) -> dict[tuple[Indices, int], list[tuple[ir.Value, Indices]]]:
        return {}

    def result_loops(self, number: int) -> tuple[int, ...] | None:
        """The loop along each axis of a result; None if an axis is not along one loop alone."""
        return self.axes[number]

    def loops_for(self, indices: Indices, number: int = 0) -> Indices:
        """The loops of an iteration that gives the element of a result at a place."""
        axes = self.result_loops(number)
        assert axes is not None
        loops: list[ir.AffineExpr] = [ir.AffineConstantExpr.get(0)] * len(self.reduces)
        for axis, loop in enumerate(axes):
            loops[loop] = indices[axis]
        return tuple(loops)


def is_tensor(value: ir.Value) -> bool:
    """Whether an operand is a tensor; it may be a scalar, which each iteration takes."""
    return isinstance(value.type, ir.RankedTensorType)


def is_in_memory(value: ir.Value) -> bool:
    """Whether a tensor is more than one number everywhere, or nothing."""
    if isinstance(value.owner, ir.Block):
        return True
    op = value.owner.operation
    return op.name != "tensor.empty" and not (op.name == "arith.constant" and is_splat(op))


def is_splat(constant: ir.Operation) -> bool:
    """Whether a constant tensor has one value everywhere, and that value can be asked for."""
    type_ = ir.RankedTensorType(constant.results[0].type)
    # The bindings have no class for elements of other types, such as complex numbers.
    if not isinstance(type_.element_type, ir.IntegerType | ir.FloatType | ir.IndexType):
        return False
    value = constant.attributes["value"]
    return isinstance(value, ir.DenseElementsAttr) and value.is_splat


def number_everywhere(value: ir.Value) -> ir.Attribute | None:
    """The number that all elements of a tensor are, if it is a constant or filled with one."""
    op = defining_operation(value)
    if op is not None and op.name == "arith.constant":
        if not is_tensor(value):
            return op.attributes["value"]
        return op.attributes["value"].get_splat_value() if is_splat(op) else None
    # Most are computed, which the first thing that is done to an element tells.
    fill = None if op is None or not _begins_as_copy(op) else computation(op)
    if fill is None or not is_copy(fill):
        return None
    (yielded,) = fill.yielded
    if fill.inputs and yielded == fill.body.arguments[0]:
        yielded = fill.inputs[0]
    return None if isinstance(yielded.owner, ir.Block) else number_everywhere(yielded)


def _begins_as_copy(op: ir.Operation) -> bool:
    if op.name != GENERIC:
        return False
    first = op.regions[0].blocks[0].operations[0]
    return first.operation.name in ("arith.constant", "linalg.yield")


def is_zero(number: ir.Attribute | None) -> bool:
    """Whether a number is known, and is zero."""
    return isinstance(number, ir.FloatAttr | ir.IntegerAttr) and number.value == 0


def computation(op: ir.Operation) -> Computation | None:
    """What `op` computes, if it is a `linalg.generic` on tensors whose results can be placed."""
    if op.name != GENERIC or not op.results:
        return None
    attributes = op.attributes
    loops = _loops(attributes["indexing_maps"], attributes["iterator_types"], len(op.results))
    return None if loops is None else Computation(op, *loops)


_Loops = tuple[tuple[ir.AffineMap, ...], tuple[bool, ...], tuple[tuple[int, ...] | None, ...]]


@functools.cache
def _loops(
    indexing_maps: ir.Attribute, iterator_types: ir.Attribute, results: int
) -> _Loops | None:
    """What a computation has to know of its loops; None if its results cannot be placed.

    A dozen passes ask for that of each op, of which most have the loops of others.
    `loops_remembered` is to be around these.
    """
    maps = tuple(ir.AffineMapAttr(map_).value for map_ in ir.ArrayAttr(indexing_maps))
    if any(map_.n_symbols for map_ in maps):
        return None
    axes = tuple(map(_loops_along, maps[len(maps) - results :]))
    return None if None in axes else (maps, reductions_of(iterator_types), axes)


@contextlib.contextmanager
def loops_remembered() -> Iterator[None]:
    """Forgets at its end what has been found out of loops, which keeps the context they are of."""
    try:
        yield
    finally:
        _loops.cache_clear()


def _loops_along(map_: ir.AffineMap) -> tuple[int, ...] | None:
    """The loop along each axis of an operand; None if an axis is not along one loop alone."""
    loops: list[int] = []
    for expression in map_.results:
        dim = expression.maybe_downcast()
        if not isinstance(dim, ir.AffineDimExpr) or dim.position in loops:
            return None
        loops.append(dim.position)
    return tuple(loops)


def computation_of(value: ir.Value) -> Computation | None:
    """What computes a tensor, if that is a computation."""
    op = defining_operation(value)
    return None if op is None else computation(op)


def erase_unused(*values: ir.Value) -> None:
    """Erases what makes tensors that nobody reads any more, and what that alone has read."""
    pending = [*values]
    while pending:
        op = defining_operation(pending.pop())
        if op is None or any(True for result in op.results for _ in result.uses):
            continue
        if op.name.startswith("tensor.") or computation(op) is not None:
            erased = {*op.results}
            # None of these is there to be asked for any more.
            pending = [value for value in pending if value not in erased]
            pending += [value for value in op.operands if is_tensor(value) and value not in pending]
            op.erase()


def seen_through(value: ir.Value, indices: Indices) -> tuple[ir.Value, Indices]:
    """The tensor that `value` is a reshape or a part of, and where its element for `indices` lies.

    That of a part has more elements.
    """
    return _source(value, indices, _VIEWS)


def reshaped_from(value: ir.Value, indices: Indices) -> tuple[ir.Value, Indices]:
    """The same, but not for parts."""
    return _source(value, indices, _RESHAPES)


def _source(
    value: ir.Value, indices: Indices, views: Mapping[str, _View]
) -> tuple[ir.Value, Indices]:
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        joined = _joined(op)
        if joined is not None and (regrouped := _regrouped(op, joined, indices)) is not None:
            value, indices = joined.operands[0], regrouped
            continue
        moved = views[op.name](op, indices) if op.name in views else None
        if moved is None:
            return value, indices
        value, indices = op.operands[0], moved
    return value, indices


def viewed(value: ir.Value) -> ir.Value:
    """The tensor that `value` is a reshape of."""
    while not isinstance(value.owner, ir.Block) and is_seen_through(value.owner.operation):
        value = value.owner.operands[0]
    return value


def _cast(_op: ir.Operation, indices: Indices) -> Indices | None:
    return indices


def reassociation(op: ir.Operation) -> list[list[int]]:
    """The axes of the larger shape of a reshape that make each axis of the smaller one."""
    return [
        [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)]
        for group in op.attributes["reassociation"]
    ]


def _expanded(op: ir.Operation, indices: Indices) -> Indices | None:
    sizes = ir.RankedTensorType(op.results[0].type).shape
    moved = []
    for group in reassociation(op):
        at = ir.AffineConstantExpr.get(0)
        for position, axis in enumerate(group):
            if sizes[axis] == 1:
                continue
            inner = [sizes[other] for other in group[position + 1 :]]
            if DYNAMIC in inner:
                return None
            at = at + indices[axis] * math.prod(inner)
        moved.append(at)
    return tuple(moved)


def _collapsed(op: ir.Operation, indices: Indices) -> Indices | None:
    sizes = ir.RankedTensorType(op.operands[0].type).shape
    if not indices:
        # Of one element; no group says so.
        return (ir.AffineConstantExpr.get(0),) * len(sizes)
    moved: list[ir.AffineExpr] = []
    for at, group in zip(indices, reassociation(op), strict=True):
        long = [axis for axis in group if sizes[axis] != 1]
        for axis in group:
            if axis not in long:
                moved.append(ir.AffineConstantExpr.get(0))
                continue
            inner = [sizes[other] for other in long[long.index(axis) + 1 :]]
            if DYNAMIC in inner or (axis != long[0] and sizes[axis] == DYNAMIC):
                return None
            here = at
            if inner:
                here = ir.AffineExpr.get_floor_div(here, math.prod(inner))
            if axis != long[0]:
                here = ir.AffineExpr.get_mod(here, sizes[axis])
            moved.append(here)
    return tuple(moved)


def _joined(op: ir.Operation) -> ir.Operation | None:
    """For what takes dimensions apart that were just put together what put these together."""
    if op.name != "tensor.expand_shape" or isinstance(op.operands[0].owner, ir.Block):
        return None
    source = op.operands[0].owner.operation
    return source if source.name == "tensor.collapse_shape" else None


def _regrouped(op: ir.Operation, joined: ir.Operation, indices: Indices) -> Indices | None:
    """Where an element of both reshapes lies, by as few dimensions at a time as make the same size.

    Of all of them together there would be quotients of sums: LLVM cannot tell that an element and
    the next one are often neighbours, and no vectors are made.
    """
    before = ir.RankedTensorType(joined.operands[0].type).shape
    after = ir.RankedTensorType(op.results[0].type).shape
    if DYNAMIC in (*before, *after) or 0 in before:
        return None
    moved: list[ir.AffineExpr] = [ir.AffineConstantExpr.get(0)] * len(before)
    for apart, together in zip(reassociation(op), reassociation(joined), strict=True):
        for outer, inner in _of_one_size(_long(apart, after), _long(together, before)):
            at = ir.AffineConstantExpr.get(0)
            for axis, size in outer:
                at = at * size + indices[axis]
            rest = math.prod(size for _, size in inner)
            for number, (axis, size) in enumerate(inner):
                here = at if number == 0 else ir.AffineExpr.get_mod(at, rest)
                rest //= size
                moved[axis] = ir.AffineExpr.get_floor_div(here, rest) if rest > 1 else here
    return tuple(moved)


def _long(axes: Sequence[int], shape: Sequence[int]) -> "_Axes":
    """Those of the axes that have several elements."""
    return [(axis, shape[axis]) for axis in axes if shape[axis] != 1]


_Axes = list[tuple[int, int]]
"""Axes, with their sizes."""


def _of_one_size(outer: _Axes, inner: _Axes) -> list[tuple[_Axes, _Axes]]:
    """Two ways to take apart one dimension, in as many parts as they have in common."""
    parts: list[tuple[_Axes, _Axes]] = []
    left = [*outer], [*inner]
    while left[0]:
        taken: tuple[_Axes, _Axes] = [left[0].pop(0)], [left[1].pop(0)]
        sizes = [taken[0][0][1], taken[1][0][1]]
        while sizes[0] != sizes[1]:
            lesser = sizes.index(min(sizes))
            axis, size = left[lesser].pop(0)
            taken[lesser].append((axis, size))
            sizes[lesser] *= size
        parts.append(taken)
    return parts


def undivided(
    shape: Sequence[int], indices: Sequence[ir.AffineExpr]
) -> list[tuple[list[int], ir.AffineExpr]]:
    """Axes of a contiguous tensor, put together where one index is divided among them.

    An index by 8 and its rest, of which the inner axis has 8 elements, are that index.
    """
    groups: list[tuple[list[int], _Quotient]] = []
    for axis, (size, index) in enumerate(zip(shape, indices, strict=True)):
        inner = _quotient(index)
        if groups:
            axes, outer = groups[-1]
            if outer.of == inner.of and outer.divisor == inner.modulus == size * inner.divisor:
                groups[-1] = ([*axes, axis], _Quotient(inner.of, outer.modulus, inner.divisor))
                continue
        groups.append(([axis], inner))
    return [(axes, quotient.expression()) for axes, quotient in groups]


@dataclass(frozen=True)
class _Quotient:
    """The rest of an expression by a modulus, if there is one, divided by a number."""

    of: ir.AffineExpr
    modulus: int | None
    divisor: int

    def expression(self) -> ir.AffineExpr:
        rest = self.of if self.modulus is None else ir.AffineExpr.get_mod(self.of, self.modulus)
        return rest if self.divisor == 1 else ir.AffineExpr.get_floor_div(rest, self.divisor)


def _quotient(expression: ir.AffineExpr) -> _Quotient:
    of, divisor = expression.maybe_downcast(), 1
    if isinstance(of, ir.AffineFloorDivExpr):
        by = of.rhs.maybe_downcast()
        if isinstance(by, ir.AffineConstantExpr):
            of, divisor = of.lhs.maybe_downcast(), by.value
    if isinstance(of, ir.AffineModExpr):
        by = of.rhs.maybe_downcast()
        if isinstance(by, ir.AffineConstantExpr):
            return _Quotient(of.lhs, by.value, divisor)
    return _Quotient(of, None, divisor)


def _sliced(op: ir.Operation, indices: Indices) -> Indices | None:
    if takes_part(op):
        return tuple(
            at + offset
            for at, offset in zip(
                indices, ir.DenseI64ArrayAttr(op.attributes["static_offsets"]), strict=True
            )
        )
    # Any other operand is an offset, a size or a stride that is not known before it runs.
    if len(op.operands) > 1:
        return None
    before, after = (ir.RankedTensorType(value.type).shape for value in (op.operands[0], op.result))
    if len(before) != len(after) or DYNAMIC in (*before, *after):
        return None
    offsets, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[name]))
        for name in ("static_offsets", "static_strides")
    )
    return tuple(
        at * stride + offset for at, stride, offset in zip(indices, strides, offsets, strict=True)
    )


def takes_part(op: ir.Operation) -> bool:
    """Whether a slice is one of the few parts that the innermost axis tells apart.

    How many elements of the others it has need not be known: it starts where they do.
    """
    if op.name != "tensor.extract_slice":
        return False
    before, after = (ir.RankedTensorType(value.type).shape for value in (op.operands[0], op.result))
    if not before or len(before) != len(after):
        return False
    if not 2 <= before[-1] <= MOST_PARTS or after[-1] != 1:
        return False
    *outer, part = ir.DenseI64ArrayAttr(op.attributes["static_offsets"])
    strides = list(ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    return not any(outer) and 0 <= part < before[-1] and set(strides) == {1}


_RESHAPES: Mapping[str, _View] = {
    "tensor.cast": _cast,
    "tensor.collapse_shape": _collapsed,
    "tensor.expand_shape": _expanded,
}

_VIEWS: Mapping[str, _View] = {**_RESHAPES, "tensor.extract_slice": _sliced}


def is_seen_through(op: ir.Operation) -> bool:
    """Whether `seen_through` looks through an operation: a reshape or a part of known sizes."""
    if op.name not in _VIEWS:
        return False
    rank = ir.RankedTensorType(op.results[0].type).rank
    return _VIEWS[op.name](op, (ir.AffineConstantExpr.get(0),) * rank) is not None


def is_copy(member: Computation) -> bool:
    """Whether a computation only says where elements are from, or what number they all are.

    To do it over costs nothing.
    """
    return (
        not member.is_reduction
        and len(member.results) == 1
        and all(name == "arith.constant" for name in member.body_names)
    )


def is_widening(member: Computation) -> bool:
    """Whether a computation only gives elements a wider type, of the kind that products have."""
    return only_does(member, "arith.extf") or only_does(member, "arith.extsi")


def only_does(member: Computation, name: str) -> bool:
    """Whether each element of the result is what one operation makes of one of a tensor."""
    return (
        not member.is_reduction
        and len(member.results) == len(member.inputs) == 1
        and member.body_names == (name,)
        and is_tensor(member.inputs[0])
        and member.body_ops[0].operands[0] == member.body.arguments[0]
    )


def widening_of(value: ir.Value) -> Computation | None:
    """What widens a tensor, if it was widened."""
    found = computation_of(value)
    return found if found is not None and is_widening(found) else None


def before_widening(value: ir.Value) -> ir.Value:
    """A tensor before its elements became wider where they are, if they did."""
    widening = widening_of(value)
    if widening is None or widening.maps[0] != widening.maps[1]:
        return value
    return widening.inputs[0]


def _zeros(value: ir.Value) -> Indices:
    rank = ir.RankedTensorType(value.type).rank if is_tensor(value) else 0
    return (ir.AffineConstantExpr.get(0),) * rank


def composed(map_: ir.AffineMap, loops: Sequence[ir.AffineExpr], dims: int) -> Indices:
    """The results of `map_` where its loops are expressions of `dims` loops of another nest."""
    inner = ir.AffineMap.get(dims, 0, list(loops))
    return tuple(
        ir.AffineExpr.simplify_affine_expr(result.compose(inner), dims, 0)
        for result in map_.results
    )


def read_source(member: Computation, number: int, producer: Computation) -> None:
    """Has an operand be what the producer of it reads, at the places that it reads that at."""
    op, count = member.op, len(member.reduces)
    loops = producer.loops_for(tuple(member.maps[number].results))
    maps = [*op.attributes["indexing_maps"]]
    places = composed(producer.maps[0], loops, count)
    maps[number] = ir.AffineMapAttr.get(ir.AffineMap.get(count, 0, list(places)))
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(maps)
    op.operands[number] = producer.inputs[0]


def loops_in(expression: ir.AffineExpr) -> set[int]:
    """The loops that an expression depends on."""
    match expression.maybe_downcast():
        case ir.AffineDimExpr() as dim:
            return {dim.position}
        case ir.AffineBinaryExpr() as both:
            return loops_in(both.lhs) | loops_in(both.rhs)
    return set()


def users(value: ir.Value) -> Iterator[ir.Operation]:
    """The operations that read `value`, by way of reshapes or not."""
    for use in value.uses:
        user = use.owner.operation
        if is_seen_through(user):
            yield from users(user.results[0])
        else:
            yield user
