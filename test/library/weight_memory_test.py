"""Tests of where the weights of a program lie in memory."""

import sys

import numpy as np
import pytest

from plumbline.library.weight_memory import copied
from plumbline.signature.packed_layout import PackedLayout
from plumbline.signature.strided_layout import StridedLayout
from plumbline.signature.weight_layout import WeightLayout


def test_weights_are_copied_as_their_layouts_say() -> None:
    matrix = np.arange(21, dtype=np.float32).reshape(3, 7)
    packed = WeightLayout(packed=PackedLayout((1, 0), 1, 4))
    viewed = WeightLayout(StridedLayout(1, (((3, 7),), ((2, 3),))))
    weights = {
        "as it is": (matrix, None),
        "packed": (matrix, packed),
        "viewed": (matrix, viewed),
        "a number": (np.array(2.5), None),
        "nothing": (np.zeros((0, 3), np.int16), None),
        "by columns": (np.asfortranarray(matrix), None),
    }
    copies = copied(weights)
    assert [*copies] == [*weights]
    for name, (array, layout) in weights.items():
        expected = array if layout is None else layout.pack(array)
        np.testing.assert_array_equal(copies[name], expected, strict=True)
        assert copies[name].flags.c_contiguous
    matrix[:] = 0
    assert copies["as it is"].any()


def test_each_weight_begins_with_a_cache_line() -> None:
    sizes = [1, 3, 16, 17, 1000]
    copies = copied({size: (np.ones(size, np.float32), None) for size in sizes})
    places = [copies[size].ctypes.data for size in sizes]
    assert [place % 64 for place in places] == [0] * len(sizes)
    # One allocation, without gaps but for the ends of lines.
    assert [place - places[0] for place in places] == [0, 64, 128, 192, 320]


def test_many_weights_begin_with_a_huge_page() -> None:
    copies = copied({name: (np.ones(1 << 18, np.float32), None) for name in "ab"})
    assert copies["a"].ctypes.data % (2 << 20) == 0
    assert copies["b"].ctypes.data == copies["a"].ctypes.data + (1 << 20)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
