"""The CPUs that code is made for, of this machine's architecture and of others."""

from dataclasses import replace

import llvmlite.binding as llvm

from plumbline.errors import UserError
from plumbline.target.probe import has_float_registers
from plumbline.target.target import (
    THUMB,
    WEBASSEMBLY,
    Target,
    is_for_windows,
    is_microcontroller,
    without_system,
)
from plumbline.target.trial import UNKNOWN, problem_with

# Of each architecture its own name stands for a CPU old enough that machines in use have what it
# has, and so does "baseline" for this machine's: fixed, so that every machine makes the same output
# and shares one cache.
# x86-64-v3 (2013): AVX2, FMA, and F16C for half precision. LLVM's generic AArch64 is Armv8.0-A.
# RISC-V has profiles of what it had at a time, which are features to LLVM; that of 2020, RVA20, is
# what Linux asks for, without vectors. WebAssembly is what all browsers run since 2023: version 2.0
# of it, with vectors of 128 bits.
_BASELINES = {
    "x86_64": ("x86-64-v3", ""),
    "aarch64": ("generic", ""),
    "riscv64": ("generic-rv64", "+rva20u64"),
    WEBASSEMBLY: (
        "generic",
        "+simd128,+bulk-memory,+mutable-globals,+nontrapping-fptoint,+sign-ext",
    ),
}

_SYSTEMS = {WEBASSEMBLY: "unknown-wasi", THUMB: "unknown-none-eabi"}
"""Where it is not Linux: how triples end."""

_PROFILES = {name: ("generic-rv64", f"+{name}") for name in ("rva20u64", "rva22u64", "rva23u64")}
"""Those of RISC-V for 64 bits in user mode (RISC-V Profiles), as `clang -march` names them. The
first that has vectors is RVA23."""


def cpu_target(cpu: str) -> Target:
    """The target for the CPU called `cpu`.

    `cpu` is "baseline" (a fixed, widely available CPU of this machine's architecture), "native"
    (this very machine, with just the features that it has), an architecture, "aarch64", for such a
    CPU of that, or "wasm32", which no CPU is, a profile of RISC-V, "rva23u64", a microcontroller of
    Arm's, "cortex-m55", or one of LLVM's names: "skylake", "neoverse-n1", "spacemit-x60". A name
    that CPUs of several architectures have is taken for that of this machine's. With "-windows" at
    its end, "skylake-windows", it is for Windows in place of Linux.

    Raises:
      UserError: LLVM can make no code for a CPU of that name, or it is none of these.
    """
    if is_for_windows(cpu):
        return _for_windows(cpu)
    own = llvm.get_process_triple()
    if cpu == "native":
        return Target(own, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    architecture = Target(own, cpu).architecture
    if cpu == "baseline":
        return Target(own, *_BASELINES.get(architecture, ("generic", "")))
    if cpu in _BASELINES:
        return Target(_triple(cpu), *_BASELINES[cpu])
    if cpu in _PROFILES:
        return Target(_triple("riscv64"), *_PROFILES[cpu])
    if is_microcontroller(cpu):
        return _microcontroller(cpu)
    others = [_triple(each) for each in _BASELINES if each not in (architecture, WEBASSEMBLY)]
    problems = []
    for triple in (own, *others):
        problem = problem_with(cpu, triple)
        if not problem:
            return Target(triple, cpu)
        problems.append(problem)
    # What keeps it from being one says more than that others know it even less.
    problem = next((each for each in problems if each != UNKNOWN), UNKNOWN)
    raise UserError(
        f'target_cpu {cpu!r}: {problem}; use "baseline", "native", an architecture '
        f"({', '.join(_BASELINES)}), a profile of RISC-V ({', '.join(_PROFILES)}), or a name that "
        'clang -mcpu takes for one of these or a Cortex-M; for Windows, "x86_64-windows"'
    )


def _for_windows(cpu: str) -> Target:
    target = cpu_target(without_system(cpu))
    if target.architecture != "x86_64":
        raise UserError(
            f"target_cpu {cpu!r}: for Windows code is made for x86-64 alone, and that is of "
            f'{target.architecture}; use "x86_64-windows" for its baseline'
        )
    return replace(target, triple="x86_64-w64-windows-gnu")


def _microcontroller(cpu: str) -> Target:
    """The target for a Cortex-M. It passes numbers in float registers, where it has these."""
    triple = _triple(THUMB)
    problem = problem_with(cpu, triple)
    if problem:
        raise UserError(
            f"target_cpu {cpu!r}: {problem}; of microcontrollers use a name that clang -mcpu "
            'takes, such as "cortex-m4" or "cortex-m55"'
        )
    target = Target(triple, cpu)
    return Target(f"{triple}hf", cpu) if has_float_registers(target) else target


def cpu_target_here(cpu: str) -> Target:
    """The same, for code that this process is to call.

    Raises:
      UserError: as `cpu_target` does, or the CPU is of another architecture than this machine's,
        or its code for another system.
    """
    target = cpu_target(cpu)
    own = cpu_target("baseline").architecture
    if target.architecture != own or target.is_for_windows:
        system = " under Windows" if target.is_for_windows else ""
        raise UserError(
            f"target_cpu {cpu!r} is of {target.architecture}{system}, and this machine of {own}, "
            "which cannot run such code: plumbline.aot makes a library of it for another machine"
        )
    return target


def _triple(architecture: str) -> str:
    """In the form in which LLVM names this machine's."""
    return f"{architecture}-{_SYSTEMS.get(architecture, 'unknown-linux-gnu')}"
