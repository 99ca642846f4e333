"""Which module a name stands for, in processes of their own."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

_PROGRAM = """
import sys
sys.path[:0] = {folders}
from plumbline.loader_to_torch.loader_import import find_loaders_in, folders_of_loaders
find_loaders_in(folders_of_loaders())
"""


def _run(code: str, *folders: Path) -> str:
    program = _PROGRAM.format(folders=[str(folder) for folder in folders]) + code
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(sys.path), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.strip() or ran.stderr.strip().splitlines()[-1]


def _write(folder: Path, modules: Mapping[str, str]) -> None:
    for name, text in modules.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_a_folder_needs_no_init_file(tmp_path: Path) -> None:
    modules = {
        "models/vision/net.py": "from models.vision import part\nNAME = part.NAME",
        "models/vision/part.py": "NAME = 'part'",
    }
    _write(tmp_path, modules)
    assert _run("import models.vision.net as net; print(net.NAME)", tmp_path) == "part"


@pytest.mark.parametrize(
    "package",
    [
        "test",  # Python's own
        "tools/aot",  # Plumbline's, and imported by then
        "hypothesis",  # installed
    ],
)
def test_a_folder_may_be_called_as_a_package(package: str, tmp_path: Path) -> None:
    _write(tmp_path, {f"{package}/my_loaders.py": "NAME = 'mine'"})
    name = package.replace("/", ".")
    code = f"import tools.aot; from {name}.my_loaders import NAME; print(NAME)"
    assert _run(code, tmp_path) == "mine"


def test_the_package_is_still_itself(tmp_path: Path) -> None:
    modules = {
        "hypothesis/my_loaders.py": "from hypothesis import given\nNAME = given.__name__",
        "hypothesis/strategies/mine.py": "NAME = 'mine'",
    }
    _write(tmp_path, modules)
    code = """
import hypothesis.my_loaders, hypothesis.strategies, hypothesis.strategies.mine
print(hypothesis.my_loaders.NAME, hypothesis.strategies.mine.NAME, hypothesis.strategies.__name__)
print(hypothesis.strategies.integers.__name__)
"""
    assert _run(code, tmp_path) == "given mine hypothesis.strategies\nintegers"


def test_an_init_file_counts(tmp_path: Path) -> None:
    _write(tmp_path, {"test/__init__.py": "NAME = 'mine'", "test/a.py": ""})
    assert _run("import test.a; print(test.NAME)", tmp_path) == "mine"


def test_folders_of_several_repositories_are_one_package(tmp_path: Path) -> None:
    _write(tmp_path / "one", {"models/a.py": "NAME = 'a'"})
    _write(tmp_path / "two", {"models/b.py": "from models.a import NAME"})
    code = "from models.b import NAME; print(NAME)"
    assert _run(code, tmp_path / "one", tmp_path / "two") == "a"


def test_what_there_is_not_is_not_found(tmp_path: Path) -> None:
    _write(tmp_path, {"models/a.py": ""})
    message = _run("import models.b", tmp_path)
    assert message == "ModuleNotFoundError: No module named 'models.b'"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
