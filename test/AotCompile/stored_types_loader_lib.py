"""Loader functions of the suite for types that hold numbers but are not computed with."""

import torch
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def stored_types_loader() -> TorchLoaderOutput:
    """Floats of 8 bits and wide unsigned integers at the boundary, and weights of 8 and 4 bits."""

    class Model(torch.nn.Module):
        weight: torch.Tensor
        packed: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", torch.randn(16, 8).to(torch.float8_e4m3fn))
            self.register_buffer("packed", torch.randint(0, 256, (16, 4)).to(torch.uint8))

        def forward(
            self, x: torch.Tensor, y: torch.Tensor, count: torch.Tensor
        ) -> tuple[torch.Tensor, ...]:
            halves = torch.stack([self.packed & 0xF, self.packed >> 4], -1).reshape(16, 8)
            weight = self.weight.to(torch.float32) + halves.to(torch.float32)
            product = torch.nn.functional.linear(x.to(torch.float32), weight)
            return (
                product,
                product.to(torch.float8_e5m2),
                torch.cat([x, y.to(torch.float8_e4m3fn)]),
                y.view(torch.int32),
                count.to(torch.float32),
                (count.to(torch.int64) + 1).to(torch.uint64),
            )

    return TorchLoaderOutput(
        model=Model(),
        inputs=(
            torch.randn(5, 8).to(torch.float8_e4m3fn),
            100 * torch.randn(5, 8),
            torch.tensor([3, 2**63 + 1025, 2**64 - 2], dtype=torch.uint64),
        ),
        dynamic_shapes={"x": {0: (n := Dim("n"))}, "y": {0: n}, "count": {}},
    )
