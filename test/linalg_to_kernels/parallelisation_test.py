"""Holds programs on several threads against the same programs on one: they give the same bits."""

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody calls it)
from torch.export import Dim

import plumbline
import plumbline.lowering
from plumbline.linalg_to_kernels import parallelisation

_AUTO = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}


class _Program(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self._function(x, y)


def _compile(
    function: Callable[..., torch.Tensor],
    inputs: tuple[torch.Tensor, ...],
    shapes: tuple[Any, ...] | None,
    threads: int,
) -> plumbline.CompiledProgram:
    return plumbline.compile(_Program(function), inputs, shapes, threads=threads)


def _attention(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(x, y, y)


def _elementwise(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x) * torch.sigmoid(y) + F.gelu(x)


def _layer_norm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x + y, x.shape[-1:])


def _depthwise(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(F.conv2d(x, y, padding=1, groups=x.shape[1]))


def _pairs(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x[:, :1] * y[:1] + x[:, 1:2])


def _gather(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x[(y.abs() * 8).to(torch.int64).clamp(max=7)].exp()


def _few_products(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x @ y).tanh()


def _half_linear(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.linear(x.to(torch.bfloat16), y.to(torch.bfloat16)).float()


_CASES: dict[str, tuple[Callable[..., torch.Tensor], tuple[int, ...], tuple[int, ...], Any]] = {
    "matmul": (torch.matmul, (190, 260), (260, 270), None),
    "matmul_of_one_panel": (torch.matmul, (4100, 130), (130, 5), None),
    "matmul_of_few_rows": (F.linear, (1, 1030), (2050, 1030), None),
    # One thread adds rows of the matrix here, and several share columns of tiles.
    "matmul_of_few_rows_by_columns": (torch.matmul, (3, 1030), (1030, 770), None),
    # Whole panels and the last one are loops that use one buffer.
    "matmul_of_more_rows_than_a_tile": (torch.matmul, (7, 2060), (2060, 770), None),
    # Of what vectors leave of a loop LLVM rounds products otherwise: that is at the end of rows.
    "matmul_of_few_terms": (torch.matmul, (2, 2), (2, 640), None),
    "products_with_a_vector": (_few_products, (3, 301, 13), (3, 13, 1), None),
    "matmul_of_any_size": (torch.matmul, (190, 260), (260, 270), ({0: Dim("m")}, {1: Dim("n")})),
    "batched_matmul": (torch.matmul, (3, 100, 110), (3, 110, 120), None),
    "half_precision": (_half_linear, (300, 200), (250, 200), None),
    "convolution": (F.conv2d, (1, 17, 60, 61), (33, 17, 3, 3), None),
    "strided_convolution": (
        lambda x, y: F.conv2d(x, y, stride=2),
        (2, 8, 99, 97),
        (31, 8, 5, 5),
        None,
    ),
    "depthwise": (_depthwise, (1, 33, 120, 121), (33, 1, 3, 3), None),
    "softmax": (lambda x, y: (x * y).softmax(-1), (3, 500, 301), (3, 500, 301), None),
    "softmax_of_columns": (lambda x, y: (x * y).softmax(0), (300, 1501), (300, 1501), None),
    "layer_norm": (_layer_norm, (1, 700, 384), (1, 700, 384), None),
    "layer_norm_of_any_size": (_layer_norm, (7, 100, 384), (7, 100, 384), (_AUTO, _AUTO)),
    "elementwise": (_elementwise, (1, 3, 299, 301), (301,), None),
    "elementwise_of_any_size": (_elementwise, (700, 401), (700, 401), (_AUTO, _AUTO)),
    "transposition": (lambda x, y: x.T + y, (1023, 1025), (1025, 1023), None),
    "sum_of_rows": (lambda x, y: (x + y).sum(-1), (1999, 701), (701,), None),
    "cumulative_sum": (lambda x, y: (x + y).cumsum(-1), (199, 701), (701,), None),
    "sort": (lambda x, y: (x + y).sort(-1).values, (99, 501), (501,), None),
    "first_of_rows": (lambda x, y: (x + y).topk(18).indices, (99, 501), (501,), None),
    "concatenation": (lambda x, y: torch.cat([x, y], 1), (700, 401), (700, 301), None),
    "sum_of_columns": (lambda x, y: (x + y).sum(0), (701, 1999), (1999,), None),
    "attention": (_attention, (1, 5, 130, 64), (1, 5, 140, 64), None),
    "gather": (_gather, (8, 301), (999,), None),
}


def _shared_stack(kernels: str) -> list[str]:
    """The buffers on the stack outside of loops that are split, which chunks of these use."""
    shared = []
    for kernel in kernels.split("func.func")[1:]:
        loops = "".join(
            re.findall(r"^    scf\.forall .*?^    }$", kernel, re.MULTILINE | re.DOTALL)
        )
        outside = re.findall(r"(?m)^    (%\w+) = memref\.alloca\(", kernel)
        shared += [name for name in outside if re.search(rf"{name}\b", loops)]
    return shared


@pytest.fixture(autouse=True)
def _little_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small programs are split, as large ones are."""
    monkeypatch.setattr(parallelisation, "LEAST_WORK", 1 << 12)


@pytest.mark.parametrize("name", _CASES)
def test_results_are_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, left, right, shapes = _CASES[name]
    inputs = (torch.randn(left), torch.randn(right))
    expected = _compile(function, inputs, shapes, 1)(*inputs)
    program = _compile(function, inputs, shapes, 2)
    assert "scf.forall" in program.stage("kernels")
    # Of threads that take turns on one core the bits may be right by chance.
    assert not _shared_stack(program.stage("kernels"))
    assert torch.equal(program(*inputs)[0], expected[0])
    # A number by which iterations do not come out even.
    monkeypatch.setenv("PLUMBLINE_THREADS", "7")
    again = _compile(function, inputs, shapes, 2)
    assert torch.equal(again(*inputs)[0], expected[0])


@pytest.mark.parametrize("function", [torch.matmul, _pairs])
def test_sizes_may_be_less_than_the_threads(function: Callable[..., torch.Tensor]) -> None:
    inputs = (torch.randn(5, 400), torch.randn(400, 6))
    shapes = ({0: Dim("m", min=0)}, {1: Dim("n", min=0)})
    one, two = (_compile(function, inputs, shapes, threads) for threads in (1, 3))
    assert "scf.forall" in two.stage("kernels")
    for rows, columns in ((0, 0), (0, 5), (5, 0), (1, 1), (1, 3000), (3000, 1), (2, 2)):
        given = torch.randn(rows, 400), torch.randn(400, columns)
        assert torch.equal(two(*given)[0], one(*given)[0])


def test_one_thread_needs_no_runtime_library() -> None:
    inputs = (torch.randn(700, 401), torch.randn(700, 401))
    program = _compile(_elementwise, inputs, None, 1)
    for stage in plumbline.lowering.STAGES:
        assert not re.search("plumbline.parallel|forall|GOMP|omp_", program.stage(stage))


def test_what_is_little_stays_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    inputs = (torch.randn(20, 401), torch.randn(20, 401))
    one, two = (_compile(_elementwise, inputs, None, threads) for threads in (1, 2))
    assert two.stage("llvm_ir") == one.stage("llvm_ir")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
