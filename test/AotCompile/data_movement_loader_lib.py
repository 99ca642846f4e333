"""Loader functions of the suite for ops that place elements anew."""

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def flatten_dynamic_dims_loader() -> TorchLoaderOutput:
    """Two dynamic dimensions merged, and taken apart again after a linear layer."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 6)

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x.flatten(0, 1), self.linear(x)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 3, 4),),
        dynamic_shapes={"x": {0: Dim("batch"), 1: Dim("time")}},
    )


def slice_pad_concat_loader() -> TorchLoaderOutput:
    """Parts with strides and places counted from the end, padding, and both joined."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([F.pad(x[:, 1:-1:2], (1, 2), value=0.5), x[:, -5:]], dim=1)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(3, 9),),
        dynamic_shapes={"x": {0: Dim("rows")}},
    )
