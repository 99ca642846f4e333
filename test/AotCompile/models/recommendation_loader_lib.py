"""Loader functions of models over sparse features: the full one, and a small one alike."""

from typing import cast

import torch

from test.AotCompile.models.random_weights import draw_weights
from tools.aot.torch_loader_utils import TorchLoaderOutput


class _EmbeddingBagMlp(torch.nn.Module):
    """Scores samples, each a bag of categories beside numbers."""

    def __init__(self, categories: int, width: int, numbers: int) -> None:
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(categories, width, mode="mean")
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(width + numbers, 2 * width),
            torch.nn.ReLU(),
            torch.nn.Linear(2 * width, width),
            torch.nn.ReLU(),
            torch.nn.Linear(width, 1),
            torch.nn.Sigmoid(),
        )

    def forward(
        self, categories: torch.Tensor, offsets: torch.Tensor, numbers: torch.Tensor
    ) -> torch.Tensor:
        features = torch.cat((self.bag(categories, offsets), numbers), dim=1)
        return cast("torch.Tensor", self.mlp(features))


def _embedding_bag_mlp(categories: int, width: int, numbers: int, batch: int) -> TorchLoaderOutput:
    model = _EmbeddingBagMlp(categories, width, numbers)
    draw_weights(model)
    # Bags of different sizes, an empty one among them.
    sizes = torch.arange(batch) % 4
    indices = torch.randint(0, categories, (int(sizes.sum()),))
    inputs = (indices, sizes.cumsum(0) - sizes, torch.randn(batch, numbers))
    return TorchLoaderOutput(model=model, inputs=inputs)


def embedding_bag_mlp_loader() -> TorchLoaderOutput:
    """Ten thousand categories, 64 samples."""
    return _embedding_bag_mlp(categories=10_000, width=64, numbers=13, batch=64)


def embedding_bag_mlp_small_loader() -> TorchLoaderOutput:
    """Twenty categories, six samples."""
    return _embedding_bag_mlp(categories=20, width=8, numbers=3, batch=6)
