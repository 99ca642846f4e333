"""Serves one request of Bazel's after another from a process that has all it needs imported.

Each request runs in a fork of this process: none sees what another has imported, seeded or changed,
and one that crashes, exits or is cancelled does so alone.
"""

import ctypes
import gc
import io
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

from plumbline.errors.watched_process import Child, Death
from tools.aot import huge_pages
from tools.aot.worker_protocol import WorkResponse, read_request, write_response

_PR_SET_PDEATHSIG = 1
"""Of prctl(2)."""

_MANY = 16
"""Requests after which there may be as many more as it takes for memory in huge pages to pay."""


Run = Callable[[Sequence[str]], object]
Report = Callable[[Sequence[str], Death], str]


@dataclass
class _Request:
    """A request that is being worked on."""

    number: int
    arguments: Sequence[str]
    child: Child
    output: int
    """The file descriptor of what it prints, which is in memory."""
    is_cancelled: bool = False

    def printed(self) -> str:
        with os.fdopen(self.output, "rb") as output:
            output.seek(0)
            return output.read().decode(errors="replace")


def serve(run: Run, report: Report) -> None:
    """Answers requests on standard input until that ends.

    Args:
      run: what to do with the arguments of a request; it ends as a Python program does. What it
        writes to standard output and standard error is shown when it has ended.
      report: what to show instead of a request that ended otherwise.
    """
    # Requests are read from copies, so that nothing else that reads or prints can disturb them. A
    # buffer would take more than one message, and the selector not know of it.
    requests = os.fdopen(os.dup(0), "rb", buffering=0)
    responses = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    _Server(run, report, io.BufferedReader(requests, buffer_size=1), responses).serve()


class _Server:
    def __init__(
        self,
        run: Run,
        report: Report,
        requests: IO[bytes],
        responses: IO[bytes],
    ) -> None:
        self._run = run
        self._report = report
        self._requests = requests
        self._responses = responses
        self._running: dict[int, _Request] = {}
        self._started = 0

    def serve(self) -> None:
        # What is there now is there for good; no fork needs to look at it again to collect garbage,
        # and so to copy its pages.
        gc.collect()
        gc.freeze()
        ended, wakes = socket.socketpair()
        wakes.setblocking(False)
        signal.set_wakeup_fd(wakes.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        with selectors.DefaultSelector() as selector:
            selector.register(self._requests, selectors.EVENT_READ)
            selector.register(ended, selectors.EVENT_READ)
            try:
                while self._answer([key.fileobj for key, _ in selector.select()], ended):
                    pass
            finally:
                for child in self._running:
                    os.kill(child, signal.SIGTERM)

    def _answer(self, ready: Sequence[object], ended: socket.socket) -> bool:
        """Takes what has come; False at the end of the requests."""
        if ended in ready:
            ended.recv(4096)
            self._collect()
        if self._requests in ready:
            request = read_request(self._requests)
            if request is None:
                return False
            if request.cancel:
                self._cancel(request.request_id)
            else:
                self._start(request.request_id, request.arguments, request.sandbox_dir)
        return True

    def _start(self, number: int, arguments: Sequence[str], folder: str) -> None:
        self._started += 1
        if self._started == _MANY:
            huge_pages.collapse()
        output = os.memfd_create("output")
        worker = os.getpid()
        child = Child(lambda: self._work(worker, arguments, folder), outputs={1: output, 2: output})
        self._running[child.pid] = _Request(number, arguments, child, output)

    def _work(self, worker: int, arguments: Sequence[str], folder: str) -> None:
        """What the fork does."""
        signal.set_wakeup_fd(-1)
        for each in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)
        # Bazel may kill the worker, which then can do nothing about it.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != worker:
            sys.exit(1)
        if folder:
            os.chdir(folder)
        self._run(arguments)

    def _cancel(self, number: int) -> None:
        for child, request in self._running.items():
            if request.number == number:
                request.is_cancelled = True
                os.kill(child, signal.SIGTERM)

    def _collect(self) -> None:
        """Responds for the requests that have come to their end."""
        while self._running:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            request = self._running.pop(child)
            printed = request.printed()
            ending = request.child.ending(os.waitstatus_to_exitcode(status), printed)
            if isinstance(ending, Death):
                printed = self._report(request.arguments, ending) + "\n"
                ending = 1
            response = WorkResponse(
                exit_code=ending,
                output=printed,
                request_id=request.number,
                was_cancelled=request.is_cancelled,
            )
            write_response(self._responses, response)
