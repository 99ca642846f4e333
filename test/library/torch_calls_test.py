"""Calls with PyTorch's tensors that are like the one before are made by machine code alone."""

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError
from plumbline.library.native_function import NativeFunction
from plumbline.signature.element_type import ELEMENT_TYPES


class _Both(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + y, y.argmax()


def _inputs(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(rows, 3), torch.randn(3)


@pytest.fixture
def both() -> plumbline.CompiledProgram:
    """It has been called twice, with four rows."""
    program = plumbline.compile(_Both(), _inputs(4), {"x": {0: Dim("rows")}, "y": {}})
    for _ in range(2):
        _agrees(program, *_inputs(4))
    assert program._repeat is not None
    return program


def _agrees(program: plumbline.CompiledProgram, x: torch.Tensor, y: torch.Tensor) -> None:
    total, place = program(x, y)
    assert type(total) is torch.Tensor
    torch.testing.assert_close((total, place), _Both()(x.detach(), y.detach()), rtol=0, atol=0)


def _takes(program: plumbline.CompiledProgram, *arguments: Any) -> bool:
    """Whether a call with these is taken for one like the one before."""
    assert program._repeat is not None
    return type(program._repeat(*arguments)) is tuple


def test_a_call_like_the_one_before_is_repeated(both: plumbline.CompiledProgram) -> None:
    x, y = _inputs(4)
    assert _takes(both, x, y)
    _agrees(both, x, y)
    # What lies in memory as those do is taken too.
    assert _takes(both, torch.nn.Parameter(x), torch.randn(9)[3:6])
    _agrees(both, torch.nn.Parameter(x), torch.randn(9)[3:6])
    _agrees(both, x.requires_grad_(), y)


_OTHERS: dict[str, Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, ...]]] = {
    "columns before rows": lambda x, y: (torch.randn(3, 4).t(), y),
    "repeated without memory": lambda x, y: (x, torch.randn(1).expand(3)),
    "every second": lambda x, y: (x, torch.randn(6)[::2]),
    "to be negated": lambda x, y: (torch._neg_view(x), y),
    "of a class of its own": lambda x, y: (x.as_subclass(_Tensor), y),
    "of fewer rows": lambda x, y: (x[:3], y),
    "of more rows": lambda x, y: (torch.randn(5, 3), y),
}


class _Tensor(torch.Tensor):
    pass


@pytest.mark.parametrize("name", _OTHERS)
def test_what_is_otherwise_is_looked_at(both: plumbline.CompiledProgram, name: str) -> None:
    arguments = _OTHERS[name](*_inputs(4))
    assert not _takes(both, *arguments)
    _agrees(both, *arguments)
    # Also where there are many in a row.
    _agrees(both, *arguments)
    _agrees(both, *arguments)
    _agrees(both, *_inputs(4))


@pytest.mark.parametrize("name", ["columns before rows", "repeated without memory", "every second"])
def test_what_only_lies_otherwise_is_copied_at_once(
    both: plumbline.CompiledProgram, name: str
) -> None:
    """To look at each argument takes longer than many programs do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(NativeFunction, "_read")
        x, y = _OTHERS[name](*_inputs(4))
        _agrees(both, x, y)
        _agrees(both, x.requires_grad_(), y)


_REFUSED: dict[str, Callable[[torch.Tensor, torch.Tensor], tuple[Any, ...]]] = {
    "too few": lambda x, y: (x,),
    "too many": lambda x, y: (x, y, y),
    "of another type": lambda x, y: (x, y.double()),
    "bits of the same size": lambda x, y: (x, y.view(torch.int32)),
    "of another rank": lambda x, y: (x, y[None]),
    "of other columns": lambda x, y: (x[:, :2], y),
    "a number": lambda x, y: (x, 1.0),
    "None": lambda x, y: (None, y),
    "sparse": lambda x, y: (x.to_sparse(), y),
    "without memory": lambda x, y: (x.to("meta"), y),
    "zeros without memory": lambda x, y: (torch._efficientzerotensor((4, 3)), y),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_mistakes_are_told_as_in_a_first_call(both: plumbline.CompiledProgram, name: str) -> None:
    arguments = _REFUSED[name](*_inputs(4))
    first = plumbline.compile(_Both(), _inputs(4), {"x": {0: Dim("rows")}, "y": {}})
    with pytest.raises(UserError) as expected:
        first(*arguments)
    for _ in range(3):
        with pytest.raises(UserError) as refusal:
            both(*arguments)
        assert str(refusal.value) == str(expected.value)
    _agrees(both, *_inputs(4))


class _Same(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clone()


@pytest.mark.parametrize("name", [known.torch_name for known in ELEMENT_TYPES])
def test_every_element_type(name: str) -> None:
    dtype = getattr(torch, name)
    x = torch.randint(0, 2, (2, 3)).to(dtype)
    program = plumbline.compile(_Same(), (x,))
    for _ in range(4):
        (result,) = program(x)
        assert result.dtype == dtype
        assert torch.equal(result.view(torch.uint8), x.view(torch.uint8))
    assert _takes(program, x)
    assert program._repeat is not None
    other = torch.float64 if dtype == torch.int64 else torch.int64
    assert program._repeat(torch.zeros(x.shape, dtype=other)) is None


@pytest.mark.parametrize("view", [torch.conj, torch._neg_view, lambda z: torch._neg_view(z.conj())])
def test_complex_tensors_may_be_conjugated(view: Callable[[torch.Tensor], torch.Tensor]) -> None:
    z = torch.randn(2, 3, dtype=torch.complex64)
    program = plumbline.compile(_Same(), (z,))
    for _ in range(4):
        assert torch.equal(program(z)[0], z)
    assert _takes(program, z)
    assert not _takes(program, view(z))
    for _ in range(4):
        assert torch.equal(program(view(z))[0], view(z))


@pytest.mark.parametrize("sizes", [(), (1,), (1, 1, 3), (0, 3), (2, 1, 1, 1, 2)])
def test_every_rank(sizes: tuple[int, ...]) -> None:
    x = torch.randn(sizes)
    program = plumbline.compile(_Same(), (x,))
    for _ in range(4):
        torch.testing.assert_close(program(x), (x,))


class _Look(torch.nn.Module):
    def forward(self, x: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        return x[place]


@pytest.mark.parametrize(
    "sizes", [(2, 3, 4, 5), (2, 1, 4, 5), (2, 3, 1, 1), (2, 3, 4, 5, 6)], ids=str
)
def test_channels_may_be_last(sizes: tuple[int, ...]) -> None:
    lies = torch.channels_last if len(sizes) == 4 else torch.channels_last_3d

    class Double(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + x

    x = torch.randn(sizes).contiguous(memory_format=lies)
    program = plumbline.compile(Double(), (x,))
    (first,) = program(x)
    program(x)
    assert _takes(program, x)
    (repeated,) = program(x)
    assert repeated.stride() == first.stride() == (x + x).stride()
    torch.testing.assert_close(repeated, x + x, rtol=0, atol=0)
    # Nothing but its elements is left when the tensor that was allocated is gone.
    del first
    gc.collect()
    torch.testing.assert_close(repeated, x + x, rtol=0, atol=0)
    others = torch.randn(sizes)
    assert _takes(program, others) == others.is_contiguous(memory_format=lies)
    torch.testing.assert_close(program(others)[0], others + others, rtol=0, atol=0)


def test_failures_are_told() -> None:
    x = torch.randn(4)
    program = plumbline.compile(_Look(), (x, torch.tensor([1])))
    for _ in range(3):
        program(x, torch.tensor([3]))
    assert _takes(program, x, torch.tensor([3]))
    for _ in range(3):
        with pytest.raises(UserError, match="index 4 is out of"):
            program(x, torch.tensor([4]))
    assert program(x, torch.tensor([2]))[0] == x[2:3]


def _results(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.empty(rows, 3), torch.empty((), dtype=torch.int64)


def _takes_into(program: plumbline.CompiledProgram, *arguments: Any) -> bool:
    assert program._repeat_into is not None
    return type(program._repeat_into(*arguments)) is tuple


def test_results_may_be_given(both: plumbline.CompiledProgram) -> None:
    (x, y), out = _inputs(4), _results(4)
    assert _takes_into(both, x, y, out)
    for given in (out, [*out]):
        for tensor in out:
            tensor.zero_()
        results = both(x, y, out=given)
        assert [*map(id, results)] == [*map(id, out)]
        torch.testing.assert_close(out, _Both()(x, y), rtol=0, atol=0)
    rows = torch.zeros(9, 3)
    both(x, y, out=(rows[2:6], out[1]))
    torch.testing.assert_close(rows[2:6], x + y, rtol=0, atol=0)
    assert not rows[:2].any()
    assert not rows[6:].any()


def test_what_has_one_result_takes_one_tensor_of_any_size() -> None:
    x, out = torch.randn(1 << 23), torch.zeros(1 << 23)
    program = plumbline.compile(_Same(), (x,))
    for _ in range(3):
        assert program(x, out=out)[0] is out
        assert torch.equal(out, x)
        out.zero_()
    assert _takes_into(program, x, (out,))


_REFUSED_RESULTS: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "one": lambda x, y: torch.empty(4, 3),
    "too few": lambda x, y: (torch.empty(4, 3),),
    "too many": lambda x, y: (*_results(4), *_results(4)),
    "of another type": lambda x, y: (torch.empty(4, 3).double(), _results(4)[1]),
    "of fewer rows": lambda x, y: _results(3),
    "every second": lambda x, y: (torch.empty(4, 6)[:, ::2], _results(4)[1]),
    "to be negated": lambda x, y: (torch._neg_view(torch.empty(4, 3)), _results(4)[1]),
    "an argument": lambda x, y: (x, _results(4)[1]),
    "the end of an argument": lambda x, y: (
        x.as_strided((4, 3), (3, 1), 11),
        _results(4)[1],
    ),
    "one another": lambda x, y: (
        (place := torch.empty(12)).view(4, 3),
        place[10:].view(torch.int64)[0],
    ),
    "None": lambda x, y: (None, _results(4)[1]),
    "a set": lambda x, y: {*_results(4)},
}


@pytest.mark.parametrize("name", _REFUSED_RESULTS)
def test_mistaken_results_are_told_as_in_a_first_call(
    both: plumbline.CompiledProgram, name: str
) -> None:
    x, y = torch.randn(24)[:12].view(4, 3), torch.randn(3)
    out = _REFUSED_RESULTS[name](x, y)
    first = plumbline.compile(_Both(), _inputs(4), {"x": {0: Dim("rows")}, "y": {}})
    before = x.clone()
    with pytest.raises(UserError) as expected:
        first(x, y, out=out)
    for _ in range(3):
        with pytest.raises(UserError) as refusal:
            both(x, y, out=out)
        assert str(refusal.value) == str(expected.value)
    assert torch.equal(x, before)
    # Nor is what stands for results taken for an argument, or the other way round.
    for arguments in ((x,), (x, y, y)):
        with pytest.raises(UserError, match="takes 2 arguments"):
            both(*arguments, out=_results(4))


class _Update(torch.nn.Module):
    def forward(self, cache: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        cache.add_(x)
        return cache * y


def test_arguments_may_be_written() -> None:
    cache, x, y = torch.zeros(4, 3), torch.ones(4, 3), torch.ones(4, 3)
    program = plumbline.compile(_Update(), (cache, x, y), mutable=["cache"])
    for call in range(1, 5):
        (result,) = program(cache, x, y)
        assert torch.equal(result, torch.full((4, 3), float(call)))
    assert _takes(program, cache, x, y)
    assert torch.equal(cache, torch.full((4, 3), 5.0))
    assert _takes(program, cache, x, x)
    shared = torch.zeros(24)
    others = shared[:12].view(4, 3), shared[11:23].view(4, 3), shared[12:].view(4, 3)
    for arguments in (
        (cache, cache, x),
        (cache, x, cache),
        (others[0], others[1], y),
        (others[1], x, others[2]),
    ):
        assert not _takes(program, *arguments)
        with pytest.raises(UserError, match="shares memory"):
            program(*arguments)
    assert _takes(program, others[0], others[2], others[2])
    assert not _takes_into(program, cache, x, y, (cache,))
    assert _takes_into(program, cache, x, y, (others[1],))


def test_nothing_is_kept(both: plumbline.CompiledProgram) -> None:
    x, y = _inputs(4)
    counted: tuple[Any, ...] = (None, True, False, torch.Tensor, x, y)
    others = (y, x), (x, None), (torch._neg_view(x), y), (x[:3], y), (x.to("meta"), y)
    gc.collect()
    out = _results(4)
    counted = (*counted, out, *out, tuple)
    before = [*map(sys.getrefcount, counted)]
    for _ in range(1000):
        assert both._repeat is not None
        assert both._repeat_into is not None
        both._repeat(x, y)
        both._repeat_into(x, y, out)
        for arguments in others:
            both._repeat(*arguments)
            both._repeat_into(*arguments, out)
        for wrong in (x, out[:1], (x, out[1]), (out[0], None)):
            both._repeat_into(x, y, wrong)
    after = [*map(sys.getrefcount, counted)]
    # Others in this process have them, too.
    assert all(abs(now - then) < 100 for now, then in zip(after, before, strict=True))
    result = both(x, y)[0]
    gone = weakref.ref(result)
    del result
    assert gone() is None


def test_threads_run_at_once_with_shapes_of_their_own(both: plumbline.CompiledProgram) -> None:
    start = threading.Barrier(8)

    def call(rows: int) -> None:
        start.wait()
        for _ in range(200):
            _agrees(both, *_inputs(rows))

    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(call, 3 + number % 3) for number in range(8)]:
            done.result()


def test_results_of_a_larger_call_have_memory_that_stays() -> None:
    program = plumbline.compile(_Same(), (torch.ones(4),), {"x": {0: Dim("n")}})
    for _ in range(3):
        program(torch.ones(1 << 23))
    assert program._repeat is None
    results = [program(torch.full((4,), float(number)))[0] for number in range(100)]
    assert [result[3].item() for result in results] == [*range(100)]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
