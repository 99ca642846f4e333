"""What is said of integers holds of all that an op may give, and of those that wrap around."""

import itertools
import math
import operator
import sys
from collections.abc import Callable

import pytest

from plumbline.bindings.walk import all_operations
from plumbline.context import make_context
from plumbline.tcp.assembly.module import parse_module
from plumbline.tcp_to_linalg.integer_ranges import Range, range_of

_WHOLE = (-(2**63), 2**63 - 1)

_RANGES: list[Range] = [(-4, -1), (-3, 2), (0, 4), (1, 5), (2, 2)]

_EXACT: dict[str, Callable[[int, int], int]] = {
    "tcp.add": lambda left, right: left + right,
    "tcp.sub": lambda left, right: left - right,
    "tcp.mul": lambda left, right: left * right,
    "tcp.maximum": max,
    "tcp.minimum": min,
}
_WIDER: dict[str, Callable[[int, int], int]] = {
    "tcp.bitwise_and": lambda left, right: left & right,
    "tcp.remsi": lambda left, right: int(math.fmod(left, right)),
    "tcp.divsi Trunc": lambda left, right: int(left / right),
    "tcp.divsi Floor": lambda left, right: left // right,
    "tcp.divsi Ceil": lambda left, right: -(-left // right),
    "tcp.shrsi": lambda left, right: left >> right,
    "tcp.shrui": lambda left, right: (left % 2**64) >> right,
}
_SHIFTS = ("tcp.shrsi", "tcp.shrui")


def _range(body: str, type_: str = "tensor<4xi64>") -> Range:
    """The range of the value %out of a function of %x and %y, of that type, and truth values %t."""
    text = f"""
    func.func @f(%x: {type_}, %y: {type_}, %t: tensor<4xi1>, %f: tensor<4xf32>) {{
      {body}
      return
    }}"""
    module = parse_module(text, make_context(), "ranges.mlir")
    *_, last, _ = (op for op in all_operations(module) if op.name != "func.func")
    return range_of(last.results[0])


def _clamped(name: str, range_: Range, *, of: str) -> str:
    bounds = f"{{min_int = {range_[0]} : i64, max_int = {range_[1]} : i64}}"
    return f"%{name} = tcp.clamp %{of} {bounds} : tensor<4xi64> -> tensor<4xi64>\n"


@pytest.mark.parametrize("op", [*_EXACT, *_WIDER])
def test_of_two(op: str) -> None:
    name, _, rounding = op.partition(" ")
    mode = f" {{rounding_mode = #tcp<rounding_mode {rounding}>}}" if rounding else ""
    compute = (_EXACT | _WIDER)[op]
    for first, second in itertools.product(_RANGES, _RANGES):
        least, greatest = _range(
            _clamped("a", first, of="x")
            + _clamped("b", second, of="y")
            + f"%out = {name} %a, %b{mode} : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>"
        )
        pairs = itertools.product(range(first[0], first[1] + 1), range(second[0], second[1] + 1))
        given = [compute(*pair) for pair in pairs if op in _EXACT or _is_defined(op, pair[1])]
        if op in _SHIFTS and second[0] < 0:
            assert (least, greatest) == _WHOLE
            continue
        # Bits are those of a number with a sign.
        given = [(number + 2**63) % 2**64 - 2**63 for number in given]
        assert least <= min(given)
        assert max(given) <= greatest
        if op in _EXACT:
            assert (least, greatest) == (min(given), max(given))


def _is_defined(op: str, right: int) -> bool:
    return right >= 0 if op in _SHIFTS else right != 0


@pytest.mark.parametrize("signedness", ["Signed", "Unsigned"])
@pytest.mark.parametrize("predicate", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_of_comparisons(predicate: str, signedness: str) -> None:
    """A choice by one is either side, unless it is known which."""
    for first, second in itertools.product(_RANGES, _RANGES):
        body = (
            _clamped("a", first, of="x")
            + _clamped("b", second, of="y")
            + f"%c = tcp.compare %a, %b {{predicate = #tcp<predicate {predicate}>,"
            f" int_signedness = #tcp<signedness {signedness}>}}"
            " : tensor<4xi64>, tensor<4xi64> -> tensor<4xi1>\n"
            "%d = tcp.const {value = dense<7> : tensor<4xi64>} : tensor<4xi64>\n"
            "%e = tcp.const {value = dense<9> : tensor<4xi64>} : tensor<4xi64>\n"
            "%out = tcp.select %c, %d, %e"
            " : tensor<4xi1>, tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>"
        )
        pairs = itertools.product(range(first[0], first[1] + 1), range(second[0], second[1] + 1))
        holds = getattr(operator, predicate)
        width = 2**64 if signedness == "Unsigned" else 0
        given = {
            7 if holds(*(number + width * (number < 0) for number in pair)) else 9 for pair in pairs
        }
        least, greatest = _range(body)
        assert least <= min(given)
        assert max(given) <= greatest
        if min(*first, *second) >= 0:
            assert {least, greatest} == given


_FEW = (
    "%few = tcp.clamp %x {min_int = -2 : i64, max_int = 9 : i64} : tensor<4xi64> -> tensor<4xi64>"
)
_TWO_SIDES = "tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{_FEW}\n%out = tcp.select %t, %few, %few : tensor<4xi1>, {_TWO_SIDES}", (-2, 9)),
        (f"{_FEW}\n%out = tcp.select %t, %few, %x : tensor<4xi1>, {_TWO_SIDES}", _WHOLE),
        (f"%out = tcp.add %x, %y : {_TWO_SIDES}", _WHOLE),
        # A minimum above the maximum gives the maximum.
        (_clamped("out", (7, 3), of="x"), (3, 3)),
        (
            "%out = tcp.clamp %x {min_int = 1 : i64} : tensor<4xi64> -> tensor<4xi64>",
            (1, 2**63 - 1),
        ),
        (
            "%out = tcp.clamp %x {min_int = 1 : i64, int_signedness = #tcp<signedness Unsigned>}"
            " : tensor<4xi64> -> tensor<4xi64>",
            _WHOLE,
        ),
        (
            "%out = tcp.cast %t {in_int_signedness = #tcp<signedness Signless>,"
            " out_int_signedness = #tcp<signedness Signed>} : tensor<4xi1> -> tensor<4xi64>",
            (0, 1),
        ),
        (
            "%out = tcp.cast %f {out_int_signedness = #tcp<signedness Signed>}"
            " : tensor<4xf32> -> tensor<4xi64>",
            _WHOLE,
        ),
        ("%out = tcp.argmax %f {dim = 0 : index} : tensor<4xf32> -> tensor<i64>", (0, 3)),
        ("%out = tcp.iota () {dim = 0 : index} : tensor<6xi64>", (0, 5)),
        ("%out = tcp.const {value = dense<[3, -1]> : tensor<2xi64>} : tensor<2xi64>", (-1, 3)),
        (
            f"{_FEW}\n%out = tcp.concat %few, %few {{dim = 0 : index}}"
            " : tensor<4xi64>, tensor<4xi64> -> tensor<8xi64>",
            (-2, 9),
        ),
    ],
)
def test_of_other_ops(body: str, expected: Range) -> None:
    assert _range(body) == expected


@pytest.mark.parametrize(
    ("signedness", "expected"), [("Signed", (-128, 127)), ("Unsigned", (0, 255))]
)
def test_of_a_cast_from_few_bits(signedness: str, expected: Range) -> None:
    body = (
        f"%out = tcp.cast %x {{in_int_signedness = #tcp<signedness {signedness}>,"
        " out_int_signedness = #tcp<signedness Signed>} : tensor<4xi8> -> tensor<4xi64>"
    )
    assert _range(body, "tensor<4xi8>") == expected


def test_what_wraps_around_may_be_anything() -> None:
    body = (
        "%a = tcp.clamp %x {min_int = 100 : i64} : tensor<4xi8> -> tensor<4xi8>\n"
        "%out = tcp.add %a, %a : tensor<4xi8>, tensor<4xi8> -> tensor<4xi8>"
    )
    assert _range(body, "tensor<4xi8>") == (-128, 127)


def test_many_sums_of_what_is_shared_take_no_longer_than_one() -> None:
    body = _clamped("v0", (0, 1), of="x") + "".join(
        f"%v{number + 1} = tcp.add %v{number}, %v{number} : {_TWO_SIDES}\n" for number in range(20)
    )
    assert _range(body) == (0, 2**20)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
