"""The programs of the suite on a GPU: ptxas takes them, nothing is spilled, and they are right.

Their kernels run on the CPU by the stand-in driver; the models are not among them, as that takes
minutes for each.
"""

import importlib
import inspect
import sys
from types import ModuleType

import pytest

from plumbline.errors import UserError
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from test.linalg_to_gpu.emulated_programs import EmulatedProgram

_FAMILIES = (
    "complex",
    "contraction",
    "convolution",
    "data_movement",
    "dynamic_shapes",
    "elementwise",
    "indexing",
    "model",
    "pooling",
    "reduction",
    "sorting",
    "stored_types",
)

_REFUSED = {
    "complex_arithmetic": "math.sin on f64: no kernel of a GPU does this yet",
}
"""What is not there for a GPU yet, with what is said of it."""

_WRITES_IN_PLACE = {"key_value_cache", "running_statistics"}
"""These are tested by themselves, in test/runtime/cuda: a call changes what it is given."""


def _library(family: str) -> ModuleType:
    return importlib.import_module(f"test.AotCompile.{family}_loader_lib")


def _programs() -> list[tuple[str, str]]:
    return [
        (family, name.removesuffix("_loader"))
        for family in _FAMILIES
        for name, loader in inspect.getmembers(_library(family), inspect.isfunction)
        if name.endswith("_loader") and not inspect.signature(loader).parameters
    ]


@pytest.mark.parametrize(("family", "name"), _programs())
def test_program(family: str, name: str) -> None:
    if name in _WRITES_IN_PLACE:
        pytest.skip("a call changes what it is given")
    loaded: TorchLoaderOutput = getattr(_library(family), f"{name}_loader")()
    if name in _REFUSED:
        with pytest.raises(UserError, match=_REFUSED[name]):
            EmulatedProgram(loaded.model, *loaded.inputs, shapes=loaded.dynamic_shapes)
        return
    program = EmulatedProgram(loaded.model, *loaded.inputs, shapes=loaded.dynamic_shapes)
    program.check(*loaded.inputs)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
