"""Loaders of programs whose lowering is wrong: each plants its fault into the process."""

import contextlib

import torch
from torch_mlir import ir

from plumbline.torch_to_tcp.pattern import tensor
from test.bisect.planted_faults import torch_op_lowered
from tools.aot.torch_loader_utils import TorchLoaderOutput

# Of which none ends before the process.
_FAULTS = contextlib.ExitStack()


class Gated(torch.nn.Module):
    """Ops of several kinds, one of which is lowered to nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = torch.nn.Linear(4, 4)
        self.value = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Each row's shares, which add up to 1."""
        gate = torch.sigmoid(self.gate(x))
        value = torch.relu(self.value(x))
        mixed = gate * value
        return torch.softmax(mixed * 2 + 1, dim=1)


def relu_is_nothing_loader() -> TorchLoaderOutput:
    """A relu that is its operand."""

    def operand(op: ir.OpView) -> ir.Value:
        return tensor(op.operands[0]).value

    _FAULTS.enter_context(torch_op_lowered("torch.aten.relu", lambda right: operand))
    return TorchLoaderOutput(
        model=Gated(),
        inputs=(torch.randn(3, 4),),
        dynamic_shapes={"x": {0: torch.export.Dim("rows")}},
    )
