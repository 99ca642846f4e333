"""Has loops compute what they read once, in place of reading it from memory.

Scatters are loops over updates. What they write is often no more than rows read at places (the
messages of a graph network, the rows that an embedding bag adds up): written down first, it takes
a pass over memory to write and another one to read, and the memory of all updates at once.
"""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from plumbline.bindings.walk import (
    all_operations,
    captured_values,
    clone_operations,
    defining_operation,
)
from plumbline.linalg_to_kernels.computations import (
    Computation,
    computation,
    is_tensor,
    number_everywhere,
)
from plumbline.linalg_to_kernels.evaluation import index_value
from plumbline.tcp_to_linalg.loop_nest import SCAN

_MOVES = ("linalg.index", "tensor.extract", "arith.index_cast")
"""What says where an element is from."""

_FEW = 8
"""How many operations on an element of a row are no work beside reading and writing it.

Functions such as `math.exp` are done faster on all rows at once, and arithmetic on numbers that
are written one by one is: such a loop has no vectors.
"""


def compute_extracted_elements(module: ir.Operation) -> None:
    """Computes elements where loops extract them, if nothing else reads the tensor.

    Every element is extracted once at most: loops that go over the tensor extract at their
    induction variables.
    """
    with module.context:
        # Of what is erased on the way nobody can be asked what it is.
        extracts = [
            op
            for op in all_operations(module)
            if op.name == "tensor.extract" and op.parent.name == "scf.for"
        ]
        for extract in extracts:
            _compute(extract)


def _compute(extract: ir.Operation) -> None:
    producer = defining_operation(extract.operands[0])
    member = None if producer is None else computation(producer)
    if member is None or not _does_little(member) or not _extracts_each_once(extract, member):
        return
    with ir.InsertionPoint(extract), member.op.location:
        result, elements = computed_at(member, list(extract.operands)[1:])
    extract.results[0].replace_all_uses_with(result)
    extract.erase()
    member.op.erase()
    for element in elements:
        owner = defining_operation(element)
        if owner is not None and owner.name == "tensor.extract":
            _compute(owner)


def computed_at(member: Computation, place: Sequence[ir.Value]) -> tuple[ir.Value, list[ir.Value]]:
    """Builds the element of a computation's only result at a place, and what it is computed of."""
    axes = member.result_loops(0)
    assert axes is not None
    loops = dict(zip(axes, place, strict=True))
    elements = [
        _element(value, map_, loops)
        for value, map_ in zip(member.inputs, member.maps, strict=False)
    ]
    values = dict(zip(member.body.arguments, elements, strict=False))
    for op in member.body_ops:
        if op.name == "linalg.index":
            values[op.results[0]] = loops[ir.IntegerAttr(op.attributes["dim"]).value]
        else:
            clone_operations([op], values)
    (yielded,) = member.yielded
    return values.get(yielded, yielded), elements


def _element(value: ir.Value, map_: ir.AffineMap, loops: Mapping[int, ir.Value]) -> ir.Value:
    """What a computation reads of an input, where loops are."""
    if not is_tensor(value):
        return value
    number = number_everywhere(value)
    if number is not None:
        # Extracted, it would have the loop fill the whole tensor in each round.
        return arith.constant(ir.ShapedType(value.type).element_type, number)
    return tensor.extract(value, [index_value(at, loops) for at in map_.results])


def _does_little(member: Computation) -> bool:
    """Whether a computation gives each element of one result for next to nothing."""
    moves = all(name in _MOVES for name in member.body_names)
    few = len(member.reduces) > 1 and len(member.body_ops) <= _FEW
    return (
        len(member.results) == 1
        and not member.is_reduction
        and not any(member.reads_inits)
        and (moves or few)
        and all(name in _MOVES or name.startswith("arith.") for name in member.body_names)
    )


def _extracts_each_once(extract: ir.Operation, member: Computation) -> bool:
    """Whether no element is extracted twice, nor read by anything else."""
    if len(list(member.results[0].uses)) > 1:
        return False
    places = list(extract.operands)[1:]
    around = extract
    while around.block != member.op.block:
        around = around.parent.operation
        # Scans have ways of their own to read what they add up.
        if around.name != "scf.for" or SCAN in around.attributes:
            return False
        if _is_rewritten(around.opview, member):
            return False
        if around.regions[0].blocks[0].arguments[0] not in places:
            return False
        places.remove(around.regions[0].blocks[0].arguments[0])
    return not places


def _is_rewritten(loop: scf.ForOp, member: Computation) -> bool:
    """Whether a computation reads what a loop writes, and a loop around carries.

    Read once elements of it are written, it would have to be copied in each iteration of that.
    """
    return any(
        isinstance(first.owner, ir.Block) and first.owner.owner.operation.name.startswith("scf.")
        for first in set(loop.initArgs).intersection(captured_values(member.op))
    )
