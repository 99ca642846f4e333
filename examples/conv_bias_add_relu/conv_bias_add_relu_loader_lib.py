import torch
from torch import nn

from tools.aot.torch_loader_utils import TorchLoaderOutput


class ConvBiasAddRelu(nn.Module):
    """The end of a residual block: relu(conv(x) + bias + residual)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(16, 16, kernel_size=3, padding=1)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.conv(x) + residual)


def conv_bias_add_relu_loader() -> TorchLoaderOutput:
    return TorchLoaderOutput(
        model=ConvBiasAddRelu(),
        inputs=(torch.randn(1, 16, 32, 32), torch.randn(1, 16, 32, 32)),
    )
