"""Products of matrices against PyTorch."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.fx.experimental.proxy_tensor import make_fx

import plumbline
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import contraction as tcp
from plumbline.tcp.ops.reduction import ReduceOp
from test.AotCompile.ops.op_case import (
    FLOATS,
    NUMBERS,
    Batch,
    OpCase,
    Sampler,
    each,
    ops_without_case,
)


def _shapes(*shapes: Sequence[int]) -> Callable[[Sampler], Sequence[torch.Tensor]]:
    return lambda s: [s.tensor(*shape) for shape in shapes]


def _product(
    name: str,
    function: Callable[..., torch.Tensor],
    *shapes: Sequence[int],
    op: type[TcpOp] = tcp.MatmulOp,
    dtypes: Sequence[torch.dtype] = NUMBERS,
) -> OpCase:
    return OpCase(name, function, _shapes(*shapes), [op], dtypes)


CASES = [
    _product("mm", torch.mm, (3, 4), (4, 5)),
    _product("bmm", torch.bmm, (2, 3, 4), (2, 4, 5), op=tcp.BatchMatmulOp),
    *(
        _product(f"matmul_{len(left)}_{len(right)}", torch.matmul, left, right, op=op)
        for left, right, op in (
            ((4,), (4, 5), tcp.MatmulOp),
            ((2, 3, 4), (4, 5), tcp.MatmulOp),
            ((3, 4), (2, 4, 5), tcp.BatchMatmulOp),
            ((2, 3, 4), (2, 4, 5), tcp.BatchMatmulOp),
            ((6, 2, 3, 4), (2, 4, 5), tcp.BatchMatmulOp),
            ((6, 1, 3, 4), (1, 2, 4, 5), tcp.BatchMatmulOp),
        )
    ),
    # Vectors are multiplied element by element, and summed; a matrix by one is a product.
    _product("dot", torch.dot, (4,), (4,), op=ReduceOp),
    _product("mv", torch.mv, (3, 4), (4,)),
    _product("matmul_3_1", torch.matmul, (2, 3, 4), (4,)),
    _product("linear", F.linear, (3, 4), (5, 4), dtypes=FLOATS),
    _product("linear_bias", F.linear, (3, 4), (5, 4), (5,), dtypes=FLOATS),
    _product("linear_3", F.linear, (2, 3, 4), (5, 4), (5,), dtypes=FLOATS),
    _product("linear_4", F.linear, (6, 2, 3, 4), (5, 4), dtypes=FLOATS),
    _product("addmm", torch.addmm, (3, 5), (3, 4), (4, 5)),
    _product(
        "addmm_row", lambda b, x, y: torch.addmm(b, x, y, beta=2, alpha=3), (5,), (3, 4), (4, 5)
    ),
    _product("baddbmm", torch.baddbmm, (2, 3, 5), (2, 3, 4), (2, 4, 5), op=tcp.BatchMatmulOp),
    *(
        _product(f"einsum {spec}", lambda *x, spec=spec: torch.einsum(spec, *x), *shapes, op=op)
        for spec, op, *shapes in (
            ("ij,jk->ik", tcp.BatchMatmulOp, (3, 4), (4, 5)),
            ("bij,bkj->bik", tcp.BatchMatmulOp, (2, 3, 4), (2, 5, 4)),
            ("bhid,bjhd->bhij", tcp.BatchMatmulOp, (2, 3, 4, 5), (2, 6, 3, 5)),
        )
    ),
    OpCase(
        "einsum bij,jk,kl->bil",
        lambda *x: torch.einsum("bij,jk,kl->bil", *x),
        # Of factors up to 4, sums of products of three are so large that PyTorch's own error, held
        # against f64, is up to three times what atol allows where they cancel.
        lambda s: [s.tensor(*shape, low=-1, high=1) for shape in ((2, 3, 4), (4, 5), (5, 6))],
        [tcp.BatchMatmulOp],
        NUMBERS,
    ),
    _product("tensordot", lambda x, y: torch.tensordot(x, y, 2), (2, 3, 4), (3, 4, 5)),
    *(
        OpCase(
            f"{name}_{dtypes[0]}".replace("torch.", ""),
            function,
            _shapes((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 5)),
            [tcp.BatchMatmulOp, ReduceOp],
            dtypes,
            # PyTorch rounds half precision once in the end, and not after each of the products.
            rtol=rtol,
            atol=atol,
            # The scale, a root of the length of a row, cannot be exported at a dynamic length.
            static=(5,),
            # Rows of scores over nothing: PyTorch gives zeros in one of its ways, NaN in another.
            kinds=("static", "dynamic"),
            empty=False,
        )
        for name, function in (
            ("attention", F.scaled_dot_product_attention),
            ("attention_scale", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3)),
            (
                "attention_causal",
                lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            ),
            (
                "attention_mask",
                lambda q, k, v: F.scaled_dot_product_attention(
                    q, k, v, attn_mask=q[..., :1] > k[..., 0].unsqueeze(-2)
                ),
            ),
        )
        for dtypes, rtol, atol in (
            ((torch.float32, torch.float64), None, None),
            ((torch.float16, torch.bfloat16), 2e-2, 2e-2),
        )
    ),
]


@each(CASES)
def test_against_pytorch(batch: Batch, place: int) -> None:
    """The compiled function answers as PyTorch does."""
    batch.check(place)


def test_half_precision_is_summed_in_f32() -> None:
    """A sum in half precision would stop growing at 2048."""
    case = OpCase(
        "long_mm",
        torch.mm,
        lambda s: (torch.ones(2, 4096, dtype=s.dtype), torch.ones(4096, 2, dtype=s.dtype)),
        [tcp.MatmulOp],
        (torch.float16, torch.bfloat16),
    )
    Batch([case], "static").check(0)


class _GroupedMm(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        return torch._grouped_mm(x, y, offs=ends)


@pytest.mark.parametrize(
    ("left", "right"),
    [((8, 16), (4, 16, 24)), ((4, 16, 24), (24, 8)), ((16, 8), (8, 24))],
    ids=["rows", "columns", "inner"],
)
def test_products_of_groups(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """The sizes of the groups are known at run time only; groups may be empty."""
    torch.manual_seed(0)
    x, y = (torch.randn(shape).to(torch.bfloat16) for shape in (left, right))
    module = _GroupedMm()
    program = plumbline.compile(module, (x, y, torch.tensor([2, 4, 6, 8], dtype=torch.int32)))
    for ends in ([2, 4, 6, 8], [0, 5, 5, 8], [8, 8, 8, 8], [1, 2, 3, 8]):
        offsets = torch.tensor(ends, dtype=torch.int32)
        torch.testing.assert_close(program(x, y, offsets), (module(x, y, offsets),))
    assert program.stage("tcp").count("tcp.matmul") == 1


def test_gradients_of_products_of_groups() -> None:
    """Those of the op by which models of `transformers` multiply the rows of their experts."""
    importlib.import_module("transformers.integrations.moe")
    op = torch.ops.transformers.grouped_mm_fallback_backward

    class Model(torch.nn.Module):
        def forward(self, *operands: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return op(*operands)  # type: ignore[no-any-return]

    torch.manual_seed(0)
    left, right, gradient = torch.randn(8, 5), torch.randn(4, 5, 6), torch.randn(8, 6)
    program = plumbline.compile(Model(), (left, right, torch.tensor([2, 4, 6, 8]), gradient))
    # Groups may be empty, and rows may belong to none.
    for ends in ([2, 4, 6, 8], [0, 5, 5, 8], [1, 2, 3, 6]):
        operands = left, right, torch.tensor(ends), gradient
        torch.testing.assert_close(program(*operands), Model()(*operands))


@pytest.mark.parametrize("columns", [32, 33])
def test_comparisons_of_products(columns: int) -> None:
    """Booleans are stored a byte each, also where they are computed as vectors."""
    torch.manual_seed(0)
    inputs = (torch.randn(24, 40), torch.randn(columns, 40))

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x @ y.mT > 1, x[0] @ y.mT > 1

    actual = plumbline.compile(Model(), inputs)(*inputs)
    torch.testing.assert_close(actual, Model()(*inputs))


def _attend(
    heads: tuple[torch.Tensor, ...], mask: torch.Tensor | None, options: Mapping[str, Any]
) -> torch.Tensor:
    query, key, value = heads
    return F.scaled_dot_product_attention(query, key, value, mask, **options)


@pytest.mark.parametrize(
    ("keys", "mask", "options", "dtype"),
    [
        ((2, 4, 6, 8), None, {"scale": 0.3}, torch.float32),
        ((2, 4, 5, 8), None, {"is_causal": True}, torch.float32),
        (
            (2, 4, 6, 8),
            torch.tensor([[True, False, True, True, False, True]] * 5),
            {},
            torch.float32,
        ),
        ((2, 4, 6, 8), torch.linspace(-1, 1, 30).double().reshape(5, 6), {}, torch.float64),
        ((2, 4, 6, 8), torch.arange(6).expand(5, 6) < torch.arange(5)[:, None], {}, torch.float32),
        ((2, 2, 5, 8), None, {"is_causal": True, "enable_gqa": True}, torch.float32),
        ((2, 4, 5, 8), None, {"is_causal": True}, torch.bfloat16),
    ],
    ids=["scale", "causal", "bool mask", "float mask", "no key", "groups of heads", "bf16"],
)
def test_gradients_of_attention(
    keys: tuple[int, ...],
    mask: torch.Tensor | None,
    options: Mapping[str, Any],
    dtype: torch.dtype,
) -> None:
    torch.manual_seed(0)
    shapes = ((2, 4, 5, 8), keys, keys, (2, 4, 5, 8))
    inputs = tuple(torch.randn(shape, dtype=dtype) for shape in shapes)

    def step(*inputs: torch.Tensor) -> Any:
        *heads, weights = inputs
        return torch.func.grad_and_value(
            lambda heads: (_attend(heads, mask, options) * weights).sum()
        )(tuple(heads))

    graph = make_fx(step)(*inputs)
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default
    assert any(node.target is backward for node in graph.graph.nodes)
    gradients, value = step(*inputs)
    # PyTorch rounds the weights to bfloat16 on the way.
    tolerance = 2e-2 if dtype == torch.bfloat16 else 1e-5
    actual = plumbline.compile(graph, inputs)(*inputs)
    torch.testing.assert_close(actual, (*gradients, value), rtol=tolerance, atol=tolerance)


def test_every_op_has_a_case() -> None:
    """No op of the family is left out."""
    assert not ops_without_case(tcp, CASES)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
