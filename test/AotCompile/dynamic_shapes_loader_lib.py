"""Loaders of programs with dynamic sizes that depend on each other."""

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def derived_dims_loader() -> TorchLoaderOutput:
    """Sizes n, 2*n and n + 1, and one symbol in several inputs and dimensions."""

    class Model(torch.nn.Module):
        def forward(
            self, x: torch.Tensor, pairs: torch.Tensor, fences: torch.Tensor, bias: torch.Tensor
        ) -> torch.Tensor:
            differences = fences[1:] - fences[:-1]
            return x * pairs.reshape(-1, 2).sum(1) + differences[:, None] * bias

    n = Dim("n", min=2, max=64)
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(5, 5), torch.randn(10), torch.randn(6), torch.randn(5)),
        dynamic_shapes={
            "x": {0: n, 1: n},
            "pairs": {0: 2 * n},
            "fences": {0: n + 1},
            "bias": {0: n},
        },
    )


def masked_batches_loader() -> TorchLoaderOutput:
    """A batch of sequences, their tokens and their mask; both sizes differ."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(11, 6)
            self.linear = torch.nn.Linear(6, 4)

        def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            weights = mask[..., None].to(torch.float32)
            embedded = self.embedding(tokens) * weights
            return torch.relu(self.linear(embedded.sum(1) / weights.sum(1)))

    batch, length = Dim("batch", max=32), Dim("length", max=128)
    sizes = {0: batch, 1: length}
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randint(11, (2, 7)), torch.arange(7).expand(2, 7) < torch.tensor([[7], [4]])),
        dynamic_shapes={"tokens": sizes, "mask": sizes},
    )


def position_biases_loader() -> TorchLoaderOutput:
    """Attention with biases of one row, whose results are viewed with both sizes in one."""

    class Model(torch.nn.Module):
        biases: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("biases", torch.randn(1, 2, 1, 64))
            self.before = torch.nn.Linear(8, 24)
            self.after = torch.nn.Linear(8, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            batch, length, _ = x.shape
            query, key, value = (
                part.view(batch, length, 2, 4).transpose(1, 2)
                for part in self.before(x).split(8, 2)
            )
            found = F.scaled_dot_product_attention(query, key, value)
            # As in GPT-2.
            sums = self.after(found.transpose(1, 2).reshape(batch, length, 8).view(-1, 8))
            # As in MPT: the row of each query, if there were one for each.
            biases = self.biases[:, :, max(0, self.biases.size(2) - length) :, :length]
            scores = query @ key.transpose(2, 3) + biases
            result: torch.Tensor = sums.view(batch, length, 3).sum(2) + scores.sum((1, 3))
            return result

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 7, 8),),
        dynamic_shapes={"x": {0: Dim("batch", max=32), 1: Dim("length", max=63)}},
    )


def own_further_inputs_loader() -> TorchLoaderOutput:
    """Offsets must ascend, which made-up inputs do not; one batch is empty."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
            totals = torch.cat([torch.zeros(1), x.cumsum(0)])
            return totals[ends[1:]] - totals[ends[:-1]]

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(9), torch.tensor([0, 2, 5, 9])),
        dynamic_shapes={"x": {0: Dim("values")}, "ends": {0: Dim("batches") + 1}},
        further_inputs=(
            (torch.randn(4), torch.tensor([0, 0, 4])),
            (torch.randn(12), torch.tensor([0, 3, 3, 6, 10, 12])),
        ),
    )
