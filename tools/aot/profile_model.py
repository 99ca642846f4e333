"""Tells how long each kernel of a model of ONNX or TensorFlow Lite takes.

It is run on inputs that are made up, or on those of an archive.
"""

import argparse
from pathlib import Path

from tools.aot import compiling, model_options, profiling, stage


def _profile(given: argparse.Namespace) -> None:
    program, _ = model_options.load(given, given.input)
    profiling.run(given, program)


if __name__ == "__main__":
    arguments = stage.parser(__doc__)
    # From where the program runs, as Bazel names them.
    arguments.add_argument("input", type=Path, help="the .onnx or .tflite file")
    model_options.add_options(arguments, Path)
    compiling.add_options(arguments)
    stage.run(arguments, _profile)
