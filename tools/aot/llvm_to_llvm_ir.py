"""Stage program: translates a .mlir file of the LLVM dialect to LLVM IR."""

from plumbline.context import prepare_context
from plumbline.llvm_to_asm.stage import llvm_to_llvm_ir
from tools.aot import stage

_SAMPLE = """
llvm.func @sample(%x: f32) -> f32 {
  llvm.return %x : f32
}
"""


def _warm_up() -> None:
    llvm_to_llvm_ir(_SAMPLE, "sample")
    prepare_context()


if __name__ == "__main__":
    stage.run_text_stage(__doc__, llvm_to_llvm_ir, warm_up=_warm_up)
