"""Loader functions of the suite for programs that loop, and what rounds hand to one another."""

import torch
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def recurrent_layers_loader() -> TorchLoaderOutput:
    """An LSTM of two layers in both directions, over sequences of any length."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(5, 6, num_layers=2, bidirectional=True, batch_first=True)
            self.head = torch.nn.Linear(12, 3)

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            results, (_, cells) = self.lstm(x)
            return self.head(results), cells

    return TorchLoaderOutput(
        model=Model().eval(),
        inputs=(torch.randn(2, 4, 5),),
        dynamic_shapes={"x": {0: Dim("batch"), 1: Dim("length")}},
    )


def power_iteration_loader() -> TorchLoaderOutput:
    """The direction that a matrix stretches most, as near as wanted."""

    class Model(torch.nn.Module):
        def forward(
            self, matrix: torch.Tensor, direction: torch.Tensor, nearness: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            def is_far(
                rounds: torch.Tensor, direction: torch.Tensor, change: torch.Tensor
            ) -> torch.Tensor:
                return torch.logical_and(rounds < 100, change > nearness)

            def nearer(
                rounds: torch.Tensor, direction: torch.Tensor, change: torch.Tensor
            ) -> tuple[torch.Tensor, ...]:
                product = matrix @ direction
                after = product / torch.linalg.vector_norm(product)
                return rounds + 1, after, (after - direction).abs().max()

            start = (torch.zeros((), dtype=torch.int64), direction, torch.ones(()))
            rounds, direction, _ = while_loop(is_far, nearer, start)  # type: ignore[no-untyped-call]
            return direction, rounds

    half = torch.randn(4, 4)
    return TorchLoaderOutput(
        model=Model(), inputs=(half @ half.T, torch.ones(4) / 2, torch.tensor(0.01))
    )
