import ctypes
import functools
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.export import Dim

import plumbline
from plumbline.errors import UserError
from plumbline.library.linked_code import LinkedCode
from plumbline.library.native_function import NativeFunction
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.target.cpu import cpu_target

Array = np.ndarray[Any, Any]


class _Add(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


@pytest.fixture(scope="module")
def add() -> plumbline.CompiledProgram:
    return plumbline.compile(
        _Add(), (torch.ones(4, 3), torch.ones(3)), {"x": {0: Dim("rows")}, "y": {}}
    )


X = np.arange(12, dtype=np.float32).reshape(4, 3)
Y = np.array([1, 2, 3], np.float32)


class _Accumulate(torch.nn.Module):
    def forward(self, total: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        total.add_(x)
        return total * 2


@pytest.fixture(scope="module")
def accumulate() -> plumbline.CompiledProgram:
    return plumbline.compile(_Accumulate(), (torch.ones(3), torch.ones(3)), mutable=["total"])


class _Lender:
    """A tensor of a library that numpy knows by DLPack alone."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self.lent = 0

    def __dlpack__(self, **options: Any) -> Any:
        self.lent += 1
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self._array.__dlpack_device__()


@pytest.mark.parametrize(
    "x",
    [
        X,
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        np.broadcast_to(X[0], (4, 3)),
        X.copy().view(type("Own", (np.ndarray,), {})),
        _Lender(X),
        _Lender(np.asfortranarray(X)),
    ],
)
def test_whatever_lends_its_memory_is_taken(add: plumbline.CompiledProgram, x: Any) -> None:
    (result,) = add(x, Y)
    given = x if isinstance(x, np.ndarray) else np.from_dlpack(x)
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, given + Y)


def test_what_numpy_may_not_write_is_read(add: plumbline.CompiledProgram) -> None:
    x = X.copy()
    x.flags.writeable = False
    np.testing.assert_array_equal(add(x, Y)[0], X + Y)


def test_one_tensor_among_arrays_makes_tensors(add: plumbline.CompiledProgram) -> None:
    (result,) = add(torch.from_numpy(X), Y)
    assert torch.equal(result, torch.from_numpy(X + Y))
    (parameter,) = add(torch.nn.Parameter(torch.from_numpy(X)), torch.from_numpy(Y))
    assert torch.equal(parameter, result)


def test_views_of_tensors_are_copied(add: plumbline.CompiledProgram) -> None:
    x = torch.from_numpy(X)
    negated = torch.complex(x, -x).conj().imag
    assert negated.is_neg()
    for view in (x.T.contiguous().T, x[:, 1:2].expand(4, 3), negated):
        assert torch.equal(add(view, torch.from_numpy(Y))[0], view + torch.from_numpy(Y))


def test_tensors_to_be_conjugated_are_copied() -> None:
    z = torch.complex(torch.from_numpy(X), torch.ones(4, 3))
    program = plumbline.compile(_Doubled(), (z,))
    for view in (z.conj(), z.mT.contiguous().mT):
        assert torch.equal(program(view)[0], 2 * view)
    np.testing.assert_array_equal(program(z.numpy().conj())[0], 2 * z.numpy().conj())


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize(
    ("x", "y"), [(X, Y), (torch.from_numpy(X), torch.from_numpy(Y))], ids=["numpy", "torch"]
)
def test_plain_arguments_are_read_one_by_one_only_once(x: Any, y: Any) -> None:
    program = plumbline.compile(_Add(), (torch.ones(4, 3), torch.ones(3)))
    program(x, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(NativeFunction, "_read")
        for times in (1, 2):
            (result,) = program(times * x, y)
            assert isinstance(result, type(x))
            assert result.tolist() == (times * x + y).tolist()
    # What is not plain is still found out.
    one = torch.ones(4, 3)
    for other, expected in (
        (x[:3], r"argument 0 is f32\[3, 3\]"),
        (one.double(), "argument 0 is f64"),
        (one.to_sparse(), "of layout torch.sparse_coo on cpu"),
        (one.to_mkldnn(), "of layout torch._mkldnn on cpu"),
        (one.to("meta"), "of layout torch.strided on meta"),
        (torch.nested.nested_tensor([one, one]), "argument 0 is a nested tensor"),
    ):
        with pytest.raises(UserError, match=expected):
            program(other, y)
    with pytest.raises(UserError, match="takes 2 arguments, not 1"):
        program(x)


def test_arguments_are_not_copied() -> None:
    # A copy would take as long as the sum of one row.
    program = plumbline.compile(_FirstRow(), (torch.ones(4000, 2000),))
    x = np.ones((4000, 2000), np.float32)
    program(x)
    for given in (x, torch.from_numpy(x), _Lender(x)):
        assert _shortest(functools.partial(program, given)) < _shortest(x.copy) / 20


class _Doubled(torch.nn.Module):
    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return 2 * z


class _FirstRow(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[0] + 1


def _shortest(call: Callable[[], object], times: int = 20) -> float:
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        durations.append(time.perf_counter() - start)
    return min(durations)


@pytest.mark.parametrize("of_torch", [False, True])
def test_results_are_put_where_out_says(add: plumbline.CompiledProgram, *, of_torch: bool) -> None:
    out = np.zeros((4, 3), np.float32)
    given = torch.from_numpy(out) if of_torch else out
    (result,) = add(X, Y, out=given)
    assert result is given
    np.testing.assert_array_equal(out, X + Y)
    out[:] = 0
    assert add(X, Y, out=[given])[0] is given
    np.testing.assert_array_equal(out, X + Y)


def _read_only() -> Array:
    array = np.zeros((4, 3), np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        (np.zeros((3, 3), np.float32), r"^out 0 is f32\[3, 3\], where .* takes f32\[4, 3\]"),
        (np.zeros((4, 3)), r"^out 0 is f64\[4, 3\]"),
        (np.zeros((3, 4), np.float32).T, "^out 0 cannot be written in place"),
        (_read_only(), "^out 0 cannot be written in place"),
        ((), "has 1 results, and out is 0 tensors"),
        (X, "^out 0 shares memory with an argument or another result"),
        ([1.0], "^out 0 is a float; it is a numpy array"),
    ],
)
def test_what_cannot_take_a_result_is_refused(
    add: plumbline.CompiledProgram, out: Any, expected: str
) -> None:
    before = X.copy()
    with pytest.raises(UserError, match=expected):
        add(X, Y, out=out)
    np.testing.assert_array_equal(X, before)


class _Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + 1, x + 2


def test_results_that_share_memory_are_refused() -> None:
    program = plumbline.compile(_Twice(), (torch.ones(8),))
    memory = np.zeros(12, np.float32)
    with pytest.raises(UserError, match=r"^out 1 shares memory"):
        program(np.zeros(8, np.float32), out=(memory[:8], memory[4:]))
    first, second = program(np.zeros(8, np.float32), out=(memory[:8], np.zeros(8, np.float32)))
    np.testing.assert_array_equal(first + 1, second)


def test_every_combination_of_shapes_is_worked_out_anew(add: plumbline.CompiledProgram) -> None:
    for rows in [*range(600), 3, 0, 599]:
        (result,) = add(np.full((rows, 3), rows, np.float32), Y)
        np.testing.assert_array_equal(result, np.full((rows, 3), rows, np.float32) + Y)
    with pytest.raises(UserError, match=r"argument 0 is f32\[4, 2\]"):
        add(np.zeros((4, 2), np.float32), Y)


@pytest.mark.parametrize("of_torch", [False, True])
def test_memory_of_a_large_result_is_used_again_when_nobody_has_it(*, of_torch: bool) -> None:
    """New memory is filled with zeros first, which takes longer than small programs do."""
    program = plumbline.compile(_Add(), (torch.ones(3000, 3000), torch.ones(3000)))
    operands = (torch.ones(3000, 3000), torch.ones(3000))
    given = operands if of_torch else tuple(tensor.numpy() for tensor in operands)
    (first,) = program(*given)
    (second,) = program(*given)
    first[:] = 3.0
    assert (second == 2.0).all()
    view = second[1000:, 7]
    place = torch.as_tensor(second).data_ptr()
    del second
    (third,) = program(*given)
    third[:] = 4.0
    assert (view == 2.0).all()
    del view
    (fourth,) = program(*given)
    assert torch.as_tensor(fourth).data_ptr() == place
    assert (fourth == 2.0).all()


def test_threads_call_one_program_at_once(add: plumbline.CompiledProgram) -> None:
    barrier = threading.Barrier(4)

    def call_some(number: int) -> None:
        barrier.wait()
        for turn in range(2000):
            rows = 1 + (turn + number) % 7
            x = np.full((rows, 3), 1000 * number + turn, np.float32)
            np.testing.assert_array_equal(add(x, Y)[0], x + Y)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call_some, range(4)))


def test_a_call_costs_less_than_twice_the_leanest() -> None:
    program = plumbline.compile(_Add(), (torch.ones(2), torch.ones(2)))
    code = LinkedCode(
        emit_object(program.stage("llvm_ir"), cpu_target("native")), "func_main_packed"
    )
    entry = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(code.address)
    words = ctypes.c_int64 * 3
    x, y = np.ones(2, np.float32), np.array([3, 4], np.float32)

    def leanest() -> Array:
        """What has to be done, as one writes it down; no checks."""
        result = np.empty(2, np.float32)
        entry(ctypes.byref(words(x.ctypes.data, y.ctypes.data, result.ctypes.data)))
        return result

    np.testing.assert_array_equal(leanest(), program(x, y)[0])
    pairs = [
        [_shortest(call, times=500) for call in (lambda: program(x, y), leanest)] for _ in range(20)
    ]
    ours, theirs = map(min, zip(*pairs, strict=True))
    assert ours < 2 * theirs


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (X.astype(">f4"), "argument 0: numpy dtype >f4 is not supported"),
        (X.astype(object), "argument 0: numpy dtype object is not supported"),
        (np.broadcast_to(np.float32(1), (1 << 50, 4)), r"argument 0 is f32\[1125899906842624, 4\]"),
        (np.broadcast_to(np.float32(1), (1 << 50, 3)), "no memory for its 13510798882111488 bytes"),
        (np.frombuffer(bytearray(13), np.uint8)[1:].view(np.float32)[None], "x is not aligned to"),
    ],
)
def test_arrays_that_it_cannot_take_are_refused(
    add: plumbline.CompiledProgram, x: Array, expected: str
) -> None:
    with pytest.raises(UserError, match=expected):
        add(x.reshape(-1, 3) if x.size == 3 else x, Y)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (torch.ones(1).expand(1 << 50, 4), r"argument 0 is f32\[1125899906842624, 4\]"),
        (torch.ones(1).expand(1 << 50, 3), "no memory for its 13510798882111488 bytes"),
        (torch.ones(1, dtype=torch.complex64).expand(1 << 50, 3).conj().imag, "cannot be read: "),
        (FakeTensorMode().from_tensor(torch.ones(4, 3)), "a FakeTensor that cannot be read: "),
    ],
)
def test_tensors_that_it_cannot_take_are_refused(
    add: plumbline.CompiledProgram, x: torch.Tensor, expected: str
) -> None:
    with pytest.raises(UserError, match=expected):
        add(x, Y)


class _AddMany(torch.nn.Module):
    def forward(self, x: torch.Tensor, *others: torch.Tensor) -> list[torch.Tensor]:
        return [x * 2, torch.stack(others).sum(0)]


def test_many_arguments_are_checked_by_functions_of_some_each() -> None:
    """LLVM takes a time that grows with the square of the branches of one."""
    others = [torch.full((3,), float(number)) for number in range(70)]
    shapes = {"x": {0: Dim("rows")}, "others": ({},) * len(others)}
    program = plumbline.compile(_AddMany(), (torch.ones(4), *others), shapes)
    x, y = np.arange(5, dtype=np.float32), [other.numpy() for other in others]
    doubled, total = program(x, *y)
    assert (doubled.tolist(), total.tolist()) == ([0, 2, 4, 6, 8], [2415.0] * 3)
    assert program(x[:0], *y)[0].size == 0
    misaligned = np.frombuffer(bytearray(13), np.uint8)[1:].view(np.float32)
    for number in (0, 30, 31, 69):
        given = [*y]
        given[number] = misaligned
        with pytest.raises(UserError, match=f"others_{number} is not aligned to 4 bytes"):
            program(x, *given)
    functions = program.stage("llvm").split("llvm.func ")
    assert max(function.count("llvm.cond_br") for function in functions) < 80


def test_in_out_arguments_are_written_where_they_lie(accumulate: plumbline.CompiledProgram) -> None:
    total, x = np.zeros(3, np.float32), np.array([1, 2, 3], np.float32)
    for times in (1, 2):
        (doubled,) = accumulate(total, x)
        assert total.tolist() == [times, 2 * times, 3 * times]
        assert doubled.tolist() == [2 * times, 4 * times, 6 * times]
    assert x.tolist() == [1, 2, 3]
    # Beside one another is not over one another.
    row = np.arange(9, dtype=np.float32)
    accumulate(row[3:6], row[:3], out=row[6:])
    assert row.tolist() == [0, 1, 2, 3, 5, 7, 6, 10, 14]


class _Curious(torch.Tensor):
    """A tensor whose class is told of whatever is done with it."""

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> Any:
        raise AssertionError


def test_tensors_of_other_classes_are_written_in_place(
    accumulate: plumbline.CompiledProgram,
) -> None:
    total = torch.zeros(3)
    for times in (1, 2):
        accumulate(total.as_subclass(_Curious), torch.ones(3))
        assert total.tolist() == [times] * 3


def test_what_cannot_be_written_in_place_is_refused(accumulate: plumbline.CompiledProgram) -> None:
    x = np.ones(3, np.float32)
    fixed = np.zeros(3, np.float32)
    fixed.flags.writeable = False
    for total in (fixed, np.zeros(6, np.float32)[::2], _Lender(np.zeros(3, np.float32))):
        with pytest.raises(UserError, match="argument 0 cannot be written in place"):
            accumulate(total, x)
    memory = np.zeros(5, np.float32)
    for total, other in ((memory[:3], memory[2:]), (memory[2:], memory[:3]), (x, x)):
        with pytest.raises(UserError, match=r"argument [01] shares memory with another argument"):
            accumulate(total, other)
    with pytest.raises(UserError, match="out 0 shares memory with an argument"):
        accumulate(memory[:3], x, out=memory[2:])
    assert not memory.any()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
