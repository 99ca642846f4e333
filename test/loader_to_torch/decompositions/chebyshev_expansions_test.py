"""The coefficients of the expansions, computed anew from mpmath's functions."""

import sys
from collections.abc import Callable
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import pytest
import torch

from plumbline.loader_to_torch.decompositions import chebyshev_expansions as chebyshev
from plumbline.loader_to_torch.decompositions.chebyshev_expansions import Expansion

Number = Any
Function = Callable[[Number], Number]

_NODES = 64
_TINY = mp.mpf("1e-40")
_ASYMPTOTIC = 150
"""Series in the inverse of the argument are exact to 60 digits from here on."""


def _from_0(function: Function, least: Number = _TINY) -> Function:
    """The function, where it is taken at 0, as near to it as mpmath can."""
    return lambda t: function(max(t, least))


def _of_inverse(function: Callable[[Number], Number]) -> Function:
    """The function of x, over 1 / x, from 1e-5 on: from there to 0 it hardly changes."""
    return _from_0(lambda t: function(1 / t), mp.mpf("1e-5"))


def _of_square(function: Callable[[Number], Number]) -> Function:
    return _from_0(lambda t: function(mp.sqrt(t)))


def _hankel(order: int, part: int) -> Function:
    """P, or x Q, over (8 / x)^2."""

    def function(t: Number) -> Number:
        x = 8 / mp.sqrt(t)
        if x > _ASYMPTOTIC:
            terms = [mp.mpf(1)]
            for k in range(60):
                terms.append(terms[-1] * (4 * order**2 - (2 * k + 1) ** 2) / ((k + 1) * 8 * x))
            series = sum((-1) ** k * terms[2 * k + part] for k in range(30))
            return series * x if part else series
        phase = x - (mp.mpf(order) / 2 + mp.mpf(1) / 4) * mp.pi
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        root = mp.sqrt(mp.pi * x / 2)
        if part:
            return root * (y * mp.cos(phase) - j * mp.sin(phase)) * x
        return root * (j * mp.cos(phase) + y * mp.sin(phase))

    return function


def _airy_coefficients() -> list[Number]:
    found = [mp.mpf(1)]
    for k in range(1, 60):
        found.append(found[-1] * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1)))
    return found


def _airy_wave(part: int) -> Function:
    """P, or z Q, over 1 / z^2."""

    def function(t: Number) -> Number:
        z = 1 / mp.sqrt(t)
        if z > _ASYMPTOTIC:
            u = _airy_coefficients()
            series = sum((-1) ** k * u[2 * k + part] / z ** (2 * k + part) for k in range(28))
            return series * z if part else series
        x = (3 * z / 2) ** (mp.mpf(2) / 3)
        ai, bi = mp.airyai(-x), mp.airybi(-x)
        root, phase = mp.sqrt(mp.pi) * mp.sqrt(mp.sqrt(x)), z - mp.pi / 4
        if part:
            return root * (ai * mp.sin(phase) + bi * mp.cos(phase)) * z
        return root * (ai * mp.cos(phase) - bi * mp.sin(phase))

    return function


def _airy_right(t: Number) -> Number:
    z = 1 / t
    if z > _ASYMPTOTIC:
        return sum((-1) ** k * u / z**k for k, u in enumerate(_airy_coefficients()[:58]))
    x = (3 * z / 2) ** (mp.mpf(2) / 3)
    return mp.airyai(x) * 2 * mp.sqrt(mp.pi) * mp.sqrt(mp.sqrt(x)) * mp.exp(z)


def _erfcx(t: Number) -> Number:
    x = 4 / t - 4
    if x < 1e4:
        return mp.exp(x * x) * mp.erfc(x) / t
    series = sum(mp.fac2(2 * n - 1) / (-2 * x * x) ** n for n in range(6))
    return series / (x * mp.sqrt(mp.pi)) / t


def _erfinv_ratio(w: Number) -> Number:
    """The inverse error function of x over x, where w = -log(1 - x^2)."""
    if w == 0:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(1 - mp.exp(-w))
    rest = mp.exp(-w) / (1 + x)
    if rest > mp.mpf("1e-20"):
        return mp.erfinv(x) / x
    y = mp.sqrt(-mp.log(rest * mp.sqrt(mp.pi * w)))
    for _ in range(60):
        # Halley's step towards erfc(y) = 1 - x.
        newton = (mp.erfc(y) - rest) / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
        y += newton / (1 + y * newton)
    return y / x


def _y1_rest(x: Number) -> Number:
    singular = mp.log(x) * mp.besselj(1, x) - 1 / x
    return (mp.bessely(1, x) - 2 / mp.pi * singular) / x


def _lgamma_quotient(t: Number) -> Number:
    if t in (0, 1):
        return mp.euler if t == 0 else 1 - mp.euler
    return mp.loggamma(1 + t) / (t * (t - 1))


def _stirling_rest(t: Number) -> Number:
    x = 1 / mp.sqrt(t)
    if x > _ASYMPTOTIC:
        terms = (mp.bernoulli(n) / (n * (n - 1)) / x ** (n - 2) for n in range(2, 60, 2))
        return mp.fsum(terms)
    return x * (mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2))


FUNCTIONS: dict[str, Function] = {
    "AIRY_ABOVE_4": _airy_right,
    "AIRY_BELOW_4": mp.airyai,
    "AIRY_P": _airy_wave(0),
    "AIRY_Q": _airy_wave(1),
    "ERFCX": _erfcx,
    "ERFINV_ROOT_W_BELOW_28": lambda root: _erfinv_ratio(root * root),
    "ERFINV_ROOT_W_BELOW_6": lambda root: _erfinv_ratio(root * root),
    "ERFINV_W_BELOW_6": _erfinv_ratio,
    "I0E_ABOVE_8": _of_inverse(lambda x: mp.besseli(0, x) * mp.exp(-x) * mp.sqrt(x)),
    "I0E_BELOW_8": lambda x: mp.besseli(0, x) * mp.exp(-x),
    "I1E_ABOVE_8": _of_inverse(lambda x: mp.besseli(1, x) * mp.exp(-x) * mp.sqrt(x)),
    "I1E_BELOW_8": _from_0(lambda x: mp.besseli(1, x) * mp.exp(-x) / x),
    "J0_BELOW_8": _of_square(lambda x: mp.besselj(0, x)),
    "J1_BELOW_8": _of_square(lambda x: mp.besselj(1, x) / x),
    "K0E_ABOVE_2": _of_inverse(lambda x: mp.besselk(0, x) * mp.exp(x) * mp.sqrt(x)),
    "K0_BELOW_2": _of_square(lambda x: mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)),
    "K1E_ABOVE_2": _of_inverse(lambda x: mp.besselk(1, x) * mp.exp(x) * mp.sqrt(x)),
    "K1_BELOW_2": _of_square(lambda x: x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x))),
    "LGAMMA_BELOW_5_HALVES": _lgamma_quotient,
    "P0_ABOVE_8": _hankel(0, 0),
    "P1_ABOVE_8": _hankel(1, 0),
    "Q0_ABOVE_8": _hankel(0, 1),
    "Q1_ABOVE_8": _hankel(1, 1),
    "SIN_PI": _of_square(lambda x: mp.sin(mp.pi * x) / x),
    "STIRLING_ABOVE_5_HALVES": _stirling_rest,
    "Y0_BELOW_8": _of_square(lambda x: mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)),
    "Y1_BELOW_8": _of_square(_y1_rest),
}


def _coefficients(function: Function, low: float, high: float) -> list[Number]:
    """Those of all polynomials that as many nodes tell apart, by the sum at Chebyshev's nodes."""
    angles = [mp.pi * (k + mp.mpf(1) / 2) / _NODES for k in range(_NODES)]
    middle, half = (mp.mpf(low) + mp.mpf(high)) / 2, (mp.mpf(high) - mp.mpf(low)) / 2
    values = [function(middle + half * mp.cos(angle)) for angle in angles]
    sums = [
        mp.fsum(v * mp.cos(n * angle) for v, angle in zip(values, angles, strict=True))
        for n in range(_NODES)
    ]
    return [total * (1 if n == 0 else 2) / _NODES for n, total in enumerate(sums)]


def test_every_expansion_is_tested() -> None:
    defined = {name for name, value in vars(chebyshev).items() if isinstance(value, Expansion)}
    assert defined == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_coefficients(name: str) -> None:
    expansion: Expansion = getattr(chebyshev, name)
    with mp.workdps(60):
        found = _coefficients(FUNCTIONS[name], expansion.low, expansion.high)
        greatest = max(map(abs, found))
        kept = len(expansion.coefficients)
        differences = (abs(a - b) for a, b in zip(found, expansion.coefficients, strict=False))
        # Half a unit in the last place of each, and nothing left out that a double would show.
        assert max(differences) <= greatest * mp.mpf(2) ** -53
        assert max(map(abs, found[kept:])) < greatest * mp.mpf("2e-17")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_fewer_terms_stay_within_an_error(name: str) -> None:
    expansion: Expansion = getattr(chebyshev, name)
    x = torch.linspace(expansion.low, expansion.high, 1001, dtype=torch.float64)
    for error in (1e-6, 1e-12):
        difference = (expansion(x, error) - expansion(x)).abs().max()
        assert difference <= error + 1e-13


@pytest.mark.parametrize("name", FUNCTIONS)
def test_terms_lose_little(name: str) -> None:
    expansion: Expansion = getattr(chebyshev, name)
    x = torch.linspace(expansion.low, expansion.high, 101, dtype=torch.float64)
    half = (expansion.high - expansion.low) / 2
    with mp.workdps(60):
        exact = []
        for number in x.tolist():
            angle = mp.acos((number - mp.mpf(expansion.low)) / half - 1)
            terms = enumerate(expansion.coefficients)
            exact.append(mp.fsum(c * mp.cos(n * angle) for n, c in terms))
        pairs = zip(expansion(x).tolist(), exact, strict=True)
        greatest = max(map(abs, expansion.coefficients))
        assert max(abs(mine - value) for mine, value in pairs) <= 16 * greatest * mp.mpf(2) ** -53


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
