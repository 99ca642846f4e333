"""Runs what may end its process, as LLVM and MLIR do at faults of theirs, in a child of it."""

import mmap
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import IO

from plumbline.errors.temporary_folder import make_temporary_folders_in, temporary_folder

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


class Child:
    """A program that runs in a child process, from when this is made."""

    def __init__(self, program: Callable[[], object], *, outputs: Mapping[int, int]) -> None:
        """Starts `program`.

        Args:
          program: ends as a Python program does: `sys.exit` and exceptions mean what they mean
            there.
          outputs: the file descriptors of this process (the values) that take the place of the
            child's, such as 2, its standard error.
        """
        # An exit from within C++ (LLVM calls exit(1) at some errors) looks like any other; only who
        # comes to the end says so here.
        self._came_to_end = mmap.mmap(-1, 1)
        self.pid = os.fork()
        if self.pid == 0:
            for number, output in outputs.items():
                os.dup2(output, number)
            status = exit_status(program)
            self._came_to_end[0] = 1
            os._exit(status)

    def ending(self, code: int, printed: str) -> int | Death:
        """What it means that the process ended with `code`, negative for a signal."""
        came_to_end = self._came_to_end[0]
        self._came_to_end.close()
        if came_to_end:
            return code
        if -code in _HANDED_ON:
            return _SIGNALLED - code
        cause = signal.Signals(-code).name if code < 0 else f"exit with status {code}"
        return Death(cause, printed)


def run_watched(program: Callable[[], object], *, keep_back_errors: bool = False) -> int | Death:
    """Runs `program` in a child process, and gives its exit status once it has ended.

    With `keep_back_errors`, its standard error is printed when it has come to its end, and else
    becomes part of the `Death`: LLVM's last words then do not stand beside the message about it. Of
    what it keeps in `temporary_folder` nothing is left behind, either way.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as errors, temporary_folder() as folder:
        # Until it is settled here what becomes of them, they wait.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, _HANDED_ON)

        def run() -> None:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            make_temporary_folders_in(folder)
            program()

        child = Child(run, outputs={2: errors.fileno()} if keep_back_errors else {})
        code = _wait(child.pid, unblocked)
        errors.seek(0)
        printed = errors.read().decode(errors="replace")
    ending = child.ending(code, printed)
    if not isinstance(ending, Death):
        _print(sys.stderr, printed)
    return ending


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
    except BrokenPipeError:
        # Whoever reads what it prints, such as `head`, has read enough.
        status = _SIGNALLED + signal.SIGPIPE
    except BaseException:
        # As the interpreter does.
        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            status = status or _SIGNALLED + signal.SIGPIPE
        except OSError:
            # There is no room for it.
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
