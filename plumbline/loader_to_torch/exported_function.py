"""A function of PyTorch's by itself, for programs that come from elsewhere than PyTorch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from plumbline.archives.reference_archive import Tensor
from plumbline.archives.torch_tensors import to_numpy
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput

Dims = Mapping[int, Any]
"""The dimensions of an operand that are dynamic, each with a `torch.export.Dim`."""


@dataclass(frozen=True)
class ExportedFunction:
    """A function for operands of certain types."""

    text: str
    """In the Torch dialect."""
    tables: tuple[Tensor, ...]
    """What its first arguments are always: numbers that its rules know, such as roots of unity."""


class _Program(torch.nn.Module):
    def __init__(self, compute: Callable[..., tuple[torch.Tensor, ...]]) -> None:
        super().__init__()
        self._compute = compute

    def forward(self, *operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self._compute(*operands)


def exported_function(
    who: str,
    compute: Callable[..., tuple[torch.Tensor, ...]],
    examples: Sequence[torch.Tensor],
    dims: Sequence[Dims],
) -> ExportedFunction:
    """`compute`, exported for operands as the `examples`; messages call it `who`.

    Raises:
      UserError: PyTorch cannot export it for them.
    """
    program = TorchLoaderOutput(_Program(compute), tuple(examples), (tuple(map(dict, dims)),))
    exported = export(who, program)
    return ExportedFunction(exported.text, tuple(map(to_numpy, exported.weights.values())))
