import logging
import os
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline import context
from plumbline.errors import UserError
from plumbline.llvm_to_asm.assembly import emit_assembly
from plumbline.lowering import STAGES
from plumbline.signature.function_name import check_function_name
from plumbline.target.cpu import cpu_target
from test.entries import llvm_ir_of


class _Scale(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * y, y


@pytest.fixture(scope="module")
def scale() -> plumbline.CompiledProgram:
    return plumbline.compile(
        _Scale(), (torch.ones(2, 3), torch.ones(3)), {"x": {0: Dim("rows")}, "y": {}}
    )


@pytest.mark.parametrize("rows", [0, 1, 2, 17])
def test_dynamic_sizes(scale: plumbline.CompiledProgram, rows: int) -> None:
    x, y = torch.randn(rows, 3), torch.randn(3)
    product, same = scale(x, y)
    torch.testing.assert_close(product, x * y)
    assert torch.equal(same, y)


def test_numpy_arrays_give_numpy_arrays(scale: plumbline.CompiledProgram) -> None:
    x = np.arange(6, dtype=np.float32).reshape(3, 2).T  # not row-major
    product, _ = scale(x, np.array([1, 2, 3], np.float32))
    assert isinstance(product, np.ndarray)
    np.testing.assert_array_equal(product, [[0, 4, 12], [1, 6, 15]])


class _Laid(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return torch.relu(x) + y, None, x.mean(1), x


@pytest.fixture(scope="module")
def laid() -> plumbline.CompiledProgram:
    x = torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    return plumbline.compile(
        _Laid(), (x, torch.ones(5)), {"x": {0: Dim("n"), 2: Dim("h")}, "y": {}}
    )


def test_tensors_are_taken_as_they_lie(laid: plumbline.CompiledProgram) -> None:
    x, y = torch.randn(3, 7, 5, 3).permute(0, 3, 1, 2), torch.randn(5)
    assert "memref<?x?x5x3xf32>) " in laid.stage("kernels")
    assert [spec.sizes for spec in laid.signature.inputs] == [(None, 3, None, 5), (5,)]
    for given in (
        x,
        x.contiguous(),
        x.movedim(0, 3).contiguous().movedim(3, 0),
        x[:, 1:2].expand(x.shape),
    ):
        for _ in range(3):
            results = laid(given, y)
            expected = [each for each in _Laid()(given, y) if each is not None]
            assert [each.stride() for each in results] == [
                (105, 1, 15, 3),
                (35, 5, 1),
                (105, 1, 15, 3),
            ]
            torch.testing.assert_close(list(results), expected)


def test_arrays_are_taken_and_results_put_as_they_lie(laid: plumbline.CompiledProgram) -> None:
    x, y = torch.randn(2, 7, 5, 3).permute(0, 3, 1, 2), torch.randn(5)
    expected = laid(x, y)
    for _ in range(2):
        arrays = laid(x.numpy(), y.numpy())
        assert arrays[0].transpose(0, 2, 3, 1).flags.c_contiguous
        np.testing.assert_array_equal(arrays[0], expected[0])
    out = [np.empty_like(array) for array in arrays]
    assert laid(x, y, out=out)[0] is out[0]
    np.testing.assert_array_equal(out[0], expected[0])
    tensors = [torch.empty_like(each) for each in expected]
    laid(x, y, out=tensors)
    assert torch.equal(tensors[2], x)


def test_what_does_not_lie_as_a_result_takes_none(laid: plumbline.CompiledProgram) -> None:
    x, y = torch.ones(2, 7, 5, 3).permute(0, 3, 1, 2), torch.ones(5)
    out = [each.contiguous() for each in laid(x, y)]
    with pytest.raises(UserError, match=r"^out 0 .* with its axes in the order \(0, 2, 3, 1\)"):
        laid(x, y, out=out)
    with pytest.raises(
        UserError, match=r"^argument 0 is f32\[2, 4, 7, 5\], where .* f32\[\?, 3, \?, 5\]"
    ):
        laid(torch.ones(2, 4, 7, 5), y)


class _Filled(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(y)
        return x * y


def test_what_is_written_lies_row_major() -> None:
    x, y = torch.ones(2, 3).T.contiguous().T, torch.ones(2, 3).T.contiguous().T
    program = plumbline.compile(_Filled(), (x, y), mutable=["x"])
    given = torch.zeros(2, 3)
    (result,) = program(given, 2 * y)
    assert given.tolist() == [[2.0] * 3] * 2
    assert result.tolist() == [[4.0] * 3] * 2
    with pytest.raises(UserError, match=r"^argument 0 cannot be written"):
        program(x, y)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.bfloat16, torch.bool])
def test_elements_of_all_kinds_are_taken_as_they_lie(dtype: torch.dtype) -> None:
    x = torch.tensor([[1, 0, 1], [0, 0, 1]]).to(dtype).T
    program = plumbline.compile(_Squared(), (x,))
    for given in (x, x.contiguous(), x.conj()):
        (result,) = program(given)
        assert torch.equal(result, given)
        assert result.stride() == (1, 3)


class _Squared(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x


def test_stages_report_when_they_are_done() -> None:
    done: list[str] = []
    plumbline.compile(torch.nn.ReLU(), (torch.ones(3),), when_done=done.append)
    assert done == [*STAGES[:-1], "machine_code"]


def test_programs_share_a_context(monkeypatch: pytest.MonkeyPatch) -> None:
    # To make one takes as long as all passes over such a program.
    model = torch.nn.ReLU()
    plumbline.compile(model, [torch.ones(2)])

    def fail(*arguments: object) -> None:
        raise AssertionError("another context is made")

    monkeypatch.setattr(context, "_make_context", fail)
    plumbline.compile(model, [torch.ones(3)])


def test_sizes_of_code_and_weights() -> None:
    program = plumbline.compile(torch.nn.Linear(30, 20), (torch.ones(2, 30),))
    assert program.weight_bytes == 4 * (30 * 20 + 20)
    assert 0 < program.code_bytes < 100_000


def test_results_outlive_the_program() -> None:
    program = plumbline.compile(torch.nn.ReLU(), (torch.ones(1000),))
    (result,) = program(torch.arange(1000.0))
    del program
    assert torch.equal(result, torch.arange(1000.0))


class _Shared(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        total = x + 1
        return x, total, total


def test_each_result_has_memory_of_its_own() -> None:
    program = plumbline.compile(_Shared(), (torch.zeros(3),))
    given = np.zeros(3, np.float32)
    same, total, again = program(given)
    same[:] = 7
    total[:] = 8
    assert not given.any(), "a result is no argument"
    np.testing.assert_array_equal(again, [1, 1, 1])


def test_results_are_given_back_with_the_last_array() -> None:
    program = plumbline.compile(torch.nn.ReLU(), (torch.ones(256, 1024),))
    given = torch.ones(256, 1024)
    before = _resident_megabytes()
    for _ in range(500):
        (kept,) = program(given)
    assert _resident_megabytes() - before < 50
    assert torch.equal(kept, given)


def _resident_megabytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((torch.ones(2, 3),), r"takes 2 arguments, not 1: \w+, \w+$"),
        ((torch.ones(2, 3), torch.ones(4)), r"argument 1 is f32\[4\], .* takes f32\[3\]"),
        ((torch.ones(3), torch.ones(3)), r"argument 0 is f32\[3\], .* takes f32\[\?, 3\]"),
        ((torch.ones(2, 3, dtype=torch.int64), torch.ones(3)), r"argument 0 is i64\[2, 3\]"),
        ((np.ones((2, 3)), np.ones(3)), r"argument 0 is f64\[2, 3\]"),
        ((torch.ones(2, 3, dtype=torch.complex64), torch.ones(3)), r"argument 0 is c64\[2, 3\]"),
    ],
)
def test_arguments_are_checked_before_the_call(
    scale: plumbline.CompiledProgram, arguments: tuple[torch.Tensor, ...], expected: str
) -> None:
    with pytest.raises(UserError, match=expected):
        scale(*arguments)


class _Derived(torch.nn.Module):
    def forward(self, x: torch.Tensor, pairs: torch.Tensor, fences: torch.Tensor) -> torch.Tensor:
        return x * pairs.reshape(-1, 2).sum(1) + fences[1:] - fences[:-1]


@pytest.fixture(scope="module")
def derived() -> plumbline.CompiledProgram:
    n = Dim("n", min=2, max=64)
    return plumbline.compile(
        _Derived(),
        (torch.randn(3), torch.randn(6), torch.randn(4)),
        {"x": {0: n}, "pairs": {0: 2 * n}, "fences": {0: n + 1}},
    )


@pytest.mark.parametrize("n", [2, 3, 64])
def test_derived_sizes(derived: plumbline.CompiledProgram, n: int) -> None:
    inputs = torch.randn(n), torch.randn(2 * n), torch.randn(n + 1)
    torch.testing.assert_close(derived(*inputs)[0], _Derived()(*inputs))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((3, 7, 4), r"argument 1 has size 7 in dimension 0, not 2\*n = 6; n is 3 by dimension 0"),
        ((3, 6, 3), r"argument 2 has size 3 in dimension 0, not n \+ 1 = 4"),
        ((1, 2, 2), "argument 0 has size 1 in dimension 0, which is n; n must be at least 2"),
        ((65, 130, 66), "argument 0 has size 65 .* at most 64"),
    ],
)
def test_sizes_that_disagree_are_refused(
    derived: plumbline.CompiledProgram, sizes: tuple[int, int, int], expected: str
) -> None:
    with pytest.raises(UserError, match=expected):
        derived(*map(torch.randn, sizes))


class _Four(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.arange(4.0)


def test_no_elements_beside_sizes_that_differ() -> None:
    class Flat(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return (x * 2).flatten(), x.flatten(0, 1).sum(0)

    dims = ({1: torch.export.Dim("n", min=2)},)
    program = plumbline.compile(Flat(), (torch.ones(0, 3, 4),), dynamic_shapes=dims)
    flat, total = program(torch.ones(0, 5, 4))
    assert flat.shape == (0,)
    assert total.tolist() == [0, 0, 0, 0]


def test_a_size_that_pytorch_finds_to_be_one_number_is_fixed() -> None:
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},)
    program = plumbline.compile(_Four(), (torch.randn(3, 4),), shapes)
    assert program.signature.inputs[0].sizes == (None, 4)
    x = torch.randn(5, 4)
    torch.testing.assert_close(program(x)[0], _Four()(x))
    with pytest.raises(UserError, match=r"argument 0 is f32\[5, 3\], .* takes f32\[\?, 4\]"):
        program(torch.randn(5, 3))
    # A Dim with a name says that it is dynamic.
    with pytest.raises(UserError, match=r"torch.export refuses it: .*columns"):
        plumbline.compile(_Four(), (torch.randn(3, 4),), ({1: Dim("columns")},))


def test_a_mistake_shows_the_line_of_the_user_and_the_message() -> None:
    with pytest.raises(UserError) as refusal:
        plumbline.compile(_Four(), (torch.randn(3, 5),))
    printed = "".join(traceback.format_exception(refusal.value))
    assert "plumbline.compile(_Four(), (torch.randn(3, 5),))" in printed
    assert "UserError: _Four: torch.export refuses it" in printed
    assert printed.count('File "') == 2
    # For who wants to know more.
    assert refusal.value.__context__


@pytest.mark.parametrize(
    "argument", [[1.0, 2.0], 3.0, None, torch.ones(2, 3).to_sparse(), torch.ones(2, 3).to("meta")]
)
def test_arguments_that_are_no_tensors_are_refused(
    scale: plumbline.CompiledProgram, argument: torch.Tensor
) -> None:
    with pytest.raises(UserError, match=r"^argument 0 is a "):
        scale(argument, torch.ones(3))


_RELU: dict[str, object] = {"module": torch.nn.ReLU(), "example_inputs": (torch.ones(2),)}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"module": torch.relu}, "module is a builtin_function_or_method; it is a torch.nn.Module"),
        ({"module": torch.nn.ReLU}, "module is the class ReLU; make one: call it"),
        (
            {"module": torch.jit.ScriptModule()},
            "module is of TorchScript (ScriptModule), which torch.export does not take",
        ),
        ({"example_inputs": torch.ones(2)}, "example_inputs is a Tensor; it is a tuple or list"),
        ({"example_inputs": (["a"],)}, "example_inputs[0][0] is of type str, not a tensor"),
        ({"dynamic_shapes": "x"}, "dynamic_shapes is a str; it is a dict by the names"),
        ({"dynamic_shapes": ({3: Dim("n")},)}, "dynamic_shapes has dimension 3 of input 0, which"),
        ({"func_name": 3}, "func_name is a int; it is a string"),
        ({"func_name": "a-b"}, "function name 'a-b' is not a C identifier"),
        ({"target_cpu": 3}, "target_cpu is 3; it is a string"),
        ({"opt_level": 7}, "opt_level is 7; it is one of 0, 1, 2, 3"),
        ({"opt_level": "2"}, "opt_level is '2'; it is one of 0, 1, 2, 3"),
        ({"opt_level": True}, "opt_level is True; it is one of 0, 1, 2, 3"),
        ({"runtime_checks": "on"}, "runtime_checks is 'on'; it is one of 'off', 'values', 'all'"),
        ({"mutation": "keep"}, "mutation is 'keep'; it is 'refuse' or 'return'"),
        ({"when_done": 3}, "when_done is 3; it is a function"),
    ],
)
def test_parameters_of_another_type_are_refused(given: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as refusal:
        plumbline.compile(**{**_RELU, **given})  # type: ignore[arg-type]
    assert str(refusal.value).startswith(f"plumbline.compile: {expected}")


class _Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dropout = torch.nn.Dropout()
        self.frozen = torch.nn.BatchNorm1d(3).eval()
        self.tied = torch.nn.Linear(3, 3)
        self.out = torch.nn.Linear(3, 3)
        self.out.weight = self.tied.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[1] != 3:
            raise ValueError("not three")
        y: torch.Tensor = self.out(self.tied(self.frozen(self.dropout(x))))
        return y


def test_the_module_stays_as_it_was() -> None:
    model = _Layers()
    model.dropout.eval()
    model(torch.ones(2, 3)).sum().backward()
    before = {name: (value, value.clone()) for name, value in model.state_dict().items()}
    gradients = {name: value.grad for name, value in model.named_parameters()}
    program = plumbline.compile(model, (torch.ones(2, 3),))
    with pytest.raises(UserError, match="not three"):
        plumbline.compile(model, (torch.ones(2, 4),))
    assert [module.training for module in model.modules()] == [True, False, False, True, True]
    after = model.state_dict()
    for name, (value, copy) in before.items():
        assert after[name].data_ptr() == value.data_ptr()
        assert torch.equal(after[name], copy)
    assert all(value.grad is gradients[name] for name, value in model.named_parameters())
    x = torch.randn(2, 3)
    torch.testing.assert_close(program(x)[0], model(x))


def test_a_module_is_compiled_in_the_mode_that_it_is_in() -> None:
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(3, track_running_stats=False))
    x = torch.randn(5, 3)
    training = plumbline.compile(model, (x,))
    torch.testing.assert_close(training(x)[0], model(x))
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(3))
    model(x)
    with pytest.raises(UserError) as refusal:
        plumbline.compile(model, (x,))
    assert "into the buffer 0.running_mean: " in str(refusal.value)
    assert "for inference, compile model.eval()" in str(refusal.value)
    assert model.training
    inference = plumbline.compile(model.eval(), (x,))
    torch.testing.assert_close(inference(x)[0], model(x))
    with pytest.raises(UserError) as refusal:
        plumbline.compile(torch.nn.Dropout(), (x,))
    assert "forward draws random numbers" in str(refusal.value)
    assert "for inference, compile model.eval()" in str(refusal.value)


def test_a_program_has_weights_of_its_own() -> None:
    model = _Layers().eval()
    x = torch.randn(2, 3)
    program = plumbline.compile(model, (x,))
    expected = model(x).detach()
    with torch.no_grad():
        for value in model.state_dict().values():
            value.zero_()
    torch.testing.assert_close(program(x)[0], expected)


def test_assembly_is_optimised_as_the_program_is() -> None:
    texts = [
        plumbline.compile(torch.nn.GELU(), (torch.ones(50),), opt_level=level).stage("asm")
        for level in (0, 2)
    ]
    assert texts[0] != texts[1]


def test_tied_weights_are_copied_once() -> None:
    model = _Layers().eval()
    program = plumbline.compile(model, (torch.ones(2, 3),))
    data = program._code.data
    weights = [array.ctypes.data for name, array in data.items() if array.shape == (3, 3)]
    assert len(set(weights)) == 1


def test_threads_compile_at_once_and_none_loses_what_another_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shared = _Layers()
    shared.dropout.eval()
    compiled: list[float] = []
    stop = threading.Event()
    streams = sys.stdout, sys.stderr

    def compile_some(size: int) -> None:
        for rows in range(2, 5):
            x = torch.randn(rows, 3)
            model = torch.nn.Sequential(torch.nn.Linear(3, size), torch.nn.Tanh())
            torch.testing.assert_close(plumbline.compile(model, (x,))(x)[0], model(x))
            with pytest.raises(UserError, match="not three"):
                plumbline.compile(shared, (torch.ones(2, 4),))
            plumbline.compile(shared, (x,))
            compiled.append(rows)

    printed = 0

    def print_some() -> None:
        nonlocal printed
        log = logging.getLogger("torch.some.user")
        while not stop.is_set():
            print(f"line {printed}")
            print(f"line {printed}", file=sys.stderr)
            log.warning("line %d", printed)
            printed += 1
            time.sleep(0.001)

    # torch's logger keeps what its children log from others' handlers.
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("torch").addHandler(handler)
    printing = threading.Thread(target=print_some)
    compiling = [threading.Thread(target=compile_some, args=(size,)) for size in (2, 3, 4)]
    try:
        for thread in (printing, *compiling):
            thread.start()
        for thread in compiling:
            thread.join()
    finally:
        stop.set()
        printing.join()
        logging.getLogger("torch").removeHandler(handler)
    assert len(compiled) == 9
    assert (sys.stdout, sys.stderr) == streams
    assert all(module.training for module in (shared, shared.tied, shared.out))
    lines = [f"line {number}" for number in range(printed)]
    assert len(lines) > 100
    out, err = capsys.readouterr()
    assert out.splitlines() == lines
    assert [line for line in err.splitlines() if line.startswith("line ")] == lines
    assert [message for message in messages if message.startswith("line ")] == lines


# Names that are something to assemblers, linkers, or ourselves, and may be a function's.
_ODD_NAMES = """
al align arm ascii bss byte cs dl data dword edata eq end endm eax etext f0 fs func global gs
hidden endif lr mod near not_ offset org pc ptr quad r8 rax rdi rip rodata section set shl size sp
st start text type v0 weak word x0 xmm0 zmm1
body foo_body foo_checked foo_results func_main results
"""


def test_any_name_that_a_function_can_have_is_assembled_and_linked(tmp_path: Path) -> None:
    program = plumbline.compile(torch.nn.Tanh(), (torch.ones(3),), func_name="any_name_there_is")
    assembly = emit_assembly(llvm_ir_of(program, "memref"), cpu_target("native"))
    names = _ODD_NAMES.split()
    assert len(names) >= 52
    for name in names:
        check_function_name(name)
        (tmp_path / f"{name}.S").write_text(assembly.replace("any_name_there_is", name))
    main = tmp_path / "main.c"
    calls = "".join(f"void {name}(void); void (*call_{name})(void) = {name};\n" for name in names)
    main.write_text(calls + "int main(void) { return 0; }\n")
    # With the option that aot_compile gives.
    compiling = ["gcc", "-undef", "-c", "main.c", *(f"{name}.S" for name in names)]
    linking = ["gcc", "main.o", *(f"{name}.o" for name in names), "-lm", "-Wl,--fatal-warnings"]
    for command in (compiling, linking):
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        assert result.stderr == ""


def test_symbols_keep_their_names_as_far_as_tcp(derived: plumbline.CompiledProgram) -> None:
    tcp = derived.stage("tcp")
    assert 'tcp.symbolic_int "n" {min_val = 2, max_val = 64}' in tcp
    assert "tcp.bind_symbolic_shape %arg1, [%" in tcp
    assert "affine_map<()[s0] -> (s0 * 2)>" in tcp
    assert "affine_map<()[s0] -> (s0 + 1)>" in tcp


def test_sizes_are_checked_where_mlir_has_no_word_for_a_size_within() -> None:
    class EveryFourth(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return (x + y)[::4]

    size = {0: Dim("n", min=5)}
    program = plumbline.compile(
        EveryFourth(), (torch.ones(8), torch.ones(8)), {"x": size, "y": size}
    )
    with pytest.raises(UserError, match="argument 1 has size 8 in dimension 0, not n = 9"):
        program(torch.ones(9), torch.ones(8))
    with pytest.raises(UserError, match="n must be at least 5"):
        program(torch.ones(4), torch.ones(4))


class _Outer(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, None] * x[None, :]


def test_a_program_that_finds_no_memory_raises() -> None:
    program = plumbline.compile(_Outer(), (torch.ones(3),), ({0: Dim("n")},))
    with pytest.raises(UserError, match=f"func_main: there is no memory for {4 * 2**44} bytes"):
        program(torch.ones(1).expand(2**22))
    (product,) = program(torch.arange(3.0))
    assert torch.equal(product, torch.outer(torch.arange(3.0), torch.arange(3.0)))


def test_sizes_whose_product_is_no_number_raise() -> None:
    class Sum(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sum(1)

    shapes = ({0: Dim("n"), 1: Dim("m")},)
    program = plumbline.compile(Sum(), (torch.ones(2, 3, dtype=torch.int8),), shapes)
    huge = torch.empty(2**62, 0, dtype=torch.int8)
    with pytest.raises(UserError, match=f"there is no memory for {2**65} bytes"):
        program(huge)


def test_the_texts_of_all_stages_are_at_hand(scale: plumbline.CompiledProgram) -> None:
    telling = (
        "torch.aten.mul",
        "tcp.mul",
        "linalg.generic",
        "memref.load",
        "llvm.func",
        "define",
        ".text",
    )
    for stage, expected in zip(STAGES, telling, strict=True):
        assert expected in scale.stage(stage)
    with pytest.raises(UserError, match="no stage 'ptx'; these are: torch, tcp"):
        scale.stage("ptx")


def test_a_program_that_cannot_be_compiled_is_refused_by_name() -> None:
    class Mutates(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.add_(1)

    with pytest.raises(UserError, match="Mutates: forward writes in place:\n  into the input x: "):
        plumbline.compile(Mutates(), (torch.ones(2),))


def test_importing_the_package_does_not_import_torch() -> None:
    # The stage programs after the exporter must not pay for it.
    code = (
        "import sys, plumbline.context, plumbline.torch_to_tcp.conversion, "
        "plumbline.tcp_to_linalg.conversion, plumbline.linalg_to_kernels.conversion, "
        "plumbline.kernels_to_llvm.conversion, "
        "plumbline.llvm_to_asm.llvm_ir, plumbline.llvm_to_asm.assembly;"
        "sys.exit('torch' in sys.modules)"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert result.returncode == 0


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
