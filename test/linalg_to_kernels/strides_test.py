"""Loops that count through a buffer by one stride each are told by its type."""

import sys

import pytest
from torch_mlir import ir

from plumbline.linalg_to_kernels.products import DYNAMIC, Access
from plumbline.linalg_to_kernels.strides import Groups, groups_of


@pytest.mark.parametrize(
    ("type_", "groups"),
    [
        ("memref<?x?xf32>", ((0, 1),)),
        # An axis between two that has one element parts none of them.
        ("memref<?x1x?xf32>", ((0, 1),)),
        ("memref<?x2x?xf32>", ((0,), (1,))),
        ("memref<?x?xf32, strided<[?, 1]>>", ((0,), (1,))),
    ],
)
def test_loops_of_unknown_sizes_are_as_one_where_axes_follow_one_another(
    type_: str, groups: Groups
) -> None:
    with ir.Context():
        buffer = ir.MemRefType(ir.Type.parse(type_))
        between = ((),) * (buffer.rank - 2)
        access = Access((((0, 1),), *between, ((1, 1),)))
        assert groups_of((0, 1), access, buffer, (DYNAMIC, DYNAMIC)) == groups


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
