"""Loader functions of the suite for products of matrices."""

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def linear_relu_linear_loader() -> TorchLoaderOutput:
    """Two layers, over a dynamic batch and length, which one product takes as one dimension."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(6, 16)
            self.second = torch.nn.Linear(16, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(torch.relu(self.first(x)))  # type: ignore[no-any-return]

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 3, 6),),
        dynamic_shapes={"x": {0: Dim("batch"), 1: Dim("length")}},
    )


def encoder_layer_loader() -> TorchLoaderOutput:
    """A layer of a transformer, wide enough to be worth several threads, over a dynamic length."""
    layer = torch.nn.TransformerEncoderLayer(192, 3, 384, activation="gelu", batch_first=True)
    return TorchLoaderOutput(
        model=layer.eval(),
        inputs=(torch.randn(1, 120, 192),),
        dynamic_shapes={"src": {1: Dim("length")}},
    )


def attention_loader() -> TorchLoaderOutput:
    """Causal attention of several heads."""

    class Model(torch.nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    inputs = tuple(torch.randn(2, 3, 7, 4) for _ in range(3))
    shape = {0: Dim("batch"), 2: Dim("length")}
    return TorchLoaderOutput(
        model=Model(), inputs=inputs, dynamic_shapes={"q": shape, "k": shape, "v": shape}
    )


def matmul_int8_loader() -> TorchLoaderOutput:
    """A product of int8, which wraps around."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x @ y

    inputs = (
        torch.randint(-128, 128, (3, 4), dtype=torch.int8),
        torch.randint(-128, 128, (4, 5), dtype=torch.int8),
    )
    return TorchLoaderOutput(model=Model(), inputs=inputs)
