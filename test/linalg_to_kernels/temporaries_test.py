"""Where the temporaries of a program lie."""

import sys

import pytest

from plumbline.linalg_to_kernels.stage import linalg_to_kernels
from plumbline.tcp_to_linalg.stage import tcp_to_linalg

_T = "tensor<128x128xf32>"

# The first two products are temporaries, and the last one the result.
_SOURCE = f"""
func.func @chain(%x: {_T}) -> {_T} {{
  %0 = tcp.matmul %x, %x : {_T}, {_T} -> {_T}
  %1 = tcp.matmul %0, %x : {_T}, {_T} -> {_T}
  %2 = tcp.matmul %1, %0 : {_T}, {_T} -> {_T}
  return %2 : {_T}
}}
"""


def _allocations(temporaries: str) -> list[str]:
    """Where the program, outside of its kernels, allocates."""
    linalg = tcp_to_linalg(_SOURCE, "chain.mlir", "values")
    kernels = linalg_to_kernels(
        linalg, "chain.mlir", target_cpu="baseline", temporaries=temporaries
    )
    program = kernels.partition("@chain")[2].partition("return")[0]
    return [line for line in program.splitlines() if "memref.alloc(" in line]


def test_temporaries_share_an_arena() -> None:
    arena, result = _allocations("arena")
    assert "plumbline.memory_plan" in arena
    assert "memref<128x128xf32>" in result


def test_temporaries_lie_apart_where_they_are_told_to() -> None:
    allocations = _allocations("apart")
    assert len(allocations) == 3
    assert all("memref<128x128xf32>" in allocation for allocation in allocations)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
