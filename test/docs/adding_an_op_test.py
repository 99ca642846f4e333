"""The guide shows what stands in the files that it names."""

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tools.lint import repository

_GUIDE = (repository.ROOT / "docs/adding_an_op.md").read_text()
_NAMED = re.compile(r"`((?:\w+/)+\w+\.\w+)`")
# Fenced, in a language; sessions at a prompt are no part of a file.
_BLOCK = re.compile(r"^```(?:python|mlir)\n(?!>>>)(.*?)^```$", re.MULTILINE | re.DOTALL)


def _parts() -> Iterator[Any]:
    """What is shown without a gap, and the file that was named last before it."""
    for block in _BLOCK.finditer(_GUIDE):
        file = _NAMED.findall(_GUIDE, 0, block.start())[-1]
        for number, part in enumerate(re.split(r"^ *\.\.\.\n", block[1], flags=re.MULTILINE)):
            yield pytest.param(
                file, part, id=f"{file}-{_GUIDE.count(chr(10), 0, block.start()) + 2}-{number}"
            )


@pytest.mark.parametrize(("file", "part"), list(_parts()))
def test_the_file_has_what_is_shown(file: str, part: str) -> None:
    assert part in (repository.ROOT / file).read_text()


@pytest.mark.parametrize("file", sorted(set(_NAMED.findall(_GUIDE))))
def test_the_file_exists(file: str) -> None:
    assert (repository.ROOT / file).is_file()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
