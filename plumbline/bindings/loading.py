"""Loads the native code of the MLIR bindings beside another library's MLIR.

TensorFlow's libraries show all of their symbols to whatever is loaded after them, LLVM's and MLIR's
among them, of another version. The bindings would take those for their own, and end the process.
"""

import importlib
import os
import pkgutil
import sys

_SHOWS_ITS_SYMBOLS = "tensorflow"
"""The package that does so."""

_LIBRARIES = "torch_mlir._mlir_libs"


def load_bindings_apart() -> None:
    """Loads the bindings, if TensorFlow is there and they are not, so that they use their own code.

    They may be not installed: then nothing is loaded.
    """
    if _SHOWS_ITS_SYMBOLS not in sys.modules or _LIBRARIES in sys.modules:
        return
    flags = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
    try:
        libraries = importlib.import_module(_LIBRARIES)
        for library in pkgutil.iter_modules(libraries.__path__):
            # Others are what these are linked to.
            if library.name.startswith("_"):
                importlib.import_module(f"{_LIBRARIES}.{library.name}")
    except ModuleNotFoundError:
        return
    finally:
        sys.setdlopenflags(flags)
