"""Groups whose root is a contraction that is worth register tiles."""

from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.linalg_to_kernels.building import for_each, index
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    composed,
    is_tensor,
    seen_through,
)
from plumbline.linalg_to_kernels.contraction import build_contraction, tile_for
from plumbline.linalg_to_kernels.evaluation import Evaluation
from plumbline.linalg_to_kernels.group import Group
from plumbline.linalg_to_kernels.loop_order import Access as Place
from plumbline.linalg_to_kernels.products import (
    Access,
    SumOfProducts,
    access_of,
    product_of,
    sum_of_accesses,
    sum_of_products,
)
from plumbline.linalg_to_kernels.sizes import loop_size, size_of
from plumbline.vector_unit import VectorUnit

_SMALL = 4096
"""Up to how many products plain loops are as good."""

_FEW_ROWS = 8
"""Up to how many rows plain loops are faster: what is packed is used so often only."""


def is_contraction(computation: Computation) -> bool:
    """Whether a computation is a sum of products that packing pays for."""
    sum_ = sum_of_products(computation.op)
    if sum_ is None:
        return False
    rows, columns, summed = (
        product_of([computation.sizes[loop] for loop in loops])
        for loops in (sum_.rows, sum_.columns, sum_.summed)
    )
    if (rows is not None and rows <= _FEW_ROWS) or columns == 1:
        return False
    return not (rows and columns and summed and rows * columns * summed <= _SMALL)


def sum_of_group(group: Group) -> tuple[SumOfProducts, list[tuple[ir.Value, Indices]]] | None:
    """The sum of products that a group is, copies of operands being folded into their accesses.

    With it come the operands and their indices. None if an access is not a sum of multiples of
    loops.
    """
    root = group.root
    count = len(root.reduces)
    loops = tuple(ir.AffineDimExpr.get(loop) for loop in range(count))
    operands = [
        _origin(group, value, composed(map_, loops, count), count)
        for value, map_ in zip(root.inputs, root.maps[:2], strict=True)
    ]
    accesses: list[Access] = []
    for indices in (operands[0][1], operands[1][1], root.maps[2].results):
        access = access_of(ir.AffineMap.get(count, 0, list(indices)))
        if access is None:
            return None
        accesses.append(access)
    summed = {loop for loop, reduces in enumerate(root.reduces) if reduces}
    sum_ = sum_of_accesses((accesses[0], accesses[1], accesses[2]), set(range(count)), summed)
    return None if sum_ is None else (sum_, operands)


def _origin(
    group: Group, value: ir.Value, indices: Indices, count: int
) -> tuple[ir.Value, Indices]:
    while True:
        value, indices = seen_through(value, indices)
        producer = group.producer(value)
        if producer is None or not producer.inputs or not is_tensor(producer.inputs[0]):
            return value, indices
        axes = producer.result_loops(0)
        assert axes is not None
        loops: list[ir.AffineExpr] = [ir.AffineConstantExpr.get(0)] * len(producer.reduces)
        for axis, loop in enumerate(axes):
            loops[loop] = indices[axis]
        value, indices = producer.inputs[0], composed(producer.maps[0], loops, count)


def build_contraction_group(
    group: Group, given: Mapping[ir.Value, ir.Value], output: ir.Value, unit: VectorUnit
) -> None:
    """Builds what a group does whose root is a contraction.

    Args:
      group: its tensors are those of a function.
      given: for each argument of that function a buffer or a scalar.
      output: the buffer that takes the result.
      unit: the vectors of the CPU.
    """
    root = group.root
    found = sum_of_group(group)
    assert found is not None
    sum_, operands = found
    _fill(group, given, output)
    buffers = [
        given[value] if value in given else _constant(group, value, given) for value, _ in operands
    ]
    columns = product_of([root.sizes[loop] for loop in sum_.columns])
    tile = tile_for(unit, ir.MemRefType(output.type).element_type, columns)
    left, right = (_lies_along(sum_, operands[number]) for number in (sum_.left, sum_.right))
    build_contraction(sum_, [*buffers, output], tile, (left, right))


def _lies_along(sum_: SumOfProducts, operand: tuple[ir.Value, Indices]) -> bool:
    """Whether summed elements are contiguous, and no others are."""
    value, indices = operand
    place = Place(tuple(ir.RankedTensorType(value.type).shape), indices)
    contiguous = {loop for loop in range(sum_.loops) if place.stride(loop) == 1}
    return bool(contiguous) and contiguous <= set(sum_.summed)


def _fill(group: Group, given: Mapping[ir.Value, ir.Value], output: ir.Value) -> None:
    root = group.root
    axes = root.result_loops(0)
    assert axes is not None
    evaluation = Evaluation(group, root, given, _no_steps)
    loops = tuple(ir.AffineDimExpr.get(loop) for loop in range(len(root.reduces)))

    def nest(axis: int) -> None:
        if axis == len(axes):
            value = evaluation.init(root, 0, loops)
            memref.store(value, output, [evaluation.loops[loop] for loop in axes])
            return

        def body(at: ir.Value) -> list[ir.Value]:
            with evaluation.scope():
                evaluation.loops[axes[axis]] = at
                nest(axis + 1)
            return []

        for_each(index(0), loop_size(root, axes[axis], given), 1, body)

    nest(0)


def _no_steps(producer: Computation, _value: ir.Value, _indices: Indices) -> ir.Value:
    raise NotImplementedError(f"a contraction with a step, {producer.op.name}, before it")


def _constant(group: Group, value: ir.Value, given: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """A buffer with an operand that is one value everywhere."""
    type_ = ir.RankedTensorType(value.type)
    sizes = [size_of(value, axis, given) for axis in range(type_.rank)]
    dynamic = [size for size, static in zip(sizes, type_.shape, strict=True) if static == DYNAMIC]
    buffer = memref.alloc(ir.MemRefType.get(type_.shape, type_.element_type), dynamic, [])
    evaluation = Evaluation(group, group.root, given, _no_steps)
    element = evaluation.element(value, (ir.AffineConstantExpr.get(0),) * type_.rank)

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
