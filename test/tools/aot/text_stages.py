"""The stages in one process: each reads the text of the one before, in a new context."""

from plumbline.kernels_to_llvm.stage import kernels_to_llvm
from plumbline.linalg_to_kernels.stage import linalg_to_kernels
from plumbline.llvm_to_asm.stage import llvm_to_llvm_ir
from plumbline.target.choices import RuntimeChecks
from plumbline.tcp_to_linalg.stage import tcp_to_linalg
from plumbline.torch_to_tcp.stage import torch_to_tcp


def llvm_ir_of(
    torch_text: str, *, target_cpu: str, runtime_checks: RuntimeChecks = "values"
) -> str:
    """The LLVM IR that aot_library makes of a program, from the text that its exporter writes."""
    tcp = torch_to_tcp(torch_text, "torch.mlir")
    linalg = tcp_to_linalg(tcp, "tcp.mlir", runtime_checks)
    kernels = linalg_to_kernels(linalg, "linalg.mlir", target_cpu=target_cpu)
    return llvm_to_llvm_ir(kernels_to_llvm(kernels, "kernels.mlir", "pointers"), "llvm.mlir")
