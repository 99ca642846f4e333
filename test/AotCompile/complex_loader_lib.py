"""Loader functions of the suite for complex numbers."""

import torch
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def complex_arithmetic_loader() -> TorchLoaderOutput:
    """Complex numbers at the boundary, of both sizes, and a complex weight."""

    class Model(torch.nn.Module):
        weight: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", torch.randn(3, 17, dtype=torch.complex64))

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return torch.tanh(x @ self.weight), x / y, x.conj(), x.abs(), y.sum(0)

    return TorchLoaderOutput(
        model=Model(),
        inputs=(
            torch.randn(5, 3, dtype=torch.complex64),
            torch.randn(5, 3, dtype=torch.complex128),
        ),
        dynamic_shapes={"x": {0: (n := Dim("n"))}, "y": {0: n}},
    )


def rotary_embedding_loader() -> TorchLoaderOutput:
    """Rotary embeddings as Llama's first code has them: by products of complex numbers."""

    class Model(torch.nn.Module):
        freqs_cis: torch.Tensor

        def __init__(self, dim: int = 16, length: int = 64) -> None:
            super().__init__()
            freqs = 1.0 / (10000.0 ** (torch.arange(0, dim, 2).float() / dim))
            angles = torch.outer(torch.arange(length), freqs)
            freqs_cis = torch.polar(torch.ones_like(angles), angles)
            self.register_buffer("freqs_cis", freqs_cis)

        def forward(self, xq: torch.Tensor, xk: torch.Tensor) -> tuple[torch.Tensor, ...]:
            freqs_cis = self.freqs_cis[: xq.shape[1]]
            return self._turned(xq, freqs_cis), self._turned(xk, freqs_cis)

        @staticmethod
        def _turned(x: torch.Tensor, freqs_cis: torch.Tensor) -> torch.Tensor:
            pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
            turned = pairs * freqs_cis.view(1, pairs.shape[1], 1, pairs.shape[-1])
            return torch.view_as_real(turned).flatten(3).type_as(x)

    time = Dim("time", max=64)
    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.randn(2, 6, 4, 16), torch.randn(2, 6, 2, 16)),
        dynamic_shapes={"xq": {1: time}, "xk": {1: time}},
    )
