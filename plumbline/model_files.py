"""Files of models that become programs of PyTorch's, each kind by a package of its own.

Importing this imports none of them.
"""

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
      sizes: of a model of ONNX, those that are fixed.
      expected: the inputs that the program is tried on; without it, some are made up that fit.

    Raises:
      UserError: as `load_onnx` or `load_tflite` does.
    """
    if file.suffix == ONNX:
        from plumbline.onnx_to_torch.program import load_onnx

        return load_onnx(file, func_name=func_name, sizes=sizes, expected=expected)
    from plumbline.tflite_to_torch.program import load_tflite

    return load_tflite(file, func_name=func_name, expected=expected)
