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
