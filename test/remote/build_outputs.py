"""What a build leaves: whether two are the same, and whether they tell where they were made."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

# What Bazel writes itself, on each machine, and never shares: lists of links into the output base,
# and where a test's log is.
_LOCAL = (".runfiles_manifest", "MANIFEST", "test.cache_status")


def outputs(folder: Path) -> Iterator[Path]:
    """The files that actions wrote below a folder, relative to it; links lead to others of them."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        is_local = path.name.endswith(_LOCAL) or ".runfiles/" in str(inside)
        if path.is_file() and not path.is_symlink() and not is_local:
            yield inside


def hashes(folder: Path) -> dict[Path, str]:
    """The SHA-256 of each output."""
    return {
        path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in outputs(folder)
    }


def differences(first: dict[Path, str], second: dict[Path, str]) -> list[str]:
    """The outputs that two builds do not have in common, with what is different about each."""
    told = [f"{path}: in one build only" for path in sorted(first.keys() ^ second.keys())]
    both = sorted(first.keys() & second.keys())
    return told + [f"{path}: its content" for path in both if first[path] != second[path]]


def traces(folder: Path, words: Iterable[str]) -> list[str]:
    """The outputs that hold one of these words, with the word."""
    wanted = [(word, word.encode()) for word in words]
    return [
        f"{path}: {word}"
        for path in outputs(folder)
        for word, encoded in wanted
        if encoded in (folder / path).read_bytes()
    ]
