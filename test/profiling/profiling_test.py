"""What profiles say of programs whose kernels are known."""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError
from plumbline.linalg_to_kernels.timed_calls import TimedCall, Work
from plumbline.profiling.kernel_time import KernelTime, Profile

_FILE = "test/profiling/profiling_test.py"


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self._function(*tensors)


class _Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(96, 96) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            y = layer(x)
            x = y.tanh()
        return x


@pytest.fixture(autouse=True)
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def _profile(model: torch.nn.Module, *inputs: torch.Tensor, **options: Any) -> Profile:
    program = plumbline.compile(model.eval(), inputs, **options)
    return plumbline.profile(program, *inputs, seconds=0.02)


def _line_of(code: str) -> int:
    lines, first = inspect.getsourcelines(_Layers)
    (line,) = (first + index for index, text in enumerate(lines) if code in text)
    return line


def test_each_call_has_its_time_its_line_and_its_module() -> None:
    profile = _profile(_Layers(), torch.randn(50, 96))
    for number in range(3):
        calls = [each for each in profile.kernels if each.call.module == f"layers.{number}"]
        assert [line for each in calls for line in each.call.lines] == [
            (_FILE, _line_of("y = layer(x)")),
            (_FILE, _line_of("x = y.tanh()")),
        ]
    assert all(each.count == 1 and each.seconds > 0 for each in profile.kernels)
    assert sum(each.seconds for each in profile.kernels) <= profile.timed_seconds
    assert 0 <= profile.outside < profile.timed_seconds
    assert 0 < profile.timer_seconds < profile.seconds


def test_calls_of_a_kernel_from_one_line_are_one_row() -> None:
    text = str(_profile(_Layers(), torch.randn(50, 96)))
    head, _, names, *rows = text.splitlines()
    assert re.match(r"func_main: a call takes [\d.]+ .s, its kernels [\d.]+ .s of that \(", head)
    assert names.split() == ["time", "share", "calls", "Gop/s", "GB/s", "kernel", "module", "line"]
    (row,) = (row for row in rows if "matmul" in row)
    assert "layers.*" in row
    line = _line_of("y = layer(x)")
    assert row.endswith(f"  {_FILE}:{line}  y = layer(x)  (and {line + 1})")
    assert rows[-1].endswith("outside of kernels")
    shares = [float(found[1]) for found in re.finditer(r"([\d.]+) %", text)]
    assert abs(sum(shares) - 100) < 1


def test_work_is_that_of_the_tensors() -> None:
    product = _profile(_Of(torch.matmul), torch.randn(40, 72), torch.randn(72, 56))
    work = Work(operations=2 * 40 * 72 * 56, bytes=4 * (40 * 72 + 72 * 56 + 40 * 56))
    assert [each.work for each in product.kernels] == [work]

    # A table is read where it is looked up, and an integer of 8 bytes tells where.
    table, places = torch.randn(1000, 64), torch.randint(0, 1000, (7,))
    looked_up = _profile(_Of(lambda table, places: table[places] * 2), table, places)
    assert sum(each.work.bytes for each in looked_up.kernels if each.work) >= 2 * 4 * 7 * 64
    assert all(each.work and each.work.bytes < 4 * 64 * 100 for each in looked_up.kernels)


def test_work_of_sizes_that_differ_is_not_known() -> None:
    x = torch.randn(5, 30)
    profile = _profile(_Of(torch.exp), x, dynamic_shapes={"tensors": ({0: Dim("rows")},)})
    assert [each.work for each in profile.kernels] == [None]
    assert "Gop/s" not in str(profile)


def test_kernels_of_a_loop_run_in_each_round() -> None:
    torch.manual_seed(1)
    profile = _profile(torch.nn.LSTM(32, 64), torch.randn(20, 3, 32))
    rounds = [each for each in profile.kernels if each.count == 20]
    (product,) = (each for each in rounds if "matmul" in each.name)
    assert product.work
    assert product.work.operations == 20 * 2 * 3 * 64 * 4 * 64
    assert profile.kernels[0].count == 1


def test_programs_that_have_state_or_draw_numbers() -> None:
    x = torch.randn(40, 50)
    model = torch.nn.Dropout()
    program = plumbline.compile(model, (x,), mutable=["torch.default_generator"])
    profile = plumbline.profile(program, x, seconds=0.02)
    assert profile.kernels

    nested = plumbline.compile(_Of(lambda pair: pair["a"] + pair["b"]), ({"a": x, "b": x},))
    assert plumbline.profile(nested, {"a": x, "b": x}, seconds=0.02).kernels


def test_several_threads() -> None:
    x = torch.randn(300, 400)
    profile = _profile(_Of(torch.matmul), x, x.t().contiguous(), threads=2)
    assert [each.count for each in profile.kernels] == [1]


def test_mistakes() -> None:
    x = torch.randn(4, 4)
    on_gpu = plumbline.compile(_Of(torch.exp), (x,), target="nvptx")
    with pytest.raises(UserError, match="func_main: it is for a GPU, whose kernels NVIDIA's tools"):
        plumbline.profile(on_gpu, x)
    with pytest.raises(UserError, match=r"takes what plumbline\.compile gives, not _Of"):
        plumbline.profile(_Of(torch.exp), x)  # type: ignore[arg-type]
    program = plumbline.compile(_Of(torch.exp), (x,))
    with pytest.raises(UserError, match="takes 1 argument"):
        plumbline.profile(program)


def test_what_is_too_much_for_a_table_is_one_row() -> None:
    kernels = [
        KernelTime(TimedCall((f"kernel_{n}",), [("a.py", n)], "", None), 1, n * 1e-6, None)
        for n in range(1, 41)
    ]
    profile = Profile("f", kernels, seconds=1e-3, timed_seconds=830e-6, timer_seconds=0)
    *_, last, others, outside = str(profile).splitlines()
    assert "kernel_11 " in last
    assert others.split() == ["55", "us", "6.6", "%", "10", "others"]
    assert outside.split() == ["10", "us", "1.2", "%", "outside", "of", "kernels"]


def test_lines_have_their_shares() -> None:
    kernels = [
        KernelTime(TimedCall(("a",), [("a.py", 1)], "", None), 1, 3e-6, None),
        KernelTime(TimedCall(("b",), [("a.py", 1), ("b.py", 2)], "", None), 1, 2e-6, None),
        KernelTime(TimedCall(("c",), [], "", None), 1, 1e-6, None),
    ]
    profile = Profile("f", kernels, seconds=1e-3, timed_seconds=8e-6, timer_seconds=0)
    nothing = [KernelTime(TimedCall(("a",), [("a.py", 1)], "", None), 1, 0.0, None)]
    empty = Profile("f", nothing, seconds=1e-6, timed_seconds=0.0, timer_seconds=0)
    assert empty.shares_of_lines() == {("a.py", 1): 0}
    assert "0 ns" in str(empty)
    assert profile.shares_of_lines() == pytest.approx({("a.py", 1): 4 / 8, ("b.py", 2): 1 / 8})


def test_modules_that_differ_in_a_part() -> None:
    kernels = [
        KernelTime(TimedCall(("add",), [("a.py", 1)], module, None), 2, 1e-6, Work(6, 8))
        for module in ("layers.0.norm", "layers.1.norm")
    ]
    profile = Profile("f", kernels, seconds=1e-3, timed_seconds=2e-6, timer_seconds=0)
    row = str(profile).splitlines()[3].split()
    assert row == ["2", "us", "100.0", "%", "4", "0.006", "0.008", "add", "layers.*.norm", "a.py:1"]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
