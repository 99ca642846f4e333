"""Has depthwise convolutions compute channels side by side, where images and results have them so.

A window has weights for each channel, so that a vector of channels is multiplied with a vector of
weights, and nothing is gathered. Such an image comes transposed, to where convolutions have their
channels, and what is made of the result goes back: all three are turned about, and with them the
weights, which is done to these when a program is built. What is narrow on its way there is widened
where it is multiplied, as weights are: rows of windows that share elements share what that takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.bindings.walk import defining_operation, operations_of
from plumbline.linalg_to_kernels.computations import (
    Computation,
    computation,
    erase_unused,
    is_zero,
    number_everywhere,
    widening_of,
)
from plumbline.linalg_to_kernels.contraction_groups import (
    is_large_sum_of_products,
    starts_from_zero,
)
from plumbline.linalg_to_kernels.fold_casts import convert_in
from plumbline.linalg_to_kernels.laid_out_weights import LaidOutWeights
from plumbline.linalg_to_kernels.pads import Pad, pad_of
from plumbline.linalg_to_kernels.products import product_of
from plumbline.linalg_to_kernels.transpositions import (
    Turned,
    innermost_axis,
    transposed,
    turn,
)
from plumbline.linalg_to_kernels.vectors import cast
from plumbline.tcp_to_linalg.building import empty_like, generic, padded, zero

_MOST_TERMS = 81
"""Of larger windows kernels of planes, with what transposes these, take as long or less, as no code
is made of all their elements. Of 9x9 they take 1.2 times as long, and of 5x5 twice (AMD Zen 4)."""


@dataclass(frozen=True)
class _Depthwise:
    """A depthwise convolution of an image that has its channels last, before it is transposed.

    Between the two it may be widened.
    """

    member: Computation
    image: int
    """The number of the operand; the other one is the weights'."""
    source: ir.Value
    order: Sequence[int]
    """Along which axis of the image each axis of the source is."""
    pad: Pad | None
    """Of the image, as it is transposed."""
    axes: tuple[int, int]
    """Those of the weights and the result that channels are along."""


def keep_channels_last(module: ir.Operation) -> None:
    """Turns the operands of such convolutions of `module` about, and transposes their results."""
    with module.context:
        weights = LaidOutWeights()
        for op in operations_of(module, "linalg"):
            member = computation(op)
            if member is None or not is_large_sum_of_products(member):
                continue
            if (found := _depthwise(member)) is not None:
                _turn(found, weights)
        weights.finish()


def _depthwise(member: Computation) -> _Depthwise | None:
    sum_ = member.sum_of_products
    along = member.result_loops(0)
    if sum_ is None or sum_.rows or along is None or not starts_from_zero(member):
        return None
    if not has_few_terms(member):
        return None
    image = member.inputs[sum_.right]
    made = defining_operation(image)
    pad = pad_of(made) if made is not None and made.name == "tensor.pad" else None
    source = image if pad is None else pad.source
    if (widening := _widening_of(source)) is not None:
        if pad is not None and not is_zero(number_everywhere(pad.value)):
            return None
        source = widening.inputs[0]
    transposition = transposed(source)
    if transposition is None:
        return None
    copy, order = transposition
    of_image, of_weights = (
        [[term for term in axis if member.sizes[term[0]] != 1] for axis in access.axes]
        for access in (sum_.accesses[sum_.right], sum_.accesses[sum_.left])
    )
    channels = of_image[order[-1]]
    # One loop over channels, which the weights and the result have, too.
    if len(channels) != 1 or of_weights.count(channels) != 1 or channels[0][1] != 1:
        return None
    loop, _ = channels[0]
    if loop not in sum_.batches:
        return None
    if innermost_axis(member.results[0]) != along.index(loop):
        return None
    axes = (of_weights.index(channels), along.index(loop))
    return _Depthwise(member, sum_.right, copy.inputs[0], order, pad, axes)


def _widening_of(value: ir.Value) -> Computation | None:
    """What widens a tensor and leaves its elements where they are, if it was widened."""
    found = widening_of(value)
    if found is None or any(map_ != ir.AffineMap.get_identity(map_.n_dims) for map_ in found.maps):
        return None
    return found


def _narrow(found: _Depthwise) -> _Depthwise:
    """The same convolution, which widens by itself what it multiplies."""
    op, pad = found.member.op.operation, found.pad
    widening = None if pad is None else _widening_of(pad.source)
    if pad is not None and widening is not None:
        wide = pad.type.element_type
        with ir.InsertionPoint(op), op.location:
            source = widening.inputs[0]
            element = zero(ir.RankedTensorType(source.type).element_type)
            narrow = padded(source, pad.low, pad.high, element)
            widened = generic(
                empty_like(narrow, wide),
                [narrow],
                [ir.AffineMap.get_identity(pad.type.rank)],
                lambda elements: cast(elements[0], wide),
            )
        before = op.operands[found.image]
        op.operands[found.image] = widened
        erase_unused(before)
    for number in range(2):
        if (widening := _widening_of(op.operands[number])) is not None:
            convert_in(op, number, widening)
    member = computation(op)
    again = None if member is None else _depthwise(member)
    assert again is not None
    return again


def has_few_terms(member: Computation) -> bool:
    """Whether windows are so small that code is made of all that is added up in one."""
    sizes = [size for size, reduces in zip(member.sizes, member.reduces, strict=True) if reduces]
    terms = product_of(sizes)
    return terms is not None and terms <= _MOST_TERMS


def _turn(found: _Depthwise, weights: LaidOutWeights) -> None:
    """Turns a convolution about, and what it reads, and transposes its result."""
    found = _narrow(found)
    member, pad, order = found.member, found.pad, found.order
    op, result, weight = member.op.operation, member.results[0], member.inputs[1 - found.image]
    of_weights, of_result = (
        [*(axis for axis in range(ir.RankedTensorType(value.type).rank) if axis != last), last]
        for value, last in zip((weight, result), found.axes, strict=True)
    )
    before = list(op.operands)
    with ir.InsertionPoint(op), op.location:
        image = found.source
        if pad is not None:
            low, high = ([of[axis] for axis in order] for of in (pad.low, pad.high))
            image = padded(image, low, high, pad.value)
        turned = [
            Turned(found.image, image, order),
            Turned(1 - found.image, weights.turned(weight, of_weights), of_weights),
        ]
    turn(member, turned, of_result)
    erase_unused(*before)
