"""Sizes as expressions of symbols: what they are, as simple as they are without any thought."""

import sys
import time

import pytest

from plumbline.signature.size_expressions import (
    Size,
    SymbolUse,
    difference,
    evaluate,
    operation,
    text,
)

_N, _M = SymbolUse(0), SymbolUse(1)


def _sum_of(parts: int) -> Size:
    total: Size = 0
    for number in range(parts):
        total = operation("+", total, operation("*", (_N, _M)[number % 2], number + 2))
    return total


@pytest.mark.parametrize(
    ("size", "spelled"),
    [
        (operation("+", 3, _N), "n + 3"),
        (operation("+", operation("+", _N, 3), operation("+", _M, -5)), "n + m - 2"),
        (operation("*", operation("*", 2, _N), 3), "6*n"),
        (operation("*", _N, 0), "0"),
        (operation("floordiv", _N, 1), "n"),
        (difference(_N, _M), "n - m"),
        (difference(operation("+", _N, 3), operation("+", _N, 1)), "2"),
        (difference(difference(_N, _M), difference(_N, _M)), "0"),
    ],
)
def test_what_can_be_plainly_simpler_is(size: Size, spelled: str) -> None:
    assert text(size, ["n", "m"]) == spelled


def test_sums_of_many_parts_take_no_time() -> None:
    """Each part more once doubled it: sixteen took six seconds."""
    start = time.process_time()
    total = _sum_of(16)
    assert difference(total, total) == 0
    assert time.process_time() - start < 1
    expected = sum((5, 7)[number % 2] * (number + 2) for number in range(16))
    assert evaluate(total, {0: 5, 1: 7}) == expected


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
