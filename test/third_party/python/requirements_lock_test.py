"""Holds requirements, lock files and the installed packages against each other."""

import importlib.metadata
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from third_party.python import requirements_lock
from third_party.python.requirements_lock import PEERS, PTXAS, Lock

# Unresolved, so that it is the folder in the runfiles.
_WORKSPACE = Path(__file__).parents[3]


def _requirements(name: str) -> list[Requirement]:
    requirements = []
    for line in map(str.strip, (_WORKSPACE / name).read_text().splitlines()):
        if line.startswith("-r "):
            requirements += _requirements(line.removeprefix("-r "))
        elif line and not line.startswith("#"):
            requirements.append(Requirement(line))
    return requirements


def _needed(requirements: list[Requirement]) -> dict[str, list[Requirement]]:
    """Follows the dependencies that the installed packages declare.

    Returns:
      All requirements on each package, by its canonical name.
    """
    needed: dict[str, list[Requirement]] = {}
    waiting = [(requirement, "") for requirement in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": extra})
        if not applies or not requirements_lock.belongs(name):
            continue
        known = needed.setdefault(name, [])
        if requirement in known:
            continue
        known.append(requirement)
        for dependency in importlib.metadata.requires(name) or []:
            for of_extra in ("", *requirement.extras):
                waiting.append((Requirement(dependency), of_extra))
    return needed


LOCK: dict[str, Requirement] = {
    canonicalize_name(pin.name): pin for pin in _requirements("requirements_lock.txt")
}
NEEDED = _needed(_requirements("requirements.txt"))


def test_lock_holds_what_is_needed_and_nothing_else() -> None:
    assert sorted(LOCK) == sorted(NEEDED)


@pytest.mark.parametrize("name", sorted(LOCK))
def test_pin(name: str) -> None:
    [pin] = LOCK[name].specifier
    assert pin.operator == "=="
    for requirement in NEEDED.get(name, []):
        assert requirement.specifier.contains(pin.version, prereleases=True), requirement
    installed = importlib.metadata.version(name)
    assert requirements_lock.lock_line(name, installed) == str(LOCK[name])


def test_lock_is_written_the_way_the_program_writes_it() -> None:
    lines = sorted(
        requirements_lock.lock_line(name, next(iter(pin.specifier)).version)
        for name, pin in LOCK.items()
    )
    expected = requirements_lock.MAIN.header + "\n".join(lines) + "\n"
    assert (_WORKSPACE / "requirements_lock.txt").read_text() == expected


@pytest.mark.parametrize("lock", [PEERS, PTXAS], ids=["peers", "ptxas"])
def test_other_lock_holds_what_is_asked_for_and_nothing_of_the_first(lock: Lock) -> None:
    text = (_WORKSPACE / lock.path).read_text()
    lines = requirements_lock.pins(text)
    assert text == lock.header + "\n".join(sorted(lines)) + "\n"
    assert all(re.fullmatch(r"[a-z0-9-]+==\S+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    locked = set(map(requirements_lock.package, lines))
    asked = {requirement.name for requirement in _requirements(lock.requirements)}
    assert asked <= locked if lock.dependencies else asked == locked
    assert not locked & set(LOCK)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
