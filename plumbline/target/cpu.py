"""The CPUs that code is made for, and what "baseline" stands for."""

import llvmlite.binding as llvm

from plumbline.errors import UserError
from plumbline.target.target import Target
from plumbline.target.trial import problem_with

# What `cpu = "baseline"` stands for, by architecture: fixed, so that every machine makes the same
# output and shares one cache; old enough that machines in use have it.
# x86-64-v3 (2013): AVX2, FMA, and F16C for half precision.
_BASELINES = {"x86_64": "x86-64-v3", "aarch64": "generic"}


def cpu_target(cpu: str) -> Target:
    """The target of this machine's kind, for the CPU called `cpu`.

    `cpu` is "baseline" (a fixed, widely available CPU of this architecture), "native" (this
    very machine, with just the features that it has), or one of LLVM's names, "skylake".

    Raises:
      UserError: LLVM can make no 64-bit code for a CPU of that name.
    """
    triple = llvm.get_process_triple()
    if cpu == "native":
        return Target(triple, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    architecture = triple.partition("-")[0]
    if cpu == "baseline":
        return Target(triple, _BASELINES.get(architecture, "generic"))
    if problem := problem_with(cpu, triple):
        raise UserError(
            f'target_cpu {cpu!r}: {problem}; use "baseline", "native", or a name that '
            f"clang -mcpu takes for {architecture}"
        )
    return Target(triple, cpu)
