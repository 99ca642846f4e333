"""Checks the layouts of parts of weights against what PyTorch's ops on tensors give."""

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.signature.packed_layout import PackedLayout
from plumbline.signature.strided_layout import StridedLayout
from plumbline.signature.weight_layout import WeightLayout

_DIGITS = st.tuples(st.integers(1, 4), st.integers(-30, 30))


@given(st.integers(0, 100), st.lists(st.lists(_DIGITS, max_size=3), max_size=3))
def test_each_element_is_the_one_that_the_strides_lead_to(
    offset: int, axes: list[list[tuple[int, int]]]
) -> None:
    layout = StridedLayout(offset, tuple(map(tuple, axes)))
    assert StridedLayout.parse(str(layout)) == layout
    digits = [digit for axis in axes for digit in axis]
    places = [
        offset + sum(at * stride for at, (_, stride) in zip(ats, digits, strict=True))
        for ats in itertools.product(*(range(size) for size, _ in digits))
    ]
    least = max(max(places) + 1, len(places))
    array = np.arange(7.0, 7 + least)
    if min(places) < 0:
        assert not layout.takes(array.shape)
        return
    assert not layout.takes([least - 1])
    packed = layout.pack(array)
    assert packed.shape == layout.shape == tuple(math.prod(s for s, _ in axis) for axis in axes)
    assert packed.flags.c_contiguous
    np.testing.assert_array_equal(packed.reshape(-1), array[places])


def test_weights_of_a_transposed_convolution() -> None:
    weights = np.arange(2.0 * 3 * 4).reshape(2, 3, 4)
    # Those of each remainder by 2, turned about, are channels.
    layout = StridedLayout(2, (((3, 4), (2, 1)), ((2, 12),), ((2, -2),)))
    expected = weights.reshape(2, 3, 2, 2)[:, :, ::-1].transpose(1, 3, 0, 2).reshape(6, 2, 2)
    np.testing.assert_array_equal(layout.pack(weights), expected)


@pytest.mark.parametrize("shape", [(3,), (7,), ()])
def test_of_too_few_elements_nothing_is_read(shape: tuple[int, ...]) -> None:
    layout = StridedLayout(1, (((4, 2),),))
    with pytest.raises(ValueError, match=r"cannot lie as view_1_axis_4by2"):
        layout.pack(np.zeros(shape))


def test_it_gives_no_more_elements_than_there_are() -> None:
    assert not StridedLayout(0, (((10**12, 0),),)).takes((4, 4))


@pytest.mark.parametrize(
    "text",
    ["", "view", "view_", "view_-1", "view_0_axis_", "view_0_axis_2by", "view_01", "view_0_2by1"],
)
def test_other_texts_are_no_layouts(text: str) -> None:
    assert WeightLayout.parse(text) is None


def test_a_view_that_is_packed() -> None:
    layout = WeightLayout(StridedLayout(0, (((4, 1),), ((3, 4),))), PackedLayout((0, 1), 0, 2))
    assert str(layout) == "view_0_axis_4by1_axis_3by4_then_perm_0_1_pos_0_tile_2"
    assert WeightLayout.parse(str(layout)) == layout
    weights = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(layout.pack(weights), PackedLayout((0, 1), 0, 2).pack(weights.T))
    assert layout.gives((2, 3, 2))
    assert layout.shape((3, 4)) == (2, 3, 2)
    assert not layout.gives((2, 4, 2))
    with pytest.raises(ValueError, match="packed already"):
        layout.then(PackedLayout((0, 1), 0, 2))


@pytest.mark.parametrize(
    "text",
    [
        "view_0_axis_4by1_then_perm_0_1_pos_0_tile_2",
        "view_0_axis_4by1_then_",
        "perm_0_pos_0_tile_2_then_view_0_axis_4by1",
        "perm_0_pos_0_tile_2_then_perm_0_pos_0_tile_2",
    ],
)
def test_steps_that_do_not_fit_each_other(text: str) -> None:
    assert WeightLayout.parse(text) is None


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
