"""Writes requirements_lock.txt: all that requirements.txt resolves to, pinned.

pip resolves, with its own settings, and installs nothing.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

HEADER = """\
# All that requirements.txt resolves to, pinned; `./bazelw run //:requirements_lock` writes this.
# No hashes: builds of torch for one version differ from index to index.

"""

# What only a CUDA build of torch depends on. Plumbline runs models on the CPU to take references.
_FOR_CUDA = re.compile(r"(cuda|nvidia)-.*|triton")


def belongs(name: str) -> bool:
    """Says whether the package of this canonical name has a place in the lock."""
    return not _FOR_CUDA.fullmatch(name)


def lock_line(name: str, version: str) -> str:
    """Pins a package, without the local part of its version (`+cpu`), which names the index."""
    return f"{canonicalize_name(name)}=={Version(version).public}"


def resolve(requirements: Path) -> list[str]:
    """Has pip resolve the requirements.

    Returns:
      The lock's lines, sorted.

    Raises:
      subprocess.CalledProcessError: pip failed, and has said why.
    """
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        # Bazel's PYTHONPATH holds the packages of the present lock; pip is to see none of them.
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        subprocess.run(
            [
                *pip,
                "install",
                "--dry-run",
                "--ignore-installed",
                "--report",
                report.name,
                "--requirement",
                str(requirements),
            ],
            check=True,
            env=environment,
        )
        installed = json.load(report)["install"]
    packages = [package["metadata"] for package in installed]
    return sorted(
        lock_line(package["name"], package["version"])
        for package in packages
        if belongs(canonicalize_name(package["name"]))
    )


def main() -> None:
    """Resolves in the workspace from which Bazel runs this program."""
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    try:
        lines = resolve(workspace / "requirements.txt")
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: pip could not resolve requirements.txt (exit code {error.returncode})")
    lock = workspace / "requirements_lock.txt"
    lock.write_text(HEADER + "\n".join(lines) + "\n")
    print(f"{lock}: {len(lines)} packages")


if __name__ == "__main__":
    main()
