import torch

from tools.aot.torch_loader_utils import TorchLoaderOutput


def test_relu_loader() -> TorchLoaderOutput:
    return TorchLoaderOutput(torch.nn.ReLU(), (torch.randn(4, 3),))
