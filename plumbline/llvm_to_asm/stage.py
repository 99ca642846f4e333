"""The stage from the LLVM dialect to LLVM IR, from text to text."""

from plumbline.context import context_for
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.tcp.assembly.module import parse_module


def llvm_to_llvm_ir(text: str, filename: str) -> str:
    """Translates `text`, which messages call `filename`.

    Raises:
      UserError: it is no module of the LLVM dialect.
    """
    with context_for(text) as context:
        return translate_to_llvm_ir(parse_module(text, context, filename))
