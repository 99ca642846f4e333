"""Has convolutions read pairs of channels, on a CPU that multiplies two elements of bf16 at once.

Elements of an image that are added up lie apart: channels are a plane from one another. An image in
which those of a pair lie side by side is made of it in one pass, and so are weights, when the
library is built if they are known then. Of what is summed to gradients of weights, those are pairs
of images. Where the CPU multiplies matrices (AMX), an image has all of its channels side by side.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.bindings.walk import operations_named
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    Computation,
    before_widening,
    computation,
)
from plumbline.linalg_to_kernels.constants import is_constant
from plumbline.linalg_to_kernels.contraction_groups import is_large_sum_of_products
from plumbline.linalg_to_kernels.dot_instructions import dot_instruction, tile_instruction
from plumbline.linalg_to_kernels.pads import Pads, zeros_around
from plumbline.linalg_to_kernels.products import product_of, sum_of_products
from plumbline.linalg_to_kernels.transpositions import transpose
from plumbline.linalg_to_kernels.vectors import cast
from plumbline.target.vector_unit import VectorUnit
from plumbline.tcp_to_linalg.building import dim, empty, generic, padded
from plumbline.tcp_to_linalg.loop_nest import REDUCTION


def pair_channels(module: ir.Operation, unit: VectorUnit) -> None:
    """Gives convolutions of `module` images and weights whose channels lie in pairs."""
    with module.context:
        for op in operations_named(module, GENERIC):
            if sum_of_products(op) is None:
                continue
            member = computation(op)
            found = None if member is None else _image(member, unit)
            if member is not None and found is not None:
                _pair(op, member, found)


@dataclass(frozen=True)
class _Image:
    """What a convolution slides windows over."""

    number: int
    """Which operand it is; the other one are the weights."""
    narrow: ir.Value
    """It before it is widened, and before there are zeros around it."""
    pads: Pads
    channels: int
    """The loop over channels."""
    at_once: int
    """How many of them lie side by side."""


def _image(member: Computation, unit: VectorUnit) -> _Image | None:
    """The image of a computation, if it is such a convolution."""
    sum_ = sum_of_products(member.op)
    if sum_ is None:
        return None
    number = next((at for at in range(2) if sum_.accesses[at].has_windows), None)
    if number is None or sum_.accesses[1 - number].has_windows:
        return None
    value, weights = member.inputs[number], member.inputs[1 - number]
    if not is_large_sum_of_products(member):
        return None
    others = {*sum_.accesses[1 - number].loops} - {*sum_.summed}
    columns = product_of([member.sizes[loop] for loop in others])
    if columns is not None and 4 * columns < unit.lanes(32):
        # Of few channels of the result pixels fill vectors, as they are, and channels do not: of 64
        # to 1 pairs took 5 times as long, of 64 to 3 as long, of 64 to 6 0.8 of it (AMD Zen 5).
        return None
    zeros = zeros_around(value)
    narrow = before_widening(value if zeros is None else zeros.source)
    *elements, sums = (
        ir.RankedTensorType(each.type).element_type for each in (narrow, weights, *member.results)
    )
    dots = dot_instruction(elements, sums, unit)
    if dots is None or dots.prepares(elements[0]):
        return None
    channels = [
        loop
        for loop in sum_.summed
        if all(((loop, 1),) in sum_.accesses[at].axes for at in range(2))
        and member.sizes[loop] != DYNAMIC
        and member.sizes[loop] % dots.elements == 0
    ]
    if len(channels) != 1:
        return None
    (loop,) = channels
    if sum_.accesses[number].axes[-1] == ((loop, 1),) and loop == sum_.summed[-1]:
        # They lie side by side as they are.
        return None
    pads = ((0, 0),) * ir.RankedTensorType(narrow.type).rank if zeros is None else zeros.pads
    # Rows of registers for matrices have as many as there are, if weights are packed for these.
    are_tiles = is_constant(weights) and tile_instruction(elements, sums, unit) is not None
    at_once = member.sizes[loop] if are_tiles else dots.elements
    return _Image(number, narrow, pads, loop, at_once)


@dataclass(frozen=True)
class _Nest:
    """A convolution of operands whose channels lie otherwise."""

    operands: list[ir.Value]
    maps: list[ir.AffineMap]
    kinds: list[ir.Attribute]
    """Of its loops."""
    pads: Pads
    """What zeros are to be around the image."""


def _pair(op: ir.Operation, member: Computation, image: _Image) -> None:
    with ir.InsertionPoint(op), op.location:
        are_all = member.sizes[image.channels] == image.at_once
        nest = (_with_all_last if are_all else _with_some_last)(member, image)
        operands = nest.operands
        if any(map(any, nest.pads)):
            zero = arith.constant(ir.RankedTensorType(image.narrow.type).element_type, 0.0)
            low, high = zip(*nest.pads, strict=True)
            operands[image.number] = padded(operands[image.number], low, high, zero)
        attributes = {name: op.attributes[name] for name in op.attributes}
        attributes["iterator_types"] = ir.ArrayAttr.get(nest.kinds)
        attributes["indexing_maps"] = ir.ArrayAttr.get([*map(ir.AffineMapAttr.get, nest.maps)])
        new = ir.Operation.create(
            op.name,
            results=[op.results[0].type],
            operands=operands,
            attributes=attributes,
            regions=1,
        )
    member.body.append_to(new.regions[0])
    (body,) = new.regions[0].blocks
    element, sums = body.arguments[image.number], body.arguments[2]
    if element.type == sums.type:
        element.set_type(ir.RankedTensorType(image.narrow.type).element_type)
        with ir.InsertionPoint.at_block_begin(body):
            widened = cast(element, sums.type)
        element.replace_all_uses_except(widened, widened.owner.operation)
    op.results[0].replace_all_uses_with(new.results[0])
    wide = member.inputs[image.number]
    op.erase()
    while wide != image.narrow and not list(wide.uses):
        made = wide.owner.operation
        wide = made.operands[0]
        made.erase()


def _with_some_last(member: Computation, image: _Image) -> _Nest:
    """One whose image and weights have so many side by side, with a loop over these."""
    loops = len(member.reduces)
    operands = list(member.op.operands)
    operands[image.number] = image.narrow
    indices = [list(map_.results) for map_ in member.maps]
    for number in range(2):
        axis = indices[number].index(ir.AffineDimExpr.get(image.channels))
        operands[number] = _last_apart(operands[number], axis, image.at_once)
        indices[number].append(ir.AffineDimExpr.get(loops))
    kind = ir.Attribute.parse(f"#linalg.iterator_type<{REDUCTION}>")
    return _Nest(
        operands,
        [ir.AffineMap.get(loops + 1, 0, results) for results in indices],
        [*member.op.attributes["iterator_types"], kind],
        (*image.pads, (0, 0)),
    )


def _with_all_last(member: Computation, image: _Image) -> _Nest:
    """One whose image has all side by side, with the loop over these innermost.

    Weights are packed in whatever order their axes are.
    """
    loops = len(member.reduces)
    last = [*(loop for loop in range(loops) if loop != image.channels), image.channels]
    moved = ir.AffineMap.get(
        loops, 0, [ir.AffineDimExpr.get(last.index(loop)) for loop in range(loops)]
    )
    indices = [[index.compose(moved) for index in map_.results] for map_ in member.maps]
    axis = list(member.maps[image.number].results).index(ir.AffineDimExpr.get(image.channels))
    order = [*(at for at in range(len(image.pads)) if at != axis), axis]
    operands = list(member.op.operands)
    operands[image.number] = transpose(image.narrow, order)
    indices[image.number] = [indices[image.number][at] for at in order]
    kinds = list(member.op.attributes["iterator_types"])
    return _Nest(
        operands,
        [ir.AffineMap.get(loops, 0, results) for results in indices],
        [kinds[loop] for loop in last],
        tuple(image.pads[at] for at in order),
    )


def _last_apart(value: ir.Value, axis: int, count: int) -> ir.Value:
    """A tensor [..., count * n, ...] as [..., n, ..., count]."""
    type_ = ir.RankedTensorType(value.type)
    shape, rank = list(type_.shape), type_.rank
    split = [*shape[:axis], shape[axis] // count, count, *shape[axis + 1 :]]
    groups = [[at + (at > axis)] if at != axis else [at, at + 1] for at in range(rank)]
    sizes = [dim(value, at) for at in range(rank) if type_.is_dynamic_dim(at)]
    expanded = tensor.ExpandShapeOp(
        ir.RankedTensorType.get(split, type_.element_type), value, groups, sizes, split
    ).result
    out = empty(
        ir.RankedTensorType.get(
            [*split[: axis + 1], *split[axis + 2 :], count], type_.element_type
        ),
        sizes,
    )
    order = [*range(axis + 1), rank, *range(axis + 1, rank)]
    map_ = ir.AffineMap.get(rank + 1, 0, [ir.AffineDimExpr.get(at) for at in order])
    return generic(out, [expanded], [map_], lambda elements: elements[0])
