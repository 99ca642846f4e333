"""Every pattern from the Torch dialect has a test of the text that it makes."""

import importlib
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import plumbline.torch_to_tcp
from plumbline.tcp.dialect import TCP
from plumbline.torch_to_tcp.patterns import PATTERNS

FAMILIES = {
    name: module.PATTERNS
    for name in (found.name for found in pkgutil.iter_modules(plumbline.torch_to_tcp.__path__))
    if (Path(__file__).parent / f"{name}.mlir").exists()
    and hasattr(module := importlib.import_module(f"plumbline.torch_to_tcp.{name}"), "PATTERNS")
    and module.PATTERNS is not PATTERNS
    and set(module.PATTERNS) != set(PATTERNS)
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_pattern_is_tested(family: str) -> None:
    text = (Path(__file__).parent / f"{family}.mlir").read_text()
    # Either an op of torch-mlir's, or one that it carries by its name.
    tested = set(re.findall(r'= (?:torch\.operator ")?(torch\.[\w.]+)', text))
    assert not set(FAMILIES[family]) - tested


def test_every_family_has_a_file() -> None:
    covered = {name for patterns in FAMILIES.values() for name in patterns}
    assert covered == set(PATTERNS)


# PyTorch's round is round_even. Groups are made of TCP's ops later.
_NOT_FROM_TORCH = {"round", "group", "isolated_group", "yield"}


def test_every_op_of_tcp_is_made() -> None:
    texts = [path.read_text() for path in Path(__file__).parent.glob("*.mlir")]
    made = set(re.findall(r"// CHECK.*tcp\.(\w+)", "\n".join(texts)))
    assert {op.assembly.signature.name for op in TCP.operations} - made == _NOT_FROM_TORCH


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
