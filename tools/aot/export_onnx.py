"""Stage program: takes a model of ONNX to the Torch dialect, and records its reference tensors.

These are what a user's archive says, or else what PyTorch answers to inputs that are made up.
"""

import argparse

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.loader_to_torch.recorded_export import export_and_record
from plumbline.loader_to_torch.weights import serialise
from plumbline.onnx_to_torch.program import load_onnx
from tools.aot import stage
from tools.aot.export_sample import export_sample


def _export(given: argparse.Namespace) -> None:
    expected = None
    if given.expected:
        expected = ReferenceArchive.read(given.expected, func_name=given.func_name)
    program = load_onnx(
        given.input, func_name=given.func_name, sizes=dict(given.size), expected=expected
    )
    recorded = export_and_record(
        f"model {given.input}", program, weights=given.weights_are, expected=expected
    )
    recorded.references.write(given.reference_tensors)
    stage.write_bytes(given.weights, serialise(recorded.exported.weights))
    stage.write(given.output, recorded.exported.text)


def _size(text: str) -> tuple[str, int]:
    name, _, size = text.rpartition("=")
    return name, int(size)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument(
        "--func-name", required=True, metavar="NAME", help="the name of the C function"
    )
    arguments.add_argument(
        "--size",
        type=_size,
        action="append",
        default=[],
        metavar="NAME=N",
        help="the size that all dimensions of a name have, which is then fixed",
    )
    arguments.add_argument(
        "--expected",
        type=stage.path,
        metavar="NPZ",
        help="what the model is to answer, and to what",
    )
    arguments.add_argument(
        "--weights", type=stage.path, required=True, help="the .safetensors file to write"
    )
    stage.add_weights(arguments)
    arguments.add_argument(
        "--reference-tensors", type=stage.path, required=True, help="the .npz file to write"
    )
    stage.run(arguments, _export, warm_up=export_sample)
