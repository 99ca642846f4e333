"""The stage from NVVM to PTX, from text to text."""

from plumbline.llvm_to_asm.llvm_ir import translate_kernels_to_llvm_ir
from plumbline.llvm_to_asm.ptx import emit_ptx
from plumbline.stages.text_stage import read_module
from plumbline.target.gpu import gpu_target


def nvvm_to_ptx(text: str, filename: str, *, gpu_arch: str, opt_level: int = 2) -> str:
    """Makes PTX of the kernels in `text`, which messages call `filename`.

    Raises:
      UserError: it is no module of NVVM, or there is no such GPU.
    """
    target = gpu_target(gpu_arch)
    llvm_ir = read_module(text, filename, translate_kernels_to_llvm_ir, torch=False)
    return emit_ptx(llvm_ir, target, opt_level)
