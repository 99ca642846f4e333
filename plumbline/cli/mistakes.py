"""What a command ends with, and what it says to the user then."""

import sys
import traceback
from collections.abc import Callable

from plumbline.cli.exit_status import FAULT, MISTAKE
from plumbline.errors import UserError
from plumbline.loader_to_torch.watch import ProcessFault

_OF_COMPILE = ("llvmlite", "packaging", "safetensors", "torch", "torch_mlir")
"""The modules of requirements/compile.txt, which loading a library does without."""

_OF_ONNX = ("google", "onnx")
"""Those of requirements/onnx.txt, which all but models of ONNX do without."""

_OF_TFLITE = ("flatbuffers", "tflite")
"""Those of requirements/tflite.txt, likewise of models of TensorFlow Lite."""

_EXTRAS = (("compile", _OF_COMPILE), ("onnx", _OF_ONNX), ("tflite", _OF_TFLITE))
"""What pyproject.toml has beside what is always asked for."""


def status_of(command: str, run: Callable[[], int]) -> int:
    """Runs `run` of a command, and gives its exit status; prints what went wrong."""
    try:
        return run()
    except ProcessFault as error:
        print(f"error: {error}; nothing was written", file=sys.stderr)
        return FAULT
    except BrokenPipeError:
        # No mistake: whoever reads what it prints has read enough.
        raise
    except Exception as error:
        mistake = _mistake(command, error)
        if mistake is None:
            traceback.print_exc()
            return FAULT
        print(f"error: {mistake}", file=sys.stderr)
        return MISTAKE


def _mistake(command: str, error: Exception) -> str | None:
    """What the user can mend, if `error` says so."""
    match error:
        case UserError():
            return str(error)
        case MemoryError():
            return "there is not enough memory for it"
        case ModuleNotFoundError(name=str(module)):
            package = module.partition(".")[0]
            for extra, packages in _EXTRAS:
                if package in packages:
                    return (
                        f"plumbline {command} needs the package {package}, which is not "
                        f"installed: pip install 'plumbline[{extra}]'"
                    )
    return None
