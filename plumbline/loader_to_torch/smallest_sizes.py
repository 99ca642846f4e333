"""Finds out for which dynamic sizes the graph of a program is another program.

torch.export takes a dynamic size to be 2 or more as it works out what follows from it: whether a
dimension is broadcast, whether there is a first element, how many elements a diagonal has. It
allows 0 and 1 in calls nevertheless. And of what follows from a `Dim.AUTO` it may take sizes of the
example to be those of every call.
"""

from collections.abc import Collection, Container
from typing import Any

from torch.utils._sympy.value_ranges import ValueRanges

from plumbline.errors import UserError
from plumbline.loader_to_torch.followed_program import FollowedProgram

_LARGER = 13
"""How many times the sizes of the example a program is tried at."""


class SizesDoNotHold(UserError):
    """A program does not hold for larger sizes than those of its example."""

    def __init__(self, message: str, symbols: Collection[Any]) -> None:
        super().__init__(message)
        self.symbols = symbols
        """Of those sizes: the ones for which it holds at no other size, if each is tried alone."""


def exclude_sizes_that_do_not_hold(
    who: str,
    program: FollowedProgram,
    ranges: dict[Any, ValueRanges[Any]],
    names_of_dims: Container[str],
) -> None:
    """Sets the least size of symbols, in the `ranges` of a program that messages call `who`.

    That of symbols without a name, which PyTorch says to be 2 but does not check, may be less.

    Raises:
      SizesDoNotHold: the program does not hold for a size beyond that of the example.
    """
    if not ranges:
        return
    # All at once and as multiples, as the program may compare its sizes; with the same remainders
    # for small divisors (1, 2, 3, 4, 6, 12), as it may divide them.
    larger = {symbol: _LARGER * size for symbol, size in program.examples.items()}
    allowed = all(larger.get(symbol, 0) <= sizes.upper for symbol, sizes in ranges.items())
    if allowed and not program.holds_at(larger):
        alone = [symbol for symbol, size in larger.items() if not program.holds_at({symbol: size})]
        raise SizesDoNotHold(
            f"{who}: the program works where its dynamic sizes are as in the example inputs, but "
            f"not where they are {_LARGER} times that: PyTorch took a size that follows from them "
            "for a constant. Give example inputs of another size, or that dimension a "
            "torch.export.Dim with a name and bounds",
            alone or larger.keys(),
        )
    for symbol in ranges.keys() & program.examples.keys():
        least, example = ranges[symbol].lower, program.examples[symbol]
        if least == 2 and str(symbol) not in names_of_dims:
            least = 0
        # Those of one batch are 1 together, where one may not be less than another.
        alike = [other for other in program.examples if program.examples[other] == example]
        for size in (1, 0):
            if size < least:
                break
            tried = [{symbol: size}, *([dict.fromkeys(alike, size)] if alike[1:] else [])]
            if not any(map(program.holds_at, tried)):
                least = size + 1
        ranges[symbol] = ValueRanges(least, max(ranges[symbol].upper, least))
