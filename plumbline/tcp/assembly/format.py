"""The declarative assembly format of an op: its little language, parsed and checked.

The language is the part of ODS's `assemblyFormat` that TCP needs:

    `,`  `starts`           punctuation or a keyword, as it is; `` ` ` `` is a space to print
    $name                   an operand, an attribute or a region of the op
    type($name)             the type of an operand or result, a list of them if it is variadic,
                            which is `()` if it is empty
    attr-dict               `{...}` of all attributes that the format does not name itself
    attr-dict-with-keyword  the same after the keyword `attributes`, where a region follows
    ( ... )?                an optional group. It is printed if the one element marked with `^`
                            is there, and read if the next token is the group's first, a literal

What a type directive does not give must be known otherwise: an operand whose constraint admits
one type alone (`index`) needs none.
"""

import dataclasses
import itertools
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

# In IRDL, with which the bindings define ops, all values of one variadic definition have one type.
# A list of values of different types is therefore as many variadic definitions, each of which takes
# one value as long as there are enough, else a run of values of one type.
MAX_SLOTS = 64

OPERAND_SEGMENTS = "operandSegmentSizes"
RESULT_SEGMENTS = "resultSegmentSizes"


@dataclass(frozen=True)
class ValueField:
    """An operand or a result of an op."""

    name: str
    variadic: bool = False
    fixed_type: str | None = None
    """How the only type that it can have is spelled; None if there are several."""

    @property
    def slots(self) -> int:
        """How many definitions the bindings have for it (see `MAX_SLOTS`)."""
        return MAX_SLOTS if self.variadic and self.fixed_type is None else 1


def needs_segments(fields: Sequence[ValueField]) -> bool:
    """Whether an attribute must say which values belong to which definition."""
    return sum(field.slots for field in fields if field.variadic) > 1


def segment_sizes(fields: Sequence[ValueField], types: Sequence[Sequence[Hashable]]) -> list[int]:
    """How many values each definition takes, of the types of each field's values.

    Raises:
      ValueError: there are more values than definitions, and too few of one type in a row.
    """
    sizes: list[int] = []
    for field, values in zip(fields, types, strict=True):
        if field.slots == 1:
            sizes.append(len(values))
            continue
        runs = [1] * len(values)
        if len(runs) > field.slots:
            runs = [len(list(run)) for _, run in itertools.groupby(values)]
        if len(runs) > field.slots:
            raise ValueError(
                f"'{field.name}' takes at most {field.slots} values of different types in a row"
            )
        sizes += runs + [0] * (field.slots - len(runs))
    return sizes


def field_sizes(fields: Sequence[ValueField], count: int) -> list[int]:
    """How many of `count` values belong to each field, where at most one is variadic."""
    single = sum(not field.variadic for field in fields)
    return [count - single if field.variadic else 1 for field in fields]


@dataclass(frozen=True)
class AttributeField:
    """An attribute of an op."""

    name: str
    optional: bool = False
    fixed_type: str | None = None
    """The type of a number, left out where the format names the attribute: `i64`."""
    inline: bool = False
    """Whether the format prints the attribute itself even where MLIR printed an alias of it."""


@dataclass(frozen=True)
class Signature:
    """What an op consists of, as far as its text is concerned."""

    name: str
    operands: Sequence[ValueField] = ()
    results: Sequence[ValueField] = ()
    attributes: Sequence[AttributeField] = ()
    regions: Sequence[str] = ()

    @property
    def segment_attributes(self) -> frozenset[str]:
        """The attributes that the text leaves out, as it tells by itself what they say."""
        return frozenset(
            name
            for name, fields in (
                (OPERAND_SEGMENTS, self.operands),
                (RESULT_SEGMENTS, self.results),
            )
            if needs_segments(fields)
        )

    @property
    def slot_attributes(self) -> frozenset[str]:
        """Those of them that speak of the slots of one field, and not of several fields."""
        return frozenset(
            name
            for name, fields in (
                (OPERAND_SEGMENTS, self.operands),
                (RESULT_SEGMENTS, self.results),
            )
            if any(field.slots > 1 for field in fields)
        )


@dataclass(frozen=True)
class Literal:
    """A punctuation mark, a keyword, or a space."""

    text: str


@dataclass(frozen=True)
class OperandDirective:
    """`$name` of an operand."""

    operand: ValueField


@dataclass(frozen=True)
class AttributeDirective:
    """`$name` of an attribute."""

    attribute: AttributeField


@dataclass(frozen=True)
class RegionDirective:
    """`$name` of a region."""

    index: int


@dataclass(frozen=True)
class TypeDirective:
    """`type($name)`."""

    value: ValueField


@dataclass(frozen=True)
class AttributeDictionary:
    """`attr-dict` and `attr-dict-with-keyword`."""

    with_keyword: bool


@dataclass(frozen=True)
class OptionalGroup:
    """`( ... )?`."""

    elements: "Sequence[Element]"
    anchor: "OperandDirective | AttributeDirective | TypeDirective"


Element = (
    Literal
    | OperandDirective
    | AttributeDirective
    | RegionDirective
    | TypeDirective
    | AttributeDictionary
    | OptionalGroup
)


@dataclass(frozen=True)
class OperationFormat:
    """An op's signature with the elements of its assembly format."""

    signature: Signature
    elements: Sequence[Element]
    named_attributes: frozenset[str] = dataclasses.field(init=False)
    """The attributes that the format names; `attr-dict` holds the others."""

    def __post_init__(self) -> None:
        named = frozenset(
            element.attribute.name
            for element in flatten(self.elements)
            if isinstance(element, AttributeDirective)
        )
        object.__setattr__(self, "named_attributes", named)

    @property
    def may_be_empty(self) -> bool:
        """Whether the op's name alone is an op."""
        return all(
            isinstance(element, AttributeDictionary | OptionalGroup)
            or (isinstance(element, OperandDirective) and element.operand.variadic)
            for element in self.elements
        )


def flatten(elements: Sequence[Element]) -> Iterator[Element]:
    """All elements in order, those within optional groups included."""
    for element in elements:
        if isinstance(element, OptionalGroup):
            yield from flatten(element.elements)
        else:
            yield element


_PART = re.compile(
    r"\s*(?:`(?P<literal>[^`]+)`|type\(\$(?P<type>\w+)\)|\$(?P<variable>\w+)"
    r"|(?P<dictionary>attr-dict(?:-with-keyword)?)|(?P<mark>\(|\)\?|\^))"
)


class _Parser:
    def __init__(self, signature: Signature, text: str) -> None:
        self._signature = signature
        self._text = text
        self._operands = {operand.name: operand for operand in signature.operands}
        self._results = {result.name: result for result in signature.results}
        self._attributes = {attribute.name: attribute for attribute in signature.attributes}

    def fail(self, message: str) -> ValueError:
        return ValueError(f"assembly format of {self._signature.name}: {message}: {self._text}")

    def parse(self) -> list[Element]:
        parts: list[tuple[str, str]] = []
        position = 0
        text = self._text.rstrip()
        while position < len(text):
            found = _PART.match(text, position)
            if found is None:
                raise self.fail(f"not understood at {text[position:]!r}")
            assert found.lastgroup is not None
            parts.append((found.lastgroup, found[found.lastgroup]))
            position = found.end()
        elements, rest = self._elements(parts, 0)
        if rest != len(parts):
            raise self.fail("')?' closes no group")
        return elements

    def _elements(
        self, parts: Sequence[tuple[str, str]], position: int
    ) -> tuple[list[Element], int]:
        elements: list[Element] = []
        while position < len(parts) and parts[position] != ("mark", ")?"):
            kind, text = parts[position]
            position += 1
            if (kind, text) == ("mark", "("):
                group, position = self._group(parts, position)
                elements.append(group)
            elif kind == "mark":
                raise self.fail(f"{text!r} marks nothing")
            else:
                elements.append(self._element(kind, text))
        return elements, position

    def _group(self, parts: Sequence[tuple[str, str]], begin: int) -> tuple[OptionalGroup, int]:
        end = begin
        while end < len(parts) and parts[end] != ("mark", ")?"):
            end += 1
        if end == len(parts):
            raise self.fail("a group is not closed by ')?'")
        inner = list(parts[begin:end])
        if inner.count(("mark", "^")) != 1:
            raise self.fail("a group needs one '^'")
        mark = inner.index(("mark", "^"))
        del inner[mark]
        elements, rest = self._elements(inner, 0)
        if rest != len(inner) or mark == 0:
            raise self.fail("a group holds no group, and '^' follows what it marks")
        anchor = elements[mark - 1]
        if not isinstance(anchor, OperandDirective | AttributeDirective | TypeDirective):
            raise self.fail("'^' marks a variable or its type")
        if not isinstance(elements[0], Literal):
            raise self.fail("a group starts with a literal")
        return OptionalGroup(tuple(elements), anchor), end + 1

    def _element(self, kind: str, text: str) -> Element:
        match kind:
            case "literal":
                return Literal(text)
            case "dictionary":
                return AttributeDictionary(with_keyword=text.endswith("keyword"))
            case "type":
                value = self._operands.get(text) or self._results.get(text)
                if value is None:
                    raise self.fail(f"'{text}' is neither operand nor result")
                return TypeDirective(value)
        if text in self._operands:
            return OperandDirective(self._operands[text])
        if text in self._attributes:
            return AttributeDirective(self._attributes[text])
        if text in self._signature.regions:
            return RegionDirective(list(self._signature.regions).index(text))
        raise self.fail(f"'{text}' is neither operand nor attribute nor region")


def parse_format(signature: Signature, text: str) -> OperationFormat:
    """The format that `text` describes for an op with this signature.

    Raises:
      ValueError: the format is malformed, leaves a part of the op out, or repeats one. It is a
        mistake in the op's class, found when that is defined.
    """
    parser = _Parser(signature, text)
    elements = parser.parse()
    flat = list(flatten(elements))
    if sum(isinstance(element, AttributeDictionary) for element in flat) != 1:
        raise parser.fail("needs attr-dict once")
    if len(set(flat) - {e for e in flat if isinstance(e, Literal)}) != sum(
        not isinstance(element, Literal) for element in flat
    ):
        raise parser.fail("repeats an element")
    for operand in signature.operands:
        if OperandDirective(operand) not in flat:
            raise parser.fail(f"leaves out ${operand.name}")
    for value in (*signature.operands, *signature.results):
        if value.fixed_type is None and TypeDirective(value) not in flat:
            raise parser.fail(f"leaves out type(${value.name})")
    for index, region in enumerate(signature.regions):
        if RegionDirective(index) not in flat:
            raise parser.fail(f"leaves out ${region}")
    if sum(result.variadic for result in signature.results) > 1:
        raise parser.fail("several variadic results cannot be told apart")
    variadic = [operand for operand in signature.operands if operand.variadic]
    if len(variadic) > 1 and any(operand.slots > 1 for operand in variadic):
        raise parser.fail("a list of operands of any types can be the only list")
    for result in signature.results:
        if result.variadic and result.fixed_type is not None:
            raise parser.fail(f"cannot know how many results ${result.name} has")
    return OperationFormat(signature, tuple(elements))
