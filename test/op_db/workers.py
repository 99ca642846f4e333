"""Runs entries of the operator database in processes of their own, which may die."""

import json
import os
import selectors
import signal
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from test.op_db.outcome import Outcome, entries, family_of, run

TIME_LIMIT = 120
"""Seconds that an entry may take."""


def outcomes(names: Iterable[str], *, workers: int = 1) -> Iterator[Outcome]:
    """Runs the entries of these names, `workers` at a time, and tells of each as it is done.

    A process is forked for each, so that PyTorch is imported once, and so that a crash or a loop
    without end is one entry's alone.
    """
    database = entries()
    waiting = iter(names)
    selector = selectors.DefaultSelector()
    while True:
        while len(selector.get_map()) < workers and (name := next(waiting, None)) is not None:
            pid, pipe = _start(name)
            selector.register(pipe, selectors.EVENT_READ, (name, pid, bytearray()))
        if not selector.get_map():
            return
        for key, _ in selector.select():
            name, pid, data = key.data
            chunk = os.read(key.fd, 1 << 16)
            data += chunk
            if chunk:
                continue
            selector.unregister(key.fd)
            os.close(key.fd)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if data:
                yield Outcome(**json.loads(data))
                continue
            reason = (
                f"BUG: takes longer than {TIME_LIMIT} s"
                if status == -signal.SIGALRM
                else f"BUG: ends the process with status {status}"
            )
            yield Outcome(name, family_of(database[name]), samples=1, failures=[reason])


def _start(name: str) -> tuple[int, int]:
    """The process that runs an entry, and the end of the pipe that it writes the outcome to."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    try:
        os.close(reading)
        signal.alarm(TIME_LIMIT)
        # One core each: as many processes as there are cores.
        import torch

        torch.set_num_threads(1)
        text = json.dumps(asdict(run(entries()[name]))).encode()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(text)
        status = 0
    finally:
        os._exit(status)
