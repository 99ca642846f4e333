import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.compiler import STAGES
from plumbline.errors import UserError


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


def test_stages_report_when_they_are_done() -> None:
    done: list[str] = []
    plumbline.compile(torch.nn.ReLU(), (torch.ones(3),), when_done=done.append)
    assert done == [*STAGES[:-1], "machine_code"]


def test_sizes_of_code_and_weights() -> None:
    program = plumbline.compile(torch.nn.Linear(30, 20), (torch.ones(2, 30),))
    assert program.weight_bytes == 4 * (30 * 20 + 20)
    assert 0 < program.code_bytes < 100_000


def test_results_outlive_the_program() -> None:
    program = plumbline.compile(torch.nn.ReLU(), (torch.ones(1000),))
    (result,) = program(torch.arange(1000.0))
    del program
    assert torch.equal(result, torch.arange(1000.0))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((torch.ones(2, 3),), "takes 2 arguments, not 1"),
        ((torch.ones(2, 3), torch.ones(4)), r"argument 1 is f32\[4\], .* takes f32\[3\]"),
        ((torch.ones(3), torch.ones(3)), r"argument 0 is f32\[3\], .* takes f32\[\?, 3\]"),
        ((torch.ones(2, 3, dtype=torch.int64), torch.ones(3)), r"argument 0 is i64\[2, 3\]"),
        ((np.ones((2, 3)), np.ones(3)), r"argument 0 is f64\[2, 3\]"),
        ((torch.ones(2, 3, dtype=torch.complex64), torch.ones(3)), "complex64 is not supported"),
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
    with pytest.raises(UserError, match=f"no memory for a tensor of the sizes {2**62}$"):
        program(huge)


def test_the_texts_of_all_stages_are_at_hand(scale: plumbline.CompiledProgram) -> None:
    telling = ("torch.aten.mul", "tcp.mul", "linalg.generic", "llvm.func", "define", ".text")
    for stage, expected in zip(STAGES, telling, strict=True):
        assert expected in scale.stage(stage)
    with pytest.raises(UserError, match="no stage 'ptx'; these are: torch, tcp"):
        scale.stage("ptx")


def test_a_program_that_cannot_be_compiled_is_refused_by_name() -> None:
    class Mutates(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.add_(1)

    with pytest.raises(UserError, match="Mutates: forward writes in place into x"):
        plumbline.compile(Mutates(), (torch.ones(2),))


def test_importing_the_package_does_not_import_torch() -> None:
    # The stage programs after the exporter must not pay for it.
    code = (
        "import sys, plumbline.context, plumbline.torch_to_tcp.conversion, "
        "plumbline.tcp_to_linalg.conversion, plumbline.linalg_to_llvm.conversion, "
        "plumbline.llvm_to_asm.llvm_ir, plumbline.llvm_to_asm.assembly;"
        "sys.exit('torch' in sys.modules)"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert result.returncode == 0


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
