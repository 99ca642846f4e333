"""Runs tasks in processes of their own, which may die."""

import os
import selectors
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Generic, TypeVar

Item = TypeVar("Item")

PATIENCE = 10
"""How many seconds of the clock a task may take for one of its time limit, if it waits."""


@dataclass(frozen=True)
class End(Generic[Item]):
    """What became of a task."""

    item: Item
    written: bytes
    """What it wrote, as far as it came."""
    death: str
    """How it ended its process, such as "SIGSEGV"; empty where it returned."""


def run_forked(
    items: Iterable[Item],
    task: Callable[[Item, BinaryIO], None],
    *,
    time_limit: int,
    workers: int = 1,
) -> Iterator[End[Item]]:
    """Runs `task` on each item, `workers` at a time, and tells of each as it ends.

    A process is forked for each, so that what is imported is imported once, and so that a crash or
    a loop without end is one item's alone. `task` gets a pipe to write what it finds to. It may
    take `time_limit` seconds of a processor, so that what else the machine does decides nothing,
    and `PATIENCE` times as many by the clock.
    """
    waiting = iter(items)
    selector = selectors.DefaultSelector()
    # An item may be anything, also what stands for the end of an iterator.
    exhausted = False
    while True:
        while not exhausted and len(selector.get_map()) < workers:
            try:
                item = next(waiting)
            except StopIteration:
                exhausted = True
                break
            pid, pipe = _start(item, task, time_limit)
            selector.register(pipe, selectors.EVENT_READ, (item, pid, bytearray()))
        if not selector.get_map():
            return
        for key, _ in selector.select():
            item, pid, data = key.data
            chunk = os.read(key.fd, 1 << 16)
            data += chunk
            if chunk:
                continue
            selector.unregister(key.fd)
            os.close(key.fd)
            yield End(item, bytes(data), _death(os.waitpid(pid, 0)[1], time_limit))


def _death(status: int, time_limit: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGPROF:
        return f"takes longer than {time_limit} s of a processor"
    if code == -signal.SIGALRM:
        return f"takes longer than {PATIENCE * time_limit} s by the clock"
    if code < 0:
        return signal.Signals(-code).name
    return f"exit status {code}" if code else ""


def _start(item: Item, task: Callable[[Item, BinaryIO], None], time_limit: int) -> tuple[int, int]:
    """The process that runs a task, and the end of the pipe that it writes to."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    try:
        os.close(reading)
        signal.setitimer(signal.ITIMER_PROF, time_limit)
        signal.alarm(PATIENCE * time_limit)
        with os.fdopen(writing, "wb") as pipe:
            task(item, pipe)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
