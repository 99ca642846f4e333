"""Checks the layout of packed operands."""

import sys

import numpy as np
import pytest

from plumbline.linalg_to_kernels.panels import pack_panels


@pytest.mark.parametrize("width", [0, 1, 4, 7, 8])
@pytest.mark.parametrize("batches", [(), (2,), (2, 3)])
def test_panels(batches: tuple[int, ...], width: int) -> None:
    matrices = np.arange(np.prod([*batches, 5, width])).reshape(*batches, 5, width) + 1
    packed = pack_panels(matrices, 4)
    assert packed.shape == (*batches, -(-width // 4), 5, 4)
    assert packed.dtype == matrices.dtype
    side_by_side = np.moveaxis(packed, -3, -2).reshape(*batches, 5, -1)
    np.testing.assert_array_equal(side_by_side[..., :width], matrices)
    assert not side_by_side[..., width:].any()


def test_a_transposed_view() -> None:
    weights = np.arange(24.0).reshape(8, 3)
    np.testing.assert_array_equal(
        pack_panels(weights.T, 4), weights.reshape(2, 4, 3).swapaxes(1, 2)
    )


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
