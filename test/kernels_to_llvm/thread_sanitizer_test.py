"""ThreadSanitizer finds no race in programs on several threads, and one where there is one."""

import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody calls it)

import plumbline
from plumbline.context import make_context
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.linalg_to_kernels import parallelisation
from plumbline.tcp.assembly.module import parse_module, print_module
from test.entries import llvm_dialect_of, signature_of
from test.kernels_to_llvm import thread_sanitizer
from test.kernels_to_llvm.thread_sanitizer import reports


class _Product(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ y.T)


class _InPlace(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        # The right operand is read where it is, by a loop over whole panels and one over the last.
        return x @ y


class _Convolution(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.conv2d(x, y, padding=1)


class _Depthwise(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        # The first is read where it is, the second from strips that threads copy for themselves.
        once = F.conv2d(x, y, groups=x.shape[1])
        return F.conv2d(once, y, groups=x.shape[1], padding=1)


class _Normalisation(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, x.shape[-1:]).softmax(-1) + y


class _Layers(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.relu(x @ y) @ y.T, -1)


class _Sums(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * y).sum(0) + torch.tanh(y[0])


_LAYERS = (torch.randn(90, 130), torch.randn(130, 150))
_SOFTMAX = (torch.randn(3, 501, 203), torch.randn(203))


@pytest.fixture(autouse=True)
def _little_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small programs are split, as large ones are."""
    monkeypatch.setattr(parallelisation, "LEAST_WORK", 1 << 12)


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        (_Product(), (torch.randn(90, 130), torch.randn(110, 130))),
        (_Product(), (torch.randn(1200, 130), torch.randn(7, 130))),
        (_Product(), (torch.randn(1, 1200), torch.randn(1100, 1200))),
        (_InPlace(), (torch.randn(7, 2060), torch.randn(2060, 770))),
        (_Convolution(), (torch.randn(1, 5, 40, 41), torch.randn(20, 5, 3, 3))),
        (_Depthwise(), (torch.randn(1, 17, 60, 61), torch.randn(17, 1, 3, 3))),
        (_Normalisation(), _SOFTMAX),
        (_Sums(), (torch.randn(301, 1503), torch.randn(301, 1503))),
    ],
)
def test_programs_are_clean(
    program: torch.nn.Module, inputs: tuple[torch.Tensor, ...], tmp_path: Path
) -> None:
    compiled = plumbline.compile(program, inputs, threads=3)
    text = llvm_dialect_of(compiled, "memref")
    assert "GOMP_parallel" in text
    assert reports(tmp_path, text, compiled.signature) == ""


@pytest.mark.parametrize("threads", [1, 2])
def test_two_calls_at_once_are_clean(threads: int, tmp_path: Path) -> None:
    compiled = plumbline.compile(_Layers(), _LAYERS, threads=threads)
    signature = signature_of(compiled, "pool")
    assert reports(tmp_path, llvm_dialect_of(compiled, "pointers", "pool"), signature) == ""


def test_two_calls_that_share_a_workspace_are_a_race(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = thread_sanitizer._two_calls
    monkeypatch.setattr(
        thread_sanitizer,
        "_two_calls",
        lambda signature: shared(signature).replace(
            "  void* workspace = ", "  static char workspace[1 << 20]; (void)"
        ),
    )
    compiled = plumbline.compile(_Layers(), _LAYERS)
    signature = signature_of(compiled, "pool")
    said = reports(tmp_path, llvm_dialect_of(compiled, "pointers", "pool"), signature)
    assert "WARNING: ThreadSanitizer: data race" in said


def test_a_buffer_that_chunks_share_is_a_race(tmp_path: Path) -> None:
    compiled = plumbline.compile(_Normalisation(), _SOFTMAX, threads=3)
    kernels = compiled.stage("kernels")
    # What each chunk has of its own becomes one for all.
    before, loop, after = kernels.partition("    scf.forall")
    head, allocation, rest = after.partition("      %alloca = memref.alloca() ")
    type_, end, rest = rest.partition("\n")
    assert allocation
    shared = parse_module(
        f"{before}  {allocation}{type_}{end}{loop}{head}{rest}", make_context(torch=True), "shared"
    )
    convert_kernels_to_llvm(shared)
    assert "WARNING: ThreadSanitizer: data race" in reports(
        tmp_path, print_module(shared), compiled.signature
    )


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
