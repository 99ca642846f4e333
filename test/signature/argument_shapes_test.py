import sys

import pytest

from plumbline.errors import UserError
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.size_expressions import Operation, Size, Symbol, SymbolUse

N, M = SymbolUse(0), SymbolUse(1)
SYMBOLS = (Symbol("n", 2, 64), Symbol("m", 0, None))


def _plus(left: Size, right: Size) -> Size:
    return Operation("+", left, right)


def _times(left: Size, right: Size) -> Size:
    return Operation("*", left, right)


def _refusal(shapes: ArgumentShapes, *sizes: list[int]) -> str:
    with pytest.raises(UserError) as refused:
        shapes.check("f", sizes)
    return str(refused.value)


DERIVED = ArgumentShapes(SYMBOLS, ((_times(N, 2), 4), (N,), (_plus(N, 1), N)))


@pytest.mark.parametrize("n", [2, 3, 64])
def test_sizes_that_fit(n: int) -> None:
    DERIVED.check("f", [[2 * n, 4], [n], [n + 1, n]])
    assert DERIVED.solve([[2 * n, 4], [n], [n + 1, n]]) == {0: n}


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (
            ([6, 5], [3], [4, 3]),
            "f: argument 0 has size 5 in dimension 1, not 4",
        ),
        (
            ([7, 4], [3], [4, 3]),
            "f: argument 0 has size 7 in dimension 0, not 2*n = 6; n is 3 by dimension 0 of "
            "argument 1",
        ),
        (
            ([6, 4], [3], [5, 3]),
            "f: argument 2 has size 5 in dimension 0, not n + 1 = 4; n is 3 by dimension 0 of "
            "argument 1",
        ),
        (
            ([6, 4], [3], [4, 2]),
            "f: argument 2 has size 2 in dimension 1, not n = 3; n is 3 by dimension 0 of "
            "argument 1",
        ),
        (
            ([2, 4], [1], [2, 1]),
            "f: argument 1 has size 1 in dimension 0, which is n; n must be at least 2 and at most "
            "64",
        ),
        (([130, 4], [65], [66, 65]), "f: argument 1 has size 65 in dimension 0, which is n; n "
         "must be at least 2 and at most 64"),
    ],
)  # fmt: skip
def test_what_disagrees_is_told_with_its_reason(
    sizes: tuple[list[int], ...], expected: str
) -> None:
    assert _refusal(DERIVED, *sizes) == expected


def test_a_symbol_that_only_derived_sizes_have() -> None:
    shapes = ArgumentShapes(SYMBOLS, ((_plus(_times(N, 3), -1),), (_plus(M, N),)))
    assert shapes.solve([[8], [10]]) == {0: 3, 1: 7}
    assert "which is 3*n - 1 for no n" in _refusal(shapes, [7], [10])
    assert "which is 3*n - 1 for n = 1; n must be at least 2" in _refusal(shapes, [2], [10])
    assert "argument 1 has size 2 in dimension 0, which is m + n for m = -1; m must" in _refusal(
        shapes, [8], [2]
    )


def test_sizes_that_give_no_symbol_a_value_are_held_against_zero_only() -> None:
    shapes = ArgumentShapes(SYMBOLS, ((_times(N, M),), (None,)))
    shapes.check("f", [[7], [0]])
    assert shapes.solve([[7], [0]]) == {}
    assert "argument 1 has size -1 in dimension 0, which must be at least 0" in _refusal(
        shapes, [7], [-1]
    )
    assert "argument 0 has size -1" in _refusal(shapes, [-1], [1])


@pytest.mark.parametrize(
    ("operator", "value"), [("mod", 7 % 4), ("floordiv", 7 // 4), ("ceildiv", 2)]
)
def test_divisions(operator: str, value: int) -> None:
    shapes = ArgumentShapes((Symbol("n", 0, None),), ((N,), (Operation(operator, N, 4),)))
    shapes.check("f", [[7], [value]])
    assert f"not n {operator} 4 = {value}" in _refusal(shapes, [7], [value + 1])


def test_sizes_that_no_call_explains_get_symbols_of_their_own() -> None:
    # n*m gives neither its value; nothing is known of the last.
    shapes = ArgumentShapes(SYMBOLS, ((M, _plus(M, 1)), (_times(N, M), None)))
    closed = shapes.closed()
    assert [symbol.name for symbol in closed.symbols] == ["m", "argument1_size0", "argument1_size1"]
    assert [[closed.text(size) for size in shape] for shape in closed.shapes] == [
        ["m", "m + 1"],
        ["argument1_size0", "argument1_size1"],
    ]
    assert closed.solve([[3, 4], [7, 9]]) == {0: 3, 1: 7, 2: 9}


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
