"""Groups that are a contraction, with copies of its operands before it and an epilogue after it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.building import for_each, if_else, index
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    composed,
    is_copy,
    is_tensor,
    is_zero,
    number_everywhere,
    reshaped_from,
    seen_through,
)
from plumbline.linalg_to_kernels.constant_products import constant_product
from plumbline.linalg_to_kernels.constants import is_constant
from plumbline.linalg_to_kernels.contraction_kernel import build_contraction
from plumbline.linalg_to_kernels.contraction_loops import Epilogue, Place
from plumbline.linalg_to_kernels.contraction_plan import (
    ContractionPlan,
    RightOperand,
    Strategy,
    plan_contraction,
)
from plumbline.linalg_to_kernels.dequantized_weights import multiplies_dequantized_weights
from plumbline.linalg_to_kernels.expand_contractions import is_weight
from plumbline.linalg_to_kernels.group import Group, form_group
from plumbline.linalg_to_kernels.layouts import is_contiguous, layout_of
from plumbline.linalg_to_kernels.pads import Pads, zeros_around
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.plans_by_size import OtherPlan, other_plan
from plumbline.linalg_to_kernels.products import (
    Access,
    SumOfProducts,
    access_of,
    product_of,
    sum_of_accesses,
)
from plumbline.linalg_to_kernels.sizes import size_of
from plumbline.linalg_to_kernels.vector_evaluation import Lanes, VectorEvaluation, can_be_vectors
from plumbline.linalg_to_kernels.vectors import add
from plumbline.linalg_to_kernels.window_zeros import zeros_of
from plumbline.signature.packed_layout import PackedLayout
from plumbline.target.vector_unit import VectorUnit

_SMALL = 4096
"""Up to how many products plain loops are as good."""

_SMALL_BESIDE = 512
"""The same where rows of results fill vectors, and more is added up than is in an unrolled loop."""

_WIDE = 4
"""The bytes of elements that are multiplied as they are."""

_SMALL_OF_ATTENTION = 256
"""The same of attention, whose plain loops go through keys one by one."""

_UNROLLED = 8
"""How many products LLVM adds up without a loop."""

_FEW_ROWS = 2
"""With so many rows, what is loaded of the right operand is used so seldom that tiles gain nothing.
Of attention, twice as many, as it also does whole rows by vectors."""

_SIDE_BY_SIDE = 8
"""From so many contiguous elements on, each of which has products of its own, they are so too."""


def is_contraction(computation: Computation, unit: VectorUnit) -> bool:
    """Whether a computation is a sum of products that register tiles pay for."""
    return _suits_tiles(computation, unit, _small(computation, unit))


def is_contraction_of_attention(computation: Computation, unit: VectorUnit) -> bool:
    """The same, if it is one of the two products of attention."""
    if is_contraction(computation, unit):
        return True
    rows, *_ = _sizes(computation)
    are_many = rows is not None and rows > 2 * _FEW_ROWS
    return are_many and _suits_tiles(computation, unit, _SMALL_OF_ATTENTION)


def _suits_tiles(computation: Computation, unit: VectorUnit, small: int) -> bool:
    if not is_large_sum_of_products(computation, small):
        return False
    if multiplies_dequantized_weights(computation):
        return False
    alone = form_group([computation], frozenset(computation.results))
    return alone is not None and _planned(alone, unit, small) is not None


def _small(computation: Computation, unit: VectorUnit) -> int:
    """Up to how many products loops are as good for a computation."""
    return _SMALL_BESIDE if _fills_vectors(computation, unit) else _SMALL


def _fills_vectors(computation: Computation, unit: VectorUnit) -> bool:
    """Whether register tiles of a small sum of products are full, and longer than loops unroll.

    What has fewer than four bytes is widened, or put side by side, before it is multiplied. Unless
    it is a weight, that takes as long as so few products.
    """
    rows, columns, summed = _sizes(computation)
    sum_ = computation.sum_of_products
    if sum_ is None or rows is None or columns is None or summed is None:
        return False
    right = computation.inputs[sum_.right]
    if not is_weight(right) and _element_bytes(right) < _WIDE:
        return False
    lanes = unit.bytes // _element_bytes(computation.results[0])
    return rows > _FEW_ROWS and columns >= lanes and summed > _UNROLLED


def _element_bytes(tensor: ir.Value) -> int:
    return element_bytes(ir.RankedTensorType(tensor.type).element_type)


def _sizes(computation: Computation) -> tuple[int | None, int | None, int | None]:
    """How many rows, columns and terms a sum of products has, where these are known."""
    sum_ = computation.sum_of_products
    if sum_ is None:
        return None, None, None
    rows, columns, summed = (
        product_of([computation.sizes[loop] for loop in loops])
        for loops in (sum_.rows, sum_.columns, sum_.summed)
    )
    return rows, columns, summed


def is_large_sum_of_products(computation: Computation, small: int = _SMALL) -> bool:
    """Whether a computation may be a contraction, if its tensors lie well.

    It is not one if it has no more than so many products.
    """
    sum_ = computation.sum_of_products
    if sum_ is None:
        return False
    rows, columns, summed = _sizes(computation)
    if rows == columns == 1 and not sum_.batches:
        # One dot product: LLVM's loop is as good.
        return False
    if not (sum_.rows and sum_.columns) and _has_products_side_by_side(computation, sum_):
        # Loops over what is contiguous are vectors as they are.
        return False
    if not sum_.rows:
        # Planes with weights of their own are done alike, be they ever so small.
        batches = product_of([computation.sizes[loop] for loop in sum_.batches])
        columns = columns and batches and columns * batches
    return not (rows and columns and summed and rows * columns * summed <= small)


def _has_products_side_by_side(computation: Computation, sum_: SumOfProducts) -> bool:
    """Whether all operands and the result are contiguous along a loop that is not summed over.

    It is a long one, as that over the channels of images that have them last.
    """
    last = {
        tuple(term for term in access.axes[-1] if computation.sizes[term[0]] != 1)
        for access in sum_.accesses
        if access.axes
    }
    if len(last) != 1:
        return False
    (terms,) = last
    if len(terms) != 1 or terms[0][1] != 1 or terms[0][0] not in sum_.batches:
        return False
    size = computation.sizes[terms[0][0]]
    return size == DYNAMIC or size >= _SIDE_BY_SIDE


@dataclass(frozen=True)
class ContractionGroup:
    """A group that is a contraction."""

    group: Group
    contraction: Computation
    plan: ContractionPlan
    operands: tuple[ir.Value, ir.Value]
    """What is multiplied, copies being folded into the plan's accesses."""
    axes: tuple[int | None, ...]
    """For each axis of the root's result the loop of the contraction along it."""
    pad: ir.Value | None = None
    """The result of a `tensor.pad` in place of which the kernel reads what that pads."""
    other: OtherPlan | None = None
    """How it is computed where sizes that are not known suit another plan better."""

    @property
    def contiguous_from(self) -> int:
        """The axis of the result from which on its elements have to be contiguous."""
        plans = [self.plan, *([self.other.plan] if self.other else [])]
        return min(plan.contiguous_from for plan in plans)

    @property
    def packed(self) -> dict[ir.Value, PackedLayout]:
        """The operand that the kernel takes packed, if it takes one so."""
        plan = self.plan
        is_packed = plan.right_operand is RightOperand.PACKED
        return {self.operands[plan.right]: plan.packed_layout} if is_packed else {}

    @property
    def summed_in(self) -> ir.Type:
        """The type that products are added up in."""
        return ir.RankedTensorType(self.contraction.results[0].type).element_type


def contraction_group(group: Group, unit: VectorUnit) -> ContractionGroup | None:
    """How a group is a contraction, if it is one that register tiles can compute.

    Its one step, or the one before the root, is a large sum of products; the root, if it is another
    computation, takes each element of it once.
    """
    found = _planned(group, unit, _small(group.steps[0], unit))
    if found is None or (group.root is not found.contraction and _ends_vectors(found, unit)):
        return None
    if _loses_dots(found, unit):
        return None
    return found if _has_vector_epilogue(found) else None


def with_other_plan(found: ContractionGroup, unit: VectorUnit) -> ContractionGroup:
    """The same, which in a call may turn out to be done by another plan."""
    if found.pad is not None:
        return found
    types = [layout_of(value) for value in (*found.operands, found.group.root.results[0])]
    sizes = found.contraction.sizes
    other = other_plan(found.plan, types, sizes, unit, found.summed_in)
    if other is None or not _has_vector_epilogue(replace(found, plan=other.plan)):
        return found
    return replace(found, other=other)


def _loses_dots(found: ContractionGroup, unit: VectorUnit) -> bool:
    """Whether several elements would be multiplied at once if copies were made beforehand.

    Where a matrix is read once, for a few rows, to copy it takes longer than to multiply by it.
    """
    group, at = found.group, found.group.members.index(found.contraction)
    is_read_once = found.plan.strategy in (Strategy.DOT_PRODUCTS, Strategy.WEIGHTED_ROWS)
    if found.plan.dots is not None or at == 0 or is_read_once:
        return False
    after = form_group(group.members[at:], group.outputs)
    before = None if after is None else _planned(after, unit, _small(found.contraction, unit))
    return before is not None and before.plan.dots is not None


def _ends_vectors(found: ContractionGroup, unit: VectorUnit) -> bool:
    """Whether sums are single integers on a CPU that has vectors for what would follow on them."""
    dots = found.plan.dots
    return dots is not None and dots.has_one_sum and unit.lanes(found.summed_in.width) > 1


def _planned(group: Group, unit: VectorUnit, small: int) -> ContractionGroup | None:
    """How a group is a contraction of more than so many products, if an epilogue follows on it."""
    contraction = group.steps[0]
    if len(group.steps) > 2 or group.outputs != frozenset(group.root.results):
        return None
    if not is_large_sum_of_products(contraction, small) or len(group.root.results) != 1:
        return None
    if constant_product(contraction) is not None:
        return None
    axes = root_axes(group, contraction)
    if axes is None:
        return None
    folded = _folded(group, contraction, axes)
    if folded is None:
        return None
    sum_, operands = folded
    padded = operands[sum_.right]
    pad = zeros_around(padded) if _is_only_for(contraction, padded, group) else None
    if pad is not None and group.producer(pad.source) is None:
        unpadded = _replaced(operands, sum_.right, pad.source)
        found = _found(group, contraction, axes, sum_, unpadded, unit, pad.pads)
        if found is not None:
            return replace(found, pad=padded)
    found = _found(group, contraction, axes, sum_, operands, unit, ())
    if group.root is contraction or (sum_.rows and sum_.columns) or _is_depthwise(found):
        return found
    # Planes with weights of their own, in another order, would be gathered into panels for one row
    # of products each. To reorder the result afterwards takes a tenth of that.
    alone = form_group([contraction], frozenset(contraction.results))
    return None if alone is not None and _is_depthwise(_planned(alone, unit, small)) else found


def _is_depthwise(found: ContractionGroup | None) -> bool:
    return found is not None and found.plan.strategy is Strategy.DEPTHWISE


def _replaced(
    operands: tuple[ir.Value, ir.Value], number: int, value: ir.Value
) -> tuple[ir.Value, ir.Value]:
    return (value, operands[1]) if number == 0 else (operands[0], value)


def _found(
    group: Group,
    contraction: Computation,
    axes: tuple[int | None, ...],
    sum_: SumOfProducts,
    operands: tuple[ir.Value, ir.Value],
    unit: VectorUnit,
    pads: Pads,
) -> ContractionGroup | None:
    """The contraction of such operands, the right one padded by the kernel; None if it cannot."""
    types = [layout_of(value) for value in (*operands, group.root.results[0])]
    if not sum_.rows and not all(map(is_contiguous, types)):
        # Planes with weights of their own are read by vectors along them, whatever plan they get.
        return None
    summed_in = ir.RankedTensorType(contraction.results[0].type).element_type
    constants = frozenset(
        number
        for number, value in enumerate(operands)
        if is_constant(value) and _is_only_for(contraction, value, group)
    )
    zeros = zeros_of(operands[0]), zeros_of(operands[1])
    plan = plan_contraction(sum_, types, contraction.sizes, unit, summed_in, constants, pads, zeros)
    return None if plan is None else ContractionGroup(group, contraction, plan, operands, axes)


def root_axes(group: Group, contraction: Computation) -> tuple[int | None, ...] | None:
    """For each axis of the root's result the loop of the contraction along it; None if of size 1.

    None if the root does not take each element of the contraction once.
    """
    loops, root = contraction.result_loops(0), group.root
    if root is contraction or loops is None:
        return loops
    sites = group.sites(contraction.results[0])
    along = root.result_loops(0)
    if len(sites) != 1 or root.is_reduction or along is None:
        return None
    by_root = {}
    for loop, expression in zip(loops, sites[0].indices, strict=True):
        dim = expression.maybe_downcast()
        # Of another size is an axis of which the root takes a part.
        if (
            isinstance(dim, ir.AffineDimExpr)
            and contraction.sizes[loop] == root.sizes[dim.position]
        ):
            by_root[dim.position] = loop
    long = {loop for loop, size in enumerate(root.sizes) if size != 1}
    return tuple(by_root.get(loop) for loop in along) if set(by_root) >= long else None


def _folded(
    group: Group, contraction: Computation, axes: tuple[int | None, ...]
) -> tuple[SumOfProducts, tuple[ir.Value, ir.Value]] | None:
    """The sum of products over what is copied to the operands; None if that is none.

    Its result is the root's, with these loops along its axes.
    """
    count = len(contraction.reduces)
    loops = contraction.loops
    origins = [
        _origin(group, value, composed(map_, loops, count), count)
        for value, map_ in zip(contraction.inputs, contraction.maps[:2], strict=True)
    ]
    accesses: list[Access] = []
    for _, indices in origins:
        access = access_of(ir.AffineMap.get(count, 0, list(indices)))
        if access is None:
            return None
        accesses.append(access)
    for value, indices in origins:
        # Operands lie in memory: what a member computes does not, be it as it is or reshaped.
        if group.producer(seen_through(value, indices)[0]) is not None:
            return None
    sum_ = sum_at_root(contraction, (accesses[0], accesses[1]), axes)
    return None if sum_ is None else (sum_, (origins[0][0], origins[1][0]))


def sum_at_root(
    contraction: Computation, operands: tuple[Access, Access], axes: tuple[int | None, ...]
) -> SumOfProducts | None:
    """A contraction over such operands, with these of its loops along the axes of the result."""
    result = Access(tuple(() if loop is None else ((loop, 1),) for loop in axes))
    if any(
        size != 1 and not contraction.reduces[loop] and loop not in result.loops
        for loop, size in enumerate(contraction.sizes)
    ):
        return None
    summed = {loop for loop, reduces in enumerate(contraction.reduces) if reduces}
    # What runs once, and is along no axis of the result or, behind a reshape, of the operands.
    moving = result.loops & (operands[0].loops | operands[1].loops)
    count = len(contraction.reduces)
    idle = {
        loop
        for loop in range(count)
        if loop not in summed and loop not in moving and contraction.sizes[loop] == 1
    }
    found = sum_of_accesses(
        (_without(operands[0], idle), _without(operands[1], idle), _without(result, idle)),
        set(range(count)) - idle,
        summed,
    )
    products = contraction.sum_of_products
    return found if found is None or products is None else replace(found, turned=products.turned)


def _is_only_for(contraction: Computation, value: ir.Value, group: Group) -> bool:
    """Whether of a group's members only the contraction reads a tensor, by way of copies or not."""
    readers = [
        member for member in group.members for operand in member.viewed_operands if operand == value
    ]
    return readers == [contraction] or (
        len(readers) == 1
        and is_copy(readers[0])
        and _is_only_for(contraction, readers[0].results[0], group)
    )


def _without(access: Access, loops: set[int]) -> Access:
    """The access where these loops count nothing."""
    return Access(
        tuple(tuple(term for term in axis if term[0] not in loops) for axis in access.axes)
    )


def sources(
    group: Group, value: ir.Value, indices: Indices, count: int
) -> Iterator[tuple[ir.Value, Indices]]:
    """A tensor and what it is a reshape or a copy of, one after the other.

    With each goes where its elements lie, by `count` loops.
    """
    while True:
        yield value, indices
        value, indices = reshaped_from(value, indices)
        yield value, indices
        producer = group.producer(value)
        number = None if producer is None else _copied(producer)
        if producer is None or number is None or not is_tensor(producer.inputs[number]):
            return
        loops = producer.loops_for(indices)
        value, indices = producer.inputs[number], composed(producer.maps[number], loops, count)


def _copied(member: Computation) -> int | None:
    """Which input the one result is a copy of, though others may be given too; None if of none."""
    if member.body_ops or len(member.yielded) != 1:
        return None
    arguments = list(member.body.arguments)[: len(member.inputs)]
    return next((n for n, each in enumerate(arguments) if each == member.yielded[0]), None)


def _origin(
    group: Group, value: ir.Value, indices: Indices, count: int
) -> tuple[ir.Value, Indices]:
    """The tensor that an operand is a copy of, and where its elements lie in it."""
    origin = value, indices
    for source, there in sources(group, value, indices, count):
        # Of some reshapes places are quotients: such an operand is read as it is reshaped.
        if access_of(ir.AffineMap.get(count, 0, list(there))) is None:
            break
        origin = source, there
    return origin


# The epilogue.


def _has_vector_epilogue(found: ContractionGroup) -> bool:
    group, contraction = found.group, found.contraction
    if not starts_from_zero(contraction) and not _init_is_vector(found):
        return False
    if group.root is contraction:
        return True
    (result,) = contraction.results
    return can_be_vectors(group, group.root, _lanes(found, group.root), result)


def _init_is_vector(found: ContractionGroup) -> bool:
    lanes = _lanes(found, found.contraction)
    source, _ = seen_through(found.contraction.inits[0], _loops_at_axes(found.contraction))
    return found.group.producer(source) is None and len(lanes.loops) == 1


def _loops_at_axes(contraction: Computation) -> Indices:
    """Where the element of a contraction's result lies that an iteration adds to."""
    return tuple(contraction.maps[2].results)


def starts_from_zero(contraction: Computation) -> bool:
    """Whether products are added to zeros, be these filled in by a member or not yet."""
    source, _ = seen_through(contraction.inits[0], _loops_at_axes(contraction))
    return is_zero(number_everywhere(source))


def _lanes(found: ContractionGroup, step: Computation) -> Lanes:
    """What lanes are in the loops of the root, or of the contraction."""
    loops = _loops_along(found, step, found.plan.lanes_along)
    return Lanes(loops, tuple(step.sizes[loop] for loop in loops))


def _loops_along(
    found: ContractionGroup, step: Computation, axes: Sequence[int]
) -> tuple[int, ...]:
    """Which loops of the root, or of the contraction, lead along some axes of the result."""
    along = _along_axes(found, step)
    return tuple(loop for axis in axes if (loop := along[axis]) is not None)


def _along_axes(found: ContractionGroup, step: Computation) -> Sequence[int | None]:
    """The loop of the root, or of the contraction, that leads along each axis of the result."""
    along = step.result_loops(0) if step is found.group.root else found.axes
    assert along is not None
    return along


def build_contraction_group(
    found: ContractionGroup, given: Mapping[ir.Value, ir.Value], output: ir.Value
) -> None:
    """Builds what a contraction's group does.

    Args:
      found: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar.
      output: the buffer that takes the result.
    """
    if found.other is not None:
        other = replace(found, plan=found.other.plan, other=None)
        if_else(
            found.other.suits(output),
            lambda: build_contraction_group(other, given, output),
            lambda: build_contraction_group(replace(found, other=None), given, output),
        )
        return
    group, contraction, plan = found.group, found.contraction, found.plan
    buffers = [
        given[value] if value in given else _constant(value, given) for value in found.operands
    ]
    from_zero = starts_from_zero(contraction)

    def evaluation(
        step: Computation, place: Place, known: Mapping[ir.Value, ir.Value]
    ) -> VectorEvaluation:
        along = enumerate(_along_axes(found, step))
        at = {loop: index(0) for loop in range(len(step.reduces))}
        at |= {loop: place.index(axis) for axis, loop in along if loop is not None}
        return VectorEvaluation(group, step, given, at, _lanes(found, step), place.mask, known)

    def finish(value: ir.Value, place: Place) -> ir.Value:
        if not from_zero:
            init = evaluation(contraction, place, {})
            start = init.element(contraction.inits[0], _loops_at_axes(contraction))
            value = add(value, init.vector(start))
        if group.root is contraction:
            return value
        return evaluation(group.root, place, {contraction.results[0]: value}).result()

    def prefetch(place: Place) -> None:
        if group.root is not contraction:
            rows = _loops_along(found, group.root, plan.rows_along)
            evaluation(group.root, place, {}).prefetch(contraction.results[0], rows)

    is_bare = from_zero and group.root is contraction
    epilogue = None if is_bare else Epilogue(finish, prefetch)
    build_contraction(plan, [*buffers, output], found.summed_in, epilogue)


def _constant(value: ir.Value, given: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """A buffer with an operand that is one value everywhere, or that has none."""
    type_ = ir.RankedTensorType(value.type)
    sizes = [size_of(value, axis, given) for axis in range(type_.rank)]
    dynamic = [size for size, static in zip(sizes, type_.shape, strict=True) if static == DYNAMIC]
    buffer = memref.alloc(ir.MemRefType.get(type_.shape, type_.element_type), dynamic, [])
    owner = value.owner.operation
    if owner.name == "tensor.empty":
        # Such as a pad of no images, in which nothing has been written.
        return buffer
    splat = owner.attributes["value"].get_splat_value()
    element = arith.ConstantOp(type_.element_type, splat).result

    def nest(axis: int, at: list[ir.Value]) -> None:
        if axis == type_.rank:
            memref.store(element, buffer, at)
            return

        def body(place: ir.Value) -> list[ir.Value]:
            nest(axis + 1, [*at, place])
            return []

        for_each(index(0), sizes[axis], 1, body, parallel=True)

    nest(0, [])
    return buffer
