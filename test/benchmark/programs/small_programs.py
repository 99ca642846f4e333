"""Three hundred small programs, program_0_loader to program_299_loader, each unlike all others."""

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput

COUNT = 300


class _Model(torch.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.shape = (2, size)


class _Elementwise(_Model):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) * 2 + torch.relu(x)


class _Broadcast(_Model):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - x[:1] / (x.abs() + 1)


class _Gelu(_Model):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(x)


class _Softmax(_Model):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


class _Extremes(_Model):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.amax(dim=1), x.argmin(dim=1)


class _Mean(_Model):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(dim=1, keepdim=True) + x.var(dim=1, keepdim=True)


class _Concat(_Model):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat((x, x.flip(1)), dim=1).transpose(0, 1)


class _Select(_Model):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 0, x, x.exp())


class _Linear(_Model):
    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.linear = torch.nn.Linear(size, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.linear(x))


class _LayerNorm(_Model):
    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.norm = torch.nn.LayerNorm(size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normalised: torch.Tensor = self.norm(x)
        return normalised + x


_MODELS: tuple[type[_Model], ...] = (
    _Elementwise,
    _Broadcast,
    _Gelu,
    _Softmax,
    _Extremes,
    _Mean,
    _Concat,
    _Select,
    _Linear,
    _LayerNorm,
)


def _loader(number: int) -> Callable[[], TorchLoaderOutput]:
    def load() -> TorchLoaderOutput:
        turn, kind = divmod(number, len(_MODELS))
        model = _MODELS[kind](3 + turn)
        # One of three has a dynamic size.
        dynamic_shapes = {"x": {0: Dim("rows")}} if turn % 3 == 0 else None
        return TorchLoaderOutput(model, (torch.randn(model.shape),), dynamic_shapes)

    return load


globals().update({f"program_{number}_loader": _loader(number) for number in range(COUNT)})
