"""Fourier transforms of a size that is a product of small primes, known as the program runs.

A loop takes a step by a factor each time (`loader_to_torch/decompositions/fourier_transforms.py`
says what a step is): small ones are butterflies, larger ones products with a matrix.

Numbers are [part, place, lane]: real and imaginary parts, and side by side all that is transformed
alike.
"""

from collections.abc import Sequence
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.tcp.building import data_movement, sizes
from plumbline.tcp.building.dtypes import element_type
from plumbline.tcp.building.elementwise import apply
from plumbline.tcp.building.reduction import reduce
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast_to, scalar, unsqueeze
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType, built
from plumbline.tcp.ops import elementwise as tcp
from plumbline.tcp.ops.contraction import MatmulOp
from plumbline.tcp.ops.data_movement import ConstOp
from plumbline.tcp.shapes import DYNAMIC
from plumbline.torch_to_tcp.run_time_loops import (
    carried,
    chosen,
    is_equal,
    is_less,
    is_multiple,
    is_not,
    one_of_many,
    one_of_two,
    repeated,
)
from plumbline.torch_to_tcp.unit_roots import UnitRoots, root

POWERS_OF_2 = (8, 4, 2)
"""The factors of a power of 2, in the order that they are tried in."""

SMALL_PRIMES = (*POWERS_OF_2, 3, 5, 7)
"""Those of other sizes that are butterflies."""

_NEXT_PRIME, _LARGEST_PRIME = 11, 61
"""The other primes: by a larger one a step costs more than a convolution."""

_LANES = 16
"""How many lanes are enough for vectors."""


def has_small_primes(size: Size) -> ir.Value:
    """Whether a size is a product of primes that there are steps by, as a truth value."""
    rest = sizes.value(size)
    for prime in (2, 3, 5, 7):
        (rest,) = repeated(
            [rest],
            lambda rest, prime=prime: arith.andi(is_multiple(rest, prime), is_less(0, rest)),
            lambda rest, prime=prime: [sizes.divide_down(rest, prime)],
        )

    def turn(rest: ir.Value, prime: ir.Value) -> list[Size]:
        is_factor = is_multiple(rest, prime)
        return [
            chosen(is_factor, sizes.divide_down(rest, prime), rest),
            chosen(is_factor, prime, sizes.add(prime, 2)),
        ]

    rest, _ = repeated(
        [rest, _NEXT_PRIME],
        lambda rest, prime: arith.andi(is_less(prime, _LARGEST_PRIME + 1), is_less(0, rest)),
        turn,
    )
    return is_equal(rest, 1)


def in_steps(numbers: Tensor, radices: Sequence[int], *, others: bool) -> Tensor:
    """The transform of a size that is a product of some factors, and `others`.

    With few lanes it goes along the columns of a matrix first, and then along its rows (Bailey,
    1990), so that enough is transformed alike for vectors.
    """
    _, size, lanes = sizes.all_of(numbers)
    (divisor,) = repeated(
        [1],
        lambda tried: arith.ori(
            is_less(sizes.multiply(tried, tried), size), is_not(is_multiple(size, tried))
        ),
        lambda tried: [sizes.add(tried, 1)],
    )
    rows = chosen(is_less(lanes, _LANES), divisor, size)
    columns = sizes.divide_down(size, rows)
    passes = chosen(is_equal(columns, 1), 1, 2)

    def turn(number: ir.Value, before: Tensor) -> tuple[Tensor]:
        length = chosen(is_equal(number, 0), rows, columns)
        beside = sizes.multiply(sizes.divide_down(size, length), lanes)
        after = _along_columns(reshape(before, [2, length, beside]), radices, others=others)

        def turned() -> Tensor:
            roots = UnitRoots.of_products(columns, rows, size, before.type.dtype)
            apart = reshape(after, [2, rows, columns, lanes])
            transposed = reshape(data_movement.transpose(apart, (0, 2, 1, 3)), [2, None, lanes])
            return roots.reshaped([size]).with_axes((1,)).times(transposed, [2, size, lanes])

        is_last = is_equal(sizes.add(number, 1), passes)
        as_it_is = partial(_sized, after, size, lanes)
        return (one_of_two(is_last, before.type, as_it_is, turned),)

    return carried(passes, numbers, turn)


def _sized(numbers: Tensor, size: Size, lanes: Size) -> Tensor:
    """Numbers as [part, place, lane] of such sizes.

    They are said, and not those of a product: so loops and branches are seen to keep them.
    """
    return reshape(reshape(numbers, [2, None]), [2, size, lanes])


def _along_columns(numbers: Tensor, radices: Sequence[int], *, others: bool) -> Tensor:
    """The transform by one factor after the other."""
    _, size, lanes = sizes.all_of(numbers)
    radix_after = partial(_radix, size, radices, others=others)
    _, count = repeated(
        [1, 0],
        lambda done, _: is_less(done, size),
        lambda done, count: [sizes.multiply(done, radix_after(done)), sizes.add(count, 1)],
    )

    def turn(_: ir.Value, before: Tensor, done: ir.Value) -> tuple[Tensor, Size]:
        radix = radix_after(done)
        following = sizes.multiply(done, radix)
        # One kernel makes those of all factors.
        roots = UnitRoots.of_products(radix, done, following, before.type.dtype)

        def step(factor: Size) -> Tensor:
            rest = sizes.divide_down(size, sizes.multiply(factor, done))
            apart = reshape(before, [2, factor, rest, done, lanes])
            turned = roots.reshaped([factor, done]).with_axes((1, 3)).times(apart)
            by = _by_butterflies if isinstance(factor, int) else _by_matrix
            return _sized(by(turned, factor), size, lanes)

        *most, last = radices
        known = most if not others else radices
        default = partial(step, radix if others else last)
        cases = {factor: partial(step, factor) for factor in known}
        return one_of_many(radix, before.type, cases, default), following

    return carried(count, numbers, turn, 1)


def _radix(size: Size, radices: Sequence[int], done: Size, *, others: bool) -> ir.Value:
    """The factor that comes next, of a size of which so much is done."""
    rest = sizes.divide_down(size, done)
    found: Size = radices[-1]
    if others:
        (found,) = repeated(
            [_NEXT_PRIME],
            lambda prime: arith.andi(
                is_less(prime, _LARGEST_PRIME), is_not(is_multiple(rest, prime))
            ),
            lambda prime: [sizes.add(prime, 2)],
        )
    for radix in reversed(radices):
        found = chosen(is_multiple(rest, radix), radix, found)
    return sizes.value(found)


def _by_butterflies(numbers: Tensor, radix: int) -> Tensor:
    """The transforms of [part, j, rest, place, lane], as [part, rest, k, place, lane].

    They are sums of products with a small matrix that is known, of which a kernel makes additions.
    """
    dtype = numbers.type.dtype
    _, _, rest, done, lanes = sizes.all_of(numbers)
    shape: list[Size] = [2, radix, 2, rest, radix, done, lanes]
    roots = [[root(j * k, radix) for k in range(radix)] for j in range(radix)]
    of_real = [[[z.real for z in row], [z.imag for z in row]] for row in roots]
    of_imaginary = [[[-z.imag for z in row], [z.real for z in row]] for row in roots]
    flat = [entry for old in (of_real, of_imaginary) for j in old for new in j for entry in new]
    apart = broadcast_to(unsqueeze(numbers, (2, 4)), shape)
    matrix = broadcast_to(_matrix_of(flat, radix, dtype), shape)
    # By zeros nothing is multiplied, not even what is infinite.
    is_there = broadcast_to(_matrix_of([entry != 0 for entry in flat], radix, "i1"), shape)
    nothing = broadcast_to(scalar(0, dtype), shape)
    products = apply(tcp.SelectOp, is_there, apply(tcp.MulOp, apart, matrix), nothing)
    return reduce(products, (0, 1), "sum")


def _matrix_of(entries: Sequence[float], radix: int, dtype: str) -> Tensor:
    """Numbers as [old part, j, new part, rest, k, place, lane]."""
    type_ = TensorType((2, radix, 2, 1, radix, 1, 1), dtype)
    element = element_type(dtype)
    attribute = ir.IntegerAttr if isinstance(element, ir.IntegerType) else ir.FloatAttr
    elements = [attribute.get(element, entry) for entry in entries]
    op = ConstOp(value=ir.DenseElementsAttr.get(elements, type_.builtin()))
    return Tensor(op.out, type_)


def _by_matrix(numbers: Tensor, radix: Size) -> Tensor:
    """The same of a factor that is not known before, as a product of matrices."""
    dtype = numbers.type.dtype
    _, _, rest, done, lanes = sizes.all_of(numbers)
    roots = UnitRoots.of_products(radix, radix, radix, dtype)
    both = sizes.multiply(2, radix)
    parts = [reshape(factor, [both, radix]) for factor in roots.factors()]
    matrix = data_movement.concatenate(parts, 1, [DYNAMIC, DYNAMIC])
    rows = reshape(numbers, [both, sizes.product([rest, done, lanes])])
    product = built(MatmulOp(matrix.value, rows.value), dtype)
    return data_movement.transpose(reshape(product, [2, radix, rest, done, lanes]), (0, 2, 1, 3, 4))
