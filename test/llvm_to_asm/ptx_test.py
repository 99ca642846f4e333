"""PTX is what NVIDIA's own assembler takes, for the GPUs of several years."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional

import plumbline
from plumbline.errors import UserError
from plumbline.llvm_to_asm.fatbin import fatbin
from plumbline.llvm_to_asm.ptx import emit_ptx
from plumbline.llvm_to_asm.ptxas import assemble
from plumbline.target.gpu import gpu_target


class _Function(nn.Module):
    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *operands: torch.Tensor) -> object:
        return self._function(*operands)


def _ptx(function: Callable[..., object], *operands: torch.Tensor, arch: str = "sm_80") -> str:
    module = _Function(function)
    return plumbline.compile(module, operands, target="nvptx", gpu_arch=arch).stage("ptx")


_PROGRAMS: dict[str, tuple[Callable[..., object], tuple[torch.Tensor, ...]]] = {
    "elementwise": (lambda x, y: (x.exp() + y).tanh(), (torch.ones(100, 30), torch.ones(30))),
    "half": (lambda x: functional.gelu(x) * 2, (torch.ones(100, 30).bfloat16(),)),
    "softmax": (lambda x: x.softmax(-1), (torch.ones(50, 1000),)),
    "layer_norm": (lambda x: functional.layer_norm(x, (512,)), (torch.ones(7, 512),)),
    "matmul": (lambda x, y: (x @ y).relu(), (torch.ones(70, 40), torch.ones(40, 90))),
    "argmax": (lambda x: x.argmax(1), (torch.ones(7, 512),)),
    "sort": (lambda x: x.sort(), (torch.ones(7, 12),)),
}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", _PROGRAMS)
def test_ptxas_takes_it_and_nothing_is_spilled(name: str, arch: str) -> None:
    function, operands = _PROGRAMS[name]
    ptx = _ptx(function, *operands, arch=arch)
    assert f".target {arch}" in ptx
    kernels = assemble(ptx, arch)
    assert {kernel.name for kernel in kernels} == {
        line.split("(")[0].split()[-1] for line in ptx.splitlines() if ".entry " in line
    }
    assert all(kernel.spill_bytes == 0 for kernel in kernels)


def test_kernels_are_named_after_what_they_compute() -> None:
    assert ".visible .entry max_sub_exp_sum_div_mul(" in _ptx(*_flat("softmax"))


def test_rows_are_summed_up_by_exchanging_registers() -> None:
    ptx = _ptx(*_flat("layer_norm"))
    assert "shfl.sync.bfly" in ptx
    assert "bar.sync" in ptx


def _flat(name: str) -> tuple[Callable[..., object], *tuple[torch.Tensor, ...]]:
    function, operands = _PROGRAMS[name]
    return (function, *operands)


@pytest.mark.parametrize("arch", ["sm_50", "sm_8000", "gfx90a", ""])
def test_a_gpu_that_there_is_not(arch: str) -> None:
    with pytest.raises(UserError, match="gpu_arch"):
        gpu_target(arch)


def test_what_no_gpu_has() -> None:
    llvm_ir = """
        declare float @__nv_expf(float)
        define ptx_kernel void @f(ptr %p) {
          %x = load float, ptr %p
          %y = call float @__nv_expf(float %x)
          store float %y, ptr %p
          ret void
        }
    """
    with pytest.raises(UserError, match="kernels call functions that no GPU has: __nv_expf"):
        emit_ptx(llvm_ir, gpu_target("sm_80"))


def test_ptxas_says_what_is_wrong() -> None:
    ptx = _ptx(*_flat("elementwise"))
    with pytest.raises(UserError, match=r"ptxas refuses the kernels for sm_80:\n(.|\n)*tan"):
        assemble(ptx.replace("ret;", "tan.f32 %f1, %f1;\nret;"), "sm_80")


def test_a_fatbin_has_ptx_and_machine_code() -> None:
    """The same for the same kernels, wherever it is made."""
    ptx = _ptx(torch.relu, torch.randn(4))
    image = fatbin(ptx, "sm_80", ["sm_80", "sm_90"])
    # Without comments, and with other spaces.
    assert b".entry max_kernel" in image
    assert image.count(b"\x7fELF") == 2
    assert fatbin(ptx, "sm_80", ["sm_80", "sm_90"]) == image
    with pytest.raises(UserError, match="ptxas refuses the kernels for sm_999"):
        fatbin(ptx, "sm_80", ["sm_999"])


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
