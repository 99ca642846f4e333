"""Programs for a GPU compute what PyTorch does; their kernels run on the CPU, by the stand-in.

Each runs twice: the threads of a block once forwards and once backwards, and there by two blocks
that do all. What they write for one another without a barrier would differ.
"""

import sys
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional

import plumbline
from plumbline.errors import UserError
from test.runtime.cuda.stand_in import Kernels, driver


class _Function(nn.Module):
    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *operands: torch.Tensor) -> object:
        return self._function(*operands)


def _norm_and_sum(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = x + y
    return functional.layer_norm(total, total.shape[-1:]), total


def _taps(x: torch.Tensor, axis: int) -> torch.Tensor:
    size = x.shape[axis] - 2
    left, middle, right = (x.narrow(axis, start, size) for start in range(3))
    return left * 0.25 + middle * 0.5 + right * 0.3 + middle.abs()


def _scattered(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x.scatter(1, index, x * 2)


_CASES: dict[str, tuple[Callable[..., object], tuple[tuple[int, ...], ...]]] = {
    "broadcast": (lambda x, y: x.exp()[None] * y, ((65,), (3, 65))),
    "transposed": (lambda x, y: x.t() + y, ((35, 18), (18, 35))),
    # Of several blocks.
    "many": (lambda x: x.tanh().sigmoid(), ((7, 1000),)),
    "stencils": (lambda x: _taps(_taps(x, 1), 0), ((33, 70),)),
    # A block for each row: shuffles, shared memory, rows shorter and longer than a block.
    "softmax": (lambda x: x.softmax(-1), ((5, 7, 33),)),
    "softmax_of_long_rows": (lambda x: x.softmax(-1), ((3, 1000),)),
    "log_softmax": (lambda x: x.log_softmax(-1), ((4, 190),)),
    "layer_norm": (lambda x: functional.layer_norm(x, x.shape[-1:]), ((6, 137),)),
    "norm_and_sum": (_norm_and_sum, ((6, 37), (6, 37))),
    "row_sums": (lambda x: x.sum(1), ((9, 300),)),
    "total": (lambda x: (x.sum(), x.amax(), x.prod()), ((9, 70),)),
    "places": (lambda x: (x.argmax(1), x.argmin(0)), ((9, 170),)),
    # A thread for each row, as the elements of different rows are contiguous.
    "softmax_of_columns": (lambda x: x.softmax(0), ((9, 70),)),
    "sum_of_columns": (lambda x: x.sum(0) * 2, ((40, 70),)),
    "products": (lambda x, y, b: (x @ y + b).relu(), ((19, 45), (45, 83), (83,))),
    "batches": (lambda x, y: torch.einsum("bij,bkj->bik", x, y), ((3, 19, 45), (3, 22, 45))),
    "convolution": (lambda x, w: functional.conv2d(x, w, padding=1), ((2, 3, 9, 9), (8, 3, 3, 3))),
    "pooling": (lambda x: functional.max_pool2d(x, 2), ((1, 2, 8, 8),)),
    # Outside of groups: by a thread for each element, and by one thread.
    "concatenated": (lambda x, y: torch.cat((x, y)) * 2, ((5, 7), (6, 7))),
    "scan": (lambda x: x.cumsum(1), ((4, 9),)),
    "sorted": (lambda x: x.sort(), ((4, 9),)),
}


@pytest.fixture(autouse=True)
def _stand_in() -> None:
    driver()


def _run(program: plumbline.CompiledProgram, *operands: torch.Tensor) -> None:
    module = _MODULES[id(program)]
    expected = module(*operands)
    # Weights are uploaded by the first call, and stay.
    program(*operands)
    before = driver().plumbline_stand_in_allocated()
    for reverse, most_blocks in ((0, 0), (1, 2)):
        driver().plumbline_stand_in_reverse(reverse)
        driver().plumbline_stand_in_most_blocks(most_blocks)
        actual = program(*operands)
        for one, other in zip(
            actual, expected if isinstance(expected, tuple) else (expected,), strict=True
        ):
            torch.testing.assert_close(one, other)
        assert driver().plumbline_stand_in_allocated() == before
        assert driver().plumbline_stand_in_current() == 0


_MODULES: dict[int, nn.Module] = {}


def _compiled(
    function: Callable[..., object], operands: tuple[torch.Tensor, ...], dims: object = None
) -> tuple[plumbline.CompiledProgram, Kernels]:
    module = function if isinstance(function, nn.Module) else _Function(function)
    program = plumbline.compile(module, operands, dims, target="nvptx")  # type: ignore[arg-type]
    _MODULES[id(program)] = module
    return program, Kernels(program)


@pytest.mark.parametrize("name", _CASES)
def test_static(name: str) -> None:
    function, shapes = _CASES[name]
    torch.manual_seed(0)
    operands = tuple(torch.randn(shape) for shape in shapes)
    program, _kernels = _compiled(function, operands)
    _run(program, *operands)


@pytest.mark.parametrize(
    "name", ["broadcast", "softmax", "layer_norm", "total", "softmax_of_columns", "products"]
)
def test_dynamic(name: str) -> None:
    """Also of more elements, of one, and of none."""
    function, shapes = _CASES[name]
    sizes = {size: Dim(f"n{size}") for shape in shapes for size in shape if size > 1}
    places = [{at: sizes[n] for at, n in enumerate(shape) if n > 1} for shape in shapes]
    torch.manual_seed(0)
    operands = tuple(torch.randn(shape) for shape in shapes)
    program, _kernels = _compiled(function, operands, {"operands": tuple(places)})
    _run(program, *operands)
    for change in (lambda n: 2 * n + 1, lambda n: 1):
        _run(program, *(torch.randn([change(n) for n in shape]) for shape in shapes))
    if name not in ("total", "layer_norm"):
        _run(program, *(torch.randn([0 for _ in shape]) for shape in shapes))


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int64]
)
def test_element_types(dtype: torch.dtype) -> None:
    x = torch.randint(-9, 9, (5, 70)).to(dtype)
    function = lambda x: (x * 2 + 1, x.sum(1), x.amax(1), x.to(torch.float32).exp())  # noqa: E731
    program, _kernels = _compiled(function, (x,))
    _run(program, x)


def test_sizes_that_follow_from_others() -> None:
    """A result whose sizes are read off device memory, and are products."""
    dims = {"operands": ({0: Dim("m"), 1: Dim("n")},)}
    function = lambda x: torch.cat((x, x.exp()), -1).flatten(0, 1)  # noqa: E731
    program, _kernels = _compiled(function, (torch.randn(3, 5, 4),), dims)
    _run(program, torch.randn(3, 5, 4))
    _run(program, torch.randn(2, 7, 4))


def test_no_kernel() -> None:
    """Of no elements there is nothing to compute, and no module to load."""
    x = torch.ones(0, 3)
    program = plumbline.compile(_Function(lambda x: x.cumsum(1)), (x,), target="nvptx")
    assert ".entry" not in program.stage("ptx")
    assert program(x)[0].shape == (0, 3)


def test_written_in_place() -> None:
    """A result that lies where an argument did is copied back there."""

    class _Put(nn.Module):
        def forward(self, x: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
            cache[1] = x.sum()
            return cache * 2

    operands = (torch.ones(3), torch.zeros(3))
    program = plumbline.compile(_Put(), operands, target="nvptx", mutable=("cache",))
    kernels = Kernels(program)
    cache = torch.zeros(3)
    assert program(torch.ones(3), cache)[0].tolist() == [0, 6, 0]
    assert cache.tolist() == [0, 3, 0]
    del kernels


def test_indices_and_weights() -> None:
    """A table that is a weight; the host sees that indices lie within it before any is read."""

    class _Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(10, 8)

        def forward(self, index: torch.Tensor) -> torch.Tensor:
            rows: torch.Tensor = self.table(index)
            return rows * 2

    index = torch.randint(0, 10, (4, 3))
    program, _kernels = _compiled(_Table().eval(), (index,))
    with torch.no_grad():
        _run(program, index)
    before = driver().plumbline_stand_in_allocated()
    with pytest.raises(UserError, match="index 10 is out of range for dimension 0 of size 10"):
        program(index.fill_(10))
    assert driver().plumbline_stand_in_allocated() == before
    assert driver().plumbline_stand_in_current() == 0


def test_scattered() -> None:
    x, index = torch.randn(4, 9), torch.stack([torch.randperm(9) for _ in range(4)])
    program, _kernels = _compiled(_scattered, (x, index))
    _run(program, x, index)


def test_a_layer_of_a_transformer() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    x = torch.randn(2, 5, 16)
    program, _kernels = _compiled(layer, (x,))
    with torch.no_grad():
        _run(program, x)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
