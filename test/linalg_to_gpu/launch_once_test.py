"""Loops that launch nothing but kernels of few blocks are one launch each."""

import sys

import pytest
import torch
from torch import nn

from test.linalg_to_gpu.emulated_programs import EmulatedProgram


def _network(width: int, batch: int) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    network = nn.RNN(5, width).eval().requires_grad_(False)
    return network, torch.randn(7, batch, 5)


@pytest.mark.parametrize(("width", "batch"), [(6, 3), (6, 60)], ids=["one_block", "some_blocks"])
def test_a_recurrent_network(width: int, batch: int) -> None:
    network, x = _network(width, batch)
    program = EmulatedProgram(network, x)
    # What is multiplied for all steps at once, two or three copies, and the steps.
    assert program.launches(x) <= 5
    assert "tanh_loop blocks in (%c1, %c1, %c1)" in program.gpu


def test_a_large_recurrent_network() -> None:
    """Whose steps are for many blocks."""
    network, x = _network(64, 32)
    program = EmulatedProgram(network, x)
    assert program.launches(x) > 7
    assert "_loop" not in program.gpu


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
