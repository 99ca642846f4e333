"""Loader functions of the suite for reductions."""

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def softmax_loader() -> TorchLoaderOutput:
    """Softmax along a dynamic dimension, of values that exp overflows for."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(100 * x, dim=-1)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(3, 5),),
        dynamic_shapes={"x": {0: Dim("rows"), 1: Dim("columns")}},
    )


def layer_norm_loader() -> TorchLoaderOutput:
    """Layer normalization with weights, in half precision, of which the sums are in f32."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(8).half())
            self.bias = torch.nn.Parameter(torch.randn(8).half())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.layer_norm(x, (8,), self.weight, self.bias)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 3, 8).half(),),
        dynamic_shapes={"x": {0: Dim("batch"), 1: Dim("length")}},
    )


def extremes_and_places_loader() -> TorchLoaderOutput:
    """The greatest elements and their places, with a NaN among them, and running sums."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            greatest, places = x.max(dim=1)
            return greatest, places, x.argmin(), x.nan_to_num().cumsum(0)

    x = torch.randn(4, 5)
    x[1, 3] = float("nan")
    return TorchLoaderOutput(
        model=Model(), inputs=(x,), dynamic_shapes={"x": {0: Dim("rows"), 1: Dim("columns")}}
    )


def running_statistics_loader() -> TorchLoaderOutput:
    """What training writes, and no results: running statistics, a count of steps, a parameter."""

    class Model(torch.nn.Module):
        steps: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(5)
            self.scale = torch.nn.Parameter(torch.full((5,), 2.0))
            self.register_buffer("steps", torch.tensor(41))

        def forward(self, x: torch.Tensor) -> None:
            with torch.no_grad():
                self.scale.mul_(self.norm(x).abs().amax(0))
            self.steps.add_(x.shape[0])

    return TorchLoaderOutput(
        model=Model().train(),
        inputs=(torch.randn(6, 5),),
        dynamic_shapes={"x": {0: Dim("batch", min=2)}},
        mutable=["norm", "scale", "steps"],
    )
