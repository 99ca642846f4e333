"""Loaders of programs that draw random numbers."""

import torch
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def training_mode_loader() -> TorchLoaderOutput:
    """A model in training mode: it drops out, and keeps running statistics of batches."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(6, 40)
            self.norm = torch.nn.BatchNorm1d(40)
            self.second = torch.nn.Linear(40, 3)
            self.dropout = torch.nn.Dropout(0.4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.dropout(torch.relu(self.norm(self.first(x))))
            noise = torch.randn(3, 8).sum(1)
            result: torch.Tensor = self.second(y) + noise
            return result

    return TorchLoaderOutput(
        model=Model().train(),
        inputs=(torch.randn(4, 6),),
        dynamic_shapes={"x": {0: Dim("batch", min=2)}},
        mutable=["norm", "torch.default_generator"],
    )
