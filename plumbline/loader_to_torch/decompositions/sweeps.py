"""Sweeps by which tridiagonal and bidiagonal matrices become diagonal, in float64.

A sweep is a chain of rotations of neighbouring rows, by QR's iteration with an implicit shift
(Golub and Van Loan, Matrix Computations, 8.3.5 and 8.6.2; LAPACK's steqr and bdsqr). It goes over
all of a matrix: where an entry beside the diagonal is nothing, a block ends, and the next one
begins with a shift of its own. So all blocks of all matrices of a batch are swept together.

Some sweeps are made one after the other of the entries alone, and then all that they do to the rows
of vectors is done in one pass: what the first sweep is done with is what the second one turns.
"""

from collections.abc import Callable, Sequence

import torch
from torch._higher_order_ops.while_loop import while_loop_op
from torch.nn.functional import pad

from plumbline.loader_to_torch.decompositions.leading_rows import places, rows_more, some_rows
from plumbline.loader_to_torch.decompositions.loops import contiguous, looped

_Results = tuple[torch.Tensor, ...]

_F64 = torch.float64

_TOGETHER = 8
"""Sweeps before the rows are turned: as many rows are in the nearest cache, and in registers."""

_CHUNK = 64
"""Elements of rows that are turned before the next ones, for the same reason."""

_MOST_SWEEPS = 30
"""For each row, as LAPACK has it: what takes more never ends."""

_ROUNDING = 2.0**-53

# Squares of what is no less can be told from 0. All is relative to a greatest entry of about 1.
_NOTHING = 1e-140


def _rotation(
    first: torch.Tensor, second: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Cosine, not below 0, and sine of what turns (first, second) to (length, 0), and that."""
    square = first * first + second * second
    none = square < _NOTHING * _NOTHING
    scale = torch.rsqrt(torch.where(none, 1.0, square))
    scale = torch.where(first < 0, -scale, scale)
    cosine = torch.where(none, 1.0, first * scale)
    sine = torch.where(none, 0.0, second * scale)
    return cosine, sine, torch.where(none, first, square * scale)


def _swept(
    sweep: Callable[..., _Results], entries: Sequence[torch.Tensor], rows: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """Entries and rows after as many sweeps as it takes.

    Args:
      sweep: what entries become by one, and for each of the rows cosines and sines of it.
      entries: [n, ...]; when the last ones are 0 it is done.
      rows: [n, ..., m] each.
    """
    count = len(entries)

    def goes_on(step: torch.Tensor, *carried: torch.Tensor) -> torch.Tensor:
        is_there = (carried[count - 1] != 0).any()
        return is_there & (step < _MOST_SWEEPS * carried[0].shape[0])

    def some(step: torch.Tensor, *carried: torch.Tensor) -> _Results:
        before, turned = carried[:count], carried[count:]
        if not turned:
            return step + 1, *sweep(*before)[:count]
        results = looped(lambda _, *each: sweep(*each), [torch.arange(_TOGETHER)], before, [])
        turns = results[count:]
        after = (
            _turned_in_chunks(each, *turns[2 * number : 2 * number + 2])
            for number, each in enumerate(turned)
        )
        return step + _TOGETHER, *results[:count], *after

    chunks = [_chunks(each) for each in rows]
    start = (torch.zeros((), dtype=torch.int64), *map(contiguous, (*entries, *chunks)))
    _, *results = while_loop_op(goes_on, some, start, ())  # type: ignore[arg-type]
    joined = zip(results[count:], rows, strict=True)
    return [*results[:count], *(_joined(each, like.shape[-1]) for each, like in joined)]


def _chunks(rows: torch.Tensor) -> torch.Tensor:
    """Rows in parts [parts, n, ..., width], unless their length is not known."""
    length = rows.shape[-1]
    if not isinstance(length, int) or length <= _CHUNK:
        return rows.unsqueeze(0)
    rows = pad(rows, (0, -length % _CHUNK))
    return rows.reshape(*rows.shape[:-1], -1, _CHUNK).movedim(-2, 0)


def _joined(chunks: torch.Tensor, length: int) -> torch.Tensor:
    """The rows again."""
    if chunks.shape[0] == 1:
        return chunks.squeeze(0)
    return chunks.movedim(0, -2).flatten(-2)[..., :length]


def _turned_in_chunks(
    chunks: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor
) -> torch.Tensor:
    if chunks.shape[0] == 1:
        return _turned(chunks.squeeze(0), cosines, sines).unsqueeze(0)
    [turned] = looped(lambda *each: (_turned(*each),), [chunks], [], [cosines, sines])
    return turned


def _turned(rows: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    """Rows [n, ..., m] turned by all sweeps, of which there are cosines and sines [sweeps, n, ...].

    A row goes through all of them, each of which holds one back until the next one comes. Each of
    three shears that are a rotation takes what the one before it has made, so that they all are one
    kernel; they keep lengths as cosines are not below 0.
    """

    def turn(
        row: torch.Tensor, tangents: torch.Tensor, sines: torch.Tensor, *held: torch.Tensor
    ) -> _Results:
        kept = []
        for sweep, before in enumerate(held):
            tangent, sine = tangents[sweep].unsqueeze(-1), sines[sweep].unsqueeze(-1)
            sheared = before + tangent * row
            row = row - sine * sheared
            kept.append(row)
            row = sheared + tangent * row
        return (*kept, row)

    given = pad(rows, rows_more(rows, 0, _TOGETHER))
    held = [torch.zeros_like(rows[0])] * _TOGETHER
    turns = _delayed(sines / (1 + cosines)), _delayed(sines)
    *_, turned = looped(turn, [given, *turns], held, [])
    return some_rows(turned, _TOGETHER, rows.shape[0]).clone()


def _delayed(turns: torch.Tensor) -> torch.Tensor:
    """What sweeps do [sweeps, n, ...], each begun when the one before it gives a row.

    Returns:
      [n + sweeps, sweeps, ...], 0 before and after.
    """
    count, size = turns.shape[:2]
    # Of rows that are longer by one, each is one place further along.
    padded = pad(turns, (*[0, 0] * (turns.dim() - 2), 0, count + 1))
    skewed = padded.flatten(0, 1)[: count * (size + count)]
    return skewed.reshape(count, size + count, *turns.shape[2:]).transpose(0, 1)


def _settled(diagonal: torch.Tensor, beside: torch.Tensor) -> torch.Tensor:
    """What is beside the diagonal, and 0 where that is nothing."""
    following = pad(diagonal[1:], rows_more(diagonal, 0, 1))
    least = _ROUNDING * (diagonal.abs() + following.abs() + 1)
    # What is no number is of none, too, as no sweep makes it one.
    counts = (beside.abs() > least) & (places(diagonal) < diagonal.shape[0] - 1)
    return torch.where(counts, beside, 0.0)


def _chained(
    turn: Callable[..., _Results],
    diagonal: torch.Tensor,
    beside: torch.Tensor,
    told: Sequence[torch.Tensor],
    held: Sequence[torch.Tensor],
) -> list[torch.Tensor]:
    """Diagonal and what is beside it after a sweep, and the cosines and sines that `turn` tells.

    Args:
      turn: what the next row and what is held of the one before it become: what is held, cosines
        and sines, the diagonal of the row before, and what is beside that of the row before that.
      diagonal: [n, ...].
      beside: the same; what is 0 ends a block.
      told: what the first row of each block is to be told [n, ...].
      held: of nothing.
    """
    count = diagonal.shape[0]
    # A row more, with which the last block ends.
    rows = [pad(each, rows_more(each, 0, 1)) for each in (diagonal, *told)]
    before = pad(beside, rows_more(beside, 1, 0))
    *turns, values, others = looped(turn, [rows[0], before, *rows[1:]], held, [])[len(held) :]
    values = some_rows(values, 1, count).clone()
    others = some_rows(pad(others[2:], rows_more(others, 0, 1)), 0, count)
    return [
        values,
        _settled(values, others),
        *(some_rows(each, 0, count).clone() for each in turns),
    ]


# -- tridiagonal matrices --------------------------------------------------------------------------


def eigenvalues_of_tridiagonal(
    diagonal: torch.Tensor, beside: torch.Tensor, *rows: torch.Tensor
) -> list[torch.Tensor]:
    """The eigenvalues in any order, and rows turned as the matrix is.

    Args:
      diagonal: [n, ...], all entries of the matrix being 1 at most.
      beside: [n, ...], what is in the next row; the last one counts for nothing.
      rows: [n, ..., m] each.
    """

    def sweep(diagonal: torch.Tensor, beside: torch.Tensor) -> _Results:
        shifts = _shifts_of_eigenvalues(diagonal, beside)
        zero = torch.zeros_like(diagonal[0])
        held = [zero, zero, zero, zero, zero, zero > 0]
        return (*_chained(_turn_of_eigenvalues, diagonal, beside, [shifts], held),)

    start = [diagonal, _settled(diagonal, beside)]
    values, _, *turned = _swept(sweep, start, list(rows))
    return [values, *turned]


def _shifts_of_eigenvalues(diagonal: torch.Tensor, beside: torch.Tensor) -> torch.Tensor:
    """For each row the eigenvalue of the last two of its block that is next to the last entry."""
    above = pad(diagonal[:-1], rows_more(diagonal, 1, 0))
    shared = pad(beside[:-1], rows_more(beside, 1, 0))
    none = shared == 0
    ratio = (above - diagonal) / torch.where(none, 1.0, 2 * shared)
    size = ratio.abs() + torch.sqrt(1 + ratio * ratio)
    own = diagonal - torch.where(none, 0.0, shared / torch.where(ratio < 0, -size, size))

    def turn(own: torch.Tensor, beside: torch.Tensor, following: torch.Tensor) -> _Results:
        shift = torch.where(beside == 0, own, following)
        return shift, shift.clone()

    backwards = [own.flip(0), beside.flip(0)]
    _, shifts = looped(turn, backwards, [torch.zeros_like(diagonal[0])], [])
    return shifts.flip(0)


def _turn_of_eigenvalues(
    diagonal: torch.Tensor,
    beside: torch.Tensor,
    shift: torch.Tensor,
    bulge: torch.Tensor,
    sine: torch.Tensor,
    cosine: torch.Tensor,
    change: torch.Tensor,
    before: torch.Tensor,
    is_within: torch.Tensor,
) -> _Results:
    """As EISPACK's tql2 holds it, the other way around."""
    begins = beside == 0
    turned, kept = sine * beside, cosine * beside
    cosine, sine, length = _rotation(bulge, turned)
    base = before - change
    ratio = (diagonal - base) * sine + 2 * cosine * kept
    cosine, sine = torch.where(begins, 1.0, cosine), torch.where(begins, 0.0, sine)
    value = torch.where(begins, base, base + sine * ratio)
    other = torch.where(is_within, torch.where(begins, bulge, length), 0.0)
    return (
        torch.where(begins, diagonal - shift, cosine * ratio - kept),
        torch.where(begins, 1.0, sine),
        cosine.clone(),
        torch.where(begins, 0.0, sine * ratio),
        diagonal.clone(),
        ~begins,
        cosine,
        sine,
        value,
        other,
    )


# -- bidiagonal matrices ---------------------------------------------------------------------------


def singular_values_of_bidiagonal(
    diagonal: torch.Tensor, beside: torch.Tensor, *rows: torch.Tensor
) -> list[torch.Tensor]:
    """The singular values in any order, of any sign, and rows turned as the matrix is.

    Args:
      diagonal: [n, ...], all entries of the matrix being 1 at most.
      beside: [n, ...], what is right of it; the last one counts for nothing.
      rows: [n, ..., m] each: none, or what is turned from the right, and what from the left.
    """

    def sweep(diagonal: torch.Tensor, beside: torch.Tensor) -> _Results:
        told = _shifts_of_singular_values(diagonal, beside)
        zero = torch.zeros_like(diagonal[0])
        held = [zero, zero, zero, zero, zero > 0, zero > 0]
        return (*_chained(_turn_of_singular_values, diagonal, beside, told, held),)

    start = [diagonal, _settled(diagonal, beside)]
    values, _, *turned = _swept(sweep, start, list(rows))
    return [values, *turned]


def _shifts_of_singular_values(
    diagonal: torch.Tensor, beside: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """For each row the least singular value of the last two of its block, and if that is to be 0.

    That is where the block from there on has one that is nothing: with an entry of 0 on the
    diagonal, a sweep that has a shift ends there.
    """
    above = pad(diagonal[:-1], rows_more(diagonal, 1, 0)).abs()
    shared = pad(beside[:-1], rows_more(beside, 1, 0)).abs()
    own = diagonal.abs()
    greater, lesser = torch.maximum(above, own), torch.minimum(above, own)
    scale = torch.where(greater < _NOTHING, 1.0, greater)
    ratio, square = lesser / scale, (shared / scale) * (shared / scale)
    both = torch.sqrt((1 + ratio) * (1 + ratio) + square)
    both = both + torch.sqrt((1 - ratio) * (1 - ratio) + square)
    least = torch.where(greater < _NOTHING, 0.0, 2 * lesser / both)

    def turn(
        least: torch.Tensor,
        size: torch.Tensor,
        beside: torch.Tensor,
        shift: torch.Tensor,
        estimate: torch.Tensor,
        greatest: torch.Tensor,
        lowest: torch.Tensor,
    ) -> _Results:
        ends = beside == 0
        beside = beside.abs()
        shift = torch.where(ends, least, shift)
        # No singular value is below the least of these, but for a factor of the root of their
        # number (Demmel and Kahan, "Accurate singular values of bidiagonal matrices", 1990).
        total = estimate + beside
        estimate = size * torch.where(ends, 1.0, estimate / torch.where(total == 0, 1.0, total))
        greatest = torch.maximum(torch.where(ends, 0.0, torch.maximum(greatest, beside)), size)
        lowest = torch.where(ends, estimate, torch.minimum(lowest, estimate))
        is_none = lowest <= 8 * _ROUNDING * greatest
        return shift, estimate, greatest, lowest, shift.clone(), is_none

    zero = torch.zeros_like(own[0])
    backwards = [each.flip(0) for each in (least, own, beside)]
    *_, shifts, none = looped(turn, backwards, [zero, zero, zero, zero], [])
    return shifts.flip(0), none.flip(0)


def _turn_of_singular_values(
    diagonal: torch.Tensor,
    beside: torch.Tensor,
    shift: torch.Tensor,
    has_none: torch.Tensor,
    bulge: torch.Tensor,
    cosine: torch.Tensor,
    sine: torch.Tensor,
    before: torch.Tensor,
    is_within: torch.Tensor,
    is_zero: torch.Tensor,
) -> _Results:
    """As LAPACK's bdsqr has it, with a shift or (`is_zero`) without one.

    Of the row before it holds the diagonal, and how it was turned from the left. The bulge is
    beside the diagonal of the row before that; without a shift, the cosine from the right.
    """
    begins = beside == 0
    right = _rotation(
        torch.where(is_zero, before * bulge, bulge), torch.where(is_zero, beside, sine * beside)
    )
    kept = cosine * beside
    turned = right[1] * diagonal
    left = _rotation(
        torch.where(is_zero, cosine * right[2], right[0] * before + right[1] * kept), turned
    )
    rest, own = right[0] * kept - right[1] * before, right[0] * diagonal
    # What a block ends with.
    last = before * bulge
    value = torch.where(begins, torch.where(is_zero, last * cosine, before), left[2])
    with_shift = torch.where(begins, bulge, right[2])
    other = torch.where(is_zero, torch.where(begins, last, right[2]) * sine, with_shift)
    other = torch.where(is_within, other, 0.0)
    # What one begins with.
    size = diagonal.abs()
    sign = torch.where(diagonal < 0, -1.0, 1.0)
    small = size < _NOTHING
    first = (size - shift) * (sign + shift / torch.where(small, 1.0, diagonal))
    first = torch.where(has_none, 1.0, torch.where(small, 0.0, first))
    after = torch.where(is_zero, right[0], left[0] * rest + left[1] * own)
    changed = torch.where(is_zero, diagonal, left[0] * own - left[1] * rest)
    return (
        torch.where(begins, first, after),
        torch.where(begins, 1.0, left[0]),
        torch.where(begins, 1.0, left[1]),
        torch.where(begins, diagonal, changed),
        ~begins,
        torch.where(begins, has_none, is_zero),
        torch.where(begins, 1.0, right[0]),
        torch.where(begins, 0.0, right[1]),
        torch.where(begins, 1.0, left[0]),
        torch.where(begins, 0.0, left[1]),
        value,
        other,
    )
