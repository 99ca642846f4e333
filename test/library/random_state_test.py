"""States of generators that are made without PyTorch, against PyTorch's."""

import sys

import pytest
import torch

import plumbline


@pytest.mark.parametrize("seed", [0, 1, 5489, 2**32 - 1, 2**40 + 3])
def test_state_of_a_seed(seed: int) -> None:
    torch.manual_seed(seed)
    assert plumbline.generator_state(seed).tolist() == torch.get_rng_state().tolist()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
