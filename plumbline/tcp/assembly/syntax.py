"""Where types, attribute values and bracketed lists end in a run of tokens."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from plumbline.tcp.assembly.format import OperationFormat
from plumbline.tcp.assembly.lexer import AssemblyError, Kind, Tokens

PREFIX = "tcp."

_ATTRIBUTE_KINDS = (Kind.WORD, Kind.NUMBER, Kind.STRING, Kind.SIGIL, Kind.ENUMERATION)


def failure(tokens: Tokens, token: int, message: str) -> AssemblyError:
    """The error that `message` is, at a token."""
    return AssemblyError(tokens.starts[token], message)


def closing(tokens: Tokens, token: int) -> int:
    """The bracket that closes the one at `token`.

    Raises:
      AssemblyError: nothing closes it.
    """
    end = tokens.match[token]
    if end < 0:
        raise failure(tokens, token, f"'{tokens.spelling(token)}' is never closed")
    return end


def _may_start_type(tokens: Tokens, token: int) -> bool:
    """Whether a type can start at `token`; the start of another op, or `loc(...)`, cannot."""
    spelling = tokens.spelling(token)
    kind = tokens.kinds[token]
    if kind is Kind.WORD:
        # A word with a point in it names an op; a type of a dialect has its exclamation mark.
        return "." not in spelling and spelling != "loc"
    if kind is Kind.SIGIL:
        return spelling.startswith("!") and tokens.spelling(token + 1) != "="
    return spelling == "("


def type_end(tokens: Tokens, token: int) -> int:
    """The token after the type at `token`.

    Raises:
      AssemblyError: there is no type.
    """
    if not _may_start_type(tokens, token):
        raise failure(tokens, token, "expected type")
    if tokens.spelling(token) == "(":
        arrow = closing(tokens, token) + 1
        if tokens.spelling(arrow) != "->":
            raise failure(tokens, arrow, "expected '->' in function type")
        if tokens.spelling(arrow + 1) == "(":
            return closing(tokens, arrow + 1) + 1
        return type_end(tokens, arrow + 1)
    if tokens.spelling(token + 1) == "<":
        return closing(tokens, token + 1) + 1
    return token + 1


def attribute_end(tokens: Tokens, token: int) -> int:
    """The token after the attribute value at `token`, a type that may follow it left out.

    Raises:
      AssemblyError: there is no attribute value.
    """
    if tokens.spelling(token) == "-" and tokens.kinds[token + 1] is Kind.NUMBER:
        return token + 2
    if tokens.spelling(token) in ("[", "{"):
        return closing(tokens, token) + 1
    if tokens.kinds[token] not in _ATTRIBUTE_KINDS:
        raise failure(tokens, token, "expected attribute value")
    if tokens.spelling(token + 1) == "<":
        return closing(tokens, token + 1) + 1
    return token + 1


def items(tokens: Tokens, opening: int) -> Iterator[tuple[int, int]]:
    """The ranges of tokens between the commas of the bracketed list that `opening` opens.

    Raises:
      AssemblyError: nothing closes the list.
    """
    end = closing(tokens, opening)
    begin = token = opening + 1
    while token < end:
        if tokens.spelling(token) == ",":
            yield begin, token
            begin = token + 1
        token = max(token, tokens.match[token]) + 1
    if begin < end:
        yield begin, end


def operation_at(
    tokens: Tokens, token: int, formats: Mapping[str, OperationFormat]
) -> OperationFormat | None:
    """The format of the op of ours that is in generic form at `token`, if there is one."""
    if tokens.kinds[token] is not Kind.STRING or tokens.spelling(token + 1) != "(":
        return None
    # A location may have a name: loc("tcp.add"("model.py":7:0)), loc(fused["tcp.add"(...), ...]).
    if token > 0 and tokens.spelling(token - 1) in ("(", "[", ",", "at"):
        return None
    name = tokens.spelling(token)[1:-1]
    return formats.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None


@dataclass(frozen=True)
class GenericOperation:
    """The parts of an op in generic form, as ranges of tokens."""

    operands: list[tuple[int, int]]
    inputs_end: int
    """The token after the operands and successors."""
    properties: tuple[int, int] | None
    """The braces within `<{...}>`."""
    regions: list[tuple[int, int]]
    dictionary: tuple[int, int] | None
    """The braces of the attribute dictionary."""
    colon: int
    operand_types: list[tuple[int, int]]
    result_types: list[tuple[int, int]]
    end: int
    """The token after the op, a location that may follow left out."""


def generic_operation(tokens: Tokens, name: int) -> GenericOperation:
    """The parts of the op whose quoted name is token `name`.

    Raises:
      AssemblyError: it is not the generic form of an op.
    """
    operands = list(items(tokens, name + 1))
    token = closing(tokens, name + 1) + 1
    if tokens.spelling(token) == "[":
        token = closing(tokens, token) + 1
    inputs_end = token
    properties = None
    if tokens.spelling(token) == "<":
        properties = (token + 1, closing(tokens, token + 1))
        token = closing(tokens, token) + 1
    regions = []
    if tokens.spelling(token) == "(":
        regions = list(items(tokens, token))
        token = closing(tokens, token) + 1
    dictionary = None
    if tokens.spelling(token) == "{":
        dictionary = (token, closing(tokens, token))
        token = dictionary[1] + 1
    if tokens.spelling(token) != ":" or tokens.spelling(token + 1) != "(":
        raise failure(tokens, token, "expected function type")
    arrow = closing(tokens, token + 1) + 1
    if tokens.spelling(arrow) != "->":
        raise failure(tokens, arrow, "expected '->' in function type")
    result = arrow + 1
    if tokens.spelling(result) == "(":
        result_types = list(items(tokens, result))
    else:
        result_types = [(result, type_end(tokens, result))]
    return GenericOperation(
        operands=operands,
        inputs_end=inputs_end,
        properties=properties,
        regions=regions,
        dictionary=dictionary,
        colon=token,
        operand_types=list(items(tokens, token + 1)),
        result_types=result_types,
        end=type_end(tokens, token + 1),
    )


def _is_alias_definition(tokens: Tokens, token: int) -> bool:
    return (
        tokens.kinds[token] is Kind.SIGIL
        and tokens.spelling(token)[0] in "#!"
        and tokens.spelling(token + 1) == "="
    )


def _alias_definition_end(tokens: Tokens, token: int) -> int:
    end = attribute_end(tokens, token + 2)
    if tokens.spelling(end) == "(":  # loc(...), or the inputs of a function type
        end = closing(tokens, end) + 1
    if tokens.spelling(end) == ":":
        end = type_end(tokens, end + 1)
    return end


def top_level_operations(tokens: Tokens) -> tuple[int, int]:
    """The range of a file's ops: what is left without aliases and metadata before and after."""
    begin = 0
    while begin < len(tokens) and _is_alias_definition(tokens, begin):
        begin = _alias_definition_end(tokens, begin)
    end = begin
    while end < len(tokens) and not _is_alias_definition(tokens, end):
        if tokens.spelling(end) == "{-#":
            break
        end = max(end, tokens.match[end]) + 1
    return begin, end


def is_module(tokens: Tokens, begin: int, end: int) -> bool:
    """Whether the ops from token `begin` to `end` are one module."""
    name = tokens.spelling(begin)
    if name == '"builtin.module"':
        return True
    if name not in ("module", "builtin.module"):
        return False
    token = begin + 1
    if tokens.spelling(token).startswith("@"):
        token += 1
    if tokens.spelling(token) == "attributes":
        token = _after_brackets(tokens, token + 1)
    token = _after_brackets(tokens, token)
    if tokens.spelling(token) == "loc":
        token = _after_brackets(tokens, token + 1)
    return token >= end


def _after_brackets(tokens: Tokens, token: int) -> int:
    """The token after the one at `token`, and after the bracket that closes it if it opens one."""
    return min(max(token, tokens.match[token]) + 1, len(tokens))
