"""The language of assembly formats, and what it refuses."""

import sys
from collections.abc import Sequence

import pytest

from plumbline.tcp.assembly.format import (
    AttributeDictionary,
    AttributeField,
    Literal,
    OperandDirective,
    OptionalGroup,
    Signature,
    TypeDirective,
    ValueField,
    parse_format,
    segment_sizes,
)

X, Y = ValueField("x"), ValueField("y", variadic=True, fixed_type="index")
OUT = ValueField("out")
KIND = AttributeField("kind")
SIGNATURE = Signature("op", operands=[X, Y], results=[OUT], attributes=[KIND], regions=["body"])


def test_elements() -> None:
    text = "$x (`,` $y^)? `[` $kind `]` attr-dict $body `:` type($x) `->` type($out)"
    form = parse_format(SIGNATURE, text)
    assert form.elements[:3] == (
        OperandDirective(X),
        OptionalGroup((Literal(","), OperandDirective(Y)), OperandDirective(Y)),
        Literal("["),
    )
    assert form.elements[5] == AttributeDictionary(with_keyword=False)
    assert form.elements[-1] == TypeDirective(OUT)
    assert form.named_attributes == {"kind"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$x $y $body type($x) type($out)", "needs attr-dict once"),
        ("$x $y $body attr-dict attr-dict type($x) type($out)", "needs attr-dict once"),
        ("$x $x $y $body attr-dict type($x) type($out)", "repeats an element"),
        ("$y $body attr-dict type($x) type($out)", r"leaves out \$x"),
        ("$x $y attr-dict type($x) type($out)", r"leaves out \$body"),
        ("$x $y $body attr-dict type($x)", r"leaves out type\(\$out\)"),
        ("$x $y $z $body attr-dict type($x) type($out)", "'z' is neither operand nor attribute"),
        ("$x $y $body attr-dict type($x) type($z)", "'z' is neither operand nor result"),
        ("$x , $y", "not understood at ' , "),
        ("$x (`,` $y", "a group is not closed"),
        ("$x `,` $y)?", "closes no group"),
        ("$x (`,` $y)?", r"a group needs one '\^'"),
        ("$x (^`,` $y)?", r"'\^' follows what it marks"),
        ("$x (`,`^ $y)?", r"'\^' marks a variable"),
        ("$x ($y^)?", "a group starts with a literal"),
        ("$x ^", r"'\^' marks nothing"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_format(SIGNATURE, text)


def test_lists_that_cannot_be_told_apart() -> None:
    lists = [ValueField("a", variadic=True), ValueField("b", variadic=True)]
    with pytest.raises(ValueError, match="can be the only list"):
        parse_format(Signature("op", operands=lists), "$a $b attr-dict type($a) type($b)")
    with pytest.raises(ValueError, match="several variadic results"):
        parse_format(Signature("op", results=lists), "attr-dict type($a) type($b)")
    sized = [ValueField("a", variadic=True, fixed_type="index")]
    with pytest.raises(ValueError, match=r"cannot know how many results \$a has"):
        parse_format(Signature("op", results=sized), "attr-dict")


ANY = ValueField("any", variadic=True)


@pytest.mark.parametrize(
    ("types", "sizes"),
    [
        ([], [0] * 64),
        (["a", "a", "b"], [1, 1, 1] + [0] * 61),
        (["a"] * 64, [1] * 64),
        (["a"] * 65 + ["b"], [65, 1] + [0] * 62),
        (["a"] * 10 + ["b", "a"] * 31, [10] + [1] * 62 + [0]),
    ],
)
def test_slots(types: Sequence[str], sizes: list[int]) -> None:
    assert segment_sizes([ANY], [types]) == sizes


def test_too_few_slots() -> None:
    with pytest.raises(ValueError, match="'any' takes at most 64 values of different types"):
        segment_sizes([ANY], [["a", "b"] * 33])


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
