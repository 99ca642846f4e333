"""Stage program: runs a loader function, exports its program, records its reference tensors.

One run makes all files, from one seed, so that all see the same weights. Files that are not named
lie where you stand, and are called after the loader function.
"""

import argparse
from pathlib import Path

from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.recorded_export import export_and_record
from plumbline.loader_to_torch.watch import Watch
from plumbline.loader_to_torch.weights import serialise
from tools.aot import loader_stage, stage
from tools.aot.export_sample import export_sample


def _export(given: argparse.Namespace, program: TorchLoaderOutput, watch: Watch) -> None:
    path = given.torch_loader_path
    recorded = export_and_record(
        f"loader {path}", program, weights=given.weights_are, watched=watch.over
    )
    recorded.references.write(given.reference_tensors or _unnamed(path, "_reference_tensors.npz"))
    stage.write_bytes(
        given.weights or _unnamed(path, "_weights.safetensors"),
        serialise(recorded.exported.weights),
    )
    stage.write(given.mlir or _unnamed(path, "_torch.mlir"), recorded.exported.text)


def _unnamed(loader_path: str, ending: str) -> Path:
    """A file that the command line does not name; says which it is."""
    name = loader_path.rpartition(".")[2].removesuffix("_loader") + ending
    print(f"writing {name}")
    return stage.path(name)


if __name__ == "__main__":
    arguments = stage.parser(__doc__)
    arguments.add_argument(
        "--mlir",
        type=stage.path,
        help="the .mlir file to write (default: foo_torch.mlir, of foo_loader)",
    )
    arguments.add_argument(
        "--weights",
        type=stage.path,
        help="the .safetensors file to write (default: foo_weights.safetensors)",
    )
    stage.add_weights(arguments)
    arguments.add_argument(
        "--reference-tensors",
        type=stage.path,
        help="the .npz file to write (default: foo_reference_tensors.npz)",
    )
    loader_stage.run(arguments, _export, warm_up=export_sample)
