"""Every pattern from StableHLO has a test of the text that it makes, or of why it refuses."""

import importlib
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import plumbline.stablehlo_to_tcp
from plumbline.stablehlo_to_tcp.patterns import PATTERNS

FAMILIES = {
    name: module.PATTERNS
    for name in (found.name for found in pkgutil.iter_modules(plumbline.stablehlo_to_tcp.__path__))
    if (Path(__file__).parent / f"{name}.mlir").exists()
    and hasattr(module := importlib.import_module(f"plumbline.stablehlo_to_tcp.{name}"), "PATTERNS")
    and set(module.PATTERNS) != set(PATTERNS)
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_pattern_is_tested(family: str) -> None:
    text = (Path(__file__).parent / f"{family}.mlir").read_text()
    # At the start of a line, with or without results; a body's ops stand after a block's label.
    tested = set(re.findall(r'^ +(?:%[\w, :%]+ = )?"?((?:stablehlo|chlo)\.\w+)', text, re.M))
    assert not set(FAMILIES[family]) - tested


@pytest.mark.parametrize("name", FAMILIES["refusals"])
def test_every_refusal_is_told(name: str) -> None:
    text = (Path(__file__).parent / "refusals.mlir").read_text()
    assert f"'{name}' op cannot be lowered to TCP: " in text


def test_every_family_has_a_file() -> None:
    covered = {name for patterns in FAMILIES.values() for name in patterns}
    assert covered == set(PATTERNS)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
