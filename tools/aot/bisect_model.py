"""Finds the op at which a model of ONNX or TensorFlow Lite, compiled, leaves PyTorch's numbers.

It is run on inputs that are made up, or on those of an archive. Ends with 1 where numbers differ.
"""

import argparse
from pathlib import Path

from tools.aot import bisection, model_options, stage


def _bisect(given: argparse.Namespace) -> None:
    program, _ = model_options.load(given, given.input)
    bisection.run(f"model {given.input}", given, program)


if __name__ == "__main__":
    arguments = stage.parser(__doc__)
    # From where the program runs, as Bazel names them.
    arguments.add_argument("input", type=Path, help="the .onnx or .tflite file")
    model_options.add_options(arguments, Path)
    bisection.add_options(arguments)
    stage.run(arguments, _bisect)
