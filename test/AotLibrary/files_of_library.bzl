"""All files of an aot_library, for a test."""

_LIBRARY = ["{}Config.cmake", "{}.h", "{}.json", "{}.o", "lib{}.a"]

_SHARED_OBJECT = ["{}.pc", "lib{}.so", "{}.so"]

_STAGES = [
    "_internal_{}.S",
    "_internal_{}.ll",
    "_internal_{}_linalg.mlir",
]

_STAGES_OF_CPU = ["_internal_{}_kernels.mlir", "_internal_{}_llvm.mlir"]

_OF_TARGET = {
    "host": _SHARED_OBJECT + _STAGES_OF_CPU,
    "microcontroller": _STAGES_OF_CPU,
    "nvptx": _SHARED_OBJECT + ["_internal_{}.ptx", "_internal_{}_gpu.mlir", "_internal_{}_nvvm.mlir"],
    "wasm32": _STAGES_OF_CPU + ["{}.d.mts", "{}.mjs", "{}.wasm"],
}

_OF_TORCH = [
    "_internal_{}_reference_tensors.npz",
    "_internal_{}_tcp.mlir",
    "_internal_{}_torch.mlir",
    "_internal_{}_weights.safetensors",
]

def files_of_library(name, library, from_torch = True, loads_weights = False, target = "host", cubins = False):
    """A filegroup of all files of a library.

    Args:
      name: of the filegroup.
      library: the name of the library.
      from_torch: whether it has a loader.
      loads_weights: whether it has weights = "file".
      target: what it is compiled for, as for aot_library, "wasm32" or "microcontroller".
      cubins: whether it has machine code for GPUs.
    """
    patterns = _LIBRARY + _STAGES + _OF_TARGET[target]
    if from_torch:
        patterns = patterns + _OF_TORCH
        if loads_weights:
            patterns = patterns + ["{}.safetensors"]
        else:
            patterns = patterns + ["_internal_{}_packed_weights.safetensors"]
    if cubins:
        patterns = patterns + ["_internal_{}.fatbin"]
    native.filegroup(
        name = name,
        testonly = True,
        srcs = [pattern.format(library) for pattern in patterns],
    )
