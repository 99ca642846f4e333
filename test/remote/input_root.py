"""The folder that a remote action runs in, made from the hashes that the action names.

A client of the Remote Execution API describes the folder as a tree of messages, one for each folder
in it, named by their hashes. This module makes such a tree real. It knows nothing of the network:
what it needs, it asks a `Store` for.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

_MANY = 64
"""A folder of more entries than this is mounted from the cache instead of made anew. The Python
packages are 35,000 files below a folder of 140 entries; linking each into every action takes
seconds."""


@dataclass(frozen=True)
class File:
    """A file, named by the hash of its content."""

    hash: str
    size: int
    executable: bool = False

    @property
    def key(self) -> str:
        """The name of its copy in a cache, where files of one content may differ in their mode."""
        return f"{self.hash}{'.x' if self.executable else ''}"


@dataclass(frozen=True)
class Folder:
    """What one message says is in a folder; the folders within it are hashes again."""

    files: dict[str, File] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.files) + len(self.folders) + len(self.links)


class Store(Protocol):
    """Where content comes from."""

    def folder(self, digest: str) -> Folder:
        """The folder of that hash."""

    def fetch(self, wanted: dict[Path, File]) -> None:
        """Writes files into folders that exist."""


@dataclass(frozen=True)
class Mount:
    """A folder of the cache that is to be seen, unchangeable, at a place within the input root."""

    source: Path
    target: PurePosixPath


class InputRoots:
    """Makes input roots; what one of them needed is kept for the next."""

    def __init__(self, cache: Path, store: Store) -> None:
        self._files = cache / "files"
        self._folders = cache / "folders"
        self._store = store
        self._files.mkdir(parents=True, exist_ok=True)
        self._folders.mkdir(exist_ok=True)

    def make(self, digest: str, root: Path, outputs: Iterable[PurePosixPath]) -> list[Mount]:
        """Makes the tree of this hash.

        Args:
          digest: of the tree.
          root: where it is to be; nothing is there yet.
          outputs: the paths within it that will be written. The folders that lead to them are made.

        Returns:
          What `root` lacks and is to be mounted into it, at empty folders.
        """
        written = {parent for output in outputs for parent in output.parents}
        mounts: list[Mount] = []

        def is_mounted(path: PurePosixPath, digest: str, folder: Folder) -> bool:
            if len(folder) <= _MANY or path in written:
                return False
            mounts.append(Mount(self._cached(digest), path))
            return True

        self._fill(digest, root, is_mounted)
        for path in written:
            (root / path).mkdir(parents=True, exist_ok=True)
        return mounts

    def _cached(self, digest: str) -> Path:
        """The folder of this hash in the cache, with all that is below it."""
        target = self._folders / digest
        if not target.exists():
            partial = self._folders / f"{digest}.part"
            shutil.rmtree(partial, ignore_errors=True)
            self._fill(digest, partial, lambda *_: False)
            partial.rename(target)
        return target

    def _fill(
        self,
        digest: str,
        root: Path,
        is_elsewhere: Callable[[PurePosixPath, str, Folder], bool],
    ) -> None:
        """Makes the tree below `root`, but what `is_elsewhere`: of that, empty folders."""
        placed: dict[Path, File] = {}
        waiting = [(PurePosixPath(), digest)]
        while waiting:
            path, digest = waiting.pop()
            folder = self._store.folder(digest)
            (root / path).mkdir(parents=True)
            if is_elsewhere(path, digest, folder):
                continue
            waiting += [(path / name, below) for name, below in folder.folders.items()]
            placed |= {root / path / name: file for name, file in folder.files.items()}
            for name, target in folder.links.items():
                (root / path / name).symlink_to(target)
        self._provide(set(placed.values()))
        for place, file in placed.items():
            os.link(self._files / file.key, place)

    def _provide(self, files: set[File]) -> None:
        """Has the cache hold these files, read-only, as many actions will share them."""
        missing = {self._files / file.key: file for file in files}
        missing = {path: file for path, file in missing.items() if not path.exists()}
        if not missing:
            return
        # Under another name until they are whole.
        partial = {path.with_suffix(path.suffix + ".part"): file for path, file in missing.items()}
        self._store.fetch(partial)
        for path, file in partial.items():
            path.chmod(0o555 if file.executable else 0o444)
            path.rename(path.with_suffix(""))
