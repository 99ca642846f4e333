"""How the modules of loaders are found: by their whole name, wherever other packages lie.

Python finds a package by its first name alone, at the first place that has it. A loader may lie in
a folder called as something else is: `test` is also a package of Python's own, `tools` also one of
Plumbline's, where that is an external repository. And folders need no `__init__.py`, as targets of
Bazel do not either.
"""

import importlib
import os
import sys
import sysconfig
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from types import ModuleType


def find_loaders_in(folders: Sequence[str]) -> None:
    """Has modules below `folders` found first, for the rest of this process."""
    sys.meta_path.insert(0, _WholeNameFinder(folders))
    importlib.invalidate_caches()


def folders_of_loaders() -> list[str]:
    """The folders of `sys.path` that are neither Python's own nor of installed packages."""
    installed = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib")}
    installed.add(os.path.join(sysconfig.get_path("stdlib"), "lib-dynload"))
    return [
        folder
        for folder in sys.path
        if os.path.isdir(folder)
        and folder not in installed
        and os.path.basename(folder) not in ("site-packages", "dist-packages")
    ]


class _WholeNameFinder(MetaPathFinder):
    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = tuple(folders)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        places = [os.path.join(folder, *fullname.split(".")) for folder in self._folders]
        for place in places:
            package = os.path.join(place, "__init__.py")
            if os.path.isfile(package):
                return spec_from_file_location(
                    fullname, package, submodule_search_locations=[place]
                )
            if os.path.isfile(f"{place}.py"):
                return spec_from_file_location(fullname, f"{place}.py")
        folders = [place for place in places if os.path.isdir(place)]
        if not folders:
            return None
        # A package of that name is still imported for what it is, and holds these as well.
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or spec.loader is None:
            spec = ModuleSpec(fullname, None, is_package=True)
        if spec.submodule_search_locations is None:
            return spec
        spec.submodule_search_locations = [
            *folders,
            *(place for place in spec.submodule_search_locations if place not in folders),
        ]
        return spec
