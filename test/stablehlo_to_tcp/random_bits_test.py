"""Random bits by Philox, held against the answers that its authors publish."""

import sys
from typing import Any

import numpy as np
import pytest

import plumbline

# Of a key of two words and a counter of four, low ones first, in hexadecimal: kat_vectors of
# Random123, philox4x32 of 10 rounds.
ANSWERS = [
    ("00000000 00000000", "00000000 " * 4, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff", "ffffffff " * 4, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        "a4093822 299f31d0",
        "243f6a88 85a308d3 13198a2e 03707344",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


def _words(text: str) -> np.ndarray[Any, Any]:
    return np.array([int(word, 16) for word in text.split()], np.uint32)


def _program(size: int, element: str) -> plumbline.CompiledProgram:
    """Draws so many numbers from a state of `size` elements."""
    state, drawn = f"tensor<{size}xui64>", f"tensor<3x3x{element}>"
    text = f"""
func.func @main(%s: {state}) -> ({state}, {drawn}) {{
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : ({state}) -> ({state}, {drawn})
  return %0, %1 : {state}, {drawn}
}}"""
    return plumbline.compile(plumbline.load_stablehlo(text), cache=False, opt_level=0)


def test_words_are_those_of_philox() -> None:
    program = _program(3, "ui32")
    for key, counter, expected in ANSWERS:
        state = np.concatenate([_words(key), _words(counter)]).view(np.uint64)
        after, drawn = program(state)
        np.testing.assert_array_equal(drawn.reshape(-1)[:4], _words(expected))
        # Three counters follow one another, with a carry from the low half.
        low, high = int(state[1]), int(state[2])
        total = low + (high << 64) + 3
        assert after.tolist() == [state[0], total % 2**64, total >> 64 & (2**64 - 1)]
        _, following = program(np.array([state[0], (low + 1) % 2**64, after[2]], np.uint64))
        np.testing.assert_array_equal(following.reshape(-1)[:5], drawn.reshape(-1)[4:])


def test_numbers_of_64_bits_are_two_words() -> None:
    state = np.array([5, 2**64 - 1, 7], np.uint64)
    _, words = _program(3, "ui32")(state)
    _, numbers = _program(3, "i64")(state)
    np.testing.assert_array_equal(numbers.reshape(-1)[:4].view(np.uint32), words.reshape(-1)[:8])


def test_a_state_of_two_has_the_key_for_half_of_the_counter() -> None:
    state = np.array([2**40 + 5, 2**64 - 2], np.uint64)
    after, drawn = _program(2, "ui32")(state)
    _, expected = _program(3, "ui32")(np.array([state[0], state[1], state[0]], np.uint64))
    np.testing.assert_array_equal(drawn, expected)
    assert after.tolist() == [state[0], 1]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
