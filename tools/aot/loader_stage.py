"""What the programs share that run a loader function: its options, and a watch over it.

A loader is the user's code, which may end its process, crash it, or never come back. So it runs in
a child process, which tells this one what it is about to run.
"""

import argparse
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
from plumbline.loader_to_torch.loader import TorchLoaderOutput, load
from plumbline.loader_to_torch.loader_import import find_loaders_in, folders_of_loaders
from tools.aot import stage
from tools.aot.loader_files import LoaderFiles

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


def add_options(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say which program there is to load."""
    arguments.add_argument(
        "--torch-loader-path",
        required=True,
        metavar="PACKAGE.MODULE.FUNCTION",
        help="the loader function: test.AotCompile.model_loader_lib.foo_loader",
    )
    arguments.add_argument(
        "--func-name", help="the name of the compiled function, whatever the loader says"
    )
    arguments.add_argument(
        "--target-name", help="its name if neither --func-name nor the loader gives one"
    )
    arguments.add_argument(
        "--loader-files",
        type=stage.path,
        metavar="JSON",
        help="a list of the files of the loader's library, where they are not this program's own",
    )
    arguments.add_argument(
        "--loader-time-limit",
        type=int,
        default=600,
        metavar="SECONDS",
        help="how long the loader may take, and after it the model; 0: any time (default: 600)",
    )


def run(
    arguments: argparse.ArgumentParser,
    program: Callable[[argparse.Namespace, TorchLoaderOutput, Watch], None],
    *,
    warm_up: Callable[[], object] = lambda: None,
) -> None:
    """Runs `program` on the parsed command line and on what its loader returns.

    A mistake of the user's ends it with a message. `program` puts the user's code, in whatever of
    PyTorch it runs it, under the watch that it is given. `warm_up` is as for `stage.run`.
    """

    def load_and_run(given: argparse.Namespace, watch: Watch) -> None:
        path = given.torch_loader_path
        find_loaders_in(folders_of_loaders())
        with watch.over(f"loader {path}"):
            loaded = load(path, func_name=given.func_name, target=given.target_name)
        program(given, loaded, watch)

    add_options(arguments)

    def run_with_files(given: argparse.Namespace) -> None:
        with _files_of(given) as folders:
            sys.path[:0] = folders
            run_in_child(given, load_and_run)

    stage.run(arguments, run_with_files, warm_up=warm_up, watched=False)


def _files_of(given: argparse.Namespace) -> contextlib.AbstractContextManager[list[str]]:
    """The folders that the loader's files lie in, other than those of this program's."""
    if given.loader_files is None:
        return contextlib.nullcontext([])
    return LoaderFiles.read(given.loader_files).laid_out()


def run_in_child(
    given: argparse.Namespace, work: Callable[[argparse.Namespace, Watch], None]
) -> None:
    """Runs `work` in a child process; ends this one with its exit status if that is not 0.

    Raises:
      UserError: `work` did; or what it put under its watch ended the process, or took longer than
        `given.loader_time_limit`; or threads were left that did not end.
    """
    # A fork, as all that it takes is imported, and no thread has been started.
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(given, work, sender))
    child.start()
    sender.close()
    # A Bazel that is interrupted asks us to end.
    former = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        _watch(child, receiver, f"loader {given.torch_loader_path}", given.loader_time_limit)
    finally:
        child.kill()
        child.join()
        signal.signal(signal.SIGTERM, former)


def _work(
    given: argparse.Namespace,
    work: Callable[[argparse.Namespace, Watch], None],
    connection: Connection,
) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    refusal = None
    try:
        work(given, Watch(connection))
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


def _watch(child: BaseProcess, receiver: Connection, loader: str, limit: int) -> None:
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
        raise UserError(_untimely_end(child, doing, loader, limit))
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


def _untimely_end(child: BaseProcess, doing: str, loader: str, limit: int) -> str:
    if child.exitcode is None:
        return (
            f"{doing} is still running after {limit} seconds; if it takes that long, give it more: "
            "--//tools/aot:loader_time_limit=SECONDS, or 0 for any time"
        )
    how = f"with status {child.exitcode}, as os._exit does"
    if child.exitcode < 0:
        how = f"by {signal.Signals(-child.exitcode).name}"
    if not doing:
        return (
            f"{loader}: what followed it ended the process {how}; that is a fault of PyTorch's, "
            "MLIR's, LLVM's or Plumbline's"
        )
    return f"{doing} ended the process {how}; it has to return"
