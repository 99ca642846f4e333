"""Guards against a test that nobody runs: a file without a target, or one that collects nothing."""

import ast
import fnmatch
import sys
from pathlib import Path

import pytest

from tools.lint import repository

_TEST_FILES = repository.files("test/*_test.py", "test/*_test.cc", "test/*_test.cpp")
_LIT_FILES = [
    file
    for file in repository.files("test/*.mlir")
    if "// RUN:" in (repository.ROOT / file).read_text()
]


def _package(path: Path) -> Path:
    """Finds the folder of the Bazel package that a file belongs to."""
    return next(folder for folder in path.parents if (repository.ROOT / folder / "BUILD").is_file())


def _strings(path: Path) -> set[str]:
    syntax = ast.parse((repository.ROOT / path).read_text(), str(path))
    nodes = [node.value for node in ast.walk(syntax) if isinstance(node, ast.Constant)]
    return {value for value in nodes if isinstance(value, str)}


@pytest.mark.parametrize("file", _TEST_FILES)
def test_a_target_has_the_file(file: str) -> None:
    package = _package(Path(file))
    name = str(Path(file).relative_to(package))
    assert name in _strings(package / "BUILD"), f"{package}/BUILD does not name {name}"


@pytest.mark.parametrize("file", _LIT_FILES)
def test_a_lit_test_has_the_file(file: str) -> None:
    package = _package(Path(file))
    name = str(Path(file).relative_to(package))
    syntax = ast.parse((repository.ROOT / package / "BUILD").read_text())
    sources = [
        {node.value for node in ast.walk(keyword.value) if isinstance(node, ast.Constant)}
        for call in ast.walk(syntax)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "lit_test"
        for keyword in call.keywords
        if keyword.arg == "srcs"
    ]
    # As it stands, or in a glob.
    taken = any(fnmatch.fnmatch(name, str(pattern)) for names in sources for pattern in names)
    assert taken, f"no lit_test in {package}/BUILD has {name}"


@pytest.mark.parametrize("file", [file for file in _TEST_FILES if file.endswith(".py")])
def test_the_file_runs_its_tests(file: str) -> None:
    """Bazel only runs the file; its tests have to be started by what stands at the end."""
    last = ast.parse((repository.ROOT / file).read_text()).body[-1]
    assert isinstance(last, ast.If), f'{file} does not end with `if __name__ == "__main__":`'
    assert "pytest.main([__file__" in ast.unparse(last)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
