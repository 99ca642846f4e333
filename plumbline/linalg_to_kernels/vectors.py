"""Vectors of one dimension as kernels are built of: masked, transposed, cast."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.linalg_to_kernels.building import either, if_else, index

_CONTRACT = arith.FastMathFlags.contract

_SHUFFLED_AT_ONCE = 128
"""Bits. Within so many of a register x86 shuffles in one cycle; AVX2 across them only by halves."""


def element_of(type_: ir.Type) -> ir.Type:
    """The type of a number, or of those in a vector."""
    return type_.element_type if isinstance(type_, ir.VectorType) else type_


def splat(type_: ir.Type, value: float) -> ir.Value:
    """A number, or a vector of one number."""
    element = element_of(type_)
    attribute = (
        ir.FloatAttr.get(element, value)
        if isinstance(element, ir.FloatType)
        else ir.IntegerAttr.get(element, int(value))
    )
    if isinstance(type_, ir.VectorType):
        attribute = ir.DenseElementsAttr.get_splat(type_, attribute)
    return arith.constant(type_, attribute)


def like(type_: ir.Type, bits: int) -> ir.Type:
    """Integers of so many bits, as many as a number or vector has elements."""
    element = ir.IntegerType.get_signless(bits)
    is_vector = isinstance(type_, ir.VectorType)
    return ir.VectorType.get(type_.shape, element) if is_vector else element


def mask_of_first(count: ir.Value, lanes: int) -> ir.Value:
    """A mask of the first `count` lanes: of all if there are fewer, of none if it is negative."""
    mask = ir.VectorType.get([lanes], ir.IntegerType.get_signless(1))
    return vector.create_mask(mask, [count])


def masked_load(
    type_: ir.VectorType, elements: ir.Value, place: ir.Value, mask: ir.Value
) -> ir.Value:
    """Contiguous elements of a buffer, and zeros where the mask is not set."""
    if type_.shape != [1]:
        return vector.maskedload(type_, elements, [place], mask, splat(type_, 0))
    # LLVM has no code for such vectors where a CPU has masked loads.
    (loaded,) = either(
        [type_],
        vector.extract(mask, [], [0]),
        lambda: [vector.load(type_, elements, [place])],
        lambda: [splat(type_, 0)],
    )
    return loaded


def masked_store(value: ir.Value, elements: ir.Value, place: ir.Value, mask: ir.Value) -> None:
    """Stores a vector in contiguous elements of a buffer, but for lanes whose mask is not set."""
    if ir.VectorType(value.type).shape != [1]:
        vector.maskedstore(elements, [place], mask, value)
    else:
        is_set = vector.extract(mask, [], [0])
        if_else(is_set, lambda: vector.store(value, elements, [place]))


def edge_load(
    type_: ir.VectorType, elements: ir.Value, place: ir.Value, mask: ir.Value, is_whole: ir.Value
) -> ir.Value:
    """What `masked_load` gives, where `is_whole` tells whether all of the mask is set.

    AVX2 has no masked loads of elements below 32 bits, for which LLVM makes a branch for each lane,
    and others are slow.
    """
    (loaded,) = either(
        [type_],
        is_whole,
        lambda: [vector.load(type_, elements, [place])],
        lambda: [masked_load(type_, elements, place, mask)],
    )
    return loaded


def cast(value: ir.Value, to: ir.Type) -> ir.Value:
    """A number or vector in another type of element: rounded, or sign-extended. No float to int."""
    type_ = value.type
    is_vector = isinstance(type_, ir.VectorType)
    of = type_.element_type if is_vector else type_
    if of == to:
        return value
    result = ir.VectorType.get(type_.shape, to) if is_vector else to
    if isinstance(to, ir.FloatType):
        if not isinstance(of, ir.FloatType):
            return arith.sitofp(result, value)
        return (arith.extf if of.width < to.width else arith.truncf)(result, value)
    return (arith.extsi if of.width < to.width else arith.trunci)(result, value)


def add(left: ir.Value, right: ir.Value) -> ir.Value:
    """The sum of numbers or vectors of one type."""
    if _is_float(left.type):
        return arith.addf(left, right, fastmath=_CONTRACT)
    return arith.addi(left, right)


def multiply_add(left: ir.Value, right: ir.Value, to: ir.Value) -> ir.Value:
    """Multiplies and adds: one instruction where the CPU has such, and else two, never a call."""
    if _is_float(left.type):
        return add(to, arith.mulf(left, right, fastmath=_CONTRACT))
    return add(to, arith.muli(left, right))


def multiply(left: ir.Value, right: ir.Value) -> ir.Value:
    """A product, which is rounded: of a sum of two, either could be part of one instruction."""
    return arith.mulf(left, right) if _is_float(left.type) else arith.muli(left, right)


def transpose(rows: Sequence[ir.Value]) -> list[ir.Value]:
    """As many vectors as each has lanes, a power of two, with rows and lanes exchanged."""
    lanes = len(rows)
    bits = ir.VectorType(rows[0].type).element_type.width
    block = min(max(_SHUFFLED_AT_ONCE // bits, 1), lanes)
    # First squares within blocks of lanes: after it, vector c of a group of rows has in its block l
    # the elements of lane l * block + c of these rows.
    squares = [_transpose_blocks(rows[at : at + block]) for at in range(0, lanes, block)]
    result = [rows[0]] * lanes
    for lane in range(block):
        # Then whole blocks.
        exchanged = _exchange([square[lane] for square in squares], block)
        result[lane::block] = exchanged
    return result


def _transpose_blocks(rows: Sequence[ir.Value]) -> list[ir.Value]:
    """Transposes squares: of len(rows) lanes each, within as many rows."""
    if len(rows) == 1:
        return list(rows)
    # Interleaving rows r and r + n/2 log2(n) times transposes n rows.
    size = len(rows)
    result = list(rows)
    for _ in range(size.bit_length() - 1):
        pairs = zip(result[: size // 2], result[size // 2 :], strict=True)
        result = [
            _interleave(upper, lower, size, first)
            for upper, lower in pairs
            for first in (0, size // 2)
        ]
    return result


def _interleave(upper: ir.Value, lower: ir.Value, block: int, first: int) -> ir.Value:
    """Half of each block, from lane `first` of it on, lane by lane from both in turns."""
    lanes = ir.VectorType(upper.type).shape[0]
    order = [
        of + start + first + lane
        for start in range(0, lanes, block)
        for lane in range(block // 2)
        for of in (0, lanes)
    ]
    return vector.shuffle(upper, lower, order)


def _exchange(parts: Sequence[ir.Value], block: int) -> list[ir.Value]:
    """Of n vectors of n blocks of lanes, those whose block j is block i of vector j."""
    if len(parts) == 1:
        return list(parts)
    lanes = ir.VectorType(parts[0].type).shape[0]

    def every_other(first: ir.Value, second: ir.Value, odd: int) -> ir.Value:
        order = [
            of + start + lane
            for of in (0, lanes)
            for start in range(odd * block, lanes, 2 * block)
            for lane in range(block)
        ]
        return vector.shuffle(first, second, order)

    # As in a fast Fourier transform: even blocks and odd blocks, and of these again.
    groups = [list(parts)]
    while len(groups) < len(parts):
        groups = [
            [every_other(group[at], group[at + 1], odd) for at in range(0, len(group), 2)]
            for odd in (0, 1)
            for group in groups
        ]
    return [group[0] for group in groups]


def _is_float(type_: ir.Type) -> bool:
    element = type_.element_type if isinstance(type_, ir.VectorType) else type_
    return isinstance(element, ir.FloatType)


def of_lanes(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """`value`, or a vector of it if it is a scalar."""
    if isinstance(value.type, ir.VectorType):
        return value
    return vector.broadcast(ir.VectorType.get(shape, value.type), value)


def on_lanes(
    op: ir.Operation, operands: Sequence[ir.Value], shape: Sequence[int]
) -> list[ir.Value]:
    """What an operation on elements gives for vectors of them, or scalars in place of some."""
    attributes = {name: op.attributes[name] for name in op.attributes}
    types = [ir.VectorType.get(shape, result.type) for result in op.results]
    given = [of_lanes(operand, shape) for operand in operands]
    return list(ir.Operation.create(op.name, types, given, attributes).results)


def lane_offsets(first: ir.Value, lanes: int, count: int) -> list[ir.Value]:
    """Where each of `count` contiguous vectors begins."""
    return [arith.addi(first, index(number * lanes)) for number in range(count)]
