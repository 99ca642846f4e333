"""What the bits of floats of 8 bits mean: a sign, an exponent and a fraction, from the top.

Sources: Micikevicius et al., "FP8 formats for deep learning", 2022 (e4m3fn, e5m2); Noune et al.,
"8-bit numerical formats for deep neural networks", 2022 (their kin without a negative zero).
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Float8Format:
    """One of the formats, with denormal numbers, as all have them."""

    torch_name: str
    """The attribute of the `torch` module: "float8_e4m3fn"."""
    fraction: int
    """How many bits the fraction has; what is left beside it and the sign has the exponent."""
    bias: int
    """What the exponent is stored with in addition."""
    has_infinity: bool
    """Whether the greatest exponent is kept for infinity and NaN, as IEEE 754 does it."""
    negative_zero_is_nan: bool
    """Whether what would be -0 is the one NaN; else those of the greatest magnitudes are."""

    @property
    def first_not_finite(self) -> int:
        """The least magnitude, as bits, that no finite number has; 128 where all are finite."""
        if self.has_infinity:
            return 0x80 - (1 << self.fraction)
        return 0x80 if self.negative_zero_is_nan else 0x7F

    @property
    def nan(self) -> int:
        """The bits of the NaN that conversions give, but for its sign where it has one."""
        return 0x80 if self.negative_zero_is_nan else 0x7F

    @functools.cached_property
    def values(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The number that each of the 256 patterns of bits stands for."""
        bits = np.arange(256)
        magnitude = bits & 0x7F
        exponent = np.maximum(magnitude >> self.fraction, 1)
        hidden = (magnitude >> self.fraction > 0) << self.fraction
        significand = (magnitude & ((1 << self.fraction) - 1)) + hidden
        values: np.ndarray[Any, np.dtype[np.float32]] = np.ldexp(
            significand.astype(np.float32), exponent - self.bias - self.fraction
        )
        values[magnitude >= self.first_not_finite] = np.nan
        if self.has_infinity:
            values[magnitude == self.first_not_finite] = np.inf
        values[0x80:] = -values[:0x80]
        if self.negative_zero_is_nan:
            values[0x80] = np.nan
        return values


FLOAT8_FORMATS = (
    Float8Format("float8_e4m3fn", 3, 7, has_infinity=False, negative_zero_is_nan=False),
    Float8Format("float8_e5m2", 2, 15, has_infinity=True, negative_zero_is_nan=False),
    Float8Format("float8_e4m3fnuz", 3, 8, has_infinity=False, negative_zero_is_nan=True),
    Float8Format("float8_e5m2fnuz", 2, 16, has_infinity=False, negative_zero_is_nan=True),
)
