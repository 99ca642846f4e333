"""Every op has a round trip and a refused text in the test of its family."""

import importlib
import sys

import pytest

from plumbline.tcp import ops
from plumbline.tcp.dialect import TCP


@pytest.mark.parametrize("family", ops.__all__)
def test_family(family: str) -> None:
    module = f"plumbline.tcp.ops.{family}"
    defined = {op.assembly.signature.name for op in TCP.operations if op.__module__ == module}
    tested = importlib.import_module(f"test.tcp.ops.{family}_test").OPS
    assert tested == defined


def test_no_op_is_outside_the_families() -> None:
    families = {f"plumbline.tcp.ops.{family}" for family in ops.__all__}
    assert {op.__module__ for op in TCP.operations} == families


def test_every_op_says_what_it_computes() -> None:
    undocumented = [op.__name__ for op in TCP.operations if "__doc__" not in vars(op)]
    assert not undocumented


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
