"""Groups that are formed by a predicate of one's own."""

import sys

import pytest
from torch_mlir import ir

from plumbline.bindings.pipeline import Pipeline
from plumbline.context import make_context
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp.transforms.fuse_elementwise_ops import fuse_elementwise_ops

_CHAIN = """
func.func @chain(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.neg %x : tensor<?xf32> -> tensor<?xf32>
  %1 = tcp.tanh %0 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.abs %1 : tensor<?xf32> -> tensor<?xf32>
  %3 = tcp.ceil %2 : tensor<?xf32> -> tensor<?xf32>
  return %3 : tensor<?xf32>
}
"""


def test_a_predicate_says_where_groups_end() -> None:
    asked = []

    def but_into_abs(producer: ir.Operation, consumer: ir.Operation) -> bool:
        asked.append((producer.name, consumer.name))
        return str(consumer.name) != "tcp.abs"

    module = parse_module(_CHAIN, make_context(), "chain.mlir")
    Pipeline("mine", (fuse_elementwise_ops(but_into_abs),)).run(module)
    lines = [line.split("=")[-1].split()[0] for line in print_module(module).splitlines()]
    names = [line for line in lines if line.startswith("tcp.")]
    first = ["tcp.group", "tcp.neg", "tcp.tanh", "tcp.yield"]
    assert names == [*first, "tcp.group", "tcp.abs", "tcp.ceil", "tcp.yield"]
    assert ("tcp.tanh", "tcp.abs") in asked


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
