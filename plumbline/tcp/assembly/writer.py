"""Turns the generic form of TCP's ops, in text that MLIR printed, into their custom assembly.

All other text passes unchanged. An op that does not fit its format (what MLIR prints of an
invalid op may be anything) stays in generic form, which the reader takes just as well.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plumbline.tcp.assembly.format import (
    OPERAND_SEGMENTS,
    RESULT_SEGMENTS,
    AttributeDictionary,
    AttributeDirective,
    Element,
    Literal,
    OperandDirective,
    OperationFormat,
    OptionalGroup,
    RegionDirective,
    Signature,
    TypeDirective,
    ValueField,
    field_sizes,
    needs_segments,
)
from plumbline.tcp.assembly.lexer import AssemblyError, Kind, Tokens
from plumbline.tcp.assembly.syntax import closing, failure, items, type_end

_QUOTED_PREFIX = '"tcp.'
_ALIAS = re.compile(r"^(#\w+) = (affine_(?:map|set)<.*>)\n", re.MULTILINE)


def custom_enumeration(text: str) -> str:
    """`#tcp.signedness<"Signed">`, or the custom form itself, as `#tcp<signedness Signed>`."""
    name, separator, case = text.removeprefix("#tcp.").partition('<"')
    return "#tcp<{} {}>".format(name, case.removesuffix('">')) if separator else text


@dataclass(frozen=True)
class _PrintedOperation:
    """The parts of one op, as text, each operand and type with the field it belongs to."""

    operands: Mapping[str, Sequence[str]]
    types: Mapping[str, Sequence[str]]
    attributes: Mapping[str, str | None]
    """None is the value of a unit attribute."""
    regions: Sequence[str]


def _by_field(
    tokens: Tokens,
    token: int,
    fields: Sequence[ValueField],
    texts: Sequence[str],
    sizes: Sequence[int],
) -> dict[str, Sequence[str]]:
    """`texts` by the field they belong to, `sizes` of them to each."""
    if sum(sizes) != len(texts) or min(sizes, default=0) < 0:
        raise failure(tokens, token, "the number of values fits no format")
    groups: dict[str, Sequence[str]] = {}
    begin = 0
    for value, size in zip(fields, sizes, strict=True):
        if not value.variadic and size != 1:
            raise failure(tokens, token, "a value that is not variadic is missing")
        groups[value.name] = texts[begin : begin + size]
        begin += size
    return groups


class Writer:
    """One run over one text."""

    def __init__(self, tokens: Tokens, formats: Mapping[str, OperationFormat]) -> None:
        """`formats` are those of the dialect's ops, by name without the dialect's prefix."""
        self._tokens = tokens
        self._formats = formats
        self._aliases = dict(_ALIAS.findall(tokens.text))
        self._inlined: Counter[str] = Counter()

    def write(self) -> str:
        """The whole text with the dialect's ops in custom assembly."""
        text = self._convert(0, len(self._tokens), 0, len(self._tokens.text))
        return self._without_unused_aliases(text) if self._inlined else text

    def _without_unused_aliases(self, text: str) -> str:
        """The text without the aliases of which only the definition is left."""
        tokens = self._tokens
        uses = Counter(
            tokens.spelling(token)
            for token, kind in enumerate(tokens.kinds)
            if kind is Kind.SIGIL and tokens.spelling(token) in self._inlined
        )
        unused = {alias for alias, count in self._inlined.items() if uses[alias] == count + 1}
        return _ALIAS.sub(lambda found: "" if found[1] in unused else found[0], text)

    def _convert(self, token: int, end: int, begin: int, limit: int) -> str:
        """The text from offset `begin` to `limit`, of tokens `token` to `end`."""
        tokens = self._tokens
        pieces: list[str] = []
        copied = begin
        while token < end:
            kind = tokens.kinds[token]
            if kind is Kind.STRING and tokens.text.startswith(_QUOTED_PREFIX, tokens.starts[token]):
                form = self._formats.get(tokens.spelling(token)[len(_QUOTED_PREFIX) : -1])
                if form is not None and tokens.spelling(token + 1) == "(":
                    try:
                        text, after = self._operation(token, form)
                    except AssemblyError:
                        token += 1
                        continue
                    pieces += (tokens.text[copied : tokens.starts[token]], text)
                    token = after
                    copied = tokens.ends[token - 1]
                    continue
            elif kind is Kind.ENUMERATION:
                pieces += (
                    tokens.text[copied : tokens.starts[token]],
                    custom_enumeration(tokens.spelling(token)),
                )
                copied = tokens.ends[token]
            token += 1
        pieces.append(tokens.text[copied:limit])
        return "".join(pieces)

    # -- the generic form, read ----------------------------------------------------------------

    def _operation(self, name: int, form: OperationFormat) -> tuple[str, int]:
        """The custom form of the op whose quoted name is token `name`, and the next token.

        Raises:
          AssemblyError: the op does not fit the format.
        """
        tokens, signature = self._tokens, form.signature
        operands = [tokens.span(*item) for item in items(tokens, name + 1)]
        token = closing(tokens, name + 1) + 1

        regions: list[tuple[int, int]] = []
        if tokens.spelling(token) == "(":
            regions = list(items(tokens, token))
            token = closing(tokens, token) + 1
        if len(regions) != len(signature.regions):
            raise failure(tokens, token, "the number of regions fits no format")

        attributes: dict[str, str | None] = {}
        if tokens.spelling(token) == "{":
            attributes = dict(self._entry(*item) for item in items(tokens, token))
            token = closing(tokens, token) + 1

        operand_types, result_types, token = self._function_type(token)
        sizes = self._operand_sizes(name, signature, attributes, len(operands))
        result_sizes = field_sizes(signature.results, len(result_types))
        printed = _PrintedOperation(
            operands=_by_field(tokens, name, signature.operands, operands, sizes),
            types={
                **_by_field(tokens, name, signature.operands, operand_types, sizes),
                **_by_field(tokens, name, signature.results, result_types, result_sizes),
            },
            attributes=attributes,
            regions=[
                self._convert(begin, end, tokens.starts[begin], tokens.ends[end - 1])
                for begin, end in regions
            ],
        )
        for value in (*signature.operands, *signature.results):
            if value.fixed_type and set(printed.types[value.name]) - {value.fixed_type}:
                raise failure(tokens, name, "a type is not the one that the format implies")
        for attribute in signature.attributes:
            if not attribute.optional and attribute.name not in attributes:
                raise failure(tokens, name, "an attribute is missing")
        for attribute in signature.attributes:
            alias = attributes.get(attribute.name)
            if attribute.inline and alias is not None and alias in self._aliases:
                attributes[attribute.name] = self._aliases[alias]
                self._inlined[alias] += 1
        text = _Printer(tokens, name, form, printed).print()
        return tokens.spelling(name)[1:-1] + text, token

    def _entry(self, begin: int, end: int) -> tuple[str, str | None]:
        """The name and value of an attribute dictionary's entry."""
        name = self._tokens.spelling(begin)
        if end == begin + 1:
            return name, None
        return name, self._convert(
            begin + 2, end, self._tokens.starts[begin + 2], self._tokens.ends[end - 1]
        )

    def _function_type(self, token: int) -> tuple[list[str], list[str], int]:
        tokens = self._tokens
        if tokens.spelling(token) != ":" or tokens.spelling(token + 1) != "(":
            raise failure(tokens, token, "expected a function type")
        operands = [tokens.span(*item) for item in items(tokens, token + 1)]
        result = closing(tokens, token + 1) + 2
        if tokens.spelling(result) == "(":
            end = closing(tokens, result) + 1
            return operands, [tokens.span(*item) for item in items(tokens, result)], end
        end = type_end(tokens, result)
        return operands, [tokens.span(result, end)], end

    def _operand_sizes(
        self, name: int, signature: Signature, attributes: Mapping[str, str | None], count: int
    ) -> list[int]:
        if sum(operand.variadic for operand in signature.operands) < 2:
            return field_sizes(signature.operands, count)
        found = re.fullmatch(r"array<i32: ([\d, ]+)>", attributes.get(OPERAND_SEGMENTS) or "")
        sizes = [int(size) for size in found[1].split(",")] if found else []
        if len(sizes) != len(signature.operands):
            raise failure(self._tokens, name, f"{OPERAND_SEGMENTS} fits no format")
        return sizes


class _Printer:
    """Prints one op by its format, with the spaces that an ODS format would put."""

    def __init__(
        self,
        tokens: Tokens,
        name: int,
        form: OperationFormat,
        printed: _PrintedOperation,
    ) -> None:
        self._tokens = tokens
        self._name = name
        self._form = form
        self._printed = printed
        self._pieces: list[str] = []
        self._after_opening = False

    def print(self) -> str:
        for element in self._form.elements:
            self._element(element)
        return "".join(self._pieces)

    def _put(self, text: str, *, opening: bool = False, space: bool = True) -> None:
        if space and not self._after_opening:
            self._pieces.append(" ")
        self._pieces.append(text)
        self._after_opening = opening

    def _element(self, element: Element) -> None:
        printed = self._printed
        match element:
            case Literal(" "):
                self._put("", opening=True)
            case Literal(text):
                opening = text in ("(", "[", "{", "<")
                self._put(text, opening=opening, space=not opening and text not in ",)]}>")
            case OperandDirective(operand):
                self._list(printed.operands[operand.name])
            case TypeDirective(value):
                self._list(printed.types[value.name])
            case AttributeDirective():
                self._put(self._value(element))
            case RegionDirective(index):
                self._put(printed.regions[index])
            case AttributeDictionary(with_keyword):
                self._dictionary(with_keyword)
            case OptionalGroup(elements, anchor):
                if self._is_present(anchor):
                    for inner in elements:
                        self._element(inner)

    def _list(self, texts: Sequence[str]) -> None:
        if texts:
            self._put(", ".join(texts))

    def _is_present(self, anchor: OperandDirective | AttributeDirective | TypeDirective) -> bool:
        match anchor:
            case OperandDirective(value) | TypeDirective(value):
                return bool(self._printed.types[value.name])
            case AttributeDirective(attribute):
                return attribute.name in self._printed.attributes

    def _value(self, directive: AttributeDirective) -> str:
        attribute = directive.attribute
        text = self._printed.attributes[attribute.name] or "unit"
        if attribute.fixed_type is None:
            return text
        suffix = f" : {attribute.fixed_type}"
        if not text.endswith(suffix):
            raise failure(self._tokens, self._name, "an attribute has another type than implied")
        return text.removesuffix(suffix)

    def _dictionary(self, with_keyword: bool) -> None:
        signature = self._form.signature
        hidden = set(self._form.named_attributes)
        if needs_segments(signature.operands):
            hidden.add(OPERAND_SEGMENTS)
        if needs_segments(signature.results):
            hidden.add(RESULT_SEGMENTS)
        entries = [
            name if value is None else f"{name} = {value}"
            for name, value in self._printed.attributes.items()
            if name not in hidden
        ]
        if entries:
            self._put("attributes {" if with_keyword else "{", opening=True)
            self._put(", ".join(entries))
            self._put("}", space=False)
