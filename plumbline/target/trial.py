"""What LLVM says of a CPU or GPU when it is to make code for it."""

import functools
import re
import subprocess
import sys

import llvmlite.binding as llvm

from plumbline.target.machine import target_machine
from plumbline.target.target import Target

_TRIAL = """
import sys
triple, cpu, *sys.path = sys.argv[1:]
from plumbline.target.trial import compile_trial
compile_trial(triple, cpu)
"""

UNKNOWN = "LLVM knows no such CPU"
"""Of this architecture, that is; it may be one of another."""


# Numbers side by side, and vectors: LLVM ends the process over these, too, where its table of a CPU
# lacks how long it takes to load two registers at once (oryon-1, LLVM 22).
_LOADS = """
define i64 @f(ptr %p, ptr %q) {
  %next = getelementptr i64, ptr %p, i64 1
  %x = load i64, ptr %p, align 8
  %y = load i64, ptr %next, align 8
  %z = add i64 %x, %y
  %behind = getelementptr <4 x float>, ptr %q, i64 1
  %v = load <4 x float>, ptr %q, align 16
  %w = load <4 x float>, ptr %behind, align 16
  %u = fadd <4 x float> %v, %w
  store <4 x float> %u, ptr %q, align 16
  ret i64 %z
}
"""


def compile_trial(triple: str, cpu: str) -> None:
    """Compiles a small function, for the sake of what LLVM says of the CPU, and prints it."""
    print(target_machine(Target(triple, cpu)).emit_assembly(llvm.parse_assembly(_LOADS)))


@functools.cache
def problem_with(cpu: str, triple: str) -> str:
    """What keeps LLVM from making code for a CPU; empty if nothing does.

    LLVM says that it does not know a CPU on standard error only, and ends the process at one that
    has no 64-bit instructions, or of which it knows too little: so another process is asked.
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
        return UNKNOWN
    if trial.returncode != 0:
        return "LLVM makes no 64-bit code for such a CPU, or fails at it"
    if "__addsf3" in trial.stdout:
        return "it has no instructions for floats"
    # "help" has it list those that it knows.
    return UNKNOWN if "Available CPUs" in trial.stderr else ""
