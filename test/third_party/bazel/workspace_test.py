"""Holds WORKSPACE (Bazel 4) and MODULE.bazel (Bazel 7 to 9) against each other.

Neither can be run by the other's Bazel, and a test has no network for the module registry; so this
reads both as what they are, files in a language whose syntax is Python's.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tools.lint import repository

_STAND_INS = "third_party/bazel/"

# What WORKSPACE has but for a toolchain of tests.
_REPOSITORIES = "third_party/repositories.bzl"

_OTHER_WORKSPACE = "examples/other_workspace"

# What Bazel 4 itself loads and no file of ours may name.
_OF_BAZEL_4 = {"remote_coverage_tools", "rules_java", "rules_proto"}

# Bazel's own, in every version.
_BUILT_IN = {"bazel_tools"}

Call = tuple[str, dict[str, object]]


def _syntax(path: str) -> ast.Module:
    return ast.parse((repository.ROOT / path).read_text(), path)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a file, with those of its functions and of their conditions."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.If)):
            yield from _statements(statement.body)


def _value(node: ast.expr) -> object:
    """What an argument is: a constant, or a label; others stay as they are written."""
    text = ast.unparse(node)
    if label := re.fullmatch(r"str\(Label\('([^']*)'\)\)", text):
        return label[1]
    try:
        return ast.literal_eval(node)
    except ValueError:
        return text


def _calls(path: str) -> list[Call]:
    """Lists the calls of a file that are statements: the function's name and its arguments."""
    found: list[Call] = []
    for statement in _statements(_syntax(path).body):
        call = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
        if isinstance(call, ast.Call):
            positional = {str(i): _value(value) for i, value in enumerate(call.args)}
            named = {word.arg or "**": _value(word.value) for word in call.keywords}
            found.append((ast.unparse(call.func).removeprefix("native."), positional | named))
    return found


def _arguments(path: str, function: str) -> list[dict[str, object]]:
    return [arguments for name, arguments in _calls(path) if name == function]


def _repository_rules(path: str) -> dict[str, str]:
    """Maps the names under which a file knows our own repository rules to `<label>%<rule>`."""
    rules: dict[str, str] = {}
    for statement in _syntax(path).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            [target] = statement.targets
            rules[ast.unparse(target)] = "%".join(map(ast.literal_eval, statement.value.args))
    for arguments in _arguments(path, "load"):
        label, *symbols = [value for key, value in arguments.items() if key.isdecimal()]
        rules |= {str(symbol): f"{label}%{symbol}" for symbol in symbols}
    return rules


def _own_repositories(path: str) -> dict[object, tuple[str, dict[str, object]]]:
    """Maps the repositories that come from our own rules to the rule and all arguments."""
    rules = _repository_rules(path)
    return {
        arguments["name"]: (rules[function], arguments)
        for function, arguments in _calls(path)
        if function in rules and function != "stand_in" and "name" in arguments
    }


def _module_versions() -> dict[object, object]:
    return {
        dependency["name"]: dependency["version"]
        for dependency in _arguments("MODULE.bazel", "bazel_dep")
    }


def _workspace_repositories() -> set[object]:
    return {
        arguments["name"]
        for function, arguments in _calls(_REPOSITORIES)
        # Of the functions that are defined there, names are parameters.
        if arguments.get("name", "name") != "name"
    }


def _named_repositories() -> Iterator[tuple[str, str]]:
    """Yields each file of ours with each repository that a string in it names as a label."""
    for path in repository.files("BUILD", "*/BUILD", "*.BUILD", "*.bzl"):
        if path.startswith(_STAND_INS) and not path.endswith(".BUILD"):
            continue
        if path.startswith(_OTHER_WORKSPACE):
            continue
        for node in ast.walk(_syntax(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                # A repository rule's template of a BUILD file names labels in the middle.
                for name in re.findall(r'(?:^|")@([\w.-]+)(?://|$)', node.value):
                    yield path, name


def test_both_give_the_main_repository_the_same_name() -> None:
    [workspace] = _arguments("WORKSPACE", "workspace")
    [module] = _arguments("MODULE.bazel", "module")
    assert workspace["name"] == module["repo_name"]


def test_both_define_the_same_repositories() -> None:
    of_module = set(_module_versions()) | set(_own_repositories("MODULE.bazel"))
    assert _workspace_repositories() - _OF_BAZEL_4 == of_module


def test_our_own_repositories_are_made_alike() -> None:
    of_module = _own_repositories("MODULE.bazel")
    assert of_module
    assert _own_repositories(_REPOSITORIES) == of_module


def test_both_register_the_same_toolchains() -> None:
    of_module = _arguments("MODULE.bazel", "register_toolchains")
    assert of_module
    of_workspace = [
        toolchain
        for path in ("WORKSPACE", _REPOSITORIES)
        for toolchain in _arguments(path, "register_toolchains")
    ]
    assert of_workspace == of_module


def test_files_name_only_repositories_that_both_define() -> None:
    defined = set(_module_versions()) | set(_own_repositories("MODULE.bazel"))
    named = list(_named_repositories())
    assert {"pip_deps", "rules_cc", "rules_python"} <= {name for _, name in named}
    unknown = [(path, name) for path, name in named if name not in defined | _BUILT_IN]
    assert not unknown


def test_stand_ins_say_for_which_version_they_stand() -> None:
    versions = _module_versions()
    stand_ins = {
        arguments["name"]: f"{_STAND_INS}{arguments['name']}"
        for arguments in _arguments(_REPOSITORIES, "stand_in")
        if arguments["name"] in versions
    }
    assert stand_ins
    for name, path in stand_ins.items():
        [module] = _arguments(f"{path}/MODULE.bazel", "module")
        assert (module["name"], module["version"]) == (name, versions[name]), (
            f"{path} stands for another version of {name} than MODULE.bazel asks for: compare what "
            "the stand-in gives with the new version's API, then change its MODULE.bazel"
        )


def test_stand_ins_are_no_packages_of_the_main_repository() -> None:
    """Their BUILD files are written for repositories of their own, not for `//...`."""
    folders = {str(Path(path).parent) for path in repository.files("*/WORKSPACE")}
    assert _OTHER_WORKSPACE in folders
    assert set((repository.ROOT / ".bazelignore").read_text().split()) == folders


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
