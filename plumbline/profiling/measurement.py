"""Measures how long each kernel of a compiled program takes, in calls of the whole program."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.compiler import CompiledProgram, check_compiled
from plumbline.errors import UserError, showing_the_message_alone
from plumbline.kernels_to_llvm.time_kernels import TIMES
from plumbline.linalg_to_kernels.timed_calls import TimedCall, Work
from plumbline.profiling.kernel_time import KernelTime, Profile

_ROUNDS = 7
"""So many times all is measured. The fastest counts, so that times add up to that of the whole, of
which other work on the machine would seem to be what is in no kernel."""

_CLOCK: Callable[[], float] = time.perf_counter


@showing_the_message_alone
def profile(program: CompiledProgram, *arguments: Any, seconds: float = 1.0) -> Profile:
    """Finds what `program` spends its time on, when it is called with `arguments`.

    It is compiled a second time, with timers around its kernels, from the same stages: these are
    the kernels that it has, fused and laid out in memory as they are there. They run as parts of
    the whole, with the caches as the kernels before leave them.

    Args:
      program: what `plumbline.compile` gives. With several threads, what is timed is the call that
        waits for all of them.
      *arguments: those of a call. What it writes in place is written in each.
      seconds: how long it measures, at least.

    Raises:
      UserError: it is no such program, or one for a GPU; or it does not take the arguments, or
        fails.
    """
    timed_calls, times, timed = _with_timers(program)
    for each in (program, timed):
        # What is done once, and what caches are filled by.
        each(*arguments)
    calls = _calls_in(seconds / (2 * _ROUNDS), lambda: timed(*arguments))
    rounds, whole = [], []
    for _ in range(_ROUNDS):
        whole.append(_seconds(calls, lambda: program(*arguments)))
        times[:] = 0
        _seconds(calls, lambda: timed(*arguments))
        rounds.append(times / calls)
    counts, nanoseconds = min(rounds, key=lambda each: float(each[-1, 1])).T
    timer = float(nanoseconds[len(timed_calls)])
    return Profile(
        program.signature.name,
        [
            _kernel_time(call, float(count), float(taken) - float(count) * timer)
            for call, count, taken in zip(timed_calls, counts, nanoseconds, strict=False)
        ],
        seconds=min(whole),
        timed_seconds=1e-9 * float(nanoseconds[-1]),
        timer_seconds=1e-9 * timer,
    )


def _kernel_time(call: TimedCall, count: float, nanoseconds: float) -> KernelTime:
    work = call.work
    if work is not None:
        work = Work(round(count * work.operations), round(count * work.bytes))
    return KernelTime(call, count, 1e-9 * max(nanoseconds, 0.0), work)


def _with_timers(
    program: CompiledProgram,
) -> tuple[Sequence[TimedCall], Tensor, CompiledProgram]:
    """What of a program is timed, where the times come to lie, and the program that does it."""
    check_compiled("plumbline.profile", program)
    name = program.signature.name
    if program.lowering.gpu is not None:
        raise UserError(
            f"{name}: it is for a GPU, whose kernels NVIDIA's tools time: nsys profile, or ncu"
        )
    timed_calls, object_files = program.lowering.with_timers(name)
    # A pair for each, and for the two timers of the whole.
    times = np.zeros((len(timed_calls) + 2, 2), np.int64)
    return timed_calls, times, program.with_code(object_files, {TIMES: times})


def _calls_in(seconds: float, call: Callable[[], object]) -> int:
    """How many calls take so long; one at least."""
    return max(int(seconds / max(_seconds(3, call), 1e-9)), 1)


def _seconds(calls: int, call: Callable[[], object]) -> float:
    """How long a call takes, of so many."""
    begin = _CLOCK()
    for _ in range(calls):
        call()
    return (_CLOCK() - begin) / calls
