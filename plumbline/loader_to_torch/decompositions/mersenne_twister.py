"""PyTorch's generator of random numbers on the CPU, as a value that a program computes with.

It is the Mersenne Twister (M. Matsumoto and T. Nishimura, "Mersenne Twister: A 623-Dimensionally
Equidistributed Uniform Pseudo-Random Number Generator", 1998), whose state is 624 words of 32 bits,
of which blocks of 624 numbers are made at a time. Between calls it lies in the 5056 bytes of
`torch.get_rng_state()`:

    from byte   what
    8           int32: how many numbers of the block are left, and one more
    16          int64: how many have been given; 0 of a generator that was only seeded
    24          624 int64: the words
    5024        float64: a normal number that has been made beside another, and not been given
    5040        int32: whether there is one

All other bytes stay as they are.
"""

import copy
from collections.abc import Callable, Sequence

import torch
from torch._higher_order_ops.scan import scan_op
from torch._higher_order_ops.while_loop import while_loop_op

STATE_BYTES = 5056
"""Of the state."""

_WORDS = 624
_AHEAD = 397
_UPPER, _LOWER = -(2**31), 2**31 - 1
_MATRIX = 0x9908B0DF - 2**32

_LEFT = slice(8, 12)
_NEXT = slice(16, 24)
_BLOCK = slice(24, 24 + 8 * _WORDS)
_NORMAL = slice(5024, 5032)
_HAS_NORMAL = slice(5040, 5044)

Count = int
"""How many there are: a number, or a `torch.SymInt`, which stands for one."""


class MersenneTwister:
    """A generator, whose state each draw replaces."""

    def __init__(self, state: torch.Tensor) -> None:
        """`state` is what `torch.get_rng_state()` returns."""
        self._bytes = state
        # The lower half of each number of 64 bits.
        self._words = state[_BLOCK].view(torch.int32)[::2]
        # 1 to 624: how many of the block have been given.
        self._position = _WORDS + 1 - state[_LEFT].view(torch.int32).to(torch.int64).reshape(())
        self._given: torch.Tensor | Count = 0
        self._normal: tuple[torch.Tensor, torch.Tensor] | None = None

    def words(self, count: Count, given: torch.Tensor | None = None) -> torch.Tensor:
        """The next `count` numbers of 32 bits, as int32.

        Of these, only the first `given` are taken, where that is not None; others come again.
        """
        if isinstance(count, int) and count == 0:
            return self._words[:0]
        blocks = (count + _WORDS - 1) // _WORDS
        stream = torch.cat([self._words, _blocks_after(self._words, blocks)])
        places = self._position + torch.arange(count)
        words = _tempered(stream.index_select(0, places))
        end = self._position + (count if given is None else given)
        block = torch.div(end - 1, _WORDS, rounding_mode="floor")
        self._words = stream.reshape(-1, _WORDS).index_select(0, block.reshape(1)).reshape(-1)
        self._position = end - block * _WORDS
        self._given = self._given + (count if given is None else given)
        return words

    def words_in_turn(
        self,
        most: int,
        goes_on: Callable[..., torch.Tensor],
        turn: Callable[..., Sequence[torch.Tensor]],
        carried: Sequence[torch.Tensor],
        captured: Sequence[torch.Tensor],
    ) -> list[torch.Tensor]:
        """Takes words one after another, as many as they themselves decide.

        Args:
          most: how many words a turn takes at most.
          goes_on: makes of what is carried whether there is another turn.
          turn: makes of words, the place of the next one in them, what is carried, and `captured`,
            the place after those that it takes, and what is carried then.
          carried: what is at first.
          captured: what no turn changes.

        Returns:
          What is carried at the end.
        """
        count = len(carried)
        # Whose annotations are of tuples of one.
        while_loop: Callable[..., Sequence[torch.Tensor]] = while_loop_op

        def goes_on_outside(*values: torch.Tensor) -> torch.Tensor:
            return goes_on(*values[3 : 3 + count])

        def turn_outside(
            block: torch.Tensor, position: torch.Tensor, given: torch.Tensor, *rest: torch.Tensor
        ) -> list[torch.Tensor]:
            stream = torch.cat([block, _twisted(block)])
            end, *after = while_loop(
                lambda place, *rest: goes_on(*rest[:count]) & (place <= 2 * _WORDS - most),
                lambda place, *rest: tuple(
                    turn(rest[count], place, *rest[:count], *rest[count + 1 :])
                ),
                (position, *rest[:count]),
                (_tempered(stream), *rest[count:]),
            )
            passed = torch.div(end - 1, _WORDS, rounding_mode="floor")
            block = stream.reshape(2, _WORDS).index_select(0, passed.reshape(1)).reshape(-1)
            return [block, end - passed * _WORDS, given + (end - position), *after]

        start = (self._words.clone(), self._position, torch.zeros((), dtype=torch.int64))
        self._words, self._position, given, *last = while_loop(
            goes_on_outside, turn_outside, (*start, *carried), tuple(captured)
        )
        self._given = self._given + given
        return last

    def copy(self) -> "MersenneTwister":
        """A generator that goes on from here by itself."""
        return copy.copy(self)

    def become_one_of(
        self, is_first: torch.Tensor, first: "MersenneTwister", second: "MersenneTwister"
    ) -> None:
        """Goes on as the first of two copies of one generator, or as the second."""
        normal = [
            torch.where(is_first, *each) for each in zip(first.normal, second.normal, strict=True)
        ]
        given = [
            each if isinstance(each, torch.Tensor) else torch.full((), each, dtype=torch.int64)
            for each in (first._given, second._given)
        ]
        self._words = torch.where(is_first, first._words, second._words)
        self._position = torch.where(is_first, first._position, second._position)
        self._given = torch.where(is_first, given[0], given[1])
        self._normal = normal[0], normal[1]

    @property
    def normal(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The normal number that is there already, in float64, and 1 if there is one, else 0."""
        if self._normal is None:
            number = self._bytes[_NORMAL].view(torch.float64).reshape(())
            is_there = self._bytes[_HAS_NORMAL].view(torch.int32).to(torch.int64)
            self._normal = number, is_there.reshape(())
        return self._normal

    @normal.setter
    def normal(self, normal: tuple[torch.Tensor, torch.Tensor]) -> None:
        self._normal = normal

    def state(self) -> torch.Tensor:
        """The state in bytes, as `torch.set_rng_state` takes it."""
        before = self._bytes
        given = self._given
        if not isinstance(given, torch.Tensor):
            given = torch.full((), given, dtype=torch.int64)
        next_ = torch.where(given == 0, before[_NEXT], _bytes_of_long(self._position))
        parts = [
            before[: _LEFT.start],
            _bytes((_WORDS + 1 - self._position).to(torch.int32)),
            before[_LEFT.stop : _NEXT.start],
            next_,
            _bytes_of_long(self._words),
        ]
        if self._normal is None:
            return torch.cat([*parts, before[_BLOCK.stop :]])
        number, is_there = self._normal
        return torch.cat(
            [
                *parts,
                before[_BLOCK.stop : _NORMAL.start],
                _bytes(number),
                before[_NORMAL.stop : _HAS_NORMAL.start],
                _bytes(is_there.to(torch.int32)),
                before[_HAS_NORMAL.stop :],
            ]
        )


def _bytes(numbers: torch.Tensor) -> torch.Tensor:
    return numbers.reshape(-1).view(torch.uint8)


def _bytes_of_long(numbers: torch.Tensor) -> torch.Tensor:
    """Those of numbers as int64, of which the upper half is 0."""
    low = numbers.reshape(-1).to(torch.int32)
    return torch.stack([low, torch.zeros_like(low)], -1).view(torch.uint8).reshape(-1)


def _blocks_after(words: torch.Tensor, count: Count) -> torch.Tensor:
    """The words of `count` blocks, one after another."""
    if isinstance(count, int) and count == 1:
        return _twisted(words)

    def turn(words: torch.Tensor, _: torch.Tensor) -> list[torch.Tensor]:
        after = _twisted(words)
        return [after, after.clone()]

    # Of a count that values decide on, PyTorch has to see that there is a turn.
    turns = torch.zeros(torch.sym_max(count, 1), dtype=torch.int32)  # type: ignore[no-untyped-call]
    blocks: torch.Tensor
    _, blocks = scan_op(turn, [words.clone()], [turns], ())
    return blocks.reshape(-1)


def _twisted(words: torch.Tensor) -> torch.Tensor:
    """The block after this one. Each third is made of words of this one and of the third before."""
    step = _WORDS - _AHEAD
    first = words[_AHEAD:] ^ _mixed(words[:step], words[1 : step + 1])
    second = first ^ _mixed(words[step : 2 * step], words[step + 1 : 2 * step + 1])
    rest = _WORDS - 2 * step
    following = torch.cat([words[2 * step + 1 :], first[:1]])
    return torch.cat([first, second, second[:rest] ^ _mixed(words[2 * step :], following)])


def _mixed(words: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
    both = (words & _UPPER) | (following & _LOWER)
    return _shifted_right(both, 1) ^ (-(following & 1) & _MATRIX)


def _tempered(words: torch.Tensor) -> torch.Tensor:
    words = words ^ _shifted_right(words, 11)
    words = words ^ ((words << 7) & (0x9D2C5680 - 2**32))
    words = words ^ ((words << 15) & (0xEFC60000 - 2**32))
    return words ^ _shifted_right(words, 18)


def _shifted_right(words: torch.Tensor, places: int) -> torch.Tensor:
    """Of int32, with zeros in front."""
    return (words >> places) & ((1 << (32 - places)) - 1)
