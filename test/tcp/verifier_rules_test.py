"""Every rule of TCP's verifiers is broken by some test."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import plumbline.tcp
from plumbline.tcp.dialect import VerificationError

SOURCES = Path(plumbline.tcp.__file__).parent


def _rules() -> Iterator[tuple[str, range]]:
    """The places where a verifier says that a rule is broken: the file and the lines."""
    for file in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if (
                isinstance(node, ast.Raise)
                and isinstance(node.exc, ast.Call)
                and isinstance(node.exc.func, ast.Name)
                and node.exc.func.id == VerificationError.__name__
            ):
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                yield str(file.relative_to(SOURCES)), lines


def test_every_rule_is_broken_by_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    broken: set[tuple[str, int]] = set()

    def note_place(error: VerificationError, *arguments: object) -> None:
        frame = sys._getframe(1)
        file = Path(frame.f_code.co_filename)
        if SOURCES in file.parents:
            broken.add((str(file.relative_to(SOURCES)), frame.f_lineno))
        Exception.__init__(error, *arguments)

    monkeypatch.setattr(VerificationError, "__init__", note_place)
    tests = [str(Path(__file__).parent / folder) for folder in ("ops", "dialect_test.py")]
    assert pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *tests]) == 0
    unbroken = [
        f"{file}:{lines.start}"
        for file, lines in _rules()
        if not any((file, line) in broken for line in lines)
    ]
    assert not unbroken


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
