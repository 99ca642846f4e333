"""aot_compile, whose stages read files, makes of a program what plumbline.compile makes of it."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.target.choices import RuntimeChecks
from test.tools.aot.text_stages import llvm_ir_of

_PROGRAMS: dict[str, Callable[[torch.Tensor], tuple[torch.Tensor, ...]]] = {
    "sums": lambda x: (torch.softmax(x, -1), x @ x.mT, x.sum(0)),
    "sorts": lambda x: (*torch.sort(x), *torch.topk(x, 2), torch.argsort(x), torch.msort(x)),
    "medians": lambda x: (*torch.median(x, 1), *torch.kthvalue(x, 2), *torch.mode(x)),
    "isin": lambda x: (torch.isin(x, x[0]),),
    "indices": lambda x: (x[x.argmax(1) - 1], x.to(torch.int64) // (x.to(torch.int64) ** 2 + 1)),
    "pooling": lambda x: (torch.nn.functional.max_pool1d(x, 2),),
}


class _Program(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], tuple[torch.Tensor, ...]]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self._function(x)


@pytest.mark.parametrize(
    ("runtime_checks", "dynamic"), [("values", True), ("all", True), ("off", False)]
)
@pytest.mark.parametrize("name", _PROGRAMS)
def test_files_lose_nothing(name: str, runtime_checks: RuntimeChecks, dynamic: bool) -> None:
    program = plumbline.compile(
        _Program(_PROGRAMS[name]),
        (torch.randn(4, 6),),
        {"x": {0: Dim("n", min=2)}} if dynamic else None,
        target_cpu="baseline",
        opt_level=0,
        runtime_checks=runtime_checks,
    )
    by_files = llvm_ir_of(
        program.stage("torch"), target_cpu="baseline", runtime_checks=runtime_checks
    )
    assert by_files == program.stage("llvm_ir")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
