"""Writes the lock files: all that requirements resolve to, pinned.

pip resolves, with its own settings, and installs nothing.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version


@dataclass(frozen=True)
class Lock:
    """A lock file, and the requirements that it is of; paths are of the workspace."""

    path: str
    requirements: str
    remark: str
    """Comment lines that say what the pins do not."""
    beside: str = ""
    """The lock file of packages that are there already."""
    hashes: bool = False
    dependencies: bool = True
    """Whether it holds what the requirements depend on, too."""

    @property
    def header(self) -> str:
        """How the file begins."""
        return (
            f"# All that {self.requirements} resolves to, pinned; "
            f"`./bazelw run //:requirements_lock` writes this.\n{self.remark}\n"
        )


MAIN = Lock(
    "requirements_lock.txt",
    "requirements.txt",
    "# No hashes: builds of torch for one version differ from index to index.\n",
)

PEERS = Lock(
    "test/benchmark/peers_lock.txt",
    "test/benchmark/peers_requirements.txt",
    "# Without what requirements_lock.txt holds; hashes are of builds for x86-64 Linux.\n",
    beside=MAIN.path,
    hashes=True,
)

PTXAS = Lock(
    "third_party/cuda/ptxas_lock.txt",
    "third_party/cuda/ptxas_requirements.txt",
    "# Without what the compiler in it depends on, as ptxas runs by itself.\n",
    hashes=True,
    dependencies=False,
)

# What only a CUDA build of torch depends on. Plumbline runs models on the CPU to take references.
_FOR_CUDA = re.compile(r"(cuda|nvidia)-.*|triton")


def belongs(name: str) -> bool:
    """Says whether the package of this canonical name has a place in the lock."""
    return not _FOR_CUDA.fullmatch(name)


def lock_line(name: str, version: str) -> str:
    """Pins a package, without the local part of its version (`+cpu`), which names the index."""
    return f"{canonicalize_name(name)}=={Version(version).public}"


def package(line: str) -> str:
    """The canonical name of the package that a line of a lock pins."""
    return canonicalize_name(line.partition("==")[0])


def pins(text: str) -> list[str]:
    """The lines of a lock that pin a package."""
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def resolve(workspace: Path, lock: Lock) -> list[str]:
    """Has pip resolve the requirements of a lock.

    Returns:
      The lock's lines, sorted.

    Raises:
      subprocess.CalledProcessError: pip failed, and has said why.
    """
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--dry-run"]
    command += ["--ignore-installed", "--requirement", str(workspace / lock.requirements)]
    if not lock.dependencies:
        command.append("--no-deps")
    there: set[str] = set()
    if lock.beside:
        command += ["--constraint", str(workspace / lock.beside)]
        there = set(map(package, pins((workspace / lock.beside).read_text())))
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        # Bazel's PYTHONPATH holds the packages of the present lock; pip is to see none of them.
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        subprocess.run([*command, "--report", report.name], check=True, env=environment)
        installed = json.load(report)["install"]
    lines = []
    for found in installed:
        line = lock_line(found["metadata"]["name"], found["metadata"]["version"])
        if lock.dependencies and (not belongs(package(line)) or package(line) in there):
            continue
        if lock.hashes:
            line += f" --hash=sha256:{found['download_info']['archive_info']['hashes']['sha256']}"
        lines.append(line)
    return sorted(lines)


def main() -> None:
    """Resolves in the workspace from which Bazel runs this program."""
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    for lock in (MAIN, PEERS, PTXAS):
        try:
            lines = resolve(workspace, lock)
        except subprocess.CalledProcessError as error:
            code = error.returncode
            sys.exit(f"error: pip could not resolve {lock.requirements} (exit code {code})")
        path = workspace / lock.path
        path.write_text(lock.header + "\n".join(lines) + "\n")
        print(f"{path}: {len(lines)} packages")


if __name__ == "__main__":
    main()
