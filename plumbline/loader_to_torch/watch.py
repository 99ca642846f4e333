"""A watch over a loader: the user's code, which may end its process, crash it, or never come back.

So it runs in a child process, which tells this one what it is about to run. Nothing here imports
PyTorch, which the child may have yet to do.
"""

import contextlib
import math
import multiprocessing
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from plumbline.errors import UserError

_TIME_FOR_THREADS = 10.0
"""Seconds that threads have to end after the program has."""


@dataclass(frozen=True)
class _Doing:
    """What a child process does from now on."""

    what: str
    """The user's code, such as "loader test.foo_loader"; empty where it is ours."""


@dataclass(frozen=True)
class _Done:
    """A child process has come to its end, but for threads of these names."""

    refusal: str | None
    """What the user did wrong, if anything."""
    threads: tuple[str, ...]


class Watch:
    """Through which a child process says what it does."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextlib.contextmanager
    def over(self, what: str) -> Iterator[None]:
        """Has a time limit, and a message that names `what`, for what happens within."""
        self._connection.send(_Doing(what))
        try:
            yield
        finally:
            self._connection.send(_Doing(""))


class ProcessFault(UserError):
    """What followed the user's code ended its process, and the user can mend nothing of it."""


def run_in_child(
    work: Callable[[Watch], None], *, loader: str, time_limit: int, limit_option: str
) -> None:
    """Runs `work` in a child process; ends this one with its exit status if that is not 0.

    Args:
      work: puts the user's code under the watch that it is given.
      loader: what messages call it: "loader a.b".
      time_limit: how many seconds each part of the user's code may take; 0: any number.
      limit_option: how a user says another: "--loader-time-limit".

    Raises:
      UserError: `work` did; or what it put under its watch ended the process, or took too long; or
        threads were left that did not end.
      ProcessFault: what it did not put under its watch ended the process.
    """
    # A fork, as all that it takes is imported, and no thread has been started.
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(work, sender))
    child.start()
    sender.close()
    # A Bazel that is interrupted asks us to end.
    former = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        _watch(child, receiver, loader, time_limit, limit_option)
    finally:
        child.kill()
        child.join()
        signal.signal(signal.SIGTERM, former)


def _work(work: Callable[[Watch], None], connection: Connection) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    refusal = None
    try:
        work(Watch(connection))
    except UserError as error:
        refusal = str(error)
    except Exception:
        traceback.print_exc()
        sys.exit(1)
    finally:
        # Python waits for these when it ends, except for daemons.
        threads = [
            thread.name
            for thread in threading.enumerate()
            if thread is not threading.current_thread() and not thread.daemon
        ]
        connection.send(_Done(refusal, tuple(threads)))


def _watch(
    child: BaseProcess, receiver: Connection, loader: str, limit: int, limit_option: str
) -> None:
    doing = ""
    done: _Done | None = None
    deadline = math.inf
    while True:
        # Asked first, so that nothing is missed of what it said before its end.
        is_alive = child.is_alive()
        while (message := _received(receiver)) is not None:
            now = time.monotonic()
            if isinstance(message, _Done):
                done, deadline = message, now + _TIME_FOR_THREADS
            else:
                doing = message.what
                deadline = now + limit if doing and limit else math.inf
        if not is_alive or time.monotonic() >= deadline:
            break
        # Not for long: processes that a loader leaves behind keep both open after the child's end.
        wait([receiver, child.sentinel], timeout=0.5)
    if done is None:
        if child.exitcode is None:
            raise UserError(
                f"{doing} is still running after {limit} seconds; if it takes that long, give it "
                f"more: {limit_option}=SECONDS, or 0 for any time"
            )
        raise _untimely_end(child.exitcode, doing, loader)
    if done.refusal is not None:
        raise UserError(done.refusal)
    if child.is_alive():
        raise UserError(
            f"{loader} leaves threads running: {', '.join(done.threads)}; a program ends when its "
            "threads have: join them, or make them daemons"
        )
    if child.exitcode:
        sys.exit(child.exitcode)


def _received(receiver: Connection) -> _Doing | _Done | None:
    try:
        return receiver.recv() if receiver.poll() else None
    except EOFError:
        return None


def _untimely_end(exit_code: int, doing: str, loader: str) -> UserError:
    how = f"with status {exit_code}, as os._exit does"
    if exit_code < 0:
        how = f"by {signal.Signals(-exit_code).name}"
    if not doing:
        return ProcessFault(
            f"{loader}: what followed it ended the process {how}; that is a fault of PyTorch's, "
            "MLIR's, LLVM's or Plumbline's"
        )
    return UserError(f"{doing} ended the process {how}; it has to return")
