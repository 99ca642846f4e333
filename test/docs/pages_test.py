"""The pages' Python runs or stands in a file, and commands name targets and flags that exist."""

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.lint import repository

_PAGES = repository.files("*.md")
_BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
# An indented line at a prompt, with those that it goes on in, or words of the text.
_COMMAND = re.compile(
    r"^ {4}\$ ((?:\./)?bazelw? (?:.*\\\n)*.*)$|`((?:\./)?bazelw? [^`]*)`", re.MULTILINE
)
_LABEL = re.compile(r"//([\w./]*):?([\w.-]*)")
_FLAG = re.compile(r"--(//[\w/]*:\w+)")
# Sessions of a Python prompt, which this folder's other test knows about.
_PROMPT = ">>> "


def _text(page: str) -> str:
    return (repository.ROOT / page).read_text(encoding="utf-8")


def _python() -> Iterator[Any]:
    for page in _PAGES:
        for match in _BLOCK.finditer(_text(page)):
            line = _text(page).count("\n", 0, match.start()) + 1
            block = textwrap.dedent(match[2])
            if not block.startswith(_PROMPT) and not page.startswith("docs/adding_an_op"):
                yield pytest.param(block, id=f"{page}:{line}")


def _commands() -> Iterator[Any]:
    for page in _PAGES:
        for match in _COMMAND.finditer(_text(page)):
            line = _text(page).count("\n", 0, match.start()) + 1
            yield pytest.param(" ".join((match[1] or match[2]).split()), id=f"{page}:{line}")


@pytest.mark.parametrize("block", list(_python()))
def test_python_stands_in_a_file_or_runs(block: str, tmp_path: Path) -> None:
    files = repository.files("*.py", "BUILD", "**/BUILD", "**/WORKSPACE")
    if any(block in _text(file) for file in files) or _is_in_a_build_file(block, files):
        return
    # As if from the workspace: Bazel starts tests where the outputs of rules are.
    (tmp_path / "bazel-bin").symlink_to(Path.cwd())
    (tmp_path / "block.py").write_text(block)
    path = os.pathsep.join([str(Path.cwd()), *sys.path])
    subprocess.run(
        [sys.executable, "block.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        check=True,
    )


def _is_in_a_build_file(block: str, files: list[str]) -> bool:
    """Whether a call of the macro is what a BUILD file makes of lists of names."""
    named = re.search(r'torch_loader_path = "([\w.]+)\.(\w+)_loader"', block)
    if named is None:
        return False
    module = f"{named[1].replace('.', '/')}.py"
    return module in files and f"def {named[2]}_loader(" in _text(module)


@pytest.mark.parametrize("command", list(_commands()))
def test_commands_name_what_there_is(command: str) -> None:
    targets, _, _ = command.partition(" -- ")
    for flag in _FLAG.findall(targets):
        assert _exists(*_LABEL.fullmatch(flag).groups()), flag  # type: ignore[union-attr]
    for package, name in _LABEL.findall(_FLAG.sub("", targets)):
        if "foo" in name or "..." in package or package.startswith("path/"):
            continue
        assert _exists(package, name), f"//{package}:{name}"


def _exists(package: str, name: str) -> bool:
    build = repository.ROOT / package / "BUILD"
    if not build.is_file():
        return False
    # Bazel's name for all targets of a package.
    if name == "all":
        return True
    text = build.read_text(encoding="utf-8")
    name = name or package.rpartition("/")[2]
    # Of programs of a list, whose names have an end in common.
    ends = ["", *re.findall(r'"\{\}(\w+)"\.format', text)]
    # And of those that are for several targets.
    ends += [f"_{target}" for target in re.findall(r'"host",\s*"(nvptx)"', text)]
    return any(
        f'"{program.removesuffix(end)}"' in text
        for program in (name, *_programs(name))
        for end in ends
    )


def _programs(target: str) -> Iterator[str]:
    """The names of programs that macros make that target of, by the lists in their docstrings."""
    macros = _text("tools/aot/aot_compile.bzl") + _text("tools/aot/aot_library.bzl")
    forms = re.findall(r"^ *\| (\S*foo\S*) +\|", macros, re.MULTILINE)
    assert len(forms) > 20
    # What is called as the program itself stands in the BUILD file.
    for form in [form for form in forms if form != "foo"]:
        match = re.fullmatch(form.replace("foo", "(.+)"), target)
        if match:
            yield match[1]


def test_what_a_target_is_made_of() -> None:
    assert list(_programs("gen_mlp_mlir_tcp")) == ["mlp"]
    assert _exists("test/AotCompile", "mlp_bisect")
    assert _exists("examples", "gen_my_library_header")
    assert not _exists("test/AotCompile", "mlp_dissect")
    assert not _exists("test/AotCompile", "gen_nothing_mlir_tcp")
    assert _exists("test/AotCompile", "gen_mlp_nvptx_ptx")
    assert not _exists("test/AotCompile", "gen_mlp_elsewhere_mlir_tcp")
    assert _exists("test/AotCompile", "all")
    assert not _exists("test/NoPackage", "all")


@pytest.mark.parametrize("page", _PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = _text(page)
    for target, part in re.findall(r"\]\(([^)#\s]*)(#[\w-]*)?\)", text):
        if "://" in target:
            continue
        file = (repository.ROOT / page).parent / target if target else repository.ROOT / page
        assert file.exists(), target
        if part and file.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}
            assert part[1:] in anchors, part


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
