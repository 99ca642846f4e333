"""The kinds of files that come of a program, and what they are called.

The names are those that aot_library gives them (tools/aot/chain.bzl, aot_library.bzl).
"""

from dataclasses import dataclass

from plumbline.target.target import MICROCONTROLLER, WEBASSEMBLY, WINDOWS


@dataclass(frozen=True)
class FileKind:
    """One kind of file."""

    pattern: str
    """Of its name, with {} for the library's."""
    about: str

    def file_name(self, library: str) -> str:
        """What the file of a library is called."""
        return self.pattern.format(library)


KINDS = {
    "torch": FileKind("_internal_{}_torch.mlir", "the Torch dialect, as exported"),
    "weights": FileKind("_internal_{}_weights.safetensors", "the weights, by their names"),
    "references": FileKind(
        "_internal_{}_reference_tensors.npz", "inputs, and what PyTorch answers to them"
    ),
    "tcp": FileKind("_internal_{}_tcp.mlir", "the TCP dialect"),
    "linalg": FileKind("_internal_{}_linalg.mlir", "linalg on tensors"),
    "kernels": FileKind("_internal_{}_kernels.mlir", "kernels on buffers"),
    "gpu": FileKind("_internal_{}_gpu.mlir", "kernels of a GPU, and what launches them"),
    "nvvm": FileKind("_internal_{}_nvvm.mlir", "the NVVM dialect, and the LLVM dialect"),
    "ptx": FileKind("_internal_{}.ptx", "PTX, the assembly of NVIDIA's GPUs"),
    "fatbin": FileKind("_internal_{}.fatbin", "PTX, and machine code of GPUs"),
    "llvm": FileKind("_internal_{}_llvm.mlir", "the LLVM dialect"),
    "llvm-ir": FileKind("_internal_{}.ll", "LLVM IR"),
    "asm": FileKind("_internal_{}.S", "assembly, which copies weights from their files"),
    "packed-weights": FileKind(
        "_internal_{}_packed_weights.safetensors", "weights in the order in which kernels read them"
    ),
    "weights-file": FileKind("{}.safetensors", "the weights that the library is to load"),
    "header": FileKind("{}.h", "the header, for C and C++"),
    "object": FileKind("{}.o", "the object file"),
    "archive": FileKind("lib{}.a", "the static library"),
    "shared-object": FileKind("lib{}.so", "the shared object, which Python loads too"),
    "link": FileKind("{}.so", "a link to the shared object, by the library's own name"),
    "dll": FileKind("{}.dll", "the library that programs of Windows load"),
    "import-library": FileKind("{}.lib", "what linkers are told of that"),
    "module": FileKind("{}.wasm", "the module of WebAssembly"),
    "javascript": FileKind("{}.mjs", "the module of JavaScript that loads it"),
    "types": FileKind("{}.d.mts", "the types of that, for TypeScript and editors"),
    "pkg-config": FileKind("{}.pc", "the file for pkg-config"),
    "cmake": FileKind("{}Config.cmake", "the file for CMake's find_package"),
    "description": FileKind("{}.json", "names, element types and shapes"),
}

STAGES = ("torch", "tcp", "linalg", "kernels", "llvm", "gpu", "nvvm", "ptx", "llvm-ir", "asm")
"""The kinds that are texts of stages, in order."""

OF_TORCH = ("torch", "references")
"""The kinds that a program has which PyTorch exports, and no other."""

OF_WEIGHTS = ("weights", "packed-weights", "weights-file")
"""The kinds that a program of TCP does not have, whose constants stand in its text."""

_LOADED = ("shared-object", "link", "pkg-config")

_OF_TARGET = {
    "host": ("kernels", "llvm", *_LOADED),
    "nvptx": ("gpu", "nvvm", "ptx", "fatbin", *_LOADED),
    WINDOWS: ("kernels", "llvm", "dll", "import-library"),
    WEBASSEMBLY: ("kernels", "llvm", "module", "javascript", "types"),
    MICROCONTROLLER: ("kernels", "llvm"),
}
"""The kinds that programs for one target have, and those for some other have not."""


def not_of(target: str) -> frozenset[str]:
    """The kinds that programs for a target, a key of `_OF_TARGET`, have not."""
    kinds = {kind for others in _OF_TARGET.values() for kind in others}
    return frozenset(kinds.difference(_OF_TARGET[target]))


_SHIPPED = (
    "header",
    "object",
    "archive",
    "shared-object",
    "link",
    "pkg-config",
    "dll",
    "import-library",
    "module",
    "javascript",
    "types",
    "cmake",
    "description",
)


def shipped(target: str) -> tuple[str, ...]:
    """The kinds that are shipped of a library for such a target, whatever weights are."""
    return tuple(kind for kind in _SHIPPED if kind not in not_of(target))
