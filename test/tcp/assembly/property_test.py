"""The round trip on texts that nobody wrote, and malformed texts, which fail and do no worse."""

import random
import re
import sys
from collections.abc import Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plumbline.errors import UserError
from plumbline.tcp.assembly.lexer import AssemblyError, Tokens, nests_at_most
from plumbline.tcp.assembly.module import print_module
from plumbline.tcp.assembly.reader import Reader
from plumbline.tcp.dialect import formats
from test.tcp.checks import check_round_trip, function, parse

ARGUMENTS = ["tensor<?xf32>", "tensor<?xi1>", "index"]

SETTINGS = settings(max_examples=150)

# -- texts that are right ----------------------------------------------------------------------

# As MLIR prints it: quotes and whatever is no printable ASCII as hexadecimal digits.
strings = st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters='"\\'))
quoted = st.builds(
    lambda text, escape: f'"{text}{escape}{text}"',
    strings,
    st.sampled_from(["", "\\22", "\\0A", "\\\\", "\\C3\\A9"]),
)


def spell(entries: Mapping[str, str]) -> str:
    """The inside of a dictionary as MLIR prints it."""
    return ", ".join(
        key if entries[key] == "unit" else f"{key} = {entries[key]}" for key in sorted(entries)
    )


scalars = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(lambda value: f"{value} : i64"),
    st.sampled_from(["1.000000e+00 : f32", "true", "unit", "tensor<?x2xf32>", "@f", "@f::@g"]),
    st.sampled_from(["(i1, index) -> ()", "#tcp<signedness Signed>", "array<i64: 1, 2>"]),
    st.sampled_from(["dense<[1, 2]> : tensor<2xi64>", "#llvm.linkage<external>", "i64"]),
    quoted,
)
attributes = st.recursive(
    scalars,
    lambda inner: st.one_of(
        # In an array, i64 goes without saying.
        st.lists(inner.map(lambda item: re.sub(r"^(-?\d+) : i64$", r"\1", item)), max_size=3).map(
            lambda items: f"[{', '.join(items)}]"
        ),
        st.dictionaries(st.sampled_from("pqr"), inner, max_size=3).map(
            lambda items: f"{{{spell(items)}}}"
        ),
    ),
    max_leaves=5,
)


@st.composite
def bodies(draw: st.DrawFn, depth: int = 0, taken: int = 0) -> tuple[list[str], int]:
    """Lines of ops in their canonical text, and how many values they define."""
    values = ["%arg0"]
    lines: list[str] = []
    t, i1 = ARGUMENTS[:2]
    for _ in range(draw(st.integers(1, 4))):
        x, y = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        entries = draw(st.dictionaries(st.sampled_from(["a", "b.c", "tcp.add"]), attributes))
        dictionary = f" {{{spell(entries)}}}" if entries else ""
        kind = draw(st.sampled_from(["unary", "binary", "select", "custom", "group"]))
        if kind == "group" and depth < 3:
            inner, _ = draw(bodies(depth + 1, taken + 1))
            keyword = f" attributes{dictionary}" if entries else ""
            lines.append(f"%{taken} = tcp.group{keyword} {{")
            lines += [f"  {line}" for line in inner]
            lines += [f"  tcp.yield %arg0 : {t}", f"}} : {t}"]
        elif kind == "unary":
            lines.append(f"%{taken} = tcp.tanh {x}{dictionary} : {t} -> {t}")
        elif kind == "select":
            choice = f"%arg1, {x}, {y}{dictionary} : {i1}, {t}, {t}"
            lines.append(f"%{taken} = tcp.select {choice} -> {t}")
        elif kind == "custom":
            name = draw(quoted.filter(lambda text: text != '""'))
            operands = f"{x}, %arg2{dictionary} : {t}, index -> {t}"
            lines.append(f"%{taken} = tcp.custom_op({name}) {operands}")
        else:
            lines.append(f"%{taken} = tcp.add {x}, {y}{dictionary} : {t}, {t} -> {t}")
        values.append(f"%{taken}")
        taken += 1
    return lines, taken


texts = bodies().map(lambda body: function(ARGUMENTS, "\n".join(body[0])))


def without_names(text: str) -> str:
    """MLIR numbers values anew, those of a block before those of the regions in it."""
    return re.sub(r"%\d+", "%", text)


@SETTINGS
@given(texts)
def test_round_trip(text: str) -> None:
    printed = print_module(parse(text))
    assert without_names(printed) == without_names(text)
    check_round_trip(printed)


@SETTINGS
@given(texts, st.randoms(use_true_random=False))
def test_spaces_and_comments_do_not_matter(text: str, chance: random.Random) -> None:
    tokens = Tokens(text)
    spaced = []
    for index in range(len(tokens)):
        spaced.append(tokens.spelling(index))
        # Only where there is one already: `%0:2` and `tensor<2x3xf32>` are words for MLIR.
        if tokens.ends[index] < tokens.starts[index + 1]:
            spaced.append(chance.choice([" ", "\n", "\t ", ' // tcp.add %x "{\n', "\n\n"]))
    changed = "".join(spaced)
    assert without_names(print_module(parse(changed))) == without_names(text)
    generic = str(Reader(Tokens(changed), formats()).read())
    assert generic.count("\n") == changed.count("\n")


# -- texts that are wrong ----------------------------------------------------------------------

SNIPPETS = [
    "tcp.add", "tcp.group", "tcp.yield", '"tcp.tanh"', "%arg0", "%0", ":", "->", ",", "=", "(", ")",
    "{", "}", "[", "]", "<", ">", "<{", "}>", "{-#", "#-}", '"', "//", "\n", "tensor<?xf32>", "loc",
    "#map", "attributes", "#tcp<signedness Signed>", "0", "-", "affine_map<", "\\", "\0", "é",
]  # fmt: skip


def parse_or_refuse(text: str) -> None:
    try:
        printed = print_module(parse(text))
    except UserError:
        return
    assert print_module(parse(printed)) == printed


@SETTINGS
@given(texts, st.randoms(use_true_random=False), st.integers(1, 4))
def test_damaged_text(text: str, chance: random.Random, times: int) -> None:
    for _ in range(times):
        at, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        change = chance.choice(["cut", "insert", "drop", "copy"])
        if change == "cut":
            text = text[:end]
        elif change == "insert":
            text = text[:at] + chance.choice(SNIPPETS) + text[at:]
        elif change == "drop":
            text = text[:at] + text[at + chance.randrange(1, 9) :]
        else:
            text = text[:end] + text[at : at + 40] + text[end:]
    parse_or_refuse(text)


@SETTINGS
@given(st.lists(st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=3)), max_size=40))
def test_random_tokens(pieces: list[str]) -> None:
    parse_or_refuse(" ".join(pieces))
    parse_or_refuse("".join(pieces))


@SETTINGS
@given(st.text())
def test_random_text(text: str) -> None:
    parse_or_refuse(text)


marks = st.sampled_from([*'()[]{}<>"\\\n', "->", ">=", "<=", "{-#", "#-}", "%a-", "//"])


@settings(SETTINGS, max_examples=500)
@example("(//)\n(")
@example('(")"(')
@example("{-#}(")
@example("<>=<")
@given(st.lists(marks, max_size=8).map("".join))
def test_what_surely_nests_no_deeper_does_not(text: str) -> None:
    for levels in range(1, 5):
        try:
            Tokens(text, levels)
        except AssemblyError:
            assert not nests_at_most(text, levels)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
