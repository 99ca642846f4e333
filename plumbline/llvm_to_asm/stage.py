"""The stage from the LLVM dialect to LLVM IR, from text to text."""

from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.stages.text_stage import read_module


def llvm_to_llvm_ir(text: str, filename: str) -> str:
    """Translates `text`, which messages call `filename`.

    Raises:
      UserError: it is no module of the LLVM dialect.
    """
    return read_module(text, filename, translate_to_llvm_ir, torch=False)
