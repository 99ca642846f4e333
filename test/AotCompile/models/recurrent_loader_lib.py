"""Loader functions of recurrent models: the full ones, and small ones of the same definition."""

import torch

from test.AotCompile.models.random_weights import draw_weights
from tools.aot.torch_loader_utils import TorchLoaderOutput


class _Lstm(torch.nn.Module):
    """Two layers, whose states are given and returned."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(inputs, hidden, num_layers=2, batch_first=True)

    def forward(
        self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        states, (h, c) = self.lstm(x, (h, c))
        return states, h, c


def _lstm(batch: int, steps: int, inputs: int, hidden: int) -> TorchLoaderOutput:
    model = _Lstm(inputs, hidden)
    draw_weights(model)
    state = (torch.randn(2, batch, hidden), torch.randn(2, batch, hidden))
    return TorchLoaderOutput(model=model, inputs=(torch.randn(batch, steps, inputs), *state))


def lstm_loader() -> TorchLoaderOutput:
    """256 states over 32 steps."""
    return _lstm(batch=4, steps=32, inputs=128, hidden=256)


def lstm_small_loader() -> TorchLoaderOutput:
    """Five states over three steps."""
    return _lstm(batch=2, steps=3, inputs=4, hidden=5)
