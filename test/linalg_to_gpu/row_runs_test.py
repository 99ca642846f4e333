"""Elements of a row that lie next to one another are read and written by 16 bytes at a time."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim
from torch.nn import functional

from test.linalg_to_gpu.emulated_programs import EmulatedProgram, integers

_LOAD, _STORE = "ld.global.v4.b32", "st.global.v4.b32"
_SHARED_LOAD, _SHARED_STORE = "ld.shared.v4.b32", "st.shared.v4.b32"


def _standardised(x: torch.Tensor) -> torch.Tensor:
    """Reads a row that it computes three times, so that this lies in shared memory."""
    y = x.float().sin() * x.float().cos().exp()
    return ((y - y.mean(1, keepdim=True)) / y.std(1, keepdim=True)).to(x.dtype)


_CASES: dict[str, tuple[Callable[..., object], list[tuple[int, ...]]]] = {
    "softmax": (lambda x: x.softmax(1), [(5, 264)]),
    "layer_norm": (
        lambda x, weight, bias: functional.layer_norm(x, (512,), weight, bias),
        [(3, 512), (512,), (512,)],
    ),
    "group_norm": (lambda x: functional.group_norm(x, 2), [(2, 4, 6, 16)]),
    "vector_times_matrix": (functional.linear, [(1, 1024), (7, 1024)]),
    "computed_rows": (_standardised, [(5, 256)]),
    "rows_of_a_thread": (lambda x: x.softmax(1), [(40, 16)]),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", _CASES)
def test_rows(name: str, dtype: torch.dtype) -> None:
    function, shapes = _CASES[name]
    torch.manual_seed(0)
    operands = [torch.randn(shape).to(dtype) for shape in shapes]
    program = EmulatedProgram(function, *operands)
    program.check(*operands)
    assert _LOAD in program.ptx
    assert _STORE in program.ptx or name == "vector_times_matrix"
    if name == "computed_rows":
        assert _SHARED_LOAD in program.ptx
        assert _SHARED_STORE in program.ptx
        assert "ld.shared.b32" not in program.ptx.split("bar.sync")[1]


def test_parts_of_rows() -> None:
    program = EmulatedProgram(lambda x: x.sum(1), integers(2, 40004))
    program.check(integers(2, 40004))
    assert _LOAD in program.ptx
    assert len(program.resources) == 2


def test_as_many_rows_as_a_call_has() -> None:
    dims = ({0: Dim("rows")},)
    program = EmulatedProgram(
        lambda x: x.half().log_softmax(1), torch.randn(3, 512).half(), dims=dims
    )
    for rows in (3, 1, 0, 50):
        program.check(torch.randn(rows, 512).half())
    assert _LOAD in program.ptx


@pytest.mark.parametrize("columns", [30, 33])
def test_rows_that_begin_within_a_vector_are_read_by_elements(columns: int) -> None:
    x = torch.randn(5, columns * 2)
    program = EmulatedProgram(lambda x: x.exp()[:, 1 : columns + 1].softmax(1), x)
    program.check(x)
    assert _LOAD not in program.ptx


@pytest.mark.parametrize(
    ("columns", "has_vectors"), [((16, 24), True), ((16, 20), False), ((12, 16), False)]
)
def test_copies(columns: tuple[int, int], has_vectors: bool) -> None:
    """Of half precision by 8 elements, where both tensors have lines of multiples of that."""
    x, y = (torch.randn(3, size).half() for size in columns)
    program = EmulatedProgram(lambda x, y: torch.cat([x, y], 1), x, y)
    program.check(x, y)
    assert (_LOAD in program.ptx) is has_vectors
    assert (_STORE in program.ptx) is has_vectors


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
