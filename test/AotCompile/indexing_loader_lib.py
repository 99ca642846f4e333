"""Loader functions of the suite for ops that read or write places known at run time only."""

import torch
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def gather_and_scatter_loader() -> TorchLoaderOutput:
    """Rows that indices name, of which some count from the end, added up at other places."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, read: torch.Tensor, write: torch.Tensor) -> torch.Tensor:
            return torch.zeros_like(x).index_add(0, write, x[read])

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(5, 3), torch.tensor([0, -1, 2, 2]), torch.tensor([4, 4, 1, 0])),
        dynamic_shapes={
            "x": {0: Dim("rows")},
            "read": {0: (count := Dim("count"))},
            "write": {0: count},
        },
    )
