"""The part of a product's result that stays in vector registers, by the CPU's vector unit."""

from collections.abc import Iterator
from dataclasses import dataclass

from plumbline.target.vector_unit import VectorUnit

_ROWS = {
    32: {4: 6, 3: 8, 2: 12, 1: 14},
    16: {3: 4, 2: 6, 1: 12},
    12: {2: 4, 1: 8},
    8: {3: 2, 2: 3, 1: 6},
    4: {2: 2, 4: 1, 1: 3},
}
"""By the number of registers: the most rows that tiles of some vectors may have.

What is left holds a row of the right operand and, unless the CPU multiplies by an element in
memory, one element of the left: with 32 registers 8x4 spills, and takes 1.4 times as long; 14x2
does not, and takes 1.2 times as long. With 16, 4x3 is up to a tenth faster than 6x2 (AMD Zen 5).
With 12, as browsers have them, products have registers of their own before they are added: 4x3 and
6x2 take 1.3 to 1.5 times as long there as 4x2 (V8 11.3 on AMD Zen 4). With 8, as Helium has them,
the left operand's elements are in registers of whole numbers: a ResNet-8 takes 0.57 of the
instructions that it takes with 6x1 alone, and a MobileNet with 2x3 0.8 of those without. With 4 are
the sums that a microcontroller has in registers of integers, beside which such hold all else.
"""

_MANY = 32
"""Registers of AVX-512."""

_ACROSS, _ODD_ACROSS = 2, 3
"""How many registers for matrices a tile has side by side, and how many columns make a row of."""

_ROWS_OF_WINDOWS = 7
"""The most rows whose places in the left operand stay in registers beside the counts of several
loops: 8x3 took 1.6 times as long as 7x3 there."""

_WIDEST_OF_SCATTERED = 2
"""The most vectors with 16 registers where summed elements of the left operand lie apart, as in an
image: of 4x3 none is left for the next turn's while this one's are waited for. A 1x1 convolution
from 256 to 1024 channels of 14x14 takes 0.73 of the time with 6x2, on a core whose other thread is
busy, too, 0.85; to linear layers 4x3 is worth a tenth (AMD Zen 3)."""

_TILES_ALIKE = 9
"""Up to how many tiles of rows a product has tiles of its own; larger ones share the kernel of one.
"""

_LATENCY = 4
"""How many cycles a CPU needs for a multiplication and addition, of which it begins two in each."""


@dataclass(frozen=True)
class RegisterTile:
    """Rows of some vectors of some lanes."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        """How many columns it has: the width of a panel."""
        return self.vectors * self.lanes


def register_tile(
    unit: VectorUnit,
    bits: int,
    rows: int | None,
    columns: int | None,
    *,
    are_windows: bool = False,
    are_scattered: bool = False,
    line: int | None = None,
    is_in_place: bool = False,
) -> RegisterTile:
    """The fastest tile for elements of that width that are summed in; None: size not known.

    `are_windows` says that summed elements count through the left operand by several strides,
    `are_scattered` that they do not lie side by side there, `line` how many rows are beside one
    another there, `is_in_place` that the right operand is not packed.
    """

    def cost(tile: RegisterTile) -> float:
        area = (1 if rows is not None else tile.rows) * (1 if columns is not None else tile.columns)
        return cycles(tile, rows, columns) / area

    # Of equals the first, which is the widest but for few registers; or the highest, by which the
    # right operand is gone over least often: of 12, 16 and 24 rows by 1024x1024 they take 0.84 to
    # 0.9 of the time (Intel Xeon with AMX).
    tiles = _tiles(unit, bits, rows, are_windows, are_scattered, line)
    if is_in_place and unit.registers >= _MANY:
        return min(tiles, key=lambda tile: (cost(tile), -tile.rows))
    return min(tiles, key=cost)


def amx_tile(rows: int | None, columns: int | None) -> RegisterTile:
    """The tile of registers for matrices, of which up to 4 hold sums: 2 x 2, or a row of few rows.

    Three across are a row as well: of 48 columns a fourth of two panels would be empty.
    """
    lanes = 16
    across = 4 if columns is None else -(-columns // lanes)
    is_row = across == _ODD_ACROSS or (rows is not None and rows <= lanes and across > _ACROSS)
    if is_row:
        return RegisterTile(lanes, min(across, 2 * _ACROSS), lanes)
    return RegisterTile(2 * lanes, min(across, _ACROSS), lanes)


def streaming_tile(unit: VectorUnit, bits: int, rows: int, columns: int | None) -> RegisterTile:
    """The tile for few rows, where what takes time is to bring the right operand from memory.

    It is as wide as registers allow, or as there are columns, if that is known: a long piece of
    each row of that operand is read at once.
    """
    lanes = unit.lanes(bits)
    vectors = unit.registers // (rows + 1)
    if columns is not None:
        vectors = min(vectors, -(-columns // lanes))
    return RegisterTile(rows, max(vectors, 1), lanes)


def _tiles(
    unit: VectorUnit,
    bits: int,
    rows: int | None,
    are_windows: bool,
    are_scattered: bool,
    line: int | None,
) -> Iterator[RegisterTile]:
    registers = max(count for count in _ROWS if count <= unit.registers)
    for vectors, most in _ROWS[registers].items():
        if are_scattered and registers == 16 and vectors > _WIDEST_OF_SCATTERED:
            continue
        heights = {min(most, _ROWS_OF_WINDOWS) if are_windows else most}
        if rows is not None and (tiles := max(-(-rows // most), 1)) <= _TILES_ALIKE:
            # As few tiles as there must be, alike, or one more, if these leave fewer rows empty.
            heights |= {-(-max(rows, 1) // count) for count in (tiles, tiles + 1)}
        for height in sorted(heights, reverse=True):
            yield RegisterTile(height, vectors, unit.lanes(bits))
        for height in range(_ROWS_OF_WINDOWS + 1, most + 1):
            tile = RegisterTile(height, vectors, unit.lanes(bits))
            if height // rows_in_line(tile, unit, rows, line) <= _ROWS_OF_WINDOWS:
                yield tile


def rows_in_line(tile: RegisterTile, unit: VectorUnit, rows: int | None, line: int | None) -> int:
    """How many rows of a tile have their places told by that of the first one of them.

    These lie one beside the other in the left operand, as `line` of all `rows` do, in each tile,
    from its first row on. LLVM then keeps the elements of one place of windows for the next place,
    for which there have to be registers: without them a tile of 4x3 took 1.5 times as long with 16,
    and one of 14x2 1.3 times with 32 (AMD Zen 5).
    """
    if line is None or rows is None:
        return 1
    if tile.rows * (tile.vectors + 1) + tile.vectors > unit.registers:
        return 1
    if line % tile.rows == 0:
        return tile.rows
    return line if tile.rows % line == 0 and rows % tile.rows == 0 else 1


def cycles(tile: RegisterTile, rows: int | None, columns: int | None) -> float:
    """How long one step along the summed elements takes for all tiles of a product, roughly.

    Of a size that is not known it is one tile.
    """
    down = 1 if rows is None else -(-rows // tile.rows)
    across = 1 if columns is None else -(-columns // tile.columns)
    # Elements of the left operand come from memory one in a cycle, vectors of the right one two,
    # roughly: where a step takes 6 cycles with 4x3, it is 5.0 to 5.4 with 5x2 (AMD Zen 3).
    loads = 0.87 * (tile.rows + tile.vectors / 2)
    return down * across * max(tile.rows * tile.vectors / 2, loads, _LATENCY)
