import sys

import numpy as np
import pytest
import torch

from plumbline.archives.torch_tensors import to_numpy, to_torch
from plumbline.signature.element_type import ELEMENT_TYPES


def test_views_are_stored_as_what_they_show() -> None:
    tensor = torch.arange(6).reshape(2, 3).t()[1:]
    np.testing.assert_array_equal(to_numpy(tensor), np.array([[1, 4], [2, 5]]))


@pytest.mark.parametrize("name", [type_.torch_name for type_ in ELEMENT_TYPES])
def test_to_torch_undoes_to_numpy(name: str) -> None:
    tensor = torch.tensor([[1], [0]]).to(getattr(torch, name))
    back = to_torch(to_numpy(tensor))
    assert back.dtype == tensor.dtype
    assert torch.equal(back, tensor)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
