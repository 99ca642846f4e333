import torch
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def my_program_loader() -> TorchLoaderOutput:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.sigmoid(x) * y

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(4, 3), torch.randn(3)),
        dynamic_shapes={"x": {0: Dim("batch")}, "y": {}},
    )
