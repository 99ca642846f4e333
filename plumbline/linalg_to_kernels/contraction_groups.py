"""Groups that are a contraction, with copies of its operands before it and an epilogue after it."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.building import for_each, index
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    composed,
    computation,
    is_splat,
    is_tensor,
    seen_through,
)
from plumbline.linalg_to_kernels.contraction_kernel import build_contraction
from plumbline.linalg_to_kernels.contraction_loops import Place
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan, plan_contraction
from plumbline.linalg_to_kernels.evaluation import loops_at
from plumbline.linalg_to_kernels.group import Group, form_group
from plumbline.linalg_to_kernels.products import (
    Access,
    SumOfProducts,
    access_of,
    product_of,
    sum_of_accesses,
    sum_of_products,
)
from plumbline.linalg_to_kernels.sizes import size_of
from plumbline.linalg_to_kernels.vector_evaluation import Lanes, VectorEvaluation, can_be_vectors
from plumbline.linalg_to_kernels.vectors import add
from plumbline.vector_unit import VectorUnit

_SMALL = 4096
"""Up to how many products plain loops are as good."""


def is_contraction(computation: Computation, unit: VectorUnit) -> bool:
    """Whether a computation is a sum of products that register tiles pay for."""
    if not is_large_sum_of_products(computation):
        return False
    alone = form_group([computation], frozenset(computation.results))
    return alone is not None and _planned(alone, unit) is not None


def is_large_sum_of_products(computation: Computation) -> bool:
    """Whether a computation may be a contraction, if its tensors lie well."""
    sum_ = sum_of_products(computation.op)
    if sum_ is None:
        return False
    rows, columns, summed = (
        product_of([computation.sizes[loop] for loop in loops])
        for loops in (sum_.rows, sum_.columns, sum_.summed)
    )
    if rows == columns == 1 and not sum_.batches:
        # One dot product: LLVM's loop is as good.
        return False
    return not (rows and columns and summed and rows * columns * summed <= _SMALL)


@dataclass(frozen=True)
class ContractionGroup:
    """A group that is a contraction."""

    group: Group
    contraction: Computation
    plan: ContractionPlan
    operands: tuple[ir.Value, ir.Value]
    """What is multiplied, copies being folded into the plan's accesses."""

    @property
    def summed_in(self) -> ir.Type:
        """The type that products are added up in."""
        return ir.RankedTensorType(self.contraction.results[0].type).element_type


def contraction_group(group: Group, unit: VectorUnit) -> ContractionGroup | None:
    """How a group is a contraction, if it is one that register tiles can compute.

    Its one step, or the one before the root, is a large sum of products; the root, if it is another
    computation, takes each element of it once.
    """
    found = _planned(group, unit)
    return found if found is not None and _has_vector_epilogue(found) else None


def _planned(group: Group, unit: VectorUnit) -> ContractionGroup | None:
    """How a group is a contraction, if what follows that is an epilogue."""
    contraction = group.steps[0]
    if len(group.steps) > 2 or group.outputs != frozenset(group.root.results):
        return None
    if not is_large_sum_of_products(contraction) or len(group.root.results) != 1:
        return None
    folded = _folded(group, contraction)
    if folded is None:
        return None
    sum_, operands = folded
    types = [
        ir.MemRefType.get(type_.shape, type_.element_type)
        for type_ in (
            ir.RankedTensorType(value.type) for value in (*operands, contraction.results[0])
        )
    ]
    width = types[2].element_type.width
    plan = plan_contraction(sum_, types, contraction.sizes, unit, width)
    return None if plan is None else ContractionGroup(group, contraction, plan, operands)


def _folded(
    group: Group, contraction: Computation
) -> tuple[SumOfProducts, tuple[ir.Value, ir.Value]] | None:
    """The sum of products over what is copied to the operands; None if that is none."""
    count = len(contraction.reduces)
    loops = loops_at(contraction)
    origins = [
        _origin(group, value, composed(map_, loops, count), count)
        for value, map_ in zip(contraction.inputs, contraction.maps[:2], strict=True)
    ]
    accesses: list[Access] = []
    for indices in (*(indices for _, indices in origins), contraction.maps[2].results):
        access = access_of(ir.AffineMap.get(count, 0, list(indices)))
        if access is None:
            return None
        accesses.append(access)
    for value, _ in origins:
        producer = group.producer(value)
        if producer is not None and producer.body_ops:
            return None
    summed = {loop for loop, reduces in enumerate(contraction.reduces) if reduces}
    sum_ = sum_of_accesses((accesses[0], accesses[1], accesses[2]), set(range(count)), summed)
    return None if sum_ is None else (sum_, (origins[0][0], origins[1][0]))


def _origin(
    group: Group, value: ir.Value, indices: Indices, count: int
) -> tuple[ir.Value, Indices]:
    """The tensor that an operand is a copy of, and where its elements lie in it."""
    while True:
        value, indices = seen_through(value, indices)
        producer = group.producer(value)
        if producer is None or producer.body_ops or not producer.inputs:
            return value, indices
        if not is_tensor(producer.inputs[0]):
            return value, indices
        loops = producer.loops_for(indices)
        value, indices = producer.inputs[0], composed(producer.maps[0], loops, count)


# The epilogue.


def _has_vector_epilogue(found: ContractionGroup) -> bool:
    group, contraction = found.group, found.contraction
    if not _starts_from_zero(contraction):
        lanes = _lanes(found.plan, contraction, {})
        if not _init_is_vector(found, lanes):
            return False
    if group.root is contraction:
        return True
    axes = _axes(found)
    if axes is None:
        return False
    (result,) = contraction.results
    lanes = _lanes(found.plan, group.root, axes)
    return can_be_vectors(group, group.root, lanes, result)


def _init_is_vector(found: ContractionGroup, lanes: Lanes) -> bool:
    init = found.contraction.inits[0]
    source, _ = seen_through(init, loops_at_axes(found.contraction))
    return found.group.producer(source) is None and len(lanes.loops) == 1


def loops_at_axes(contraction: Computation) -> Indices:
    """Where the element of a contraction's result lies that an iteration adds to."""
    return tuple(contraction.maps[2].results)


def _starts_from_zero(contraction: Computation) -> bool:
    """Whether products are added to zeros, be these filled in by a member or not yet."""
    source, _ = seen_through(contraction.inits[0], loops_at_axes(contraction))
    if isinstance(source.owner, ir.Block):
        return False
    op = source.owner.operation
    if op.name == "arith.constant":
        return is_splat(op) and _is_zero(op.attributes["value"].get_splat_value())
    fill = computation(op)
    if fill is None or fill.body_ops:
        return False
    (yielded,) = fill.yielded
    if fill.inputs and yielded == fill.body.arguments[0]:
        yielded = fill.inputs[0]
    if isinstance(yielded.owner, ir.Block) or yielded.owner.name != "arith.constant":
        return False
    return _is_zero(yielded.owner.attributes["value"])


def _is_zero(value: ir.Attribute) -> bool:
    return isinstance(value, ir.FloatAttr | ir.IntegerAttr) and value.value == 0


def _axes(found: ContractionGroup) -> dict[int, int] | None:
    """For each loop of the root, along which axis of the contraction's result it runs.

    None if it does not read each element once, in one place.
    """
    group, root = found.group, found.group.root
    sites = group.sites(found.contraction.results[0])
    if len(sites) != 1 or root.is_reduction:
        return None
    axes = {}
    for axis, expression in enumerate(sites[0].indices):
        dim = expression.maybe_downcast()
        if isinstance(dim, ir.AffineDimExpr):
            axes[dim.position] = axis
    long = {loop for loop, size in enumerate(root.sizes) if size != 1}
    return axes if set(axes) >= long else None


def _lanes(plan: ContractionPlan, step: Computation, axes: Mapping[int, int]) -> Lanes:
    """What lanes are in the loops of the root, or of the contraction itself."""
    if axes:
        along = {axis: loop for loop, axis in axes.items()}
    else:
        loops = step.result_loops(0)
        assert loops is not None
        along = dict(enumerate(loops))
    loops_ = tuple(along[axis] for axis in plan.lanes_along if axis in along)
    return Lanes(loops_, tuple(step.sizes[loop] for loop in loops_))


def build_contraction_group(
    found: ContractionGroup, given: Mapping[ir.Value, ir.Value], output: ir.Value
) -> None:
    """Builds what a contraction's group does.

    Args:
      found: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar.
      output: the buffer that takes the result.
    """
    group, contraction, plan = found.group, found.contraction, found.plan
    buffers = [
        given[value] if value in given else _constant(value, given) for value in found.operands
    ]
    from_zero = _starts_from_zero(contraction)
    axes = _axes(found) if group.root is not contraction else None

    def finish(value: ir.Value, place: Place) -> ir.Value:
        loops = contraction.result_loops(0)
        assert loops is not None
        if not from_zero:
            at = {loop: place.index(axis) for axis, loop in enumerate(loops)}
            lanes = _lanes(plan, contraction, {})
            evaluation = VectorEvaluation(group, contraction, given, at, lanes, place.mask, {})
            init = evaluation.element(contraction.inits[0], loops_at_axes(contraction))
            value = add(value, evaluation.vector(init))
        if axes is None:
            return value
        at = {loop: index(0) for loop in range(len(group.root.reduces))}
        at |= {loop: place.index(axis) for loop, axis in axes.items()}
        lanes = _lanes(plan, group.root, axes)
        known = {contraction.results[0]: value}
        return VectorEvaluation(group, group.root, given, at, lanes, place.mask, known).result()

    build_contraction(plan, [*buffers, output], found.summed_in, finish)


def _constant(value: ir.Value, given: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """A buffer with an operand that is one value everywhere."""
    type_ = ir.RankedTensorType(value.type)
    sizes = [size_of(value, axis, given) for axis in range(type_.rank)]
    dynamic = [size for size, static in zip(sizes, type_.shape, strict=True) if static == DYNAMIC]
    buffer = memref.alloc(ir.MemRefType.get(type_.shape, type_.element_type), dynamic, [])
    splat = value.owner.operation.attributes["value"].get_splat_value()
    element = arith.ConstantOp(type_.element_type, splat).result

    def nest(axis: int, at: list[ir.Value]) -> None:
        if axis == type_.rank:
            memref.store(element, buffer, at)
            return

        def body(place: ir.Value) -> list[ir.Value]:
            nest(axis + 1, [*at, place])
            return []

        for_each(index(0), sizes[axis], 1, body)

    nest(0, [])
    return buffer
