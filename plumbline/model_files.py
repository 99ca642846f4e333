"""Files of models that become programs of PyTorch's, each kind by a package of its own.

Importing this imports none of them.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plumbline.archives.reference_archive import ReferenceArchive
    from plumbline.loader_to_torch.loader import TorchLoaderOutput

ONNX, TFLITE = ".onnx", ".tflite"

SUFFIXES = (ONNX, TFLITE)
"""What the names of such files end with."""


def add_size(arguments: argparse.ArgumentParser) -> None:
    """Lets a command line say what sizes are fixed: `size` has pairs of a name and a number."""
    arguments.add_argument(
        "--size",
        type=_size,
        action="append",
        default=[],
        metavar="NAME=N",
        help="of a model of ONNX: the size that all dimensions of a name have, which is then "
        "fixed; of one of TensorFlow Lite: that of a dimension that may differ, input_0 say",
    )


def _size(text: str) -> tuple[str, int]:
    name, sign, number = text.rpartition("=")
    if not (sign and name and number.isascii() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form batch=1")
    return name, int(number)


def load_model(
    file: Path,
    *,
    func_name: str,
    sizes: Mapping[str, int] = MappingProxyType({}),
    expected: "ReferenceArchive | None" = None,
) -> "TorchLoaderOutput":
    """The program of a model, as a loader function returns one.

    Args:
      file: the model, which ends with one of `SUFFIXES`.
      func_name: what the compiled function is called.
      sizes: those that are fixed, by name.
      expected: the inputs that the program is tried on; without it, some are made up that fit.

    Raises:
      UserError: as `load_onnx` or `load_tflite` does.
    """
    if file.suffix == ONNX:
        from plumbline.onnx_to_torch.program import load_onnx

        return load_onnx(file, func_name=func_name, sizes=sizes, expected=expected)
    from plumbline.tflite_to_torch.program import load_tflite

    return load_tflite(file, func_name=func_name, sizes=sizes, expected=expected)
