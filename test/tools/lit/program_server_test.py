"""A program that the server runs is to its caller what a process of its own would be."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tools.lit import program_client
from tools.lit.program_server import Program, serve


def _echo(arguments: list[str]) -> int:
    print(*arguments, os.getcwd(), os.environ["GREETING"], sys.stdin.read())
    print("complaint", file=sys.stderr)
    return 3


def _leave(arguments: list[str]) -> int:
    sys.exit(int(arguments[0]) if arguments[0].isdigit() else arguments[0])


def _fail(arguments: list[str]) -> int:
    raise ValueError(arguments[0])


def _die(_: list[str]) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def _start_another(_: list[str]) -> int:
    return subprocess.run(["sh", "-c", "exit 5"], check=False).returncode


def _load() -> Mapping[str, Program]:
    return {
        "echo": _echo,
        "leave": _leave,
        "fail": _fail,
        "die": _die,
        "start-another": _start_another,
    }


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve(_load) as path:
        yield path


def _start(server: str, *command: str, **options: object) -> "subprocess.Popen[str]":
    client = [sys.executable, "-I", "-S", program_client.__file__, server]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*client, *command], text=True, **pipes, **options)  # type: ignore[call-overload, no-any-return]


def _run(server: str, *command: str) -> tuple[int, str, str]:
    process = _start(server, *command)
    output, errors = process.communicate()
    return process.returncode, output, errors


def test_program_has_arguments_folder_environment_and_streams_of_its_caller(
    server: str, tmp_path: Path
) -> None:
    process = _start(server, "echo", "two words", "ü", cwd=tmp_path, env={"GREETING": "good day"})
    output, errors = process.communicate("input")
    assert output == f"two words ü {tmp_path} good day input\n"
    assert errors == "complaint\n"
    assert process.returncode == 3


def test_several_run_side_by_side(server: str) -> None:
    processes = [_start(server, "echo", env={"GREETING": str(n)}) for n in range(4)]
    # The first to start ends last: none waits for another.
    for n, process in reversed(list(enumerate(processes))):
        assert f" {n} " in process.communicate()[0]


def test_exit_status_is_that_of_the_program(server: str) -> None:
    assert _run(server, "leave", "7") == (7, "", "")
    assert _run(server, "leave", "0") == (0, "", "")
    assert _run(server, "leave", "a reason") == (1, "", "a reason\n")
    assert _run(server, "start-another")[0] == 5


def test_failures_are_told(server: str) -> None:
    status, _, errors = _run(server, "fail", "a mistake")
    assert status == 1
    assert "ValueError: a mistake" in errors
    status, _, errors = _run(server, "die")
    assert status not in (0, 1)
    assert errors == "die ended without an exit status\n"
    assert _run(server, "leave", "7")[0] == 7, "the server goes on"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
