"""Runs programs whose caller brings along the memory of temporaries."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (as everybody calls it)
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim

import plumbline
from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.library.linked_code import LinkedCode
from plumbline.library.native_function import NativeFunction
from plumbline.library.packed_entry import PackedEntry
from plumbline.library_files.c_header import c_header
from plumbline.linalg_to_kernels import parallelisation
from plumbline.linalg_to_kernels.stage import linalg_to_kernels
from plumbline.llvm_to_asm.assembly import emit_assembly, emit_object
from plumbline.signature.library_description import LibraryDescription
from plumbline.signature.signature import Signature, Workspace
from plumbline.signature.size_expressions import Operation, SymbolUse, evaluate
from plumbline.target.cpu import cpu_target
from plumbline.tcp.assembly.module import parse_module
from plumbline.tcp_to_linalg.stage import tcp_to_linalg
from test.entries import llvm_ir_of, signature_of


class _Model(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self._function(x, y)


def _layers(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    for _ in range(4):
        x = torch.softmax(torch.relu(x @ y) @ y.T, -1)
    return x


def _pool(program: plumbline.CompiledProgram) -> tuple[Signature, bytes]:
    llvm_ir = llvm_ir_of(program, "pointers", "pool")
    return signature_of(program, "pool"), emit_object(llvm_ir, cpu_target("native"))


def _linked(signature: Signature, machine_code: bytes) -> NativeFunction:
    code = LinkedCode(machine_code, f"{signature.name}_packed")
    return NativeFunction(signature, PackedEntry(signature, code.address), code)


def _pooled(program: plumbline.CompiledProgram) -> NativeFunction:
    return _linked(*_pool(program))


@pytest.mark.parametrize(
    "function",
    [
        _layers,
        lambda x, y: torch.tanh(F.conv2d(x[None, None], y[None, None, :3, :3], padding=1)).sum(2),
        lambda x, y: x.reshape(-1).sort().values[: y.shape[1]] + y[0],
        lambda x, y: torch.relu(x)[:, None] * y.sum(1),
    ],
)
@pytest.mark.parametrize("dynamic", [False, True])
def test_results_are_those_of_the_heap(
    function: Callable[..., torch.Tensor], *, dynamic: bool
) -> None:
    shapes = {"x": {0: Dim("n", min=2)}, "y": {}} if dynamic else None
    # So large that operands are packed, in memory of the kernels.
    inputs = torch.randn(70, 80), torch.randn(80, 90)
    program = plumbline.compile(_Model(function), inputs, shapes)
    pooled = _pooled(program)
    for rows in (2, 70, 140) if dynamic else (70,):
        given = torch.randn(rows, 80), torch.randn(80, 90)
        for ours, theirs in zip(pooled(*given), program(*given), strict=True):
            assert torch.equal(ours, theirs)


_LARGE = torch.randn(170, 180), torch.randn(180, 190)
_ROWS = {"x": {0: Dim("n", min=2)}, "y": {}}


@pytest.fixture(scope="module")
def split() -> plumbline.CompiledProgram:
    """A program of two threads."""
    with pytest.MonkeyPatch.context() as patch:
        # Small programs are split, as large ones are.
        patch.setattr(parallelisation, "LEAST_WORK", 1 << 12)
        return plumbline.compile(_Model(_layers), _LARGE, _ROWS, threads=2)


@pytest.fixture(scope="module")
def split_pool(split: plumbline.CompiledProgram) -> tuple[Signature, bytes]:
    """The same with a pool, as machine code."""
    return _pool(split)


@pytest.mark.parametrize("asked", [None, "1", "7"])
def test_threads_have_memory_of_their_own(
    asked: str | None,
    split: plumbline.CompiledProgram,
    split_pool: tuple[Signature, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It is asked for as a library is first called.
    if asked is not None:
        monkeypatch.setenv("PLUMBLINE_THREADS", asked)
    pooled = _linked(*split_pool)
    for _ in range(20):
        for ours, theirs in zip(pooled(*_LARGE), split(*_LARGE), strict=True):
            assert torch.equal(ours, theirs)


def test_threads_need_more_memory_than_one(split: plumbline.CompiledProgram) -> None:
    assert "scf.forall" in split.stage("kernels")
    workspace = signature_of(split, "pool").workspace
    alone = signature_of(plumbline.compile(_Model(_layers), _LARGE, _ROWS), "pool").workspace
    assert workspace is not None
    assert alone is not None
    assert evaluate(workspace.bytes, {0: 170}) > evaluate(alone.bytes, {0: 170})


def test_temporaries_share_memory() -> None:
    inputs = torch.randn(70, 80), torch.randn(80, 90)
    program = plumbline.compile(_Model(_layers), inputs)
    workspace = signature_of(program, "pool").workspace
    assert workspace is not None
    assert isinstance(workspace.sum, int)
    assert isinstance(workspace.bytes, int)
    assert isinstance(workspace.lower_bound, int)
    # Two products and what is packed, of four layers.
    assert workspace.lower_bound <= workspace.bytes < workspace.sum / 2


def test_what_a_kernel_takes_lives_beside_what_it_reads() -> None:
    # The second product packs the first one, which is a temporary.
    inputs = torch.randn(70, 80), torch.randn(80, 90)
    program = plumbline.compile(_Model(lambda x, y: torch.relu(x @ y) @ y.T), inputs)
    workspace = signature_of(program, "pool").workspace
    assert workspace is not None
    product = 4 * 70 * 90
    assert isinstance(workspace.lower_bound, int)
    assert isinstance(workspace.bytes, int)
    assert product < workspace.lower_bound <= workspace.bytes < workspace.lower_bound + 64


def test_the_size_follows_from_the_sizes_of_a_call() -> None:
    shapes = {"x": {0: Dim("n", min=2)}, "y": {}}
    inputs = torch.randn(7, 8), torch.randn(8, 9)
    workspace = signature_of(plumbline.compile(_Model(_layers), inputs, shapes), "pool").workspace
    assert workspace is not None
    sizes = [evaluate(workspace.bytes, {0: rows}) for rows in (2, 100, 1000)]
    assert all(size % 64 == 0 for size in sizes)
    assert 0 < sizes[0] < sizes[1]
    assert 8 < sizes[2] / sizes[1] < 12


def test_bytes_are_arguments_as_others_are() -> None:
    """As memory for results is in the kernels: `memref<?xi8>`."""
    shapes = {"x": {0: Dim("n")}, "y": {0: Dim("n")}}
    model = _Model(lambda x, y: torch.isin(x, y).flip(0) & (x[0] > 2))
    inputs = tuple(torch.randint(9, (5,), dtype=torch.uint8) for _ in range(2))
    workspace = signature_of(plumbline.compile(model, inputs, shapes), "pool").workspace
    assert workspace is not None
    assert evaluate(workspace.bytes, {0: 1000}) == 1024


def test_what_depends_on_values_has_place_for_the_most() -> None:
    def rows(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x[x[:, 0] > 0] @ y).relu().sum(0)

    program = plumbline.compile(_Model(rows), (torch.randn(7, 8), torch.randn(8, 5)))
    workspace = signature_of(program, "pool").workspace
    assert workspace is not None
    # All seven rows, chosen and multiplied, beside the places of both.
    assert evaluate(workspace.bytes, {}) >= 4 * 7 * (8 + 5) + 8 * 7
    pooled = _pooled(program)
    for x in (torch.randn(7, 8), torch.ones(7, 8), -torch.ones(7, 8)):
        y = torch.randn(8, 5)
        torch.testing.assert_close(pooled(x, y)[0], rows(x, y))


def test_what_goes_round_in_a_loop_has_its_place() -> None:
    def power(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        def again(count: torch.Tensor, product: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return count + 1, product @ y

        start = torch.tensor(0), x.clone()
        results: tuple[torch.Tensor, ...]
        results = while_loop(lambda count, _: count < 3, again, start)  # type: ignore[no-untyped-call]
        return results[1]

    x, y = torch.randn(8, 8), torch.randn(8, 8)
    program = plumbline.compile(_Model(power), (x, y))
    torch.testing.assert_close(_pooled(program)(x, y)[0], x @ y @ y @ y)


_OF_ONE_SIZE_OR_ANOTHER = """
func.func @first(%which: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<1xf32> {
  %holds = tensor.extract %which[] : tensor<i1>
  %chosen = scf.if %holds -> (tensor<?xf32>) {
    %0 = tcp.tanh %x : tensor<?xf32> -> tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  } else {
    %0 = tcp.tanh %y : tensor<?xf32> -> tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  }
  %first = tensor.extract_slice %chosen[0] [1] [1] : tensor<?xf32> to tensor<1xf32>
  return %first : tensor<1xf32>
}
"""


def test_what_branches_make_of_different_sizes_is_refused() -> None:
    linalg = tcp_to_linalg(_OF_ONE_SIZE_OR_ANOTHER, "first.mlir", "values")
    kernels = linalg_to_kernels(linalg, "first.mlir", target_cpu="baseline")
    module = parse_module(kernels, make_context(), "first.mlir")
    with pytest.raises(UserError, match=r'a temporary lives on .* use memory "malloc"'):
        convert_kernels_to_llvm(module, "pointers", "pool")


def test_a_workspace_that_there_is_no_memory_for_is_refused() -> None:
    def largest_of_all_products(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x[:, None] * x).sort(0).values.amax() + y

    shapes = {"x": {0: Dim("n")}, "y": {}}
    inputs = torch.ones(3), torch.ones(1)
    program = plumbline.compile(_Model(largest_of_all_products), inputs, shapes)
    pooled = _pooled(program)
    with pytest.raises(UserError, match=r"^func_main: there is no memory for \d{14,} bytes$"):
        pooled(torch.ones(1 << 22), torch.ones(1))
    assert pooled(torch.arange(3.0), torch.ones(1))[0].tolist() == [5]


_MAIN = """
#define _ISOC11_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "func_main.h"

static int called;

/* glibc's own, under the names that it keeps for this. */
extern void *__libc_malloc(size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

void *malloc(size_t size) {
  if (called) abort();
  return __libc_malloc(size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  if (called) abort();
  return __libc_memalign(alignment, size);
}

void free(void *memory) {
  if (called) abort();
  __libc_free(memory);
}

int main(int count, char **arguments) {
  const int64_t n = 7;
  float *x = malloc(4 * 7 * 8), *y = malloc(4 * 8 * 9), *out = malloc(4 * 7 * 8);
  void *workspace = aligned_alloc(64, (size_t)func_main_workspace_size(n) + 64);
  int i, code;
  for (i = 0; i < 7 * 8; ++i) x[i] = (float)i / 50;
  for (i = 0; i < 8 * 9; ++i) y[i] = (float)(i % 5) - 2;
  called = 1;
  code = func_main(x, y, out, n, workspace);
  called = 0;
  printf("%s\\n", func_main_error(code));
  for (i = 0; i < 7 * 8; ++i) printf("%.9g\\n", (double)out[i]);
  printf("%s\\n", func_main_error(func_main(x, y, out, n, NULL)));
  printf("%s\\n", func_main_error(func_main(x, y, out, n, (char *)workspace + 16)));
  (void)arguments;
  return count - 1;
}
"""


def test_a_call_allocates_nothing(tmp_path: Path) -> None:
    shapes = {"x": {0: Dim("n", min=2)}, "y": {}}
    program = plumbline.compile(_Model(_layers), (torch.randn(7, 8), torch.randn(8, 9)), shapes)
    assembly = emit_assembly(llvm_ir_of(program, "pointers", "pool"), cpu_target("native"))
    (tmp_path / "func_main.S").write_text(assembly)
    description = LibraryDescription(signature_of(program, "pool"), "native", "layers")
    (tmp_path / "func_main.h").write_text(c_header(description))
    (tmp_path / "main.c").write_text(_MAIN)
    options = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    command = ["gcc", *options, "-o", "main", "main.c", "func_main.S", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    ran = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    success, *numbers, null, misaligned = ran.stdout.splitlines()
    assert success == "success"
    assert null == "workspace is null"
    assert misaligned == "workspace is not aligned to 64 bytes"
    x = np.arange(56, dtype=np.float32).reshape(7, 8) / np.float32(50)
    y = (np.arange(72) % 5 - 2).astype(np.float32).reshape(8, 9)
    (expected,) = program(x, y)
    np.testing.assert_array_equal(np.array(numbers, np.float32).reshape(7, 8), expected)


def test_what_is_taken_several_times_is_in_the_formula_once() -> None:
    rows = SymbolUse(0)
    kernel = Workspace(Operation("+", rows, 64), rows, rows)
    layers = Workspace(0, 0, 0).beside(Workspace(rows, rows, rows))
    once = layers.beside(kernel)
    twice = once.beside(kernel)
    assert (twice.bytes, twice.lower_bound) == (once.bytes, once.lower_bound)
    assert twice.sum != once.sum


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
