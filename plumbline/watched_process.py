"""Runs what may end its process, as LLVM and MLIR do at faults of theirs, in a child of it."""

import mmap
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType
from typing import IO

_HANDED_ON = (signal.SIGINT, signal.SIGTERM)
"""The signals by which people and build systems end a program."""

_SIGNALLED = 128
"""What shells add to the number of such a signal, as the exit status."""


@dataclass(frozen=True)
class Death:
    """How a program ended that did not come to its own end."""

    cause: str
    """Such as "SIGSEGV"."""
    printed: str
    """What it had written to standard error, where that was kept back."""


def run_watched(program: Callable[[], object], *, keep_back_errors: bool = False) -> int | Death:
    """Runs `program` in a child process, and gives its exit status once it has ended.

    The child ends as a Python program does: `sys.exit` and exceptions mean what they mean there.
    With `keep_back_errors`, its standard error is printed when it has come to its end, and else
    becomes part of the `Death`: LLVM's last words then do not stand beside the message about it.
    """
    # An exit from within C++ (LLVM calls exit(1) at some errors) looks like any other; only who
    # comes to the end says so here.
    came_to_end = mmap.mmap(-1, 1)
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as errors:
        # Until it is settled here what becomes of them, they wait.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, _HANDED_ON)
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            if keep_back_errors:
                os.dup2(errors.fileno(), 2)
            status = exit_status(program)
            came_to_end[0] = 1
            os._exit(status)
        status = _wait(child, unblocked)
        errors.seek(0)
        printed = errors.read().decode(errors="replace")
    if came_to_end[0]:
        _print(sys.stderr, printed)
        return status
    if -status in _HANDED_ON:
        return _SIGNALLED - status
    cause = signal.Signals(-status).name if status < 0 else f"exit with status {status}"
    return Death(cause, printed)


def exit_status(program: Callable[[], object]) -> int:
    """Runs `program` in this process; prints and gives what Python would for it at its end."""
    status = 0
    try:
        program()
    except SystemExit as end:
        if isinstance(end.code, str):
            _print(sys.stderr, f"{end.code}\n")
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        status = _SIGNALLED + signal.SIGINT
    except BaseException:
        # As the interpreter does.
        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # Whoever read it is gone.
            status = status or 1
    return status


def _wait(child: int, unblocked: Iterable[int]) -> int:
    """Waits for a child: its exit status, or the signal that ended it, negative."""

    def hand_on(number: int, frame: FrameType | None) -> None:
        os.kill(child, number)

    # Ctrl-C reaches the child by itself, and what becomes of it is told here.
    former = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
        signal.SIGTERM: signal.signal(signal.SIGTERM, hand_on),
    }
    signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _print(stream: IO[str], text: str) -> None:
    stream.write(text)
    stream.flush()
