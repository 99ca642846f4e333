import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable

import pytest

from plumbline.errors.watched_process import Death, run_watched


def _print_and_exit_from_c() -> None:
    # As LLVM does at an error that it cannot go on from.
    os.write(2, b"LLVM ERROR: no\n")
    ctypes.CDLL(None).exit(1)


def _exit_with(code: object) -> Callable[[], None]:
    def program() -> None:
        print("printed")
        print("complaint", file=sys.stderr)
        sys.exit(code)  # type: ignore[arg-type]

    return program


@pytest.mark.parametrize("keep_back", [False, True])
@pytest.mark.parametrize(
    ("code", "status", "further"), [(None, 0, ""), (3, 3, ""), ("error: no", 1, "error: no\n")]
)
def test_a_program_ends_as_if_it_had_no_process_of_its_own(
    code: object, status: int, further: str, keep_back: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_watched(_exit_with(code), keep_back_errors=keep_back) == status
    assert capfd.readouterr() == ("printed\n", f"complaint\n{further}")


@pytest.mark.parametrize("flush", [True, False])
def test_who_prints_to_nobody_ends_without_a_traceback(
    flush: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        status = run_watched(lambda: print("printed", flush=flush))
    assert status == 128 + signal.SIGPIPE
    assert capfd.readouterr() == ("", "")


def test_an_exception_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_watched(lambda: int("missing")) == 1
    assert "ValueError: invalid literal" in capfd.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGXCPU])
def test_a_signal_is_told(number: signal.Signals) -> None:
    assert run_watched(lambda: os.kill(os.getpid(), number)) == Death(number.name, "")


def test_an_exit_from_within_c_is_no_end_of_the_program(capfd: pytest.CaptureFixture[str]) -> None:
    death = run_watched(_print_and_exit_from_c, keep_back_errors=True)
    assert death == Death("exit with status 1", "LLVM ERROR: no\n")
    assert capfd.readouterr() == ("", "")


def test_who_ends_this_process_ends_the_program() -> None:
    parent = os.getpid()

    def program() -> None:
        os.kill(parent, signal.SIGTERM)
        time.sleep(30)

    assert run_watched(program) == 128 + signal.SIGTERM


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
