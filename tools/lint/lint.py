"""Runs the repository's linters and formatters over all of its files.

lint.py check NAME    exits with 1 if linter NAME finds something
lint.py fix           lets every linter fix what it can
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass

from tools.lint import repository


@dataclass(frozen=True)
class Linter:
    """One linter: which files it reads (git's pathspecs) and how it is called on them."""

    patterns: tuple[str, ...]
    check: tuple[str, ...]
    fix: tuple[str, ...] | None = None


def _module(name: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", name, *arguments)


# Its package is no module that Python runs.
_CLANG_FORMAT = (sys.executable, "-c", "from clang_format import clang_format; clang_format()")

LINTERS = {
    "ruff_check": Linter(
        ("*.py",),
        check=_module("ruff", "check", "--quiet"),
        fix=_module("ruff", "check", "--quiet", "--fix", "--exit-zero"),
    ),
    "ruff_format": Linter(
        ("*.py",),
        check=_module("ruff", "format", "--quiet", "--diff"),
        fix=_module("ruff", "format", "--quiet"),
    ),
    # A cache apart from that of a developer's own mypy, which finds the packages elsewhere.
    "mypy": Linter(
        ("*.py",), check=_module("mypy", "--no-error-summary", "--cache-dir=.mypy_cache/bazel")
    ),
    "buildifier": Linter(
        ("BUILD", "*/BUILD", "*.BUILD", "*.bzl", "WORKSPACE*", "*/WORKSPACE", "*MODULE.bazel"),
        check=_module("buildifier", "-mode=diff", "-lint=warn"),
        fix=_module("buildifier", "-mode=fix", "-lint=fix"),
    ),
    "clang_format": Linter(
        ("*.cc", "*.cpp", "*.h", ":!*.template.cpp"),
        check=(*_CLANG_FORMAT, "--dry-run", "--Werror"),
        fix=(*_CLANG_FORMAT, "-i"),
    ),
    "shellcheck": Linter((".ci/run", "bazelw", "*.sh"), check=("shellcheck",)),
}


def _run(command: tuple[str, ...], linter: Linter) -> int:
    try:
        return subprocess.run(
            [*command, *repository.files(*linter.patterns)], cwd=repository.ROOT
        ).returncode
    except FileNotFoundError:
        print(f"{command[0]} is missing; ./bazelw installs it.", file=sys.stderr)
        return 1


def _check(name: str) -> int:
    linter = LINTERS[name]
    status = _run(linter.check, linter)
    if status and linter.fix:
        print("\nWhat can be fixed by itself: ./bazelw run //tools/lint:fix", file=sys.stderr)
    return 1 if status else 0


def _fix() -> int:
    statuses = [_run(linter.fix, linter) for linter in LINTERS.values() if linter.fix]
    return 1 if any(statuses) else 0


def main() -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Checks or fixes all files of the repository.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="exits with 1 if the linter finds something")
    check.add_argument("linter", choices=LINTERS)
    commands.add_parser("fix", help="lets every linter fix what it can")
    arguments = parser.parse_args()
    return _check(arguments.linter) if arguments.command == "check" else _fix()


if __name__ == "__main__":
    raise SystemExit(main())
