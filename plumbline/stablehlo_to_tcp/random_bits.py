"""Random bits by Philox, made of StableHLO's ops on integers.

Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011) makes four words
of 32 bits of a counter of four and a key of two. StableHLO leaves open how the state of
`rng_bit_generator` holds them and in which order words are elements; both are XLA's: the state is
of 64 bits, first the key, then the counter, from its low half on. Where it has two elements, the
high half of the counter is the key. A counter makes as many elements as its words fill, the low
word first, and is followed by the next one. Programs of TensorFlow and of JAX's keys "rbg" have it;
on a CPU XLA has Philox for the algorithm DEFAULT as well.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import all_operations

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
"""Of the first and of the third word."""

_WEYL = (0x9E3779B9, 0xBB67AE85)
"""What is added to the words of the key after each round."""

_ROUNDS = 10
_LOW = 2**32 - 1

_ALGORITHMS = ("DEFAULT", "PHILOX")


@dataclass(frozen=True)
class _Words:
    """Ops on tensors of ui64, of one shape."""

    sizes: tuple[int, ...]

    @property
    def type(self) -> ir.RankedTensorType:
        return ir.RankedTensorType.get(self.sizes, ir.IntegerType.get_unsigned(64))

    def constant(self, number: int) -> ir.Value:
        attribute = ir.IntegerAttr.get(self.type.element_type, number)
        return _op(
            "constant", self.type, value=ir.DenseElementsAttr.get_splat(self.type, attribute)
        )

    def of(self, name: str, left: ir.Value, right: ir.Value | int) -> ir.Value:
        """The result of an op on two tensors, or a tensor and a number."""
        other = self.constant(right) if isinstance(right, int) else right
        return _op(name, self.type, left, other)

    def low(self, value: ir.Value) -> ir.Value:
        return self.of("and", value, _LOW)

    def high(self, value: ir.Value) -> ir.Value:
        return self.of("shift_right_logical", value, 32)

    def stretched(self, scalar: ir.Value) -> ir.Value:
        """A tensor of rank 0 in this shape."""
        return _op(
            "broadcast_in_dim",
            self.type,
            scalar,
            broadcast_dimensions=ir.DenseI64ArrayAttr.get([]),
        )

    def iota(self) -> ir.Value:
        return _op("iota", self.type, iota_dimension=_i64(0))


_ONE = _Words(())


def _op(
    name: str, type_: ir.RankedTensorType, *operands: ir.Value, **attributes: ir.Attribute
) -> ir.Value:
    return ir.Operation.create(f"stablehlo.{name}", [type_], list(operands), attributes).result


def _i64(number: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def _reshaped(value: ir.Value, sizes: Sequence[int]) -> ir.Value:
    element = ir.RankedTensorType(value.type).element_type
    return _op("reshape", ir.RankedTensorType.get(sizes, element), value)


def _slice(value: ir.Value, first: int, count: int) -> ir.Value:
    """So many elements of a tensor of rank 1."""
    element = ir.RankedTensorType(value.type).element_type
    return _op(
        "slice",
        ir.RankedTensorType.get([count], element),
        value,
        start_indices=ir.DenseI64ArrayAttr.get([first]),
        limit_indices=ir.DenseI64ArrayAttr.get([first + count]),
        strides=ir.DenseI64ArrayAttr.get([1]),
    )


def _concatenated(values: Sequence[ir.Value], axis: int) -> ir.Value:
    type_ = ir.RankedTensorType(values[0].type)
    sizes = list(type_.shape)
    sizes[axis] *= len(values)
    of_all = ir.RankedTensorType.get(sizes, type_.element_type)
    return _op("concatenate", of_all, *values, dimension=_i64(axis))


def _philox(words: _Words, counter: Sequence[ir.Value], key: ir.Value) -> list[ir.Value]:
    """The words that are made of each counter, of four words, and a key of rank 0."""
    first, second, third, fourth = counter
    keys = [_ONE.low(key), _ONE.high(key)]
    for number in range(_ROUNDS):
        if number:
            keys = [
                _ONE.low(_ONE.of("add", each, by)) for each, by in zip(keys, _WEYL, strict=True)
            ]
        of_first = words.of("multiply", first, _MULTIPLIERS[0])
        of_third = words.of("multiply", third, _MULTIPLIERS[1])
        mixed = [
            words.of("xor", words.of("xor", words.high(product), word), words.stretched(each))
            for product, word, each in ((of_third, second, keys[0]), (of_first, fourth, keys[1]))
        ]
        first, second = mixed[0], words.low(of_third)
        third, fourth = mixed[1], words.low(of_first)
    return [first, second, third, fourth]


def _plus(
    words: _Words, low: ir.Value, high: ir.Value, added: ir.Value
) -> tuple[ir.Value, ir.Value]:
    """A counter of 128 bits, of rank 0, plus numbers."""
    start = words.stretched(low)
    total = words.of("add", start, added)
    truth = ir.RankedTensorType.get(words.sizes, ir.IntegerType.get_signless(1))
    less = ir.Attribute.parse("#stablehlo<comparison_direction LT>")
    carries = _op("compare", truth, total, start, comparison_direction=less)
    carried = words.stretched(_ONE.of("add", high, 1))
    return total, _op("select", words.type, carries, carried, words.stretched(high))


def _expand(op: ir.Operation) -> None:
    state, drawn = op.operands[0], ir.RankedTensorType(op.results[1].type)
    count, width = math.prod(drawn.shape), drawn.element_type.width
    per_counter = 128 // width
    counters = -(-count // per_counter)
    parts = [
        _reshaped(_slice(state, number, 1), [])
        for number in range(ir.RankedTensorType(state.type).shape[0])
    ]
    key, low = parts[:2]
    high = parts[2] if len(parts) > 2 else key
    words = _Words((counters,))
    lows, highs = _plus(words, low, high, words.iota())
    made = _philox(
        words, [words.low(lows), words.high(lows), words.low(highs), words.high(highs)], key
    )
    if width == 64:
        made = [
            words.of("or", made[each], words.of("shift_left", made[each + 1], 32))
            for each in (0, 2)
        ]
    in_rows = _concatenated([_reshaped(each, [counters, 1]) for each in made], 1)
    numbers = _slice(_reshaped(in_rows, [counters * per_counter]), 0, count)
    shaped = _reshaped(numbers, drawn.shape)
    after = [key, *_plus(_ONE, low, high, _ONE.constant(counters))][: len(parts)]
    new_state = _concatenated([_reshaped(each, [1]) for each in after], 0)
    op.results[0].replace_all_uses_with(new_state)
    op.results[1].replace_all_uses_with(_op("convert", drawn, shaped))
    op.erase()


def _is_expanded(op: ir.Operation) -> bool:
    """Whether it is known what an op draws."""
    algorithm = str(op.attributes["rng_algorithm"])
    if not any(name in algorithm for name in _ALGORITHMS):
        return False
    state, drawn = (ir.RankedTensorType(value.type) for value in (op.operands[0], op.results[1]))
    words = ir.IntegerType.get_unsigned(64, op.context)
    if state.element_type != words or state.shape not in ([2], [3]):
        return False
    if not isinstance(drawn.element_type, ir.IntegerType) or not drawn.has_static_shape:
        return False
    return drawn.element_type.width in (32, 64) and 0 not in drawn.shape


def expand_random_bits(module: ir.Operation) -> None:
    """Has random bits that are known be computed by other ops."""
    for op in all_operations(module):
        if op.name == "stablehlo.rng_bit_generator" and _is_expanded(op):
            with module.context, ir.InsertionPoint(op), op.location:
                _expand(op)


STABLEHLO_EXPAND_RANDOM_BITS = Pass(
    "stablehlo-expand-random-bits",
    "Compute random bits by Philox of ops on integers",
    expand_random_bits,
)
