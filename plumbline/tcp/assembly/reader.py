"""Turns TCP's custom assembly into the generic form, which MLIR's own parser takes.

All other text passes unchanged. Every line of the result holds what the same line of the
source holds, so that the locations MLIR gives to ops name the user's lines, and a map takes
every place in the result back to its place in the source.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
    TypeDirective,
    ValueField,
    segment_sizes,
)
from plumbline.tcp.assembly.lexer import AssemblyError, Kind, Tokens
from plumbline.tcp.assembly.syntax import (
    PREFIX,
    attribute_end,
    closing,
    failure,
    generic_operation,
    is_module,
    items,
    operation_at,
    top_level_operations,
    type_end,
)


class GenericText:
    """Text in generic form and where in the source each part of it comes from."""

    def __init__(self, source: Tokens) -> None:
        self.source = source
        self._pieces: list[str] = []
        self._length = 0
        self._lines = 0
        # Parallel, ascending: where a piece starts here, where in the source, and whether it
        # was copied (else all of it stands for one place in the source).
        self._starts: list[int] = []
        self._origins: list[int] = []
        self._copied: list[bool] = []

    def _append(self, text: str, origin: int, *, copied: bool) -> None:
        self._starts.append(self._length)
        self._origins.append(origin)
        self._copied.append(copied)
        self._pieces.append(text)
        self._length += len(text)

    def write(self, text: str, origin: int) -> None:
        """Appends text of our own that stands for the place `origin` in the source."""
        self._append(text, origin, copied=False)

    def copy(self, begin: int, end: int) -> None:
        """Appends the source's text from offset `begin` to `end`, line breaks included."""
        if begin < end:
            text = self.source.text[begin:end]
            self._lines += text.count("\n")
            self._append(text, begin, copied=True)

    def copy_flat(self, begin: int, end: int) -> None:
        """Appends tokens `begin` to `end` on one line, comments between them left out.

        Attributes and types move to other places within an op, and must not take line breaks
        with them.
        """
        source = self.source
        if begin == end:
            return
        text = source.span(begin, end)
        if "\n" not in text and "#tcp" not in text:
            self._append(text, source.starts[begin], copied=True)
            return
        for index in range(begin, end):
            if index > begin and source.starts[index] > source.ends[index - 1]:
                self.write(" ", source.ends[index - 1])
            if source.kinds[index] is Kind.ENUMERATION:
                self.write(generic_enumeration(source.spelling(index)), source.starts[index])
            else:
                self._append(source.spelling(index), source.starts[index], copied=True)

    def align(self, offset: int) -> None:
        """Breaks lines until the next text stands on the line that `offset` has in the source."""
        missing = self.source.line(offset) - self._lines
        if missing > 0:
            self.write("\n" * missing, offset)
            self._lines += missing

    def origin(self, line: int, column: int) -> int:
        """The offset in the source of a place in this text, as MLIR counts: from 1, in bytes."""
        lines = str(self).split("\n")
        before, at = lines[: line - 1], lines[line - 1]
        characters = len(at.encode()[: column - 1].decode(errors="ignore"))
        offset = sum(map(len, before)) + len(before) + characters
        piece = bisect_right(self._starts, offset) - 1
        if piece < 0:
            return 0
        if self._copied[piece]:
            return self._origins[piece] + offset - self._starts[piece]
        return self._origins[piece]

    def __str__(self) -> str:
        return "".join(self._pieces)


def generic_enumeration(text: str) -> str:
    """`#tcp<signedness Signed>`, or the generic form itself, as `#tcp.signedness<"Signed">`."""
    if not text.startswith("#tcp<"):
        return text
    name, case = text.removeprefix("#tcp<").removesuffix(">").split()
    return f'#tcp.{name}<"{case}">'


@dataclass
class _ParsedOperation:
    """The parts of one op, as ranges of tokens."""

    operands: dict[str, list[int]] = field(default_factory=dict)
    types: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    attributes: dict[str, tuple[int, int]] = field(default_factory=dict)
    regions: dict[int, tuple[int, int]] = field(default_factory=dict)
    dictionary: tuple[int, int] | None = None
    """The braces of the attribute dictionary."""


def _segments(origin: int, fields: Sequence[ValueField], types: Sequence[Sequence[str]]) -> str:
    """The attribute that says which of the values belong to which definition.

    Raises:
      AssemblyError: at the offset `origin`, that there are too many of them.
    """
    try:
        sizes = segment_sizes(fields, types)
    except ValueError as error:
        raise AssemblyError(origin, str(error)) from None
    return f"array<i32: {', '.join(map(str, sizes))}>"


class Reader:
    """One run over one text."""

    def __init__(self, tokens: Tokens, formats: Mapping[str, OperationFormat]) -> None:
        """`formats` are those of the dialect's ops, by name without the dialect's prefix."""
        self._tokens = tokens
        self._formats = formats
        self._output = GenericText(tokens)

    def read(self, *, implicit_module: bool = True) -> GenericText:
        """The whole text in generic form; with `implicit_module` in a module if it is none yet.

        Raises:
          AssemblyError: an op of the dialect does not follow its format.
        """
        tokens, output = self._tokens, self._output
        begin, end = top_level_operations(tokens)
        wrap = implicit_module and not is_module(tokens, begin, end)
        body_begin = tokens.starts[begin]
        body_end = tokens.ends[end - 1] if begin < end else body_begin
        # Right after what comes before: a line or more above the body as a rule, so that the
        # columns there stay as they are.
        header = tokens.ends[begin - 1] if begin else 0
        self._pass(0, begin, 0, header)
        if wrap:
            output.write("module {", body_begin)
        self._pass(begin, end, header, body_end)
        if wrap:
            output.write("}", body_end)
        self._pass(end, len(tokens), body_end, len(tokens.text))
        return output

    def _pass(self, token: int, end: int, begin: int, limit: int) -> None:
        """Copies the source from offset `begin` to `limit`, tokens `token` to `end`, ops read."""
        tokens = self._tokens
        copied = begin
        while token < end:
            kind = tokens.kinds[token]
            if kind is Kind.WORD and tokens.text.startswith(PREFIX, tokens.starts[token]):
                form = self._formats.get(tokens.spelling(token).removeprefix(PREFIX))
                if form is not None and self._starts_operation(token, form):
                    self._output.copy(copied, tokens.starts[token])
                    token = self._operation(token, form)
                    copied = tokens.ends[token - 1]
                    continue
            elif (form := operation_at(tokens, token, self._formats)) is not None:
                self._output.copy(copied, tokens.starts[token])
                token = self._generic_operation(token, form)
                copied = tokens.ends[token - 1]
                continue
            elif kind is Kind.ENUMERATION:
                self._output.copy(copied, tokens.starts[token])
                copied = tokens.ends[token]
                self._output.copy_flat(token, token + 1)
            token += 1
        self._output.copy(copied, limit)

    def _starts_operation(self, token: int, form: OperationFormat) -> bool:
        """Whether the op's name at `token` names an op there, not an attribute of that name."""
        tokens = self._tokens
        before, after = tokens.spelling(token - 1), tokens.spelling(token + 1)
        if before == "=":
            return tokens.kinds[token - 2] in (Kind.VALUE, Kind.NUMBER)
        if before == "{" and after == "}":
            return form.may_be_empty
        return not (before in ("{", ",", "(", "<") and after in ("=", ",", "}", ")", ">"))

    # -- one op --------------------------------------------------------------------------------

    def _operation(self, name: int, form: OperationFormat) -> int:
        """Reads the op whose name is token `name`, writes it, and returns the next token."""
        parsed = _ParsedOperation()
        end = self._elements(form.elements, name + 1, parsed)
        self._write(name, form, parsed)
        self._output.align(self._tokens.ends[end - 1])
        return end

    def _elements(self, elements: Sequence[Element], token: int, parsed: _ParsedOperation) -> int:
        for element in elements:
            token = self._element(element, token, parsed)
        return token

    def _element(self, element: Element, token: int, parsed: _ParsedOperation) -> int:
        tokens = self._tokens
        match element:
            case Literal(text):
                if text == " ":
                    return token
                if tokens.spelling(token) != text:
                    raise failure(tokens, token, f"expected '{text}'")
                return token + 1
            case OperandDirective(operand):
                parsed.operands[operand.name], token = self._operands(operand, token)
                return token
            case TypeDirective(value):
                parsed.types[value.name], token = self._types(value, token)
                return token
            case AttributeDirective(attribute):
                end = attribute_end(tokens, token)
                parsed.attributes[attribute.name] = (token, end)
                return end
            case RegionDirective(index):
                if tokens.spelling(token) != "{":
                    raise failure(tokens, token, "expected '{' to begin a region")
                parsed.regions[index] = (token, closing(tokens, token))
                return parsed.regions[index][1] + 1
            case AttributeDictionary(with_keyword):
                if with_keyword:
                    if tokens.spelling(token) != "attributes":
                        return token
                    token += 1
                    if tokens.spelling(token) != "{":
                        raise failure(tokens, token, "expected '{' in attribute dictionary")
                elif tokens.spelling(token) != "{":
                    return token
                parsed.dictionary = (token, closing(tokens, token))
                return parsed.dictionary[1] + 1
            case OptionalGroup(inner, _):
                first = inner[0]
                assert isinstance(first, Literal)
                if tokens.spelling(token) != first.text:
                    return token
                return self._elements(inner, token, parsed)

    def _operands(self, operand: ValueField, token: int) -> tuple[list[int], int]:
        tokens = self._tokens
        found: list[int] = []
        if operand.variadic and tokens.kinds[token] is not Kind.VALUE:
            return found, token
        while True:
            if tokens.kinds[token] is not Kind.VALUE:
                raise failure(tokens, token, "expected SSA operand")
            found.append(token)
            token += 1
            if not operand.variadic or tokens.spelling(token) != ",":
                return found, token
            token += 1

    def _types(self, value: ValueField, token: int) -> tuple[list[tuple[int, int]], int]:
        tokens = self._tokens
        found: list[tuple[int, int]] = []
        if value.variadic and (tokens.spelling(token), tokens.spelling(token + 1)) == ("(", ")"):
            return found, token + 2
        while True:
            end = type_end(tokens, token)
            found.append((token, end))
            token = end
            if not value.variadic or tokens.spelling(token) != ",":
                return found, token
            token += 1

    def _generic_operation(self, name: int, form: OperationFormat) -> int:
        """Copies the op in generic form whose quoted name is token `name`; returns the next token.

        Properties become attributes (ops that are defined at run time have none), and attributes
        that follow from the rest need not be there.
        """
        tokens, output = self._tokens, self._output
        op = generic_operation(tokens, name)
        output.copy(tokens.starts[name], tokens.ends[op.inputs_end - 1])
        for index, (begin, end) in enumerate(op.regions):
            output.write(", " if index else " (", tokens.starts[begin])
            output.align(tokens.starts[begin])
            self._pass(begin, end, tokens.starts[begin], tokens.ends[end - 1])
        if op.regions:
            output.write(")", tokens.ends[op.regions[-1][1] - 1])

        braces = [part for part in (op.properties, op.dictionary) if part is not None]
        entries = [entry for opening, _ in braces for entry in items(tokens, opening)]
        origin = tokens.starts[name]
        separator = " {"
        for begin, end in entries:
            output.write(separator, origin)
            output.copy_flat(begin, end)
            separator = ", "
        given = {tokens.spelling(begin) for begin, _ in entries}
        signature = form.signature
        for attribute, fields, types in (
            (OPERAND_SEGMENTS, signature.operands, op.operand_types),
            (RESULT_SEGMENTS, signature.results, op.result_types),
        ):
            if attribute in signature.slot_attributes - given:
                spelled = [[tokens.span(*type_) for type_ in types]]
                output.write(
                    f"{separator}{attribute} = {_segments(origin, fields, spelled)}", origin
                )
                separator = ", "
        if separator == ", ":
            output.write("}", origin)
        output.write(" ", tokens.starts[op.colon])
        output.copy_flat(op.colon, op.end)
        output.align(tokens.ends[op.end - 1])
        return op.end

    # -- its generic form ----------------------------------------------------------------------

    def _write(self, name: int, form: OperationFormat, parsed: _ParsedOperation) -> None:
        tokens, output = self._tokens, self._output
        origin = tokens.starts[name]
        signature = form.signature
        output.write(f'"{tokens.spelling(name)}"(', origin)
        operands = [parsed.operands.get(operand.name, []) for operand in signature.operands]
        for operand, group in zip(signature.operands, operands, strict=True):
            types = parsed.types.get(operand.name, [])
            if operand.fixed_type is None and len(types) != len(group):
                raise AssemblyError(
                    origin,
                    "number of operands and types do not match: "
                    f"got {len(group)} operands and {len(types)} types",
                )
        for index, token in enumerate(token for group in operands for token in group):
            if index:
                output.write(", ", origin)
            output.copy_flat(token, token + 1)
        output.write(")", origin)

        if signature.regions:
            output.write(" (", origin)
            for index in range(len(signature.regions)):
                begin, end = parsed.regions[index]
                if index:
                    output.write(", ", origin)
                output.align(tokens.starts[begin])
                self._pass(begin, end + 1, tokens.starts[begin], tokens.ends[end])
            output.write(")", origin)

        self._write_attributes(origin, form, parsed)

        output.write(" : (", origin)
        self._write_types(origin, signature.operands, parsed)
        output.write(") -> (", origin)
        self._write_types(origin, signature.results, parsed)
        output.write(")", origin)

    def _write_attributes(
        self, origin: int, form: OperationFormat, parsed: _ParsedOperation
    ) -> None:
        output = self._output
        separator = " {"
        end = origin
        if parsed.dictionary is not None and parsed.dictionary[1] > parsed.dictionary[0] + 1:
            opening, closing_brace = parsed.dictionary
            end = self._tokens.starts[closing_brace]
            output.write(separator, self._tokens.starts[opening])
            output.copy_flat(opening + 1, closing_brace)
            separator = ", "
        for attribute in form.signature.attributes:
            if attribute.name in parsed.attributes:
                output.write(f"{separator}{attribute.name} = ", origin)
                output.copy_flat(*parsed.attributes[attribute.name])
                if attribute.fixed_type is not None:
                    output.write(f" : {attribute.fixed_type}", origin)
                separator = ", "
        signature = form.signature
        for name, fields in (
            (OPERAND_SEGMENTS, signature.operands),
            (RESULT_SEGMENTS, signature.results),
        ):
            if name in signature.segment_attributes:
                types = [self._spelled_types(field, parsed) for field in fields]
                output.write(f"{separator}{name} = {_segments(origin, fields, types)}", origin)
                separator = ", "
        if separator == ", ":
            output.write("}", end)

    def _spelled_types(self, value: ValueField, parsed: _ParsedOperation) -> list[str]:
        """The types of a field's values, without their own text where that is known."""
        if value.fixed_type is not None and value.name not in parsed.types:
            return [value.fixed_type] * len(parsed.operands[value.name])
        return [self._tokens.span(*type_) for type_ in parsed.types.get(value.name, [])]

    def _write_types(
        self, origin: int, values: Sequence[ValueField], parsed: _ParsedOperation
    ) -> None:
        output = self._output
        separator = ""
        for value in values:
            if value.name in parsed.types:
                for begin, end in parsed.types[value.name]:
                    output.write(separator, origin)
                    output.copy_flat(begin, end)
                    separator = ", "
            elif value.fixed_type is not None:
                count = len(parsed.operands.get(value.name, [])) if value.variadic else 1
                for _ in range(count):
                    output.write(f"{separator}{value.fixed_type}", origin)
                    separator = ", "
