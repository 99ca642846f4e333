"""Programs that two processes compile, with what comes of them."""

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch.nn import functional

import plumbline
from plumbline import lowering


class _Model(torch.nn.Module):
    """Draws random numbers, writes running statistics, and has a table."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.dropout(self.norm(x), 0.25) * torch.tensor([1.0, 2.0, 3.0])


def results(folder: Path) -> dict[str, Any]:
    """What steps of training, of fixed sizes and then of others, and inference give.

    Returns:
      Digests of all values by what they are, and whether each program came from the `folder`.
    """
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = _Model()
    backend = plumbline.Backend(threads=1, cache=folder)
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    told = {}
    for rows in (4, 6):
        compiled(torch.randn(rows, 3)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        told[f"after {rows}"] = _digest([*model.state_dict().values(), torch.get_rng_state()])
    linear = torch.nn.Linear(3, 5)
    frozen = plumbline.Backend(threads=1, freeze=True, cache=folder)
    with torch.no_grad():
        frozen_model = torch.compile(linear, backend=frozen, fullgraph=True)
        told["frozen"] = _digest([frozen_model(torch.ones(2, 3))])
    program = plumbline.compile(linear, (torch.ones(4, 3),), cache=folder)
    told["compiled"] = _digest(program(torch.ones(4, 3)))
    programs = [*backend.programs, *frozen.programs, program]
    return {"told": told, "from_cache": [each.from_cache for each in programs]}


def _digest(tensors: Sequence[torch.Tensor]) -> str:
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()


def _fail(*_: object, **__: object) -> None:
    raise AssertionError("something is compiled")


if __name__ == "__main__":
    with (
        mock.patch.object(lowering, "emit_objects", _fail),
        mock.patch.object(lowering, "parse_module", _fail),
    ):
        print(json.dumps(results(Path(sys.argv[1]))))
