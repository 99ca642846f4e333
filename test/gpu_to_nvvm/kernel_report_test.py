"""What is told of kernels: what they take of a GPU, the memory that they move, and operations."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim
from torch.nn import functional

import plumbline
from plumbline.context import make_context
from plumbline.gpu_to_nvvm.kernel_report import report
from plumbline.gpu_to_nvvm.kernel_work import KernelWork, kernel_work, spelled
from plumbline.llvm_to_asm.ptxas import KernelResources
from plumbline.signature.size_expressions import Operation, SymbolUse
from plumbline.tcp.assembly.module import parse_module
from test.linalg_to_gpu.emulated_programs import Function


def _work(
    function: Callable[..., object], *operands: torch.Tensor, dims: object = None
) -> list[KernelWork]:
    shapes = None if dims is None else {"operands": dims}
    program = plumbline.compile(Function(function), operands, shapes, target="nvptx")
    module = parse_module(program.stage("gpu"), make_context(torch=True), "program")
    return kernel_work(module)


def test_elementwise() -> None:
    """Two operands and a result of 3000 elements; an addition, a function, a product."""
    x = torch.ones(30, 100)
    (one,) = _work(lambda x, y: (x + y).exp() * 2, x, x)
    assert (one.bytes, one.flops, one.launches) == ("36000", "9000", 1)
    assert one.intensity == 0.25


def test_product_of_matrices() -> None:
    """Two operations for each product of elements, and one for each element of the epilogue."""
    (one,) = _work(
        lambda x, y, b: x @ y + b, torch.ones(70, 40), torch.ones(40, 90), torch.ones(90)
    )
    assert one.bytes == str(4 * (70 * 40 + 40 * 90 + 90 + 70 * 90))
    assert one.flops == str(2 * 70 * 40 * 90 + 70 * 90)


def test_products_of_integers() -> None:
    x = torch.ones(64, 64, dtype=torch.int8)
    work = _work(lambda x, y: torch._int_mm(x, y), x, x)
    assert work[-1].flops == str(2 * 64**3)


def test_attention() -> None:
    """Both products, and five operations for each weight: a scale, and the softmax's four."""
    q = torch.ones(2, 3, 64, 32)
    (one,) = _work(functional.scaled_dot_product_attention, q, q, q)
    assert one.bytes == str(4 * 4 * q.numel())
    weights = 2 * 3 * 64 * 64
    assert int(one.flops) >= 2 * 2 * weights * 32 + 4 * weights
    assert int(one.flops) < 2 * 2 * weights * 32 + 10 * weights + 10 * q.numel()


def test_sums_in_parts() -> None:
    """Of a sum, one launch does all additions, and one those of what its parts come to."""
    first, second, *_ = _work(lambda x: x.sum(), torch.ones(1000, 1000))
    assert first.flops == "1000000"
    parts = int(second.flops)
    assert first.bytes == str(4 * 10**6 + 8 * parts)
    products = _work(lambda x, y: x @ y, torch.ones(64, 8192), torch.ones(8192, 64))
    assert products[0].flops == str(2 * 64 * 64 * 8192)
    assert products[1].flops == str((int(products[1].bytes) - 4 * 64 * 64) // 4)


def test_memory_that_a_launch_gives() -> None:
    rows, columns = Dim("rows"), Dim("columns")
    x, y = torch.ones(130, 160).half(), torch.ones(140, 160).half()
    (one,) = _work(functional.linear, x, y, dims=({0: rows}, {0: columns}))
    assert one.shared_bytes > 48 << 10


def test_sizes_that_differ() -> None:
    """By the names that they have in the program, also where a kernel knows numbers alone."""
    n, m = Dim("n"), Dim("m")
    x = torch.ones(4, 6, 8)
    (one,) = _work(lambda x: x.relu() * 2 + 1, x, dims=({0: n, 1: m},))
    assert one.bytes == "64*m*n"
    assert one.intensity is None
    # Five operations for each of 8 elements, and the reciprocal of their sum.
    (two,) = _work(lambda x: x.softmax(-1), x, dims=({0: n, 1: m},))
    assert (two.bytes, two.flops) == ("64*m*n", "41*m*n")
    mean = _work(lambda x: (x - x.mean(1, keepdim=True)).exp().sum(1), x, dims=({0: n, 1: m},))
    assert mean[-1].flops == "32*m*n + 8*n"
    product = _work(
        lambda x, y: x @ y, torch.ones(4, 6), torch.ones(6, 5), dims=({0: n, 1: m}, {0: m})
    )
    # In parts, of which there are 131,072 at most, where these are long; else as a whole.
    parts = "20*(min(131072 floordiv (max(5*n, 1)), m floordiv 32))*n"
    assert [(one.bytes, one.flops) for one in product] == [
        (f"{parts} + 4*m*n + 20*m", "10*m*n"),
        (f"{parts} + 20*n", "131072"),
        ("4*m*n + 20*m + 20*n", "10*m*n"),
    ]


def test_what_is_read_at_places_that_are_computed() -> None:
    """Of a table as many rows are read as there are indices, which nobody knows to differ."""
    table, at = torch.ones(50, 8), torch.ones(4, dtype=torch.int64)
    (one,) = [work for work in _work(lambda t, i: t[i], table, at) if "?" in work.bytes]
    assert one.bytes == f"{4 * 8 * 4 + 4 * 8} + ?"
    assert one.intensity is None


def test_launches_of_one_kernel() -> None:
    """Layers alike are launches of one kernel that do the same; others stand by themselves."""
    (one,) = _work(lambda x, y: x @ y @ y @ y, torch.ones(64, 32), torch.ones(32, 32))
    assert one.launches == 3


def test_spelling() -> None:
    n, m = SymbolUse(0), SymbolUse(1)
    square = Operation("*", Operation("+", n, 1), Operation("+", n, -1))
    assert spelled(square, ["n", "m"]) == "n*n - 1"
    assert spelled(Operation("*", Operation("ceildiv", m, 2), 4), ["n", "m"]) == "4*(m ceildiv 2)"
    assert spelled(Operation("*", Operation("max", n, 0), 2), ["n", "m"]) == "2*n"
    assert spelled(0, []) == "0"


def test_table() -> None:
    kernels = [
        KernelResources("few", 256, 32, 0, 0),
        # Registers for 4 blocks of 256 threads; shared memory for 3.
        KernelResources("many", 256, 64, 44 << 10, 8),
    ]
    work = [
        KernelWork("few", "4*n", "?", None),
        KernelWork("many", "400", "1000", 2.5, 4 << 10, launches=3),
        KernelWork("few", "8*n", "n", None),
    ]
    lines = report(kernels, work, "sm_80").splitlines()
    assert lines[0] == "Kernels as ptxas assembles them for sm_80, memory in bytes"
    assert lines[2].split()[:3] == ["kernel", "launches", "threads"]
    assert lines[3].split() == [
        "many",
        "3",
        "256",
        "64",
        "49152",
        "8",
        "38",
        "%",
        "400",
        "1000",
        "2.5",
    ]
    assert lines[4].split() == ["few", "1", "256", "32", "0", "0", "100", "%", "4*n", "?", "?"]
    assert lines[5].split() == ["few", "1", "256", "32", "0", "0", "100", "%", "8*n", "n", "?"]
    assert "unknown" in report(kernels, work, "sm_1234")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
