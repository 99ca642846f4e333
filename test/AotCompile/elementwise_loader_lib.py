"""Loader functions of the suite for elementwise ops."""

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput


def gelu_both_forms_loader() -> TorchLoaderOutput:
    """Gelu by the error function and by its approximation, whose constant others get wrong."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return F.gelu(x), F.gelu(x, approximate="tanh")

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.linspace(-6, 6, 101, dtype=torch.float64),),
        dynamic_shapes={"x": {0: Dim("size")}},
    )


def integer_division_loader() -> TorchLoaderOutput:
    """Quotients and remainders of numbers of either sign, and shifts beyond the width."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (
                x // y,
                torch.div(x, y, rounding_mode="trunc"),
                x % y,
                torch.fmod(x, y),
                x << (y * 10),
                x >> (y * 10),
            )

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.tensor([7, -7, 7, -7, (1 << 62) + 1]), torch.tensor([2, 2, -2, -2, 7])),
        dynamic_shapes={"x": {0: (size := Dim("size"))}, "y": {0: size}},
    )


def casts_between_dtypes_loader() -> TorchLoaderOutput:
    """A float in all other dtypes."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (
                x.double(),
                x.half(),
                x.bfloat16(),
                x.to(torch.int8),
                x.to(torch.uint8),
                x.to(torch.int16),
                x.to(torch.int32),
                x.to(torch.int64),
                x.bool(),
            )

    return TorchLoaderOutput(
        model=Model(),
        inputs=(torch.tensor([0.0, 0.9, 1.5, 2.5, 100.7]),),
        dynamic_shapes={"x": {0: Dim("size")}},
    )
