"""Loader functions of the suite for pooling."""

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def max_pool2d_places_loader() -> TorchLoaderOutput:
    """The greatest elements of padded windows, up to the last that begins inside, and places."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return F.max_pool2d(x, 2, 3, 1, ceil_mode=True, return_indices=True)

    return TorchLoaderOutput(model=Model(), inputs=(torch.randn(2, 3, 8, 10),))


def avg_pool2d_ceil_loader() -> TorchLoaderOutput:
    """Means of windows that hang over the edge, which counts in two ways."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (
                F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
                F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
            )

    return TorchLoaderOutput(model=Model(), inputs=(torch.randn(2, 3, 8, 10),))


def adaptive_avg_pool2d_dynamic_loader() -> TorchLoaderOutput:
    """Means of parts whose sizes depend on a dynamic size."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.adaptive_avg_pool2d(x, (3, 2))

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 3, 8, 10),),
        dynamic_shapes={"x": {2: Dim("height"), 3: Dim("width")}},
    )
