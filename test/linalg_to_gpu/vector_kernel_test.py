"""What is done to each element by itself is done by 16 bytes at a time, where these are aligned."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim
from torch.nn import functional

from test.linalg_to_gpu.emulated_programs import EmulatedProgram

_LOAD, _STORE = "ld.global.v4.b32", "st.global.v4.b32"

_CASES: dict[str, tuple[Callable[..., object], list[tuple[int, ...]], torch.dtype]] = {
    "broadcast": (lambda x, y: x.exp() + y, [(7, 36), (36,)], torch.float32),
    "one_number_a_row": (lambda x, y: x * y, [(7, 36), (7, 1)], torch.float32),
    "half": (lambda x, y: functional.gelu(x) * y, [(5, 64), (64,)], torch.float16),
    "bfloat": (lambda x: functional.silu(x), [(5, 64)], torch.bfloat16),
    "windows": (
        lambda x, y: x[:, :32] + x[:, 1:33] + y,
        [(6, 40), (6, 32)],
        torch.float32,
    ),
}


def _operands(name: str) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(shape).to(_CASES[name][2]) for shape in _CASES[name][1]]


@pytest.mark.parametrize("name", _CASES)
def test_vectors(name: str) -> None:
    operands = _operands(name)
    program = EmulatedProgram(_CASES[name][0], *operands)
    program.check(*operands)
    assert _LOAD in program.ptx
    assert _STORE in program.ptx


def test_lines_that_begin_within_a_vector_are_read_by_elements() -> None:
    """Though what is computed of their beginnings is as long as some vectors."""
    x, y = torch.randn(6, 42), torch.randn(6, 32)
    program = EmulatedProgram(lambda x, y: x.exp()[:, :32] + y, x, y)
    program.check(x, y)
    assert len(program.resources) == 1
    assert program.ptx.count(_LOAD) == 1


@pytest.mark.parametrize("shape", [(70, 45), (32, 64), (3, 33, 40)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bool], ids=str)
def test_transposed(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    """Through shared memory, along lines of both."""
    x = torch.randint(0, 2, shape).to(dtype)
    y = torch.randn(*shape[:-2], shape[-1], shape[-2])
    program = EmulatedProgram(lambda x, y: x.transpose(-1, -2).float() * y, x, y)
    program.check(x, y)
    assert "bar.sync" in program.ptx
    assert len(program.resources) == 1


def test_dynamic_transposed() -> None:
    dims = ({0: Dim("rows"), 1: Dim("columns")},)
    program = EmulatedProgram(lambda x: x.t().exp(), torch.randn(40, 50), dims=dims)
    for rows, columns in ((40, 50), (1, 100), (65, 1), (0, 4)):
        program.check(torch.randn(rows, columns))
    assert "bar.sync" in program.ptx


def test_comparisons_have_results_of_a_byte() -> None:
    x, y = torch.randn(7, 36), torch.randn(7, 36)
    program = EmulatedProgram(torch.gt, x, y)
    program.check(x, y)
    assert _LOAD not in program.ptx


def test_a_fourier_transform_is_added_up_in_its_own_type() -> None:
    x = torch.randn(3, 64, dtype=torch.complex64)
    program = EmulatedProgram(torch.fft.fft, x)
    program.check(x, rtol=1e-5, atol=1e-5)
    assert "f64" not in program.gpu


def test_a_fourier_transform_of_any_size() -> None:
    """Its loops carry buffers that stay as large, as the host of a GPU has to know."""
    x = torch.randn(2, 90, dtype=torch.complex64)
    program = EmulatedProgram(torch.fft.fft, x, dims=({1: Dim("size")},))
    for size in (90, 77, 67, 1):
        program.check(torch.randn(2, size, dtype=x.dtype), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_zeros_keep_their_signs(dtype: torch.dtype) -> None:
    """As on the host, and in PyTorch: which of two zeros is the greater is of no account."""
    x = torch.tensor([-0.0, 0.0, -1.0, torch.nan] * 16).to(dtype)
    program = EmulatedProgram(lambda x: (x.relu(), x.clamp(0, 6)), x)
    program.check(x)
    for result, expected in zip(program.run(x), (x.relu(), x.clamp(0, 6)), strict=True):
        assert torch.equal(result.signbit(), expected.signbit())


def test_what_is_not_aligned() -> None:
    """Rows of 35 elements begin anywhere."""
    x = torch.randn(7, 35)
    program = EmulatedProgram(torch.exp, x)
    program.check(x)
    assert _LOAD not in program.ptx


def test_parts_of_a_tensor() -> None:
    """A view begins anywhere too, though its rows are as long as vectors."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return x.sort(0).values[:, 1:33].exp()

    x = torch.randn(6, 40)
    EmulatedProgram(function, x).check(x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8], ids=str)
def test_parts_that_begin_between_vectors(dtype: torch.dtype) -> None:
    """Nothing loads 16 bytes from an address that is no multiple of that."""
    x = torch.arange(33).to(dtype)
    program = EmulatedProgram(lambda x: x[1:] + x[1:].amax(), x)
    program.check(x)
    assert _LOAD not in program.ptx


def test_results_that_are_parts() -> None:
    """Callers have their elements one after the other, however far apart these were."""
    dims = ({1: Dim("columns")},)
    program = EmulatedProgram(
        lambda x: (x.exp()[::2], x[1:], x.exp()[:, ::2].mT), torch.randn(6, 5), dims=dims
    )
    for columns in (5, 0, 1, 40):
        program.check(torch.randn(6, columns))


def test_loops_of_sizes_that_are_computed() -> None:
    """Of which no buffer tells how often they run."""
    dims = ({0: Dim("rows")},)
    program = EmulatedProgram(
        lambda x: x.repeat_interleave(3, 0).amin(0), torch.randn(3, 6), dims=dims
    )
    for rows in (3, 1, 40):
        program.check(torch.randn(rows, 6))


def test_dynamic_rows() -> None:
    program = EmulatedProgram(torch.exp, torch.randn(7, 36), dims=({0: Dim("rows")},))
    for rows in (7, 1, 300, 0):
        program.check(torch.randn(rows, 36))
    assert _LOAD in program.ptx


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
