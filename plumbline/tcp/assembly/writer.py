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
    AttributeDictionary,
    AttributeDirective,
    AttributeField,
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
)
from plumbline.tcp.assembly.lexer import AssemblyError, Kind, Tokens
from plumbline.tcp.assembly.syntax import failure, generic_operation, items, operation_at

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
        self._aliases: dict[str, str] = dict(_ALIAS.findall(tokens.text))
        self._inlined: Counter[str] = Counter()

    def write(self) -> str:
        """The whole text with the dialect's ops in custom assembly."""
        text = self._convert(0, len(self._tokens), 0, len(self._tokens.text))
        return self._without_unused_aliases(text) if self._inlined else text

    def write_generic(self) -> str:
        """The text as it is, but without the attributes that the reader puts in by itself.

        Those say which values belong to which definition where the bindings have several of them
        for one field (`format.MAX_SLOTS`).
        """
        tokens = self._tokens
        edits: list[tuple[int, int, str]] = []
        for token in range(len(tokens)):
            form = operation_at(tokens, token, self._formats)
            if form is None or not form.signature.slot_attributes:
                continue
            dictionary = generic_operation(tokens, token).dictionary
            if dictionary is None:
                continue
            opening, closing = dictionary
            kept = [
                tokens.span(*entry)
                for entry in items(tokens, opening)
                if tokens.spelling(entry[0]) not in form.signature.slot_attributes
            ]
            # With the space before the dictionary, which goes if that does.
            replacement = f" {{{', '.join(kept)}}}" if kept else ""
            edits.append((tokens.ends[opening - 1], tokens.ends[closing], replacement))
        pieces: list[str] = []
        copied = 0
        for begin, end, replacement in sorted(edits):
            pieces += (tokens.text[copied:begin], replacement)
            copied = end
        pieces.append(tokens.text[copied:])
        return "".join(pieces)

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
            form = operation_at(tokens, token, self._formats)
            if form is not None:
                try:
                    text, after = self._operation(token, form)
                except AssemblyError:
                    token += 1
                    continue
                pieces += (tokens.text[copied : tokens.starts[token]], text)
                token = after
                copied = tokens.ends[token - 1]
                continue
            if tokens.kinds[token] is Kind.ENUMERATION:
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
        op = generic_operation(tokens, name)
        if len(op.regions) != len(signature.regions):
            raise failure(tokens, name, "the number of regions fits no format")
        attributes: dict[str, str | None] = {}
        if op.dictionary is not None:
            attributes = dict(self._entry(*item) for item in items(tokens, op.dictionary[0]))
        operands, operand_types, result_types = (
            [tokens.span(*item) for item in part]
            for part in (op.operands, op.operand_types, op.result_types)
        )
        sizes = self._operand_sizes(name, signature, attributes, len(operands))
        result_sizes = field_sizes(signature.results, len(result_types))
        types = {
            **_by_field(tokens, name, signature.operands, operand_types, sizes),
            **_by_field(tokens, name, signature.results, result_types, result_sizes),
        }
        for value in (*signature.operands, *signature.results):
            if value.fixed_type and set(types[value.name]) - {value.fixed_type}:
                raise failure(tokens, name, "a type is not the one that the format implies")
            if value.variadic and types[value.name] and types[value.name][0].startswith("()"):
                raise failure(tokens, name, "a function type would read as an empty list")
        for attribute in signature.attributes:
            if attribute.name in form.named_attributes:
                attributes[attribute.name] = self._named_value(name, attribute, attributes)
        printed = _PrintedOperation(
            operands=_by_field(tokens, name, signature.operands, operands, sizes),
            types=types,
            attributes=attributes,
            # Last, when nothing can fail any more: an op that fails is gone over once again.
            regions=[
                self._convert(begin, end, tokens.starts[begin], tokens.ends[end - 1])
                for begin, end in op.regions
            ],
        )
        return tokens.spelling(name)[1:-1] + _Printer(form, printed).print(), op.end

    def _named_value(
        self, name: int, attribute: AttributeField, attributes: Mapping[str, str | None]
    ) -> str:
        """The value of an attribute as a format that names it prints it."""
        text = attributes.get(attribute.name)
        if text is None:
            raise failure(self._tokens, name, "an attribute is missing")
        if attribute.inline and text in self._aliases:
            self._inlined[text] += 1
            return self._aliases[text]
        if attribute.fixed_type is None:
            return text
        suffix = f" : {attribute.fixed_type}"
        if not text.endswith(suffix):
            raise failure(self._tokens, name, "an attribute has another type than implied")
        return text.removesuffix(suffix)

    def _entry(self, begin: int, end: int) -> tuple[str, str | None]:
        """The name and value of an attribute dictionary's entry."""
        name = self._tokens.spelling(begin)
        if end == begin + 1:
            return name, None
        return name, self._convert(
            begin + 2, end, self._tokens.starts[begin + 2], self._tokens.ends[end - 1]
        )

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

    def __init__(self, form: OperationFormat, printed: _PrintedOperation) -> None:
        self._form = form
        self._printed = printed
        self._pieces: list[str] = []
        self._after_opening = False
        self._after_punctuation = False

    def print(self) -> str:
        for element in self._form.elements:
            self._element(element)
        return "".join(self._pieces)

    def _put(self, text: str, *, opening: bool = False, space: bool = True) -> None:
        if space and not self._after_opening:
            self._pieces.append(" ")
        self._pieces.append(text)
        self._after_opening = opening
        self._after_punctuation = False

    def _element(self, element: Element) -> None:
        printed = self._printed
        match element:
            case Literal(" "):
                self._put("", opening=True)
            case Literal(text):
                opening = text in ("(", "[", "{", "<")
                space = self._after_punctuation if opening else text not in ",)]}>"
                self._put(text, opening=opening, space=space)
                self._after_punctuation = not opening and not text.isidentifier()
            case OperandDirective(operand):
                self._list(printed.operands[operand.name])
            case TypeDirective(value):
                self._list(printed.types[value.name] or ["()"])
            case AttributeDirective(attribute):
                self._put(printed.attributes[attribute.name] or "")
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

    def _dictionary(self, with_keyword: bool) -> None:
        hidden = self._form.named_attributes | self._form.signature.segment_attributes
        entries = [
            name if value is None else f"{name} = {value}"
            for name, value in self._printed.attributes.items()
            if name not in hidden
        ]
        if entries:
            self._put("attributes {" if with_keyword else "{", opening=True)
            self._put(", ".join(entries))
            self._put("}", space=False)
