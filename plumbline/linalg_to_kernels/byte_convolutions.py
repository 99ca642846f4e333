"""Has convolutions of bytes go through images that have their channels last.

A CPU multiplies several bytes at once that lie side by side, and adds up the products. So lie the
channels of what is quantized if the convolution before computes them so; what an instruction takes
in place of a byte, a wider integer or one without a sign, images have already then, as each element
is in many windows. What is computed of results, element by element, has their channels last, too,
and so have pools of it. Bytes without a sign are all that there is of an image: what else reads it
turns their signs about again, so that a kernel that computes it has one result.

Depthwise convolutions, which add up no channels, stand between such. A vector of channels is
widened and multiplied with one of weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import defining_operation, operations_named
from plumbline.linalg_to_kernels.channels_last import has_few_terms
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    Computation,
    before_widening,
    composed,
    computation,
    computation_of,
    erase_unused,
    is_tensor,
    loops_in,
)
from plumbline.linalg_to_kernels.contraction_groups import (
    is_large_sum_of_products,
    starts_from_zero,
)
from plumbline.linalg_to_kernels.dot_instructions import DotInstruction, dot_instruction
from plumbline.linalg_to_kernels.expand_contractions import is_weight
from plumbline.linalg_to_kernels.laid_out_weights import LaidOutWeights
from plumbline.linalg_to_kernels.pads import Pad, pad_of
from plumbline.linalg_to_kernels.transpositions import (
    Turned,
    comes_of_transposed,
    empty_turned,
    transpose,
    transpose_back,
    transposed,
    turn,
)
from plumbline.linalg_to_kernels.vectors import cast, like
from plumbline.target.vector_unit import VectorUnit
from plumbline.tcp_to_linalg.building import empty_like, fill, generic, padded, zero
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, REDUCTION, dims_map, loop_nest


@dataclass(frozen=True)
class _Convolution:
    """Of bytes, over an image [batch, channels, ...] by weights, with a result as the image."""

    member: Computation
    number: int
    """Which operand the image is; the other one are the weights."""
    image: ir.Value
    """Before it is padded and widened."""
    pad: Pad | None
    weights: ir.Value
    """Before they are widened."""
    channels: int
    """The loop over channels of the image."""
    order: tuple[int, ...]
    """The axes of the image, and of the result, with those of channels last."""
    dots: DotInstruction | None
    """What adds up products of channels; None: each has a result of its own."""


def lay_channels_last(module: ir.Operation, unit: VectorUnit) -> None:
    """Turns the images and results of such convolutions of `module` about."""
    with module.context:
        laid_out, prepared = LaidOutWeights(), _PreparedImages()
        for op in operations_named(module, GENERIC):
            member = computation(op)
            found = None if member is None else _convolution(member, unit)
            if found is not None:
                _turn(found, laid_out, prepared)
        laid_out.finish()
        prepared.finish()


def _convolution(member: Computation, unit: VectorUnit) -> _Convolution | None:
    sum_ = member.sum_of_products
    if sum_ is None or not starts_from_zero(member):
        return None
    narrow = [before_widening(value) for value in member.inputs]
    number = next((at for at in range(2) if not is_weight(narrow[at])), None)
    if number is None or not is_weight(narrow[1 - number]):
        return None
    image, weights = narrow[number], narrow[1 - number]
    rank = ir.RankedTensorType(image.type).rank
    along = member.result_loops(0)
    if rank < 3 or along is None or len(along) != rank:
        return None
    of_image, of_weights = (
        [tuple(term for term in axis if member.sizes[term[0]] != 1) for axis in access.axes]
        for access in (sum_.accesses[number], sum_.accesses[1 - number])
    )
    if len(of_image[1]) != 1 or of_image[1] not in of_weights:
        return None
    ((channels, step),) = of_image[1]
    if step != 1 or along[-1] not in dict(sum_.accesses[number].axes[-1]):
        return None
    elements = [ir.RankedTensorType(each.type).element_type for each in (image, weights)]
    sums = ir.RankedTensorType(member.results[0].type).element_type
    if {*map(str, elements)} != {"i8"} or str(sums) != "i32":
        return None
    dots = None
    if channels in sum_.summed:
        dots = dot_instruction(elements, sums, unit)
        size = member.sizes[channels]
        dots = None if dots is None or size == DYNAMIC else dots.for_count(size)
        if dots is None or not is_large_sum_of_products(member):
            return None
    elif channels != along[1] or not has_few_terms(member) or not _widens_bytes(unit):
        return None
    made = defining_operation(image)
    pad = pad_of(made) if made is not None and made.name == "tensor.pad" else None
    order = (0, *range(2, rank), 1)
    source = image if pad is None else pad.source
    return _Convolution(member, number, source, pad, weights, channels, order, dots)


def _widens_bytes(unit: VectorUnit) -> bool:
    """Whether vectors of bytes are widened as they are loaded, which SSE2 takes several steps for.

    What multiplies bytes does that, too; without it images around have their planes last.
    """
    return bool(unit.dots) or unit.lanes(32) == 1


class _PreparedImages:
    """Images as instructions take them.

    Of bytes without a sign there is one for all that read an image: who reads it otherwise turns
    the signs about again. Of wider integers there is one for each convolution, beside the bytes.
    """

    def __init__(self) -> None:
        self._found: dict[ir.Value, tuple[ir.Value, DotInstruction]] = {}

    def of(self, image: ir.Value, dots: DotInstruction | None) -> ir.Value:
        """An image as an instruction takes it."""
        element = ir.RankedTensorType(image.type).element_type
        if dots is None or not dots.prepares(element):
            return image
        made = defining_operation(image)
        if made is None or dots.bits != element.width:
            return _prepared(image, dots)
        if image not in self._found:
            with ir.InsertionPoint.after(made), made.location:
                self._found[image] = _prepared(image, dots), dots
        return self._found[image][0]

    def finish(self) -> None:
        """Has whoever reads such an image read what has been made of it."""
        for image, (made, dots) in self._found.items():
            for use in list(image.uses):
                reader = use.owner.operation
                if reader == made.owner.operation or reader.name == "tensor.dim":
                    continue
                with ir.InsertionPoint(reader), reader.location:
                    reader.operands[use.operand_number] = _prepared(made, dots)


def _turn(found: _Convolution, laid_out: LaidOutWeights, prepared: _PreparedImages) -> None:
    op = found.member.op.operation
    before = list(op.operands)
    image = _channels_last(found.image, found.order, op)
    with ir.InsertionPoint(op), op.location:
        image = prepared.of(image, found.dots)
        if (pad := found.pad) is not None:
            low, high = ([of[axis] for axis in found.order] for of in (pad.low, pad.high))
            image = padded(image, low, high, _as_multiplied(pad.value, found.dots))
        result = transpose_back(_sums(found, image, laid_out), found.order)
    op.results[0].replace_all_uses_with(result)
    op.erase()
    erase_unused(*before)


def _channels_last(image: ir.Value, order: Sequence[int], reader: ir.Operation) -> ir.Value:
    """An image with its axes in that order; computed so, if it is computed element by element.

    Pools that it comes of are, too, of what has them in that order.
    """
    known = transposed(image)
    if known is not None and tuple(known[1]) == tuple(order):
        return known[0].inputs[0]
    if image in _turned_pools(image, order):
        return image
    made = computation_of(image)
    if made is not None and not made.is_reduction and len(made.results) == 1:
        turn(made, (), order)
        return made.results[0]
    with ir.InsertionPoint(reader), reader.location:
        return transpose(image, order)


def _turned_pools(image: ir.Value, order: Sequence[int]) -> set[ir.Value]:
    """The pools that an image is computed of, element by element, or is; their axes in that order.

    They are those of what comes so.
    """
    found, pending, turned = {image}, [image], set()
    while pending:
        value = pending.pop()
        made = computation_of(value)
        if made is None or len(made.results) != 1 or transposed(value) is not None:
            continue
        if not made.is_reduction:
            read = [each for each in made.inputs if each not in found and _is_like(each, value)]
            found.update(read)
            pending += read
            continue
        number = _pooled(made)
        if number is not None and comes_of_transposed(made.inputs[number]):
            before = made.inputs[number]
            turn(made, [Turned(number, _padded_last(before, order, made.op), order)], order)
            erase_unused(before)
            turned.add(value)
    return turned


def _is_like(value: ir.Value, other: ir.Value) -> bool:
    """Whether a value is a tensor of as many axes as another."""
    return is_tensor(value) and (
        ir.RankedTensorType(value.type).rank == ir.RankedTensorType(other.type).rank
    )


def _pooled(member: Computation) -> int | None:
    """Which operand a computation reads windows of, each of whose axes the result has, too."""
    along = member.result_loops(0)
    if not member.is_reduction or len(member.results) != 1 or along is None:
        return None
    if member.sum_of_products is not None:
        return None
    return next(
        (
            number
            for number in range(len(member.inputs))
            if len(member.maps[number].results) == len(along)
            and all(
                loop in loops_in(at)
                for loop, at in zip(along, member.maps[number].results, strict=True)
            )
        ),
        None,
    )


def _padded_last(image: ir.Value, order: Sequence[int], reader: ir.Operation) -> ir.Value:
    """An image with its axes in that order, or a pad of one."""
    made = defining_operation(image)
    pad = pad_of(made) if made is not None and made.name == "tensor.pad" else None
    if made is None or pad is None:
        return _channels_last(image, order, reader)
    source = _channels_last(pad.source, order, made)
    with ir.InsertionPoint(made), made.location:
        low, high = ([of[axis] for axis in order] for of in (pad.low, pad.high))
        return padded(source, low, high, pad.value)


def _prepared(image: ir.Value, dots: DotInstruction) -> ir.Value:
    """What an instruction takes in place of each element; twice so, if it is as wide, the same."""
    type_ = ir.RankedTensorType(image.type)
    return generic(
        empty_like(image, like(type_.element_type, dots.bits)),
        [image],
        [ir.AffineMap.get_identity(type_.rank)],
        lambda elements: dots.prepared(elements[0]),
    )


def _as_multiplied(element: ir.Value, dots: DotInstruction | None) -> ir.Value:
    if dots is None or not dots.prepares(element.type):
        return element
    return dots.prepared(element)


def _sums(found: _Convolution, image: ir.Value, laid_out: LaidOutWeights) -> ir.Value:
    """The sums of products, [batch, ..., channels]; those of channels are added up side by side."""
    member = found.member
    along = member.result_loops(0)
    assert along is not None
    inside = [loop for loop, reduces in enumerate(member.reduces) if reduces]
    inside.sort(key=lambda loop: loop == found.channels)
    outside = [along[axis] for axis in found.order]
    loops = [*outside, *inside]
    dims = [ir.AffineDimExpr.get(loops.index(loop)) for loop in range(len(loops))]
    of_image = [member.maps[found.number].results[axis] for axis in found.order]
    weights, of_weights = found.weights, [*member.maps[1 - found.number].results]
    if found.dots is None:
        are_last = [found.channels in loops_in(at) for at in of_weights]
        axes = sorted(range(len(of_weights)), key=are_last.__getitem__)
        weights = laid_out.turned(weights, axes)
        of_weights = [of_weights[axis] for axis in axes]
    maps = []
    for places in (of_image, of_weights):
        before = ir.AffineMap.get(len(loops), 0, places)
        maps.append(ir.AffineMap.get(len(loops), 0, list(composed(before, dims, len(loops)))))
    result = member.results[0]
    sums = ir.RankedTensorType(result.type).element_type
    out = empty_turned(result, found.order)
    zeros = fill(ir.RankedTensorType(out.type), list(out.owner.operands), zero(sums))

    def added(elements: Sequence[ir.Value], so_far: Sequence[ir.Value]) -> ir.Value:
        element, weight = elements
        if found.dots is not None and found.dots.left_offset:
            element = found.dots.prepared(element)
        return arith.addi(so_far[0], arith.muli(cast(element, sums), cast(weight, sums)))

    (total,) = loop_nest(
        [zeros],
        [image, weights],
        [*maps, dims_map(len(loops), range(len(outside)))],
        [*[PARALLEL] * len(outside), *[REDUCTION] * len(inside)],
        added,
    )
    return total
