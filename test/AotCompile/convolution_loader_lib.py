"""Loader functions of the suite for convolutions."""

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def conv2d_groups_dynamic_loader() -> TorchLoaderOutput:
    """A grouped convolution between elementwise ops, over a dynamic batch and dynamic sizes."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.conv(torch.relu(x)))

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 4, 9, 8),),
        dynamic_shapes={"x": {0: Dim("batch"), 2: Dim("height", min=5), 3: Dim("width", min=5)}},
    )


def conv_transpose1d_loader() -> TorchLoaderOutput:
    """A transposed convolution with everything that it takes."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return F.conv_transpose1d(x, w, b, stride=3, padding=1, output_padding=1, dilation=2)

    inputs = (torch.randn(2, 4, 7), torch.randn(4, 5, 3), torch.randn(5))
    return TorchLoaderOutput(model=Model(), inputs=inputs)
