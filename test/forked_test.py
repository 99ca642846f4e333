"""Tasks in processes of their own: what they write comes back, and so does how they die."""

import os
import signal
import sys
import time
from typing import BinaryIO

import pytest

from test import forked
from test.forked import End, run_forked


def _task(item: str, pipe: BinaryIO) -> None:
    pipe.write(item.encode())
    pipe.flush()
    if item == "raises":
        raise ValueError
    while item == "computes":
        pass
    if item == "waits":
        time.sleep(60)
    if item == "aborts":
        os.abort()


@pytest.mark.parametrize("workers", [1, 3])
def test_each_item_ends(workers: int) -> None:
    ends = sorted(
        run_forked(["fine", "raises", "aborts"], _task, time_limit=30, workers=workers),
        key=lambda end: end.item,
    )
    assert ends == [
        End("aborts", b"aborts", "SIGABRT"),
        End("fine", b"fine", ""),
        End("raises", b"raises", "exit status 1"),
    ]


def test_one_that_does_not_end() -> None:
    assert list(run_forked(["computes"], _task, time_limit=1)) == [
        End("computes", b"computes", "takes longer than 1 s of a processor")
    ]


def test_one_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "PATIENCE", 2)
    assert list(run_forked(["waits"], _task, time_limit=1)) == [
        End("waits", b"waits", "takes longer than 2 s by the clock")
    ]


def test_more_than_a_pipe_holds() -> None:
    def write(size: int, pipe: BinaryIO) -> None:
        pipe.write(b"x" * size)

    (end,) = run_forked([1 << 20], write, time_limit=30)
    assert end.written == b"x" * (1 << 20)


def test_an_alarm_is_not_the_parents() -> None:
    list(run_forked(["fine"], _task, time_limit=30))
    assert signal.alarm(0) == 0


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
