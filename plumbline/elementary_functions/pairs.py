"""Numbers of twice the precision: as sums of two floats that are not added up.

(Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik
18, 1971.) Without fused operations, as not every target has them.
"""

from dataclasses import dataclass

from plumbline.elementary_functions.arithmetic import Float


@dataclass(frozen=True, eq=False)
class Pair:
    """The sum of a float and one that is of the size of its last bit or less."""

    high: Float
    low: Float

    def __mul__(self, other: "Pair") -> "Pair":
        exact = exact_product(self.high, other.high)
        return sum_of(exact.high, exact.low + (self.high * other.low + self.low * other.high))

    def __add__(self, other: "Pair") -> "Pair":
        """The sum with what is not greater, or of which this is 0."""
        exact = sum_of(self.high, other.high)
        return sum_of(exact.high, exact.low + (self.low + other.low))


def constant_pair(like: Float, high: float, low: float) -> Pair:
    """A number of which both parts are known."""
    return Pair(like.constant(high), like.constant(low))


def sum_of(greater: Float, lesser: Float) -> Pair:
    """The exact sum of two floats, of which the first is 0 or not less than the second."""
    total = greater + lesser
    return Pair(total, lesser - (total - greater))


def exact_product(left: Float, right: Float) -> Pair:
    """The exact product of two floats, where it is neither subnormal nor infinite."""
    # Were it fused with the difference below, that would be another number.
    rounded = left.rounded_product(right)
    (left_high, left_low), (right_high, right_low) = map(halves, (left, right))
    across = left_high * right_low + left_low * right_high
    return Pair(rounded, ((left_high * right_high - rounded) + across) + left_low * right_low)


def halves(x: Float) -> tuple[Float, Float]:
    """Two numbers of half as many bits, whose sum it is."""
    high = (x.as_int() & (-1 << ((x.fraction_bits + 1) // 2 + 1))).as_float()
    return high, x - high
