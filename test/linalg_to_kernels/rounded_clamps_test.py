"""Checks what is quantized against PyTorch, wherever it is between two integers."""

import sys

import pytest
import torch

# It is what torchao imports for the ops that it makes models of.
import torch.ao.quantization.fx._decomposed

import plumbline

_TYPES = {torch.int8: (-128, 127), torch.uint8: (0, 255), torch.int16: (-32768, 32767)}


class _Quantize(torch.nn.Module):
    def __init__(self, zero_point: int, dtype: torch.dtype) -> None:
        super().__init__()
        self._zero_point, self._dtype = zero_point, dtype

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        integers: torch.Tensor = torch.ops.quantized_decomposed.quantize_per_tensor.default(
            x, 1.0, self._zero_point, *_TYPES[self._dtype], self._dtype
        )
        return integers


def _numbers() -> torch.Tensor:
    """Halves, what is beside them, and numbers far beyond all bounds."""
    halves = torch.arange(-700, 700) / 2
    beside = [torch.nextafter(halves, torch.tensor(to)) for to in (-torch.inf, torch.inf)]
    far = 2.0 ** torch.arange(8, 128, 0.5)
    infinite = torch.tensor([0.0, -0.0, torch.inf, -torch.inf])
    return torch.cat([halves, *beside, far, -far, infinite])


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("zero_point", [0, 7, -3])
def test_numbers(dtype: torch.dtype, zero_point: int) -> None:
    if zero_point < _TYPES[dtype][0]:
        zero_point = 128
    module, x = _Quantize(zero_point, dtype), _numbers()
    program = plumbline.compile(module, (x,))
    assert torch.equal(program(x)[0], module(x))
    assert "roundeven %" not in program.stage("kernels")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
