"""What lit cannot say of the ops' texts: no op is lost to another form, nor any location."""

import sys
from pathlib import Path

import pytest

from plumbline.tcp import ops
from plumbline.tcp.assembly.module import print_module
from test.tcp.checks import check_round_trip, parse


@pytest.mark.parametrize("family", ops.__all__)
def test_round_trip(family: str) -> None:
    text = (Path(__file__).parent / f"{family}.mlir").read_text()
    check_round_trip(print_module(parse(text)))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
