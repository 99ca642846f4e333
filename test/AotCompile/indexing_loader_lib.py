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


def key_value_cache_loader() -> TorchLoaderOutput:
    """Buffers that forward writes in place, which become arguments and results."""

    class Model(torch.nn.Module):
        keys: torch.Tensor
        values: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.project = torch.nn.Linear(4, 12)
            self.register_buffer("keys", torch.randn(16, 4))
            self.register_buffer("values", torch.randn(16, 4))

        def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
            query, key, value = self.project(x).chunk(3, -1)
            self.keys.index_copy_(0, positions, key)
            self.values.index_copy_(0, positions, value)
            weights = torch.softmax(query @ self.keys.t(), -1)
            return weights @ self.values

    tokens = Dim("tokens", min=1, max=16)
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(3, 4), torch.tensor([9, 2, 15])),
        dynamic_shapes={"x": {0: tokens}, "positions": {0: tokens}},
        mutable=["keys", "values"],
    )


def numbers_loader() -> TorchLoaderOutput:
    """Numbers that may differ, one that may not, and numbers as results."""

    class Model(torch.nn.Module):
        def forward(
            self, x: torch.Tensor, position: int, temperature: float, is_cold: bool, factor: int
        ) -> tuple[torch.Tensor, int, float, bool]:
            row = torch.where(torch.as_tensor(is_cold), -x, x)[position] / temperature
            return row * factor, position + x.shape[0], temperature * 2, True

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(5, 3), 2, 0.7, True, 3),
        dynamic_shapes={
            "x": {0: Dim("rows", min=3)},
            "position": Dim.DYNAMIC,
            "temperature": Dim.DYNAMIC,
            "is_cold": Dim.DYNAMIC,
            "factor": None,
        },
    )
