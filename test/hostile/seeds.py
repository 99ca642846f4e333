"""Valid files of every stage, which mutations start from."""

import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.gpu_to_nvvm.conversion import convert_gpu_to_nvvm
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.linalg_to_gpu.conversion import convert_linalg_to_gpu
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.stablehlo_to_tcp.conversion import convert_stablehlo_to_tcp
from plumbline.target.gpu import gpu_target
from plumbline.target.gpu_chip import DEFAULT_ARCH
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp
from tools.tcp_opt import bytecode

_SEPARATOR = "// -----"
_LONGEST = 6000
"""In characters: longer seeds are slow and no richer."""


def _parts(folder: Path, skip: str = "invalid") -> Iterator[str]:
    """What lit tests consist of, without their comments."""
    for file in sorted(folder.glob("*.mlir")):
        if skip in file.name:
            continue
        for part in file.read_text().split(_SEPARATOR):
            lines = [line for line in part.split("\n") if not line.strip().startswith("//")]
            text = "\n".join(lines).strip() + "\n"
            if any(op in text for op in ("func.func", "gpu.module")) and len(text) < _LONGEST:
                yield text


def _lowered(
    texts: list[str], lower: Callable[[str], str], limit: int | None = None
) -> Iterator[str]:
    for text in texts[:limit]:
        try:
            yield lower(text)
        except UserError:
            # Tests hold programs that are refused, too.
            continue


def _stablehlo_to_tcp(text: str) -> str:
    module = parse_module(text, make_context(torch=True, stablehlo=True), "seed")
    convert_stablehlo_to_tcp(module)
    return print_module(module)


def _torch_to_tcp(text: str) -> str:
    module = parse_module(text, make_context(torch=True), "seed")
    convert_torch_to_tcp(module)
    return print_module(module, debug_info=True)


def _tcp_to_linalg(text: str) -> str:
    module = parse_module(text, make_context(torch=True), "seed")
    convert_tcp_to_linalg(module)
    return print_module(module)


def _linalg_to_kernels(text: str) -> str:
    module = parse_module(text, make_context(torch=True), "seed")
    convert_linalg_to_kernels(module)
    return print_module(module)


def _kernels_to_llvm(text: str) -> str:
    module = parse_module(text, make_context(torch=True), "seed")
    convert_kernels_to_llvm(module)
    return print_module(module)


def _linalg_to_gpu(text: str) -> str:
    module = parse_module(text, make_context(torch=True), "seed")
    convert_linalg_to_gpu(module, gpu_target(DEFAULT_ARCH).cpu)
    return print_module(module)


def _gpu_to_nvvm(text: str) -> str:
    module = parse_module(text, make_context(torch=True), "seed")
    convert_gpu_to_nvvm(module)
    return print_module(module)


def _to_llvm_ir(text: str) -> str:
    return translate_to_llvm_ir(parse_module(text, make_context(), "seed"))


class Seeds:
    """Valid files, by kind."""

    def __init__(self, tests: Path, template: Path) -> None:
        """Reads the lit tests in the folder `tests`, and lowers them; takes some seconds."""
        self.torch = list(_parts(tests / "torch_to_tcp"))
        self.stablehlo = list(_parts(tests / "stablehlo_to_tcp"))
        hand_written = [
            *_parts(tests / "tcp/ops"),
            *_parts(tests / "tcp/complex_numbers"),
            *_parts(tests / "tcp_to_linalg"),
        ]
        exported = [
            *_lowered(self.torch, _torch_to_tcp),
            *_lowered(self.stablehlo[::4], _stablehlo_to_tcp),
        ]
        self.tcp = [*hand_written, *exported]
        self.linalg = [
            *_lowered(self.tcp, _tcp_to_linalg),
            *_parts(tests / "linalg_to_kernels"),
        ]
        self.kernels = [
            *_lowered(self.linalg[::4], _linalg_to_kernels),
            *_parts(tests / "kernels_to_llvm"),
        ]
        self.gpu = [
            *_lowered(self.linalg[::12], _linalg_to_gpu),
            *_parts(tests / "linalg_to_gpu"),
        ]
        self.nvvm = [
            *_lowered(self.gpu, _gpu_to_nvvm),
            *_parts(tests / "gpu_to_nvvm"),
        ]
        self.llvm = list(_lowered(self.kernels, _kernels_to_llvm))
        self.llvm_ir = [*_lowered(self.llvm, _to_llvm_ir), _WITH_WEIGHTS]
        self.bytecode = [
            bytecode.write(parse_module(text, make_context(torch=True), "seed").operation)
            for text in (*self.tcp[::8], *self.linalg[::8], *self.llvm[::8])
        ]
        self.safetensors = [_safetensors()]
        self.npz = [_npz()]
        self.template = [template.read_text()]


_WITH_WEIGHTS = """
@f.weight.a = external constant [8 x i8], align 4
@"f.weight.b/c" = external constant [4 x i8]
define ptr @f() {
  ret ptr @f.weight.a
}
"""


def _safetensors() -> bytes:
    header = (
        b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
        b'"b/c":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},"__metadata__":{"x":"y"}}'
    )
    return struct.pack("<Q", len(header)) + header + bytes(12)


def _npz() -> bytes:
    ones = np.ones((2, 3), np.float32)
    archive = ReferenceArchive("f", (ones, ones), (ones,), (1e-5,), (1e-6,))
    with tempfile.TemporaryDirectory() as folder:
        archive.write(Path(folder, "npz"))
        return Path(folder, "npz").read_bytes()
