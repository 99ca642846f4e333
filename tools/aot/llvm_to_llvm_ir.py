"""Stage program: translates a .mlir file of the LLVM dialect to LLVM IR."""

from plumbline.context import make_context
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.tcp.assembly.module import parse_module
from tools.aot import stage

_SAMPLE = """
llvm.func @sample(%x: f32) -> f32 {
  llvm.return %x : f32
}
"""


def llvm_to_llvm_ir(text: str, filename: str) -> str:
    """The stage, from text to text."""
    return translate_to_llvm_ir(parse_module(text, make_context(), filename))


if __name__ == "__main__":
    stage.run_text_stage(__doc__, llvm_to_llvm_ir, sample=_SAMPLE)
