"""Adds up the elements of a short row, of which vectors have some each, without a loop.

Of a loop of 9 to 40 rounds that adds up f32 in f64 LLVM makes single additions, or has a vector of
one element of each of several rows, which it gathers one by one: of 4096 rows of 32 floats PyTorch
adds up twice as many in that time. Here the vectors of a row are added up in f32 until each number
is the sum of four elements, which is rounded twice, and not at all where all are the same. These
are widened, and their halves added: that takes 0.2 to 0.5 of the time (AMD Zen 5).

The last vector begins so that it ends with the row: of the elements that it has in common with the
one before, it has zeros in the sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, vector

from plumbline.bindings.walk import constant_integer, defining_operation, operations_named
from plumbline.linalg_to_kernels.block_sums import LONG
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.element_loops import LOAD, ElementLoop
from plumbline.linalg_to_kernels.reassociation import is_reassociable
from plumbline.linalg_to_kernels.rounded_sums import RoundedSums
from plumbline.linalg_to_kernels.vector_widths import is_mostly_narrow
from plumbline.linalg_to_kernels.vectors import cast, of_lanes, splat
from plumbline.linalg_to_kernels.work import is_function, known_trips
from plumbline.target.vector_unit import AVX2, VectorUnit

_FEWEST = 9
"""Elements of a row: of fewer LLVM makes vectors of a place in several rows, which it exchanges."""

_FEWEST_OF_SEVERAL, _FEWEST_WIDE = 16, 24
"""The same where several sums are all that is done for a row; the second where one of them is of
f64: of variances of 12 elements that takes 0.6 of the time of vectors here, of norms of layers
longer."""

_MOST_OPERATIONS = 96
"""How many operations, on vectors, there are for a row at most."""

_ADDED_NARROW = 4
"""So many elements are added up in f32. With eight rows of 16 take 0.9 of the time, and others as
long; errors are nearer to PyTorch's."""

_WIDEN = "arith.extf"


def sum_short_rows(module: ir.Operation, unit: VectorUnit) -> None:
    """Puts vectors in the place of innermost loops of `module` that add up a few elements."""
    # Smaller units may have no vectors of f64.
    if unit.bytes < AVX2.bytes or unit.scalable:
        return
    with module.context:
        rounded = RoundedSums(module)
        for op in operations_named(module, "scf.for"):
            if (row := _row(op.opview, rounded, unit)) is not None:
                row.add_up()


@dataclass(frozen=True)
class _Sum:
    """One of the sums that a loop carries."""

    first: ir.Value
    term: ir.Value
    """What is added, before it is widened."""
    adding: Sequence[ir.Operation]
    """What adds it, and widens it."""


@dataclass(frozen=True)
class _Row:
    loop: scf.ForOp
    sums: Sequence[_Sum]
    elements: ElementLoop
    first: int
    count: int
    lanes: int

    def add_up(self) -> None:
        """Builds the sums before the loop, which goes."""
        loop, left = self.loop, self.count % self.lanes
        with ir.InsertionPoint(loop), loop.location:
            starts = range(0, self.count - left, self.lanes)
            whole = [self._terms(start, self.lanes) for start in starts]
            # As few lanes as there may be, but no vector of one.
            lanes = max(2, 1 << (left - 1).bit_length()) if left else 0
            last = self._terms(self.count - lanes, lanes) if left else []
            totals = [
                self._total(
                    sum_,
                    [terms[number] for terms in whole],
                    [_last(terms, left) for terms in last[number : number + 1]],
                )
                for number, sum_ in enumerate(self.sums)
            ]
        for result, total in zip(loop.results, totals, strict=True):
            result.replace_all_uses_with(total)
        loop.operation.erase()

    def _terms(self, start: int, lanes: int) -> list[ir.Value]:
        """A vector of each sum's terms."""
        values = {self.elements.at: index(self.first + start)}
        self.elements.in_vectors(values, lanes, vector.load, _store_nothing)
        return [of_lanes(values.get(sum_.term, sum_.term), [lanes]) for sum_ in self.sums]

    def _total(self, sum_: _Sum, whole: Sequence[ir.Value], last: Sequence[ir.Value]) -> ir.Value:
        type_ = sum_.first.type
        parts = [*(_in_f32(whole) if sum_.term.type != type_ else whole), *last]
        # Those with the most lanes first.
        total, *others = sorted((cast(part, type_) for part in parts), key=_lanes_of, reverse=True)
        for part in others:
            while _lanes_of(total) > _lanes_of(part):
                total = _halved(total)
            total = arith.addf(total, part)
        kind = ir.Attribute.parse("#vector.kind<add>")
        flags = arith.FastMathFlags.reassoc
        return vector.reduction(type_, kind, total, acc=sum_.first, fastmath=flags)


def _last(terms: ir.Value, left: int) -> ir.Value:
    """The last vector's terms, with zeros for those that are not among the last that are left."""
    lanes = _lanes_of(terms)
    if left == lanes:
        return terms
    mask = ir.VectorType.get([lanes], ir.IntegerType.get_signless(1))
    are_left = [ir.BoolAttr.get(lane >= lanes - left) for lane in range(lanes)]
    chosen = arith.constant(mask, ir.DenseElementsAttr.get(are_left, mask))
    return arith.select(chosen, terms, splat(terms.type, -0.0))


def _in_f32(terms: Sequence[ir.Value]) -> list[ir.Value]:
    """Vectors of sums of four elements each, in pairs of pairs, or of as many as there are."""
    parts = []
    while terms:
        count = min(1 << (len(terms).bit_length() - 1), _ADDED_NARROW)
        some, terms = list(terms[:count]), terms[count:]
        while len(some) > 1:
            some = [arith.addf(*pair) for pair in zip(some[::2], some[1::2], strict=True)]
        (part,) = some
        while count < _ADDED_NARROW and _lanes_of(part) > 1:
            part, count = _halved(part), 2 * count
        parts.append(part)
    return parts


def _halved(lanes: ir.Value) -> ir.Value:
    """The sum of both halves of a vector."""
    half = _lanes_of(lanes) // 2
    parts = [vector.shuffle(lanes, lanes, [*range(at, at + half)]) for at in (0, half)]
    return arith.addf(*parts)


def _lanes_of(lanes: ir.Value) -> int:
    return int(ir.VectorType(lanes.type).shape[0])


def _store_nothing(value: ir.Value, buffer: ir.Value, places: list[ir.Value]) -> None:
    raise AssertionError("such loops store nothing")


def _row(loop: scf.ForOp, rounded: RoundedSums, unit: VectorUnit) -> _Row | None:
    first, count = constant_integer(loop.lowerBound), known_trips(loop.operation)
    if first is None or count is None or not _FEWEST <= count < LONG:
        return None
    sums = _sums(loop, rounded)
    if not sums or constant_integer(loop.step) != 1 or count < _fewest(loop, rounded):
        return None
    *ops, _ = (view.operation for view in loop.body.operations)
    elements = ElementLoop(loop, but=[op for sum_ in sums for op in sum_.adding])
    lanes = min(unit.lanes(32), 1 << (count.bit_length() - 1))
    if (
        len(elements.of_elements) * -(-count // lanes) > _MOST_OPERATIONS
        # Those are added up in f32, of which LLVM makes vectors.
        or is_mostly_narrow(loop.operation)
        or any(op.regions or is_function(op) for op in ops)
        or elements.stores
        or not any(op.name == LOAD for op in ops)
        or not elements.can_be_vectors()
    ):
        return None
    return _Row(loop, sums, elements, first, count, lanes)


def _fewest(loop: scf.ForOp, rounded: RoundedSums) -> int:
    """How many elements there are to be of a row for which a loop does this, and others more."""
    loops = [view for view in loop.operation.block.operations if isinstance(view, scf.ForOp)]
    if any(not each.results for each in loops):
        # Where elements are computed too, LLVM takes one row after another.
        return _FEWEST
    sums = [sum_ for each in loops for sum_ in _sums(each, rounded)]
    if len(sums) < 2:
        return _FEWEST
    are_wide = [isinstance(sum_.term.type, ir.F64Type) for sum_ in sums]
    return _FEWEST_WIDE if any(are_wide) else _FEWEST_OF_SEVERAL


def _sums(loop: scf.ForOp, rounded: RoundedSums) -> list[_Sum]:
    """The sums of a loop, if it carries nothing else."""
    end = loop.body.operations[len(loop.body.operations) - 1]
    carried = zip(loop.initArgs, loop.inner_iter_args, end.operands, loop.results, strict=True)
    found = [_sum(*each, rounded) for each in carried]
    sums = [sum_ for sum_ in found if sum_ is not None]
    return sums if len(sums) == len(found) else []


def _sum(
    first: ir.Value, so_far: ir.Value, total: ir.Value, result: ir.Value, rounded: RoundedSums
) -> _Sum | None:
    add = defining_operation(total)
    if add is None or add.name != "arith.addf" or not is_reassociable(add):
        return None
    terms = [operand for operand in add.operands if operand != so_far]
    if len(terms) != 1 or len(list(so_far.uses)) != 1 or len(list(total.uses)) != 1:
        return None
    (term,) = terms
    widen = defining_operation(term)
    if (
        widen is not None
        and widen.name == _WIDEN
        and widen.block == add.block
        and len(list(term.uses)) == 1
        and isinstance(widen.operands[0].type, ir.F32Type)
        and rounded.is_rounded(result)
    ):
        return _Sum(first, widen.operands[0], [add, widen])
    return _Sum(first, term, [add])
