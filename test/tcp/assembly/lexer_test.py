"""Tokens and their brackets."""

import sys
import time

import pytest

from plumbline.tcp.assembly.lexer import AssemblyError, Kind, Tokens


def spellings(text: str) -> list[str]:
    tokens = Tokens(text)
    return [tokens.spelling(index) for index in range(len(tokens))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%0:2 = tcp.add %a#1", ["%0", ":", "2", "=", "tcp.add", "%a#1"]),
        ("(i1) -> !torch.int", ["(", "i1", ")", "->", "!torch.int"]),
        (
            "(d0 >= 0, d0 == 1, d0 <= 2)",
            ["(", "d0", ">=", "0", ",", "d0", "==", "1", ",", "d0", "<=", "2", ")"],
        ),
        ('@f @"g h"(^bb0)', ["@f", '@"g h"', "(", "^bb0", ")"]),
        ('"a \\" // b" // c "d"\n%x', ['"a \\" // b"', "%x"]),
        ('"not closed\n%x', ['"not closed', "%x"]),
        ("1.0e-5 0x1F -3", ["1.0e-5", "0", "x1F", "-", "3"]),
        ("{-# x #-}", ["{-#", "x", "#-}"]),
        ("#tcp<signedness Signed> #tcp.x<1>", ["#tcp<signedness Signed>", "#tcp.x", "<", "1", ">"]),
        ('#tcp.signedness<"Signed">', ['#tcp.signedness<"Signed">']),
        ("é\x00\\", ["é", "\x00", "\\"]),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert spellings(text) == expected


def matches(text: str) -> dict[int, int]:
    return {index: end for index, end in enumerate(Tokens(text).match) if end >= 0}


def test_brackets_match() -> None:
    assert matches("( [ ] { < > } )") == {0: 7, 1: 2, 3: 6, 4: 5}
    assert matches("{-# { } #-}") == {0: 3, 1: 2}


def test_a_bracket_left_open_spoils_no_other() -> None:
    assert matches("( < )") == {0: 2}
    assert matches(") ( )") == {1: 2}
    assert matches("( ] )") == {0: 2}


def test_nesting_is_bounded() -> None:
    Tokens("(" * 20, max_nesting=20)
    with pytest.raises(AssemblyError, match="brackets nest deeper than 20 levels") as raised:
        Tokens("(" * 21, max_nesting=20)
    assert raised.value.offset == 20


def test_lines() -> None:
    tokens = Tokens("a\n\nb")
    assert [tokens.line(offset) for offset in range(4)] == [0, 0, 1, 2]


@pytest.mark.parametrize(
    "text", ['"' + '\\"' * 100_000, '"' * 200_000, "// " * 100_000, ")" * 200_000]
)
def test_malformed_text_costs_no_more(text: str) -> None:
    start = time.perf_counter()
    Tokens(text)
    assert time.perf_counter() - start < 5, "a cost that is quadratic takes minutes here"


def test_kinds() -> None:
    tokens = Tokens('%a b "c" 1 #d (')
    kinds = tokens.kinds[: len(tokens)]
    assert kinds == [
        Kind.VALUE,
        Kind.WORD,
        Kind.STRING,
        Kind.NUMBER,
        Kind.SIGIL,
        Kind.PUNCTUATION,
    ]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
