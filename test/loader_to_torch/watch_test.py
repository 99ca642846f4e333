import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from plumbline.errors import UserError
from plumbline.loader_to_torch import watch
from plumbline.loader_to_torch.watch import ProcessFault, Watch, run_in_child

_POOL = concurrent.futures.ThreadPoolExecutor()

User = Callable[[], object]


def _run(code: User, *, limit: int = 0, after: User = lambda: None) -> None:
    """Runs `code` as a loader's, and then what is not a loader's."""

    def work(watch: Watch) -> None:
        with watch.over("loader a.b"):
            code()
        after()

    run_in_child(work, loader="loader a.b", time_limit=limit, limit_option="--limit")


def _spin() -> None:
    while True:
        pass


def _refuse() -> None:
    raise UserError("a mistake")


def _leave_a_thread() -> None:
    threading.Thread(target=time.sleep, args=(1000,), name="feeder").start()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (_refuse, "a mistake"),
        (
            lambda: os._exit(0),
            "loader a.b ended the process with status 0, as os._exit does; it has to return",
        ),
        (
            lambda: os._exit(3),
            "loader a.b ended the process with status 3, as os._exit does; it has to return",
        ),
        (
            lambda: os.kill(os.getpid(), signal.SIGKILL),
            "loader a.b ended the process by SIGKILL; it has to return",
        ),
        (
            lambda: time.sleep(1000),
            "loader a.b is still running after 1 seconds; if it takes that long, give it more: "
            "--limit=SECONDS, or 0 for any time",
        ),
        (
            _spin,
            "loader a.b is still running after 1 seconds; if it takes that long, give it more: "
            "--limit=SECONDS, or 0 for any time",
        ),
    ],
)
def test_what_a_loader_does_to_its_process_is_told(code: User, expected: str) -> None:
    with pytest.raises(UserError) as refusal:
        _run(code, limit=1)
    assert str(refusal.value) == expected


def test_threads_that_do_not_end_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_TIME_FOR_THREADS", 0.5)
    with pytest.raises(UserError) as refusal:
        _run(_leave_a_thread)
    assert str(refusal.value) == (
        "loader a.b leaves threads running: feeder; a program ends when its threads have: join "
        "them, or make them daemons"
    )


@pytest.mark.parametrize(
    "code",
    [
        lambda: None,
        lambda: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start(),
        lambda: threading.Thread(target=time.sleep, args=(0.1,)).start(),
        lambda: _POOL.submit(int).result(),
        lambda: subprocess.Popen(["sleep", "2"]),
    ],
)
def test_what_ends_by_itself_is_no_mistake(code: User, tmp_path: Path) -> None:
    done = tmp_path / "done"
    _run(code, limit=30, after=done.touch)
    assert done.exists()


def test_the_limit_is_of_the_loader_only() -> None:
    _run(lambda: None, limit=1, after=lambda: time.sleep(1.5))
    _run(lambda: time.sleep(0.5), limit=0)


def test_a_crash_of_ours_is_not_said_to_be_the_loader_s() -> None:
    with pytest.raises(ProcessFault) as refusal:
        _run(lambda: None, after=lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert str(refusal.value) == (
        "loader a.b: what followed it ended the process by SIGKILL; that is a fault of PyTorch's, "
        "MLIR's, LLVM's or Plumbline's"
    )


def test_a_bug_keeps_its_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        _run(lambda: [][0])
    assert end.value.code == 1
    error = capfd.readouterr().err
    assert error.startswith("Traceback")
    assert "IndexError" in error


def test_the_exit_status_is_that_of_the_program() -> None:
    with pytest.raises(SystemExit) as end:
        _run(lambda: None, after=lambda: sys.exit(7))
    assert end.value.code == 7


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
