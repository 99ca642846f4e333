"""Measures the harness: what it costs to build and test programs, and to change one.

Runs Bazel in this workspace, on the three hundred small programs of test/benchmark/programs, from
`bazel clean` on. Figures mean something on an idle machine only, and as ratios to others of the
same run.
"""

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from test.benchmark import bazel_profile, processes

_PACKAGE = "test/benchmark/programs"
_LOADER = f"{_PACKAGE}/edited_program.py"
_LOWERING = "plumbline/tcp_to_linalg/elementwise.py"
_LEAST_SECONDS = 0.5
"""Kinds of actions that take less, together, are one row."""


@dataclass(frozen=True)
class Measured:
    """A command of Bazel's."""

    seconds: float
    cpu: dict[str, float]
    """CPU-seconds of the server, of what it ran in sandboxes, and of each worker."""
    actions: dict[str, bazel_profile.Actions]
    executed: str
    """What Bazel says of it."""


class Bazel:
    """Bazel in a workspace."""

    def __init__(self, workspace: Path, options: list[str]) -> None:
        self._workspace = workspace
        self._options = options
        base = self._run("info", "output_base")
        self._server_file = Path(base.strip().splitlines()[-1], "server", "server.pid.txt")

    def _run(self, *words: str) -> str:
        ran = subprocess.run(
            ["./bazelw", *words],
            cwd=self._workspace,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if ran.returncode:
            sys.exit(f"{ran.stdout}\nerror: bazel {' '.join(words)} failed; see above")
        return ran.stdout

    def workers(self) -> dict[str, processes.Process]:
        """Those that run now."""
        return processes.workers(self._server())

    def _server(self) -> int:
        return int(self._server_file.read_text())

    def _used(self) -> dict[str, float]:
        server = processes.process(self._server())
        used = {"Bazel's server": server.own, "sandboxes": server.children}
        # Workers that come and go are nameless; all that stay have one.
        for name, worker in self.workers().items():
            used[f"worker {name}"] = worker.cpu
        return used

    def clean(self) -> None:
        """Throws away all outputs, and the workers."""
        self._run("clean")

    def measure(self, *words: str) -> Measured:
        """Runs a command."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "profile.gz")
            before = self._used()
            begin = time.monotonic()
            output = self._run(*words, *self._options, f"--profile={file}", "--noslim_profile")
            seconds = time.monotonic() - begin
            # Of a worker that was started meanwhile, all counts.
            cpu = {name: used - before.get(name, 0.0) for name, used in self._used().items()}
            (executed,) = re.findall(r"INFO: (\d+ process.*)", output)
            return Measured(seconds, cpu, bazel_profile.actions(file), executed)


@contextlib.contextmanager
def _edited(file: Path, old: str, new: str) -> Iterator[None]:
    """Has a file say `new` instead of `old`."""
    text = file.read_text()
    file.write_text(text.replace(old, new, 1))
    try:
        yield
    finally:
        file.write_text(text)


def _show(title: str, measured: Measured) -> None:
    cpu = sum(measured.cpu.values())
    print(f"\n{title}: {measured.seconds:.1f} s, {cpu:.1f} CPU-seconds; {measured.executed}")


def _show_actions(measured: Measured) -> None:
    print(f"\n  {'actions':>7} {'seconds':>8} {'each':>7}")
    rest = bazel_profile.Actions()
    ordered = sorted(measured.actions.items(), key=lambda item: -item[1].seconds)
    for kind, actions in ordered:
        if actions.seconds < _LEAST_SECONDS:
            rest.count += actions.count
            rest.seconds += actions.seconds
        else:
            print(
                f"  {actions.count:7} {actions.seconds:8.1f} "
                f"{actions.seconds / actions.count:7.3f} {kind}"
            )
    print(f"  {rest.count:7} {rest.seconds:8.1f} {'':7} others")
    print(f"\n  {'CPU-seconds':>11}")
    for name, cpu in sorted(measured.cpu.items(), key=lambda item: -item[1]):
        print(f"  {cpu:11.1f} {name}")


def main() -> None:
    """Measures in the workspace from which Bazel runs this program."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "--programs",
        default="programs",
        choices=("programs", "some_programs"),
        help="all 300, or 30 of them",
    )
    arguments.add_argument("options", nargs="*", help="options for Bazel, after --")
    given = arguments.parse_args()
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    bazel = Bazel(workspace, given.options)

    bazel.clean()
    tests = f"//{_PACKAGE}:{given.programs}"
    edited = f"//{_PACKAGE}:edited_program_compile_execute_test"
    _show("The first program, from clean", bazel.measure("test", edited))
    measured = bazel.measure("test", tests)
    _show(f"{given.programs}, after that", measured)
    _show_actions(measured)
    _show("Once more", bazel.measure("test", tests))
    # Neither the program nor what it compiles to has been there before.
    number = time.time_ns() % 1_000_003
    with _edited(workspace / _LOADER, "* 2", f"* {number}"):
        _show("One loader edited, to its test's result", bazel.measure("test", edited))
    with _edited(workspace / _LOWERING, "from ", f"# {number}\nfrom "):
        measured = bazel.measure("test", tests)
        _show("One lowering edited, to no effect", measured)
        _show_actions(measured)
    print("\n  MB at most")
    for name, worker in bazel.workers().items():
        print(f"  {worker.peak:10} {name}")


if __name__ == "__main__":
    main()
