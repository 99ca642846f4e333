"""Turns LLVM IR into assembly text for a CPU, with llvmlite."""

import functools
import re
import subprocess
import sys
from dataclasses import dataclass

import llvmlite.binding as llvm

from plumbline.errors import UserError

# What `cpu = "baseline"` stands for, by architecture: fixed, so that every machine makes the same
# output and shares one cache; old enough that machines in use have it.
# x86-64-v3 (2013): AVX2, FMA, and F16C for half precision.
_BASELINES = {"x86_64": "x86-64-v3", "aarch64": "generic"}


@dataclass(frozen=True)
class Target:
    """What code is made for. `features` are LLVM's, such as "+avx2,-fma"."""

    triple: str
    cpu: str
    features: str = ""

    @classmethod
    def for_cpu(cls, cpu: str) -> "Target":
        """The target of this machine's kind, for the CPU called `cpu`.

        `cpu` is "baseline" (a fixed, widely available CPU of this architecture), "native" (this
        very machine, with just the features that it has), or one of LLVM's names, "skylake".

        Raises:
          UserError: LLVM can make no 64-bit code for a CPU of that name.
        """
        triple = llvm.get_process_triple()
        if cpu == "native":
            return cls(triple, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
        architecture = triple.partition("-")[0]
        if cpu == "baseline":
            return cls(triple, _BASELINES.get(architecture, "generic"))
        if problem := problem_with(cpu, triple):
            raise UserError(
                f'target_cpu {cpu!r}: {problem}; use "baseline", "native", or a name that '
                f"clang -mcpu takes for {architecture}"
            )
        return cls(triple, cpu)


def emit_assembly(llvm_ir: str, target: Target, optimisation_level: int = 2) -> str:
    """Optimises `llvm_ir` like `clang -O<level>` and gives position-independent assembly.

    Raises:
      UserError: LLVM cannot read the text, or the target does not exist.
    """
    machine = _target_machine(target, optimisation_level)
    return str(machine.emit_assembly(_optimise(llvm_ir, machine, optimisation_level)))


def emit_object(llvm_ir: str, target: Target, optimisation_level: int = 2) -> bytes:
    """The same as an object file.

    Raises:
      UserError: as `emit_assembly` does.
    """
    machine = _target_machine(target, optimisation_level)
    return bytes(machine.emit_object(_optimise(llvm_ir, machine, optimisation_level)))


def _optimise(llvm_ir: str, machine: llvm.TargetMachine, optimisation_level: int) -> llvm.ModuleRef:
    try:
        # Each in a context of its own: types of earlier modules would rename those of later ones.
        module = llvm.parse_assembly(_without_debug_info(llvm_ir), llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise UserError(f"LLVM cannot read this LLVM IR: {error}") from None
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=optimisation_level)
    options.loop_vectorization = options.slp_vectorization = optimisation_level >= 2
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def _without_debug_info(llvm_ir: str) -> str:
    """The text with a mark of no version on its debug information, which is then not looked at.

    MLIR marks all it makes, though there is none. Reading a module that is marked, LLVM verifies it
    first and ends the process if it is broken, where `verify` says what is wrong.
    """
    return llvm_ir.replace('!"Debug Info Version", i32 3}', '!"Debug Info Version", i32 0}')


def _target_machine(target: Target, optimisation_level: int) -> llvm.TargetMachine:
    _initialize()
    try:
        return llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=target.cpu,
            features=",".join(filter(None, (target.features, _tuning(target)))),
            opt=optimisation_level,
            reloc="pic",
            codemodel="default",
        )
    except RuntimeError as error:
        raise UserError(f"no code can be made for {target}: {error}") from None


def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


_TRIAL = """
import sys
triple, cpu, *sys.path = sys.argv[1:]
from plumbline.llvm_to_asm.assembly import compile_trial
compile_trial(triple, cpu)
"""


def compile_trial(triple: str, cpu: str) -> None:
    """Compiles a function of nothing, for the sake of what LLVM says of the CPU."""
    emit_assembly("define void @f() {\n  ret void\n}\n", Target(triple, cpu))


@functools.cache
def problem_with(cpu: str, triple: str) -> str:
    """What keeps LLVM from making code for a CPU; empty if nothing does.

    LLVM says that it does not know a CPU on standard error only, and ends the process at one that
    has no 64-bit instructions: so another process is asked.
    """
    if not re.fullmatch(r"[\w.+-]+", cpu, re.ASCII):
        return "that is no name of a CPU"
    trial = subprocess.run(
        [sys.executable, "-c", _TRIAL, triple, cpu, *sys.path],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if "is not a recognized" in trial.stderr:
        return "LLVM knows no such CPU"
    if trial.returncode != 0:
        return "LLVM makes no 64-bit code for such a CPU"
    return ""


def _tuning(target: Target) -> str:
    """What LLVM is told beyond the features of a CPU."""
    # LLVM makes gathers and scatters of loops that walk a column, as packing and transposing do:
    # they took three times as long there as one element at a time (AMD Zen 5).
    return "+prefer-no-gather,+prefer-no-scatter" if target.triple.startswith("x86_64") else ""
