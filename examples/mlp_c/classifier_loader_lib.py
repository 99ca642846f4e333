import torch
from torch import nn
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def classifier_loader() -> TorchLoaderOutput:
    """A classifier of three layers: its weights are drawn at random, as an example has none."""
    model = nn.Sequential(
        nn.Linear(64, 256),
        nn.GELU(),
        nn.Linear(256, 256),
        nn.GELU(),
        nn.Linear(256, 10),
        nn.Softmax(dim=-1),
    )
    return TorchLoaderOutput(
        model=model,
        inputs=(torch.randn(8, 64),),
        dynamic_shapes=({0: Dim("batch", max=1024)},),
    )
