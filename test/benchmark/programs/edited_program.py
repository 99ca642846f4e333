"""The program that the benchmark of the harness edits."""

import torch

from tools.aot.torch_loader_utils import TorchLoaderOutput


class _Double(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def edited_program_loader() -> TorchLoaderOutput:
    """A multiple of a tensor."""
    return TorchLoaderOutput(_Double(), (torch.randn(3, 4),))
