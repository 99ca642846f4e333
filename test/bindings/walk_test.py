"""Walks over the operations of a module."""

import sys

import pytest
from torch_mlir import ir

from plumbline.bindings.walk import all_operations, callee, operations_named, operations_of

_MODULE = """
func.func @f(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = func.call @f(%0) : (i32) -> i32
  return %1 : i32
}
"""


def test_operations_are_found_in_the_order_of_the_text() -> None:
    with ir.Context():
        module = ir.Module.parse(_MODULE)
        names = ["builtin.module", "func.func", "arith.addi", "func.call", "func.return"]
        assert [op.name for op in all_operations(module)] == names
        of_func = [op.name for op in operations_of(module, "func")]
        assert of_func == ["func.func", "func.call", "func.return"]
        found = [op.name for op in operations_named(module, "func.call", "builtin.module", "f")]
        assert found == ["builtin.module", "func.call"]
        (call,) = operations_named(module, "func.call")
        assert callee(call) == "f"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
