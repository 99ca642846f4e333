"""Refuses code that names instructions which a CPU lacks: LLVM ends the process over such.

Kernels name those that LLVM makes of nothing else (`linalg_to_kernels/dot_instructions.py`,
`elementary_functions/lookups.py`), and are made for one CPU.
"""

from collections.abc import Callable, Mapping

from plumbline.errors import UserError
from plumbline.target.probe import vector_unit_of
from plumbline.target.target import Target
from plumbline.target.vector_unit import VectorUnit

_NAMED: Mapping[str, Callable[[VectorUnit], bool]] = {
    "@llvm.x86.avx512.": lambda unit: unit.looks_up,
    "@llvm.aarch64.neon.sdot.": lambda unit: "sdot" in unit.dots,
    "@llvm.arm.smlad": lambda unit: "smlad" in unit.dots,
    "tdpbf16ps %": lambda unit: "tdpbf16ps" in unit.dots,
    "tdpbssd %": lambda unit: "tdpbssd" in unit.dots,
    "vdpbf16ps $": lambda unit: "vdpbf16ps" in unit.dots,
    "vpdpbusd $": lambda unit: "vpdpbusd" in unit.dots,
    "vpmaddwd $": lambda unit: "vpmaddwd" in unit.dots,
}
"""How intrinsics, and instructions in assembly within LLVM IR, begin, and who has them."""


def refuse_missing_instructions(llvm_ir: str, target: Target) -> None:
    """Looks through LLVM IR for what `target` lacks.

    Raises:
      UserError: it has such, or the target does not exist.
    """
    missing = [
        name for name, has in _NAMED.items() if name in llvm_ir and not has(vector_unit_of(target))
    ]
    if missing:
        names = ", ".join(name.strip("@. $%") for name in missing)
        raise UserError(
            f"this LLVM IR has instructions that the CPU {target.cpu} lacks, or has for shorter "
            f"vectors ({names}): its kernels were made for another, lower them for this one"
        )
