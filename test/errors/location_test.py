import sys

import pytest
from torch_mlir import ir

from plumbline.errors.location import describe, module_path, nearest_lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('loc("a.py":7:0)', "a.py:7"),
        ('loc("a.mlir":7:3)', "a.mlir:7:3"),
        ('loc("the add"("a.py":7:0))', "a.py:7"),
        ('loc(fused["a.py":7:0, "b.py":8:0])', "a.py:7"),
        ('loc(callsite("lib.py":7:0 at "a.py":8:0))', "a.py:8, in lib.py:7"),
        ('loc(callsite("l.py":1:0 at callsite("m.py":2:0 at "a.py":3:0)))', "a.py:3, in l.py:1"),
        ('loc(fused["dense/MatMul", unknown])', "dense/MatMul"),
        ('loc(fused["tcp.add", "dense/Add"])', "dense/Add"),
        ('loc("tcp.add")', "<unknown location>"),
        ("loc(unknown)", "<unknown location>"),
    ],
)
def test_description(text: str, expected: str) -> None:
    with ir.Context():
        module = ir.Module.parse(f"module {{}} {text}")
        assert describe(module.operation.location) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('loc("encoder.layer.0"("a.py":7:0))', "encoder.layer.0"),
        ('loc("encoder"(callsite("lib.py":7:0 at "a.py":8:0)))', "encoder"),
        ('loc(fused["encoder"("a.py":7:0), "decoder"("b.py":8:0)])', "encoder"),
        ('loc("a.py":7:0)', ""),
        ('loc(callsite("lib.py":7:0 at "a.py":8:0))', ""),
        ("loc(unknown)", ""),
    ],
)
def test_module_path(text: str, expected: str) -> None:
    with ir.Context():
        module = ir.Module.parse(f"module {{}} {text}")
        assert module_path(module.operation.location) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('loc("norm"(callsite("torch/n.py":1:0 at "a.py":8:0)))', [("a.py", 8)]),
        (
            'loc(callsite("torch/n.py":1:0 at callsite("b.py":2:0 at "a.py":3:0)))',
            [("b.py", 2)],
        ),
        ('loc(callsite(callsite("torch/n.py":1:0 at "b.py":2:0) at "a.py":3:0))', [("b.py", 2)]),
        ('loc(callsite("torch/n.py":1:0 at "torch/m.py":2:0))', [("torch/n.py", 1)]),
        ('loc("f"(callsite("g"("a.py":8:4 to :9) at "h"("b.py":2:4 to 3:9))))', [("a.py", 8)]),
        (
            'loc(fused[callsite("torch/n.py":1:0 at "a.py":8:0), "b.py":2:4, "a.py":8:0])',
            [("a.py", 8), ("b.py", 2)],
        ),
        ('loc("dense/Add")', []),
        ("loc(unknown)", []),
    ],
)
def test_nearest_lines(text: str, expected: list[tuple[str, int]]) -> None:
    with ir.Context():
        module = ir.Module.parse(f"module {{}} {text}")
        assert nearest_lines(module.operation.location) == expected


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
