"""Times compiled programs against PyTorch eager, one thread each, in one process.

    bazel run //test/benchmark:kernels -- --target-cpu=native softmax layer_norm

A ratio is our time over PyTorch's, of the best of some runs of each, taken in turns. Ours includes
what a call from Python costs: the results are copied out of memory that is fresh at each call.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

import plumbline


class _Function(nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *operands: torch.Tensor) -> torch.Tensor:
        return self._function(*operands)


@dataclass(frozen=True)
class _Case:
    """A module, or a function, and the shapes of what it takes."""

    program: nn.Module | Callable[..., torch.Tensor]
    shapes: tuple[tuple[int, ...], ...]

    def module(self) -> nn.Module:
        if isinstance(self.program, nn.Module):
            return self.program.eval()
        return _Function(self.program)


def _of(program: nn.Module | Callable[..., torch.Tensor], *shapes: tuple[int, ...]) -> _Case:
    return _Case(program, shapes)


def cases() -> dict[str, _Case]:
    """What is timed, by name; sizes are those of ResNet-50, MobileNetV2 and BERT-base."""
    heads = (1, 12, 128, 64)
    return {
        "conv_3x3": _of(nn.Conv2d(64, 64, 3, padding=1), (1, 64, 56, 56)),
        "conv_3x3_of_7x7": _of(nn.Conv2d(512, 512, 3, padding=1), (1, 512, 7, 7)),
        "conv_1x1": _of(nn.Conv2d(64, 256, 1), (1, 64, 56, 56)),
        "conv_1x1_stride_2": _of(nn.Conv2d(256, 512, 1, stride=2), (1, 256, 56, 56)),
        "conv_7x7_stride_2": _of(nn.Conv2d(3, 64, 7, stride=2, padding=3), (1, 3, 224, 224)),
        "conv_depthwise": _of(nn.Conv2d(96, 96, 3, padding=1, groups=96), (1, 96, 56, 56)),
        "conv_depthwise_stride_2": _of(
            nn.Conv2d(96, 96, 3, stride=2, padding=1, groups=96), (1, 96, 112, 112)
        ),
        "conv_grouped": _of(nn.Conv2d(128, 128, 3, padding=1, groups=4), (1, 128, 28, 28)),
        "linear_256": _of(nn.Linear(256, 256), (256, 256)),
        "linear_768_3072": _of(nn.Linear(768, 3072), (128, 768)),
        "matmul_768": _of(torch.matmul, (768, 768), (768, 768)),
        "batch_matmul": _of(torch.matmul, (12, 128, 64), (12, 64, 128)),
        "matrix_vector": _of(nn.Linear(2048, 1000), (1, 2048)),
        "vector_matrix": _of(torch.matmul, (1, 1024), (1024, 1024)),
        "attention": _of(functional.scaled_dot_product_attention, heads, heads, heads),
        "softmax": _of(nn.Softmax(-1), (12, 128, 128)),
        "log_softmax": _of(nn.LogSoftmax(-1), (128, 1000)),
        "layer_norm": _of(nn.LayerNorm(768), (1, 128, 768)),
        "group_norm": _of(nn.GroupNorm(8, 64), (1, 64, 32, 32)),
        "batch_norm": _of(nn.BatchNorm2d(64), (1, 64, 56, 56)),
        "gelu": _of(nn.GELU(), (128, 3072)),
        "gelu_tanh": _of(nn.GELU("tanh"), (128, 3072)),
        "silu": _of(nn.SiLU(), (128, 3072)),
        "relu": _of(nn.ReLU(), (128, 3072)),
        "add": _of(torch.add, (1024, 1024), (1024, 1024)),
        "max_pool": _of(nn.MaxPool2d(3, 2, 1), (1, 64, 112, 112)),
        "avg_pool": _of(nn.AvgPool2d(2), (1, 64, 112, 112)),
        "global_avg_pool": _of(nn.AdaptiveAvgPool2d(1), (1, 2048, 7, 7)),
        "sum": _of(torch.sum, (1024, 1024)),
        "sum_of_rows": _of(lambda x: x.sum(1), (1024, 1024)),
        "sum_of_columns": _of(lambda x: x.sum(0), (1024, 1024)),
        "max_of_rows": _of(lambda x: x.amax(1), (1024, 1024)),
        "transpose": _of(lambda x: x.t().contiguous(), (1024, 1024)),
    }


def seconds(ours: Callable[[], object], eager: Callable[[], object]) -> tuple[float, float]:
    """The least time that each of both takes, in turns for half a second or longer."""
    best = [float("inf")] * 2
    end = time.perf_counter() + 0.5
    rounds = 0
    while rounds < 5 or time.perf_counter() < end:
        rounds += 1
        for place, run in enumerate((ours, eager)):
            start = time.perf_counter()
            run()
            best[place] = min(best[place], time.perf_counter() - start)
    return best[0], best[1]


def main() -> None:
    """The command line."""
    known = cases()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", nargs="*", help=f"of {', '.join(known)} (default: all)")
    parser.add_argument("--target-cpu", default="native", help="as --//tools/aot:target_cpu")
    given = parser.parse_args()
    for name in given.case:
        if name not in known:
            parser.error(f"no case {name}; there are {', '.join(known)}")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    print(f"{'':24}{'ours':>10}{'eager':>13}{'ratio':>8}   largest difference")
    for name in given.case or known:
        print(f"{name:24}{_row(known[name], given.target_cpu)}", flush=True)


def _row(case: _Case, target_cpu: str) -> str:
    module = case.module()
    inputs = tuple(torch.randn(shape) for shape in case.shapes)
    program = plumbline.compile(module, inputs, target_cpu=target_cpu)
    with torch.no_grad():
        difference = (program(*inputs)[0] - module(*inputs)).abs().max().item()
        ours, eager = seconds(lambda: program(*inputs), lambda: module(*inputs))
    return f"{ours * 1e3:7.3f} ms{eager * 1e3:10.3f} ms{ours / eager:8.2f}{difference:12.1e}"


if __name__ == "__main__":
    main()
