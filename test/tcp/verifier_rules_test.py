"""Every rule of TCP's verifiers is broken by some test, on each op that it holds for."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType

import pytest

import plumbline.tcp.ops
from plumbline.tcp.dialect import TCP, TcpOp, VerificationError

SOURCES = Path(plumbline.tcp.__file__).parent
OPS = Path(plumbline.tcp.ops.__file__).parent
TESTS = ("ops/error_place_test.py", "dialect_test.py")


@dataclass(frozen=True)
class Violation:
    """A rule that was broken."""

    op: str
    """The op that broke it; empty for one that was not verified by MLIR."""
    places: tuple[tuple[Path, int], ...]
    """Where that was found, from the inside out: files and lines."""


@dataclass(frozen=True)
class Rule:
    """A place where a verifier says that a rule is broken, or calls what says it."""

    file: Path
    lines: range

    def is_broken_by(self, violation: Violation) -> bool:
        """Whether the rule was found to be broken."""
        return any(file == self.file and line in self.lines for file, line in violation.places)

    def __str__(self) -> str:
        return f"{self.file.relative_to(SOURCES)}:{self.lines.start}"


@pytest.fixture(scope="module")
def violations() -> set[Violation]:
    """What the tests of all verifiers break."""
    found = set()

    def note(error: VerificationError, *arguments: object) -> None:
        places, op = [], ""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not op:
            file = Path(frame.f_code.co_filename)
            if SOURCES in file.parents:
                places.append((file, frame.f_lineno))
            if frame.f_code is TcpOp.verify_invariants.__code__:
                op = frame.f_locals["self"].OPERATION_NAME
            frame = frame.f_back
        found.add(Violation(op, tuple(places)))
        Exception.__init__(error, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(VerificationError, "__init__", note)
        tests = [str(Path(__file__).parent / file) for file in TESTS]
        assert pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *tests]) == 0
    return found


def _functions() -> Iterator[tuple[Path, ast.FunctionDef]]:
    for file in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef):
                yield file, node


def _calls(function: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """The calls within a function, each with the name of what is called."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield node, name


def _lines(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _refusals(function: ast.AST) -> Iterator[ast.Call]:
    """Where a function says itself that a rule is broken."""
    return (call for call, name in _calls(function) if name == VerificationError.__name__)


def _names_of_what_refuses() -> set[str]:
    """The functions that raise a verifier's error, or call one that does."""
    calls = {node.name: {name for _, name in _calls(node)} for _, node in _functions()}
    names = {VerificationError.__name__}
    while more := {name for name, called in calls.items() if called & names} - names:
        names |= more
    return names


FUNCTIONS = {(file, node.lineno): node for file, node in _functions()}
REFUSING = _names_of_what_refuses()


def _is_of_ops(code: CodeType) -> bool:
    return OPS in Path(code.co_filename).parents


def _rules_of(op: type[TcpOp]) -> set[Rule]:
    """The rules of the op's own verifier, and of what the modules of ops have for it."""
    rules, seen = set(), set()
    to_do: list[CodeType] = [op.verify_operation.__code__]
    while to_do:
        code = to_do.pop()
        if code in seen or not _is_of_ops(code):
            continue
        seen.add(code)
        file = Path(code.co_filename)
        for call, name in _calls(FUNCTIONS[file, code.co_firstlineno]):
            if name not in REFUSING:
                continue
            called = getattr(op, name, None) or getattr(sys.modules[op.__module__], name, None)
            if (
                isinstance(called, FunctionType)
                and OPS in Path(called.__code__.co_filename).parents
            ):
                to_do.append(called.__code__)
            else:
                rules.add(Rule(file, _lines(call)))
    return rules


def test_every_rule_is_broken_by_a_test(violations: set[Violation]) -> None:
    rules = [Rule(file, _lines(call)) for file, node in _functions() for call in _refusals(node)]
    assert rules
    unbroken = [
        str(rule) for rule in rules if not any(rule.is_broken_by(one) for one in violations)
    ]
    assert not unbroken


@pytest.mark.parametrize("op", TCP.operations, ids=lambda op: str(op.OPERATION_NAME))
def test_every_op_breaks_its_rules(op: type[TcpOp], violations: set[Violation]) -> None:
    own = [violation for violation in violations if violation.op == op.OPERATION_NAME]
    assert own
    unbroken = [
        str(rule) for rule in _rules_of(op) if not any(rule.is_broken_by(one) for one in own)
    ]
    assert not unbroken


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
