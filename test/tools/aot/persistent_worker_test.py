"""What requests to a persistent worker see of one another, and what Bazel sees of them."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import proto

from tools.aot.worker_protocol import WorkRequest, WorkResponse

_PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from tools.aot import persistent_worker

state = []

def run(words):
    exec("\\n".join(words), globals())

def report(words, death):
    return f"{len(words)} lines, {death.cause}: {death.printed}"

persistent_worker.serve(run, report)
"""


class _Worker:
    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": "h"},
        )

    def send(self, number: int, *lines: str, **fields: Any) -> None:
        assert self.process.stdin
        request = WorkRequest(request_id=number, arguments=lines, **fields)
        proto.serialize_length_prefixed(request, self.process.stdin)
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout
        return proto.parse_length_prefixed(WorkResponse, self.process.stdout)

    def ask(self, *lines: str, **fields: Any) -> tuple[int, str]:
        self.send(1, *lines, **fields)
        response = self.receive()
        return response.exit_code, response.output


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[_Worker]:
    worker = _Worker(tmp_path)
    yield worker
    worker.process.kill()
    worker.process.communicate()


def test_a_request_is_answered_with_what_it_prints(worker: _Worker) -> None:
    code = (
        "print('out')",
        "os.system('echo shell')",
        "print('err', file=sys.stderr)",
        "sys.stdin.read()",
    )
    exit_code, output = worker.ask(*code)
    assert exit_code == 0
    assert sorted(output.split()) == ["err", "out", "shell"]


def test_requests_share_nothing(worker: _Worker) -> None:
    look = "print(len(state), os.getcwd() == '/', os.environ['HOME'], 'wave' in sys.modules)"
    first = worker.ask(
        look, "state.append(1)", "os.chdir('/')", "os.environ['HOME'] = 'x'", "import wave"
    )
    assert first == worker.ask(look)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("sys.exit()", 0),
        ("sys.exit(3)", 3),
        ("sys.exit('words')", 1),
        ("raise ValueError('words')", 1),
        ("os.kill(os.getpid(), signal.SIGTERM)", 128 + signal.SIGTERM),
    ],
)
def test_a_request_ends_alone(worker: _Worker, code: str, expected: int) -> None:
    exit_code, output = worker.ask(code)
    assert exit_code == expected
    assert ("words" in output) == ("words" in code)
    assert worker.ask("print('still here')") == (0, "still here\n")


@pytest.mark.parametrize(
    ("code", "cause"),
    [("os._exit(0)", "exit with status 0"), ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV")],
)
def test_a_request_that_does_not_come_to_its_end_is_reported(
    worker: _Worker, code: str, cause: str
) -> None:
    exit_code, output = worker.ask("print('words', flush=True)", code)
    assert (exit_code, output) == (1, f"2 lines, {cause}: words\n\n")
    assert worker.ask("print('still here')") == (0, "still here\n")


def test_requests_run_side_by_side(worker: _Worker, tmp_path: Path) -> None:
    # The first waits for what the second does.
    worker.send(7, "while not Path('go').exists(): time.sleep(0.01)", "print('went')")
    worker.send(8, "Path('go').touch()")
    answers = {response.request_id: response for response in (worker.receive(), worker.receive())}
    assert {number: answer.exit_code for number, answer in answers.items()} == {7: 0, 8: 0}
    assert (answers[7].output, answers[8].output) == ("went\n", "")


def test_a_request_is_given_up(worker: _Worker, tmp_path: Path) -> None:
    worker.send(7, "Path('begun').touch()", "time.sleep(1000)", "Path('done').touch()")
    worker.send(8, "while not Path('begun').exists(): time.sleep(0.01)")
    assert worker.receive().request_id == 8
    worker.send(7, cancel=True)
    response = worker.receive()
    assert (response.request_id, response.was_cancelled) == (7, True)
    # One that has ended, or that never was, is no matter.
    worker.send(7, cancel=True)
    assert worker.ask("print('still here')") == (0, "still here\n")
    assert not (tmp_path / "done").exists()


def test_a_request_stands_in_its_sandbox(worker: _Worker, tmp_path: Path) -> None:
    (tmp_path / "sandbox").mkdir()
    assert worker.ask("Path('here').touch()", sandbox_dir="sandbox") == (0, "")
    assert (tmp_path / "sandbox" / "here").exists()
    assert worker.ask("Path('there').touch()") == (0, "")
    assert (tmp_path / "there").exists()


def test_the_worker_ends_with_its_requests(worker: _Worker) -> None:
    assert worker.ask("print('once')") == (0, "once\n")
    assert worker.process.communicate(timeout=30) == (b"", b"")
    assert worker.process.returncode == 0


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_that_is_killed_leaves_no_request(
    worker: _Worker, tmp_path: Path, end: signal.Signals
) -> None:
    worker.send(1, "Path('pid').write_text(f'{os.getpid()}.')", "time.sleep(1000)")
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("."):
        time.sleep(0.01)
    child = Path("/proc", (tmp_path / "pid").read_text()[:-1], "stat")
    worker.process.send_signal(end)
    worker.process.wait(timeout=30)
    deadline = time.monotonic() + 30
    while child.exists() and not re.search(r"\) [ZX] ", child.read_text()):
        assert time.monotonic() < deadline, "the request is still running"
        time.sleep(0.01)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
