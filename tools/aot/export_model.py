"""Stage program: takes a model of ONNX or TensorFlow Lite to the Torch dialect.

It records its reference tensors beside that: what a user's archive says, or else what PyTorch
answers to inputs that are made up.
"""

import argparse
import importlib

from plumbline.loader_to_torch.recorded_export import export_and_record
from plumbline.loader_to_torch.weights import serialise
from tools.aot import model_options, stage
from tools.aot.export_sample import export_sample


def _export(given: argparse.Namespace) -> None:
    program, expected = model_options.load(given, given.input)
    recorded = export_and_record(
        f"model {given.input}", program, weights=given.weights_are, expected=expected
    )
    recorded.references.write(given.reference_tensors)
    stage.write_bytes(given.weights, serialise(recorded.exported.weights))
    stage.write(given.output, recorded.exported.text)


def _warm_up() -> None:
    # What reads models is imported once, and not for each.
    importlib.import_module("plumbline.onnx_to_torch.program")
    importlib.import_module("plumbline.tflite_to_torch.program")
    export_sample()


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    model_options.add_options(arguments, stage.path)
    arguments.add_argument(
        "--weights", type=stage.path, required=True, help="the .safetensors file to write"
    )
    stage.add_weights(arguments)
    arguments.add_argument(
        "--reference-tensors", type=stage.path, required=True, help="the .npz file to write"
    )
    stage.run(arguments, _export, warm_up=_warm_up)
