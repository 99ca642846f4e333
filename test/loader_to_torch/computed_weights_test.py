"""What is computed of weights alone."""

import sys

import pytest
import torch
from torch.nn.utils.parametrizations import weight_norm

import plumbline
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput

_SIZE = 192
"""A number of whole panels on all CPUs: what is left of a panel takes room, too."""

_BYTES = 4 * _SIZE * _SIZE


class _Normed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = weight_norm(torch.nn.Linear(_SIZE, _SIZE, bias=False))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.linear(x)
        return y


class _Standardised(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(_SIZE, _SIZE))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        deviation, mean = torch.std_mean(self.weight, 1, keepdim=True)
        return x @ ((self.weight - mean) / deviation).T


class _ReadTwice(_Standardised):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) + x @ self.weight


class _Narrow(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-99, 99, (_SIZE, _SIZE), dtype=torch.int8))

    weight: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ (self.weight * 0.1)


class _Summed(_Narrow):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) - 3 * self.weight.sum(0, dtype=torch.int32)


class _Unsigned(torch.nn.Module):
    """Bytes that are multiplied with a sign."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(256, (_SIZE, _SIZE), dtype=torch.uint8))

    weight: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        signed = (self.weight.to(torch.int16) - 128).to(torch.int8)
        return x.to(torch.int32) @ signed.to(torch.int32)


@pytest.mark.parametrize(
    ("module", "most_bytes", "is_computed"),
    [
        (_Normed(), _BYTES, True),
        (_Standardised(), _BYTES, True),
        (_ReadTwice(), 2 * _BYTES, False),
        (_Narrow(), _BYTES // 2, False),
        (_Summed(), _BYTES // 4 + 4 * _SIZE, True),
        (_Unsigned(), _BYTES // 4, True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_weights_are_computed_if_they_are_no_more_bytes(
    module: torch.nn.Module, most_bytes: int, is_computed: bool
) -> None:
    x = torch.randn(3, _SIZE)
    program = plumbline.compile(module, (x,))
    torch.testing.assert_close(program(x)[0], module(x).detach(), rtol=1e-4, atol=1e-4)
    assert program.weight_bytes <= most_bytes
    assert ('weight = "computed_' in program.stage("torch")) == is_computed


class _Few(torch.nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-99, 99, (8, count), dtype=torch.int8))

    weight: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - self.weight.sum(1, dtype=torch.int32)


@pytest.mark.parametrize("count", [9, 64])
def test_sums_of_few_weights_are_computed(count: int) -> None:
    """They take less room than code that adds up."""
    x = torch.randint(9, (3, 8), dtype=torch.int32)
    module = _Few(count)
    program = plumbline.compile(module, (x,))
    assert torch.equal(program(x)[0], module(x))
    assert "si8" not in program.stage("torch")


def test_weights_that_are_arguments_are_not_computed() -> None:
    program = TorchLoaderOutput(model=_Standardised(), inputs=(torch.randn(3, _SIZE),))
    assert list(export("program", program, embedded=False).weights) == ["weight"]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
