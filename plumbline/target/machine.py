"""LLVM's code generator for a target."""

import llvmlite.binding as llvm

from plumbline.errors import UserError
from plumbline.target.target import Target


def target_machine(target: Target, optimisation_level: int = 2) -> llvm.TargetMachine:
    """The generator of code, position-independent but where it never moves.

    Raises:
      UserError: the target does not exist.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    # Of instructions that kernels call by their names, where objects are made of them.
    llvm.initialize_native_asmparser()
    try:
        return llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=target.cpu,
            features=",".join(filter(None, (target.features, _tuning(target)))),
            opt=optimisation_level,
            reloc="static" if target.is_freestanding else "pic",
            codemodel="default",
        )
    except RuntimeError as error:
        raise UserError(f"no code can be made for {target}: {error}") from None


# Extensions of RISC-V with instructions that LLVM chooses by itself and binutils 2.40, Debian 12's
# assembler, does not know.
_NOT_ASSEMBLED = (
    "zicond",
    "zfa",
    "zvbb",
    "zvkb",
    "zfbfmin",
    "zvfbfmin",
    "zvfbfwma",
    "zacas",
    "zabha",
    "zihintntl",
    "xandesperf",
    "xmipscbop",
    "xmipscmov",
    "xmipslsp",
    "xsmtvdot",
    "xventanacondops",
)


def _tuning(target: Target) -> str:
    """What LLVM is told beyond the features of a CPU."""
    if target.architecture == "riscv64":
        return ",".join(f"-{extension}" for extension in _NOT_ASSEMBLED)
    # LLVM makes gathers and scatters of loops that walk a column, as packing and transposing do:
    # they took three times as long there as one element at a time (AMD Zen 5).
    return "+prefer-no-gather,+prefer-no-scatter" if target.architecture == "x86_64" else ""
