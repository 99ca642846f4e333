"""Spells the floating constants of LLVM IR so that older LLVM readers take them.

The MLIR bindings carry LLVM 24, which prints constants that LLVM 22 (llvmlite) refuses: decimals
that are not exact in binary (`float 1.000000e-01`), `+inf`, `-qnan`, `+nan(0x1)`, `+snan(0x1)`
and raw bits (`f0x3DCCCCCD`). All of these have an exact spelling that every LLVM reads:
hexadecimal digits of the bits, where `half` takes the prefix 0xH, `bfloat` 0xR, and `float` is
given as the bits of the double of the same value (LLVM Language Reference, "Simple Constants").
"""

import functools
import re
import struct
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class _Format:
    """A binary interchange format (IEEE 754-2019, 3.6; bfloat likewise)."""

    prefix: str
    exponent_bits: int
    fraction_bits: int

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def quiet_bit(self) -> int:
        return 1 << (self.fraction_bits - 1)

    @property
    def sign_bit(self) -> int:
        return 1 << (self.exponent_bits + self.fraction_bits)


_FORMATS = {
    "half": _Format("0xH", 5, 10),
    "bfloat": _Format("0xR", 8, 7),
    "float": _Format("0x", 8, 23),
    "double": _Format("0x", 11, 52),
}

# One alternative for each token that matters; the first two are there to be passed over. A
# constant follows its type, or, as the second operand of an instruction, its instruction's type.
_TOKEN = re.compile(
    r"""
      "[^"]*"                                                # string or quoted name, `\\22` in it
    | ;[^\n]*                                                # comment
    | (?P<type>(?<![\w.$%@!"-])(?:half|bfloat|float|double)\b)
    | (?P<bits>\bf0x[0-9A-Fa-f]+\b)
    | (?P<special>[+-](?:inf|qnan|s?nan\(0x[0-9A-Fa-f]+\)))
    | (?P<decimal>(?<![\w.$%@!"-])[+-]?[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?(?![\w.]))
    """,
    re.VERBOSE,
)

# What each such constant has, and little else: a search finds it in a tenth of the time.
_TRACE = re.compile(r"[0-9f+-](?:\.|0x|inf|qnan|s?nan\()")


def respell_float_constants(llvm_ir: str) -> str:
    """Rewrites as hexadecimal each floating constant of `llvm_ir` that older readers refuse.

    Decimals that are exact, such as `1.000000e+00`, are read by all, and stay.

    Raises:
      ValueError: a constant stands where no floating type precedes it in its line.
    """
    parts = []
    end = 0
    while trace := _TRACE.search(llvm_ir, end):
        start = llvm_ir.rfind("\n", end, trace.start()) + 1 or end
        parts.append(llvm_ir[end:start])
        end = llvm_ir.find("\n", trace.end())
        end = len(llvm_ir) if end == -1 else end
        parts.append(_respell_line(llvm_ir[start:end]))
    return "".join((*parts, llvm_ir[end:]))


def _respell_line(line: str) -> str:
    type_name = ""

    def respell(match: re.Match[str]) -> str:
        nonlocal type_name
        if match["type"]:
            type_name = match["type"]
        elif constant := match["bits"] or match["special"] or match["decimal"]:
            if not type_name:
                raise ValueError(f"floating constant {constant!r} has no floating type before it")
            return _respelled(constant, type_name)
        return match[0]

    return _TOKEN.sub(respell, line)


@functools.lru_cache(maxsize=4096)
def _respelled(constant: str, type_name: str) -> str:
    """A constant of a type, in a spelling that all read."""
    form = _FORMATS[type_name]
    if "." in constant and _is_exact(Fraction(constant), form):
        return constant
    return _spell(_bits(constant, form), type_name)


def _bits(text: str, form: _Format) -> int:
    if text.startswith("f0x"):
        return int(text.removeprefix("f0x"), 16)
    sign = form.sign_bit if text.startswith("-") else 0
    text = text.lstrip("+-")
    if "." in text:
        return sign | _round(Fraction(text), form)
    if text == "inf":
        return sign | form.infinity
    if text == "qnan":
        return sign | form.infinity | form.quiet_bit
    quiet = 0 if text.startswith("snan") else form.quiet_bit
    return sign | form.infinity | quiet | int(text[text.index("(") + 1 : -1], 16)


def _is_exact(value: Fraction, form: _Format) -> bool:
    """Whether `value` needs no rounding in `form`, leaving subnormal numbers aside."""
    denominator_bits = value.denominator.bit_length() - 1
    bias = (1 << (form.exponent_bits - 1)) - 1
    return (
        value.denominator == 1 << denominator_bits
        and denominator_bits < bias
        and abs(value.numerator).bit_length() <= form.fraction_bits + 1
    )


def _round(value: Fraction, form: _Format) -> int:
    """Rounds `value` >= 0 to the nearest number of `form`, ties to even, and gives its bits.

    Going through Python's double would round twice.
    """
    bias = (1 << (form.exponent_bits - 1)) - 1
    if value == 0:
        return 0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    # Subnormal numbers share the smallest normal exponent.
    exponent = max(exponent, 1 - bias)
    # `round` on a Fraction is exact and ties to even. A fraction that rounds up to the next
    # power of two carries into the exponent field, which is just what the encoding wants.
    significand = round(value / Fraction(2) ** (exponent - form.fraction_bits))
    bits = ((exponent + bias - 1) << form.fraction_bits) + significand
    return min(bits, form.infinity)


def _spell(bits: int, type_name: str) -> str:
    form = _FORMATS[type_name]
    if type_name == "float":
        return f"0x{_widen(bits):016X}"
    digits = (1 + form.exponent_bits + form.fraction_bits) // 4
    return f"{form.prefix}{bits:0{digits}X}"


def _widen(bits: int) -> int:
    """The bits of the double that equals the float of these bits, NaN payloads kept."""
    single, double = _FORMATS["float"], _FORMATS["double"]
    if bits & single.infinity == single.infinity:
        sign = double.sign_bit if bits & single.sign_bit else 0
        fraction = bits & ((1 << single.fraction_bits) - 1)
        return sign | double.infinity | fraction << (double.fraction_bits - single.fraction_bits)
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    (wide,) = struct.unpack("<Q", struct.pack("<d", value))
    return int(wide)
