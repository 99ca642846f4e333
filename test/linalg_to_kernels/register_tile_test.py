"""Checks that tiles fit the registers, and their sizes the result."""

import sys

import pytest

from plumbline.linalg_to_kernels.register_tile import (
    RegisterTile,
    register_tile,
    rows_in_line,
    streaming_tile,
)
from plumbline.target.vector_unit import AVX2, VectorUnit

_AVX512 = VectorUnit(64, 32)


@pytest.mark.parametrize(
    "unit", [AVX2, _AVX512, *(VectorUnit(16, count) for count in (8, 12, 16, 32))]
)
@pytest.mark.parametrize("bits", [32, 64])
def test_tiles_fit_the_registers(unit: VectorUnit, bits: int) -> None:
    for rows in (None, 0, 1, 2, 7, 17, 197, 1024):
        for columns in (None, 0, 1, 49, 64, 773, 1024):
            for are_windows in (False, True):
                tile = register_tile(unit, bits, rows, columns, are_windows=are_windows)
                assert tile.rows >= 1
                # A row of the right operand stays beside the sums, or of eight registers a vector.
                right = 1 if unit.registers == 8 else tile.vectors
                assert tile.rows * tile.vectors + right <= unit.registers
                assert tile.lanes == unit.bytes * 8 // bits
    for rows in (1, 2, 6):
        for count in (None, 1, 49, 4096):
            tile = streaming_tile(unit, bits, rows, count)
            assert (rows + 1) * tile.vectors <= unit.registers
            # No vector is beyond the last column.
            assert count is None or (tile.vectors - 1) * tile.lanes < count


def test_sums_of_integers_leave_registers_for_the_rest() -> None:
    """A microcontroller has 13 of these; of one row a tile is as wide as there are sums."""
    integers = VectorUnit(16, 8, ("vmlava",)).of_integers
    for rows in (None, 1, 2, 7, 1024):
        for columns in (None, 1, 49, 773):
            tile = register_tile(integers, 32, rows, columns)
            assert tile.rows * tile.vectors <= 4
            assert tile.lanes == 1
    assert register_tile(integers, 32, 64, 125) == RegisterTile(2, 2, 1)
    assert register_tile(integers, 32, 1, 128) == RegisterTile(1, 4, 1)


def test_tiles_waste_little() -> None:
    assert register_tile(_AVX512, 32, 1024, 1024) == RegisterTile(6, 4, 16)
    assert register_tile(_AVX512, 32, 128, 768) == RegisterTile(8, 3, 16)
    for rows in (9, 17, 49):
        tile = register_tile(_AVX512, 32, rows, 768)
        assert -(-rows // tile.rows) * tile.rows <= rows + 1
    assert register_tile(AVX2, 32, 1024, 1024) == RegisterTile(4, 3, 8)
    # Ten tiles of 5 rather than nine of 6, or thirteen of 4.
    assert register_tile(AVX2, 32, 49, 512) == RegisterTile(5, 2, 8)
    assert register_tile(AVX2, 32, None, 16) == RegisterTile(6, 2, 8)
    assert register_tile(VectorUnit(16, 12), 32, 1024, 1024) == RegisterTile(4, 2, 4)


def test_rows_of_windows_side_by_side_need_no_places_of_their_own() -> None:
    eight = register_tile(_AVX512, 32, 64, 512, are_windows=True, line=8)
    assert eight == RegisterTile(8, 2, 16)
    assert rows_in_line(eight, _AVX512, 64, 8) == 8
    assert register_tile(_AVX512, 32, 64, 512, are_windows=True).rows <= 7
    # A part of a row of windows, and several of them.
    assert rows_in_line(RegisterTile(7, 2, 16), _AVX512, 196, 14) == 7
    assert rows_in_line(RegisterTile(6, 2, 16), _AVX512, 18, 3) == 3
    # The last tile would reach beyond the last row.
    assert rows_in_line(RegisterTile(6, 2, 16), _AVX512, 15, 3) == 1
    # Nothing to have the elements of the next place in.
    assert rows_in_line(RegisterTile(4, 3, 8), AVX2, 64, 8) == 1
    assert rows_in_line(RegisterTile(8, 2, 16), _AVX512, None, 8) == 1


def test_scattered_elements_leave_registers_free() -> None:
    assert register_tile(AVX2, 32, 196, 1024) == RegisterTile(4, 3, 8)
    assert register_tile(AVX2, 32, 196, 1024, are_scattered=True) == RegisterTile(6, 2, 8)
    for rows in (49, 196, 1024):
        tile = register_tile(_AVX512, 32, rows, 1024)
        assert register_tile(_AVX512, 32, rows, 1024, are_scattered=True) == tile


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
