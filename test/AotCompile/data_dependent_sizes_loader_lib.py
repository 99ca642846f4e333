"""Loader functions of the suite for programs whose tensors have as many elements as values say."""

import torch
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def places_and_selection_loader() -> TorchLoaderOutput:
    """Where a mask is true, what is there, and its mean."""

    class Model(torch.nn.Module):
        def forward(
            self, x: torch.Tensor, mask: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
            chosen = x[mask]
            return mask.nonzero(), chosen, chosen.sum() / chosen.shape[0]

    rows, columns = Dim("rows"), Dim("columns")
    sizes = {0: rows, 1: columns}
    return TorchLoaderOutput(
        model=Model(),
        inputs=(x := torch.randn(4, 6), x > 0.3),
        dynamic_shapes={"x": sizes, "mask": sizes},
        further_inputs=[
            (y := torch.randn(3, 5), y > -9),
            # Nothing is chosen: the mean is NaN.
            (y := torch.randn(7, 2), y > 9),
        ],
    )


def rows_to_experts_loader() -> TorchLoaderOutput:
    """Each row is multiplied by the matrix that is chosen for it, those of one matrix at once."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.experts = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))

        def forward(self, x: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
            out = torch.zeros_like(x)
            for number, expert in enumerate(self.experts):
                mask = chosen == number
                out[mask] = torch.relu(expert(x[mask]))
            return out

    rows = Dim("rows")
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(6, 8), torch.tensor([0, 2, 1, 0, 0, 2])),
        dynamic_shapes={"x": {0: rows}, "chosen": {0: rows}},
        # No row goes to the last one.
        further_inputs=[(torch.randn(4, 8), torch.tensor([1, 0, 1, 1]))],
    )


def unique_values_loader() -> TorchLoaderOutput:
    """What different numbers there are, where each is, and how often."""

    class Model(torch.nn.Module):
        def forward(
            self, x: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
            values, places, counts = torch.unique(x, return_inverse=True, return_counts=True)
            return values, places, counts, torch.unique_consecutive(x)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.tensor([3, 1, 1, -2, 3, 3, 0]),),
        dynamic_shapes={"x": {0: Dim("count")}},
        further_inputs=[(torch.tensor([5, 5, 5]),), (torch.tensor([1, 2, 1, 2]),)],
    )


def numbers_as_sizes_loader() -> TorchLoaderOutput:
    """As many numbers as a tensor says, and rows as often as another one does."""

    class Model(torch.nn.Module):
        def forward(
            self, x: torch.Tensor, count: torch.Tensor, repeats: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            n = count.item()
            torch._check(n >= 0)  # type: ignore[no-untyped-call]
            torch._check(n <= 3 * x.shape[0])  # type: ignore[no-untyped-call]
            repeated = torch.repeat_interleave(x, repeats, dim=0)
            torch._check(repeated.shape[0] <= 24)  # type: ignore[no-untyped-call]
            return torch.arange(n) * 2, repeated

    rows = Dim("rows", min=2, max=8)
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(3, 2), torch.tensor(5), torch.tensor([2, 0, 3])),
        dynamic_shapes={"x": {0: rows}, "count": {}, "repeats": {0: rows}},
        further_inputs=[(torch.randn(4, 2), torch.tensor(0), torch.tensor([0, 0, 0, 0]))],
    )
