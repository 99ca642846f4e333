"""Checks the layout of packed weights against its definition, element by element."""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.signature.packed_layout import PackedLayout


@st.composite
def layouts(draw: st.DrawFn) -> tuple[PackedLayout, tuple[int, ...]]:
    """A layout, and a shape that it is for."""
    shape = tuple(draw(st.lists(st.integers(0, 7), min_size=1, max_size=4)))
    order = tuple(draw(st.permutations(range(len(shape)))))
    axis = draw(st.integers(0, len(shape) - 1))
    layout = PackedLayout(order, axis, draw(st.integers(1, 5)))
    tiles = math.prod(layout.shape(shape)[:-1])
    turns = draw(st.sampled_from([count for count in (1, 2, 4) if tiles % count == 0]))
    return replace(layout, interleaved=turns), shape


@given(layouts())
def test_each_element_lies_where_linalg_pack_puts_it(
    given_: tuple[PackedLayout, tuple[int, ...]],
) -> None:
    layout, shape = given_
    array = np.arange(1, np.prod(shape) + 1).reshape(shape)
    packed = layout.pack(array)
    assert packed.shape == layout.shape(shape)
    assert packed.flags.c_contiguous
    expected = np.zeros_like(packed)
    for place in np.ndindex(*shape):
        tile, within = divmod(place[layout.inner_dims_pos], layout.inner_tiles)
        outer = [*place]
        outer[layout.inner_dims_pos] = tile
        expected[(*(outer[axis] for axis in layout.outer_dims_perm), within)] = array[place]
    # What stands one above the other stands side by side.
    rows = expected.reshape(-1, layout.interleaved, layout.inner_tiles)
    expected = np.stack([*rows.swapaxes(0, 1)], -1).reshape(packed.shape)
    np.testing.assert_array_equal(packed, expected)


def test_panels_of_a_linear_layer() -> None:
    weights = np.arange(24.0).reshape(8, 3)
    np.testing.assert_array_equal(
        PackedLayout((0, 1), 0, 4).pack(weights), weights.reshape(2, 4, 3).swapaxes(1, 2)
    )


@given(layouts())
def test_its_text_gives_it_back(given_: tuple[PackedLayout, tuple[int, ...]]) -> None:
    layout, _ = given_
    assert PackedLayout.parse(str(layout)) == layout


def test_its_text() -> None:
    assert str(PackedLayout((1, 0), 1, 64)) == "perm_1_0_pos_1_tile_64"
    assert str(PackedLayout((0, 1), 0, 16, 4)) == "perm_0_1_pos_0_tile_16_interleaved_4"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "perm_1_0",
        "perm_0_0_pos_0_tile_4",
        "perm_0_2_pos_0_tile_4",
        "perm_0_pos_1_tile_4",
        "perm_0_pos_0_tile_0",
        "perm_0_pos_0_tile_4_",
        "perm_0_pos_0_tile_-4",
        "perm_0_pos_0_tile_4_pair",
    ],
)
def test_other_texts_are_no_layouts(text: str) -> None:
    assert PackedLayout.parse(text) is None


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
