"""Profiles what a loader returns, on its own inputs."""

from collections.abc import Callable

from plumbline.compiler import compile as compile_program
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.profiling.kernel_time import Profile
from plumbline.profiling.measurement import profile
from plumbline.target.choices import RuntimeChecks

_BEGUN = {"torch": "lowering", "llvm_ir": "compiling", "machine_code": "measuring"}
"""What is done after a stage."""


def profile_loader(
    given: TorchLoaderOutput,
    *,
    target_cpu: str,
    threads: int,
    opt_level: int,
    runtime_checks: RuntimeChecks = "values",
    when_begun: Callable[[str], None] = lambda step: None,
) -> Profile:
    """Compiles what a loader returns, and measures it.

    Args:
      given: the program and its inputs; its function has a name.
      target_cpu: as of `plumbline.compile`, as are those that follow.
      threads: how many a call runs on.
      opt_level: how much LLVM optimises.
      runtime_checks: what the program checks as it runs.
      when_begun: told what happens, before it does.

    Raises:
      UserError: the program cannot be compiled, or fails.
    """
    assert given.func_name is not None
    program = compile_program(
        given,
        func_name=given.func_name,
        target_cpu=target_cpu,
        threads=threads,
        opt_level=opt_level,
        runtime_checks=runtime_checks,
        when_done=lambda stage: when_begun(_BEGUN[stage]) if stage in _BEGUN else None,
    )
    return profile(program, *given.inputs, *program.state.values())
