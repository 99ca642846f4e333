"""Gives a tensor other dimensions over the same elements in the same order."""

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence

from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.shapes import broadcast_to, scalar
from plumbline.tcp.building.size_polynomials import Polynomial, SizePolynomials
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.shapes import DYNAMIC


def reshape(operand: Tensor, sizes: Sequence[Size | None]) -> Tensor:
    """`operand` with the dimensions `sizes`; None, once at most, is what the others leave.

    Of runs of dimensions that hold as many elements as runs of new ones, each becomes the other:
    it is merged into one dimension, and that one is taken apart, by `tensor.collapse_shape`, then
    `tensor.expand_shape`.
    """
    have, want = size_arithmetic.all_of(operand), list(sizes)
    if 0 in have and DYNAMIC in operand.type.sizes:
        # MLIR takes a size of 0 times one that is not known for known, and then for a mistake.
        whole = size_arithmetic.product(have)
        return broadcast_to(scalar(0, operand.type.dtype), _fill_in(want, whole))
    ends = _ends(have, want)
    runs = [
        (begin, end, want[first:last])
        for (begin, first), (end, last) in itertools.pairwise([(0, 0), *ends])
    ]
    # From the last on, so that dimensions before keep their numbers.
    for begin, end, _ in reversed(runs):
        operand = _merge(operand, begin, end, size_arithmetic.product(have[begin:end]))
    for number, (begin, end, new) in reversed([*enumerate(runs)]):
        whole = size_arithmetic.product(have[begin:end])
        operand = _split(operand, number, _fill_in(new, whole))
    return operand


def _ends(have: Sequence[Size], want: Sequence[Size | None]) -> list[tuple[int, int]]:
    """Where runs that hold the same number of elements end, in dimensions and in new ones."""
    whole = len(have), len(want)
    if not have and not want:
        return []
    # Over no elements at all, new dimensions may make up another number.
    if 0 in have or 0 in want:
        return [whole]
    front = _common_ends(have, itertools.takewhile(lambda size: size is not None, want))
    back = _common_ends(have[::-1], itertools.takewhile(lambda size: size is not None, want[::-1]))
    found = [*front, *((len(have) - end, len(want) - last) for end, last in reversed(back))]
    ends: list[tuple[int, int]] = []
    for end, last in [*found, whole]:
        # A run has dimensions, and becomes some.
        while ends and (end, last) == whole and (ends[-1][0] == end or ends[-1][1] == last):
            ends.pop()
        before = ends[-1] if ends else (0, 0)
        if (end, last) == whole or (end > before[0] and last > before[1]):
            ends.append((end, last))
    return ends


def _common_ends(left: Iterable[Size], right: Iterable[Size | None]) -> list[tuple[int, int]]:
    """How many sizes on the left have the product of how many on the right; the most of each."""
    counts = {product: count for count, product in enumerate(_products(left), 1)}
    common = {
        product: (counts[product], count)
        for count, product in enumerate(_products(right), 1)
        if product in counts
    }
    return list(common.values())


def _products(sizes: Iterable[Size]) -> Iterator[Polynomial]:
    """The products of the first, of the first two, and so on."""
    return itertools.accumulate(map(SizePolynomials().of, sizes), operator.mul)


def _fill_in(sizes: Sequence[Size | None], whole: Size) -> list[Size]:
    """`sizes` with what is left of the product `whole` in place of None."""
    given = [size for size in sizes if size is not None]
    if len(given) == len(sizes):
        return given
    # With a size of 0 among the others, PyTorch refuses to guess; a division by it must not happen.
    divisor = size_arithmetic.greatest(size_arithmetic.product(given), 1)
    left = size_arithmetic.divide_down(whole, divisor)
    return [left if size is None else size for size in sizes]


def _merge(operand: Tensor, begin: int, end: int, merged: Size) -> Tensor:
    """The dimensions from `begin` to before `end` as one, of the size `merged`."""
    if end - begin == 1:
        return operand
    before, after = operand.type.sizes[:begin], operand.type.sizes[end:]
    inner = operand.type.sizes[begin:end]
    size = DYNAMIC if DYNAMIC in inner else size_arithmetic.static(merged)
    type_ = TensorType((*before, size, *after), operand.type.dtype)
    if begin == end:
        # Of rank 0.
        value = tensor_dialect.expand_shape(type_.builtin(), operand.value, [], [], [1])
        return Tensor(value, type_)
    groups = [
        *([axis] for axis in range(begin)),
        list(range(begin, end)),
        *([axis] for axis in range(end, operand.type.rank)),
    ]
    return Tensor(tensor_dialect.collapse_shape(type_.builtin(), operand.value, groups), type_)


def _split(operand: Tensor, axis: int, sizes: Sequence[Size]) -> Tensor:
    """The dimension `axis` as several, of the given sizes."""
    before, after = operand.type.sizes[:axis], operand.type.sizes[axis + 1 :]
    static = [size_arithmetic.static(size) for size in sizes]
    # A merged dimension must be dynamic where one that is made of it is.
    merged = (
        DYNAMIC if DYNAMIC in static else size_arithmetic.static(size_arithmetic.product(sizes))
    )
    operand = _cast(operand, (*before, merged, *after))
    if len(sizes) == 1:
        return operand
    type_ = TensorType((*before, *static, *after), operand.type.dtype)
    if not sizes:
        return Tensor(tensor_dialect.collapse_shape(type_.builtin(), operand.value, []), type_)
    groups = [
        *([index] for index in range(axis)),
        list(range(axis, axis + len(sizes))),
        *([index + len(sizes) - 1] for index in range(axis + 1, operand.type.rank)),
    ]
    outer = [size_arithmetic.of(operand, index) for index in range(operand.type.rank)]
    every = [*outer[:axis], *sizes, *outer[axis + 1 :]]
    dynamic = [size for size in every if not isinstance(size, int)]
    value = tensor_dialect.expand_shape(
        type_.builtin(), operand.value, groups, dynamic, list(type_.sizes)
    )
    return Tensor(value, type_)


def _cast(operand: Tensor, sizes: tuple[int, ...]) -> Tensor:
    if operand.type.sizes == sizes:
        return operand
    type_ = TensorType(sizes, operand.type.dtype)
    return Tensor(tensor_dialect.cast(type_.builtin(), operand.value), type_)
