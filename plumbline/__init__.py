"""Plumbline: lowers a PyTorch program to machine code, stage by stage."""

import importlib
from typing import TYPE_CHECKING, Any

from plumbline.bindings.loading import load_bindings_apart
from plumbline.garbage import collecting_seldom

if TYPE_CHECKING:
    from plumbline.compiler import CompiledProgram, compile  # noqa: A004
    from plumbline.explorer.of_program import explore
    from plumbline.library import device
    from plumbline.library.load import Library, load
    from plumbline.library.random_state import generator_state
    from plumbline.library_files.ahead_of_time import aot
    from plumbline.loader_to_stablehlo.program import StablehloProgram, load_stablehlo
    from plumbline.loader_to_torch.exported_programs import load_exported
    from plumbline.loader_to_torch.loader import TorchLoaderOutput
    from plumbline.onnx_to_torch.program import load_onnx
    from plumbline.profiling.measurement import profile
    from plumbline.tflite_to_torch.program import load_tflite
    from plumbline.torch_compile.backend import Backend

__all__ = [
    "Backend",
    "CompiledProgram",
    "Library",
    "StablehloProgram",
    "TorchLoaderOutput",
    "aot",
    "compile",
    "device",
    "explore",
    "generator_state",
    "load",
    "load_exported",
    "load_onnx",
    "load_stablehlo",
    "load_tflite",
    "profile",
]

# Compiling pulls torch and MLIR in, which the stage programs and who loads a library must not pay
# for, nor need have.
_MODULES = {
    "Backend": "plumbline.torch_compile.backend",
    "CompiledProgram": "plumbline.compiler",
    "Library": "plumbline.library.load",
    "StablehloProgram": "plumbline.loader_to_stablehlo.program",
    "TorchLoaderOutput": "plumbline.loader_to_torch.loader",
    "aot": "plumbline.library_files.ahead_of_time",
    "compile": "plumbline.compiler",
    "explore": "plumbline.explorer.of_program",
    "generator_state": "plumbline.library.random_state",
    "load": "plumbline.library.load",
    "load_exported": "plumbline.loader_to_torch.exported_programs",
    "load_onnx": "plumbline.onnx_to_torch.program",
    "load_stablehlo": "plumbline.loader_to_stablehlo.program",
    "load_tflite": "plumbline.tflite_to_torch.program",
    "profile": "plumbline.profiling.measurement",
}


def __getattr__(name: str) -> Any:
    if name == "device":
        return importlib.import_module("plumbline.library.device")
    if name in _MODULES:
        with collecting_seldom():
            load_bindings_apart()
            return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'plumbline' has no attribute {name!r}")
