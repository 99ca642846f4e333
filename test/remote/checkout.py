"""Copies of this checkout in folders of their own, and Bazel in them, as on other machines."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools.lint import repository

_PROCESSES = re.compile(r"^INFO: \d+ process(?:es)?: (.*)\.$", re.MULTILINE)
_ELAPSED = re.compile(r"^INFO: Elapsed time: ([\d.]+)s", re.MULTILINE)
_SNIPPET = re.compile(r"^ {4}((?:build|test|startup)\b.*)$", re.MULTILINE)


class ProofFailed(Exception):
    """What was to be shown is not so; the message says what is."""


@dataclass(frozen=True)
class Build:
    """What Bazel said of a build."""

    processes: dict[str, int]
    """How many actions ran how: "internal" (within Bazel), "remote cache hit", and so on."""

    seconds: float

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.processes.items())
        return f"{self.seconds:.0f} s: {kinds}"


def parse_build(output: str) -> Build:
    """Reads what Bazel prints at the end of a build."""
    processes = _PROCESSES.findall(output)
    elapsed = _ELAPSED.findall(output)
    counts: dict[str, int] = {}
    if processes:
        for part in processes[-1].split(", "):
            count, _, kind = part.partition(" ")
            counts[kind] = int(count)
    return Build(counts, float(elapsed[-1]) if elapsed else 0.0)


def snippet(page: str, heading: str, replacements: Mapping[str, str]) -> str:
    """The lines for a .bazelrc that a page shows under a heading, with the names of this machine.

    Raises:
      ProofFailed: there are none, or a name that is to be replaced is not in them.
    """
    _, found, section = page.partition(f"\n## {heading}\n")
    section = section.partition("\n## ")[0]
    lines = "\n".join(_SNIPPET.findall(section))
    if not found or not lines:
        raise ProofFailed(f"the page has no lines for a .bazelrc under {heading!r}")
    for name, replacement in replacements.items():
        if name not in lines:
            raise ProofFailed(f"{name} is not in the lines under {heading!r}")
        lines = lines.replace(name, replacement)
    return lines + "\n"


@dataclass(frozen=True)
class Checkout:
    """A copy of the files that git tracks, or would, with an output base of its own."""

    folder: Path
    output_user_root: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def copy(self) -> None:
        """Makes the folder hold what the checkout that this program is of holds."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in repository.files("*"):
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(repository.ROOT / name, target, follow_symlinks=False)

    def bazel(self, *arguments: str, bazelrc: str = "") -> Build:
        """Runs Bazel, showing what it prints.

        Args:
          *arguments: a command and what follows it.
          bazelrc: lines that stand in a .bazelrc beside the checkout's.

        Raises:
          ProofFailed: the build or a test fails.
        """
        (self.folder / "user.bazelrc").write_text(bazelrc)
        print(f"\n{self.folder}$ bazel {' '.join(arguments)}", flush=True)
        command = ["./bazelw", f"--output_user_root={self.output_user_root}"]
        command += ["--bazelrc=user.bazelrc", *arguments]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env={**outer_environment(), **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        output = []
        assert process.stdout is not None
        try:
            for line in process.stdout:
                output.append(line)
                if line.startswith(("INFO: ", "ERROR: ", "FAIL", "//", "Executed")):
                    print("  " + line, end="", flush=True)
        except BaseException:
            # Who ends the proof ends the build as well.
            process.terminate()
            process.wait()
            raise
        if process.wait():
            last = "".join(output[-40:])
            raise ProofFailed(f"exit code {process.returncode} of bazel {arguments[0]}:\n{last}")
        return parse_build("".join(output))

    def path(self, name: str) -> Path:
        """A folder that Bazel knows, such as bazel-bin, by the name that it has for it."""
        command = ["./bazelw", f"--output_user_root={self.output_user_root}", "info", name]
        told = subprocess.run(
            command,
            cwd=self.folder,
            env={**outer_environment(), **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
            text=True,
        )
        return Path(told.stdout.strip())

    def remove(self) -> None:
        """Ends Bazel's server and removes all files."""
        command = ["./bazelw", f"--output_user_root={self.output_user_root}", "shutdown"]
        subprocess.run(command, cwd=self.folder, env=outer_environment(), check=False)
        for folder in (self.folder, self.output_user_root):
            # Bazel takes the right to write from folders of outputs.
            subprocess.run(["chmod", "-R", "u+w", str(folder)], check=False)
            shutil.rmtree(folder, ignore_errors=True)


def outer_environment() -> dict[str, str]:
    """This process's environment, without what the Bazel that started it put there.

    Its PYTHONPATH above all, with our Python packages, which are not those of other programs.
    """
    ours = ("BUILD_", "JAVA_RUNFILES", "PYTHON", "RUNFILES_", "TEST_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}
