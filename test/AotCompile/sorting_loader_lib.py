"""Loader functions of the suite for programs that sort, by ops that stand beside TCP."""

import torch
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def sort_and_topk_loader() -> TorchLoaderOutput:
    """Rows in order, and the greatest of each, with the places that they come from."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            greatest = torch.topk(x, 2)
            return (*torch.sort(x), torch.argsort(x, descending=True), torch.msort(x), *greatest)

    return TorchLoaderOutput(
        model=Model(), inputs=(torch.randn(3, 5),), dynamic_shapes={"x": {0: Dim("rows")}}
    )


def medians_loader() -> TorchLoaderOutput:
    """What is found in the middle, or most often, among floats and unsigned numbers."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (
                torch.median(x),
                *torch.median(x, 0),
                *torch.kthvalue(x, 2),
                torch.mode(y).values,
                torch.kthvalue(y, 3).values,
            )

    numbers = torch.tensor([[200, 3, 3, 255], [0, 255, 127, 128]], dtype=torch.uint8)
    return TorchLoaderOutput(model=Model(), inputs=(torch.randn(3, 5), numbers))


def isin_loader() -> TorchLoaderOutput:
    """Which numbers are among others, both as many as one likes."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, among: torch.Tensor) -> torch.Tensor:
            return torch.isin(x, among)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.tensor([[3, 1, 4], [1, 5, 9]]), torch.tensor([9, 4, 2, 4])),
        dynamic_shapes={"x": {0: Dim("rows")}, "among": {0: Dim("count")}},
    )
