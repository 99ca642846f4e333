"""What exporters do before their first request, so that all that each of them needs is there."""

import torch

from plumbline.loader_to_torch.recorded_export import export_and_record
from plumbline.loader_to_torch.weights import serialise
from tools.aot.torch_loader_utils import TorchLoaderOutput


def export_sample() -> None:
    """Takes a small program as far as its exporter does, but for its files."""
    sample = TorchLoaderOutput(
        torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh()),
        (torch.zeros(2, 2),),
        dynamic_shapes={"input": {0: torch.export.Dim("n")}},
    )
    serialise(export_and_record("sample", sample).exported.weights)
