"""Programs that are compiled for other machines than this one, and what is to come of calls."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError
from plumbline.loader_to_torch.loader import TorchLoaderOutput


class Classifier(torch.nn.Module):
    """With weights as they are and packed ones, exponentials, and a sum over rows."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.hidden = torch.nn.Linear(20, 33)
        self.norm = torch.nn.LayerNorm(33)
        self.last = torch.nn.Linear(33, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores of rows."""
        scores: torch.Tensor = self.last(self.norm(torch.nn.functional.gelu(self.hidden(x))))
        return scores.softmax(-1)


def classifier_loader() -> TorchLoaderOutput:
    """The classifier, for any number of rows."""
    return TorchLoaderOutput(
        model=Classifier().eval(),
        inputs=(torch.randn(7, 20),),
        dynamic_shapes={"x": {0: Dim("rows")}},
    )


def classifier(folder: Path, target_cpu: str, weights: str = "embedded") -> Path:
    """The library of it, called `it`."""
    program = classifier_loader()
    return plumbline.aot(
        program.model,
        *program.inputs,
        name="it",
        out=folder,
        dynamic_shapes=program.dynamic_shapes,
        target_cpu=target_cpu,
        weights=weights,
    )


def check_classifier(library: plumbline.Library) -> None:
    """Holds calls of its library against PyTorch."""
    model = Classifier().eval()
    for count in (0, 1, 7, 40):
        x = torch.randn(count, 20)
        torch.testing.assert_close(library(x)[0], model(x))


class Cached(torch.nn.Module):
    """It has an in-out argument, numbers, an index that may be wrong, and a size of its values."""

    def forward(
        self, cache: torch.Tensor, x: torch.Tensor, at: torch.Tensor, factor: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Writes a row of the cache."""
        cache[at] = x * factor
        return cache.sum(0), torch.nonzero(x)


def cached(folder: Path, target_cpu: str) -> Path:
    """The library of it, called `cached`, which is handed a workspace."""
    return plumbline.aot(
        Cached(),
        torch.zeros(4, 5),
        torch.ones(5),
        torch.tensor(2),
        0.5,
        name="cached",
        out=folder,
        dynamic_shapes=(None, None, None, Dim.DYNAMIC),
        mutable=["cache"],
        memory="pool",
        target_cpu=target_cpu,
    )


def check_cached(library: plumbline.Library) -> None:
    """Holds calls of that library against what is to come of them."""
    cache = torch.zeros(4, 5)
    x = torch.tensor([1.0, 0.0, 2.0, 0.0, 3.0])
    total, places = library(cache, x, torch.tensor(1), 0.5)
    assert torch.equal(cache[1], x / 2)
    assert torch.equal(total, x / 2)
    assert torch.equal(places, torch.nonzero(x))
    with pytest.raises(UserError, match=r"cached: .*an index is out of range"):
        library(cache, x, torch.tensor(7), 0.5)
    out, places = torch.empty(5), torch.empty(5, 1, dtype=torch.int64)
    assert library(cache, x, torch.tensor(0), 2.0, out=[out, places])[0] is out
    assert torch.equal(out, x * 2.5)


class Halves(torch.nn.Module):
    """A product of matrices and exponentials, of half precision say."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows of the product, and the exponentials."""
        wide = (x @ y).softmax(-1)
        return wide, torch.exp(x) + 1


def halves(folder: Path, target_cpu: str, inputs: Sequence[torch.Tensor]) -> Path:
    """The library of it, for such inputs."""
    return plumbline.aot(Halves(), *inputs, name="halves", out=folder, target_cpu=target_cpu)


ROOTS = """
func.func @roots(%x: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %0 = tcp.tanh %x : tensor<4096x256xf32> -> tensor<4096x256xf32>
  %1 = tcp.sqrt %0 : tensor<4096x256xf32> -> tensor<4096x256xf32>
  return %1 : tensor<4096x256xf32>
}
"""
"""A program of TCP, `roots`, with enough work for several threads."""
