"""Mutations of files: of their bytes, their tokens and their lines."""

import random
import re
from collections.abc import Callable, Sequence

_TOKEN = re.compile(r"\w+|\s+|[%@#!^][\w$.]+|.", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w%#^])-?\d+(?:x(?=[\d?a-z])|\b)")
_TYPE = re.compile(r"(?<=[<x ,(])(?:[su]?i\d+|f\d+|bf16|index)\b")
_VALUE = re.compile(r"%[\w.-]+")
_OPERATION = re.compile(r'(?<=[ "])(?:[a-z_]+\.)+[\w.]+')
_STRING = re.compile(r'"[^"\n]*"')
_ELEMENTS = re.compile(r"(?<=dense<)[^>\n]*(?=>)")
_BRACED = re.compile(r"\{[^{}\n]*\}|\[[^\[\]\n]*\]|<[^<>\n]*>|\([^()\n]*\)")

_NUMBERS = (
    *("0", "1", "-1", "2", "3", "7", "8", "63", "64", "65", "127", "128", "-129", "255", "256"),
    *("1000000", "3000000000", "4294967296", "-2147483648", "9223372036854775807"),
    *("-9223372036854775808", "18446744073709551615", "1" + "0" * 40, "1.0", "0x7F800000", "1e999"),
)
_SIZES = ("0", "1", "2", "5", "1000", "?", "4294967296", "9223372036854775807")
_TYPES = (
    *("i1", "i4", "i8", "i16", "i32", "i64", "i128", "si8", "ui8", "si64", "index", "f16", "bf16"),
    *("f32", "f64", "f80", "f128", "f8E4M3FN", "complex<f32>", "none", "vector<4xf32>"),
    *("tensor<2xf32>", "tensor<*xf32>", "memref<?xf32>", "!torch.int", "!torch.vtensor"),
    "!llvm.ptr",
)  # fmt: skip
_WORDS = (
    "dense_resource<x>",
    "dense<>",
    "array<i64>",
    "unit",
    "true",
    "loc(unknown)",
    "\0",
    "é",
    '"',
)


def _one(rng: random.Random, text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return rng.choice(found) if found else None


def _replaced(text: str, match: re.Match[str], replacement: str) -> str:
    return text[: match.start()] + replacement + text[match.end() :]


def _replace_one(
    pattern: re.Pattern[str], choices: Sequence[str]
) -> Callable[[random.Random, str, Sequence[str]], str]:
    def mutate(rng: random.Random, text: str, others: Sequence[str]) -> str:
        match = _one(rng, text, pattern)
        return _replaced(text, match, rng.choice(choices)) if match else text

    return mutate


def _change_number(rng: random.Random, text: str, others: Sequence[str]) -> str:
    match = _one(rng, text, _NUMBER)
    if match is None:
        return text
    is_size = match[0].endswith("x")
    new = rng.choice(_SIZES) + "x" if is_size else rng.choice(_NUMBERS)
    return _everywhere(rng, text, match, new)


def _change_type(rng: random.Random, text: str, others: Sequence[str]) -> str:
    match = _one(rng, text, _TYPE)
    return _everywhere(rng, text, match, rng.choice(_TYPES)) if match else text


def _everywhere(rng: random.Random, text: str, match: re.Match[str], new: str) -> str:
    """Half of the time all such words become the new one, so that types still agree."""
    if rng.random() < 0.5:
        return _replaced(text, match, new)
    return re.sub(rf"(?<![\w%]){re.escape(match[0])}", lambda _: new, text)


def _swap_value(rng: random.Random, text: str, others: Sequence[str]) -> str:
    match, other = _one(rng, text, _VALUE), _one(rng, text, _VALUE)
    return _replaced(text, match, other[0]) if match and other else text


def _swap_operation(rng: random.Random, text: str, others: Sequence[str]) -> str:
    match, other = _one(rng, text, _OPERATION), _one(rng, rng.choice(others), _OPERATION)
    return _replaced(text, match, other[0]) if match and other else text


def _change_braced(rng: random.Random, text: str, others: Sequence[str]) -> str:
    match, other = _one(rng, text, _BRACED), _one(rng, rng.choice([text, *others]), _BRACED)
    if match is None:
        return text
    choices = ["", match[0] * 2, match[0][0] + match[0][-1], other[0] if other else ""]
    deep = match[0][0] * 300 + match[0][1:-1] + match[0][-1] * 300
    return _replaced(text, match, rng.choice([*choices, deep] if rng.random() < 0.1 else choices))


def _change_token(rng: random.Random, text: str, others: Sequence[str]) -> str:
    match, other = _one(rng, text, _TOKEN), _one(rng, rng.choice([text, *others]), _TOKEN)
    if match is None or other is None:
        return text
    return _replaced(text, match, rng.choice(["", other[0], match[0] * 2, rng.choice(_WORDS)]))


def _change_lines(rng: random.Random, text: str, others: Sequence[str]) -> str:
    lines = text.split("\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[first]
        case 1:
            lines.insert(second, lines[first])
        case 2:
            lines[first], lines[second] = lines[second], lines[first]
        case 3:
            lines.insert(first, rng.choice(rng.choice(others).split("\n")))
        case _:
            del lines[min(first, second) : max(first, second)]
    return "\n".join(lines)


_TEXTUAL: tuple[Callable[[random.Random, str, Sequence[str]], str], ...] = (
    _change_number,
    _change_number,
    _change_type,
    _change_type,
    _swap_value,
    _swap_operation,
    _change_braced,
    _change_token,
    _change_lines,
    _replace_one(re.compile(r"\b(?:true|false)\b"), ("true", "false", "0", "unit")),
    _replace_one(_STRING, ('""', '"x"', '"\\00"', '"\\FF"', f'"{"a" * 5000}"')),
    _replace_one(_ELEMENTS, ("0", "1.0", "[]", '"0x00"', "[1, 2]", "[[1], [2]]", "true")),
)


def mutate_text(rng: random.Random, text: str, others: Sequence[str]) -> str:
    """`text` with one mutation or a few; `others` are texts to take parts from."""
    while True:
        text = rng.choice(_TEXTUAL)(rng, text, others)
        if rng.random() < 0.6:
            return text


def mutate_bytes(rng: random.Random, content: bytes) -> bytes:
    """`content` with one mutation of its bytes or a few."""
    changed = bytearray(content)
    while True:
        at = rng.randrange(len(changed) + 1)
        end = min(len(changed), at + rng.choice((1, 1, 2, 4, 8, 100)))
        match rng.randrange(6):
            case 0:
                changed[at:end] = bytes(rng.randrange(256) for _ in range(end - at))
            case 1:
                del changed[at:end]
            case 2:
                changed[at:at] = changed[at:end] or b"\0"
            case 3:
                changed[at:end] = rng.choice((b"\0", b"\xff", b"\x7f")) * (end - at)
            case 4 if at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            case _:
                if rng.random() < 0.2:
                    del changed[at:]
        if rng.random() < 0.5:
            return bytes(changed)
