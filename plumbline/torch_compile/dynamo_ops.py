"""Ops that Dynamo puts into graphs in the place of those that a program calls."""

from typing import Any

import torch
from torch._inductor import inductor_prims

from plumbline.loader_to_torch.decompositions.rule import Rule


def _fma(left: torch.Tensor, right: torch.Tensor, addend: torch.Tensor) -> torch.Tensor:
    return left * right + addend


RULES: dict[Any, Rule] = {inductor_prims.fma: _fma}
"""`add_`, `addcmul_` and `addcdiv_` with a number that is a tensor, as optimizers have them."""
