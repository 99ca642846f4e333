"""All files of an aot_library, for a test."""

_LIBRARY = ["{}.h", "{}.json", "{}.o", "{}.pc", "lib{}.a", "lib{}.so"]

_STAGES = [
    "_internal_{}.S",
    "_internal_{}.ll",
    "_internal_{}_kernels.mlir",
    "_internal_{}_linalg.mlir",
    "_internal_{}_llvm.mlir",
]

_OF_TORCH = [
    "_internal_{}_packed_weights.safetensors",
    "_internal_{}_reference_tensors.npz",
    "_internal_{}_tcp.mlir",
    "_internal_{}_torch.mlir",
    "_internal_{}_weights.safetensors",
]

def files_of_library(name, library, from_torch = True):
    """A filegroup of all files of a library.

    Args:
      name: of the filegroup.
      library: the name of the library.
      from_torch: whether it has a loader.
    """
    patterns = _LIBRARY + _STAGES + (_OF_TORCH if from_torch else [])
    native.filegroup(
        name = name,
        testonly = True,
        srcs = [pattern.format(library) for pattern in patterns],
    )
