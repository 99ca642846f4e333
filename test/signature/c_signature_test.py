"""What of signatures is refused, and how long it takes to see that nothing is."""

import sys
import time

import pytest
from torch_mlir import ir

from plumbline.context import make_context
from plumbline.signature.c_signature import check_signatures


def test_what_thousands_of_arguments_are_written_with_is_looked_at_once() -> None:
    """All types were made anew for each: of 3200 arguments it took 17 seconds."""
    count = 3200
    arguments = ", ".join(
        f"%{number}: tensor<4xf32> {{plumbline.inout = {number} : i64}}" for number in range(count)
    )
    values = ", ".join(f"%{number}" for number in range(count))
    types = ", ".join(["tensor<4xf32>"] * count)
    text = f"func.func @step({arguments}) -> ({types}) {{ return {values} : {types} }}"
    with make_context():
        module = ir.Module.parse(text)
        start = time.process_time()
        check_signatures(module, ir.RankedTensorType, ["c"])
    assert time.process_time() - start < 2


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
