"""Runs programs under ThreadSanitizer, which sees each access to memory of what is compiled for it.

LLVM's own pass for it is not in the bindings, so what it would add is added here: before each load
and store a call of the sanitizer's runtime library, which GCC brings. That does not know libgomp's
barriers; so the three functions that programs use of it are made here, of POSIX threads.
"""

import math
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.bindings.walk import all_operations
from plumbline.context import make_context
from plumbline.kernels_to_llvm.building import call, integer, integer_type, pointer_type
from plumbline.llvm_to_asm.assembly import emit_assembly
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.signature.signature import Signature, TensorSpec
from plumbline.target.cpu import cpu_target
from plumbline.tcp.assembly.module import parse_module

_READ, _WRITE = "__tsan_read_range", "__tsan_write_range"

_RUNTIME = """
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static __thread int thread_number;

struct task { void (*worker)(void*); void* context; int number; };

static void* run(void* given) {
  struct task* task = given;
  thread_number = task->number;
  task->worker(task->context);
  return NULL;
}

void GOMP_parallel(void (*worker)(void*), void* context, unsigned count, unsigned flags) {
  pthread_t threads[64];
  struct task tasks[64];
  for (int i = 0; i < (int)count; ++i) {
    tasks[i] = (struct task){worker, context, i};
    if (pthread_create(&threads[i], NULL, run, &tasks[i]) != 0) abort();
  }
  for (int i = 0; i < (int)count; ++i) pthread_join(threads[i], NULL);
}

int omp_get_thread_num(void) { return thread_number; }

static float* numbers(int64_t count) {
  float* result = aligned_alloc(64, (count * 4 + 63) / 64 * 64);
  for (int64_t i = 0; i < count; ++i) result[i] = (i * 7919 % 1009) / 1009.f - 0.5f;
  return result;
}
"""


def reports(folder: Path, text: str, signature: Signature) -> str:
    """What the sanitizer says of a call of a program; empty if it is clean.

    A program with a workspace is called by pointers, on two threads at once, each with a workspace
    and results of its own; any other one by memrefs, once.

    Args:
      folder: where files may be left.
      text: the program in the LLVM dialect.
      signature: its tensors are of f32 and of static sizes, and it has no weights.

    Raises:
      RuntimeError: it could not be built, or run for another reason than what is reported.
    """
    module = parse_module(text, make_context(torch=True), "llvm")
    _instrument(module)
    assembly, source = folder / "program.S", folder / "main.c"
    assembly.write_text(emit_assembly(translate_to_llvm_ir(module), cpu_target("native")))
    main = _one_call(signature) if signature.workspace is None else _two_calls(signature)
    source.write_text(_RUNTIME + main)
    binary = folder / "program"
    flags = ["-fsanitize=thread", "-g", "-O1", "-pthread"]
    _run(["gcc", *flags, str(source), str(assembly), "-lm", "-o", str(binary)])
    # Older runtime libraries of the sanitizer find no room where addresses are random.
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []
    ran = _run([*fixed, str(binary)], allowed=(0, 66))
    if ran.stdout != "done\n":
        raise RuntimeError(ran.stdout + ran.stderr)
    return ran.stderr


def _run(command: Sequence[str], allowed: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(command, capture_output=True, check=False, text=True)
    if ran.returncode not in allowed:
        raise RuntimeError(f"{command[0]} gave {ran.returncode}: {ran.stdout}{ran.stderr}")
    return ran


def _count(spec: TensorSpec) -> int:
    return math.prod(size or 0 for size in spec.sizes)


def _two_calls(signature: Signature) -> str:
    """Calls the entry on two threads, which share the inputs."""
    inputs = [f"input{number}" for number in range(len(signature.inputs))]
    counts = ", ".join(str(_count(spec)) for spec in signature.outputs)
    results = [f"results[{number}]" for number in range(len(signature.outputs))]
    assert signature.workspace is not None
    pointers = ", ".join(["void*"] * (len(inputs) + len(results) + 1))
    numbers = "\n".join(
        f"  {name} = numbers({_count(spec)});"
        for name, spec in zip(inputs, signature.inputs, strict=True)
    )
    return f"""
int {signature.name}({pointers});
{"".join(f"static float* {name};" for name in inputs)}
static const int64_t counts[] = {{{counts}}};
static void* call(void* failed) {{
  float* results[{len(results)}];
  for (int i = 0; i < {len(results)}; ++i) results[i] = numbers(counts[i]);
  void* workspace = aligned_alloc(64, {signature.workspace.bytes} + 64);
  if ({signature.name}({", ".join([*inputs, *results, "workspace"])}) != 0) *(int*)failed = 1;
  return NULL;
}}
int main(void) {{
{numbers}
  pthread_t threads[2];
  static int failed[2];
  for (int i = 0; i < 2; ++i) {{
    if (pthread_create(&threads[i], NULL, call, &failed[i]) != 0) abort();
  }}
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  puts(failed[0] || failed[1] ? "failed" : "done");
  return 0;
}}
"""


def _one_call(signature: Signature) -> str:
    """Calls the checked entry once."""
    types, values, lines = ["void*"], ["results"], []
    for number, spec in enumerate(signature.inputs):
        sizes = [size or 0 for size in spec.sizes]
        strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
        name = f"input{number}"
        lines.append(f"  float* {name} = numbers({_count(spec)});")
        values += [name, name, "0", *map(str, (*sizes, *strides))]
        types += ["void*", "void*", *["int64_t"] * (1 + 2 * len(sizes))]
    entry = f"{signature.name}_checked"
    return "\n".join(
        [
            f"char* {entry}({', '.join(types)});",
            "int main(void) {",
            "  static int64_t results[64];",
            *lines,
            f"  char* refusal = {entry}({', '.join(values)});",
            "  if (refusal) { puts(refusal); return 1; }",
            '  puts("done");',
            "  return 0;",
            "}\n",
        ]
    )


def _instrument(module: ir.Module) -> None:
    """Puts calls of the sanitizer before accesses to memory, but for atomic ones."""
    with module.context, ir.Location.unknown():
        function = llvm.FunctionType.get(
            ir.Type.parse("!llvm.void"), [pointer_type(), integer_type()]
        )
        with ir.InsertionPoint(module.body):
            for name in (_READ, _WRITE):
                llvm.LLVMFuncOp(name, ir.TypeAttr.get(function))
        # All but the module itself.
        for op in all_operations(module)[1:]:
            with ir.InsertionPoint(op):
                _note_access(op)


def _note_access(op: ir.Operation) -> None:
    match op.name:
        case "llvm.load" if not _is_atomic(op):
            call(_READ, [op.operands[0], integer(_bytes(op.results[0].type))])
        case "llvm.store" if not _is_atomic(op):
            call(_WRITE, [op.operands[1], integer(_bytes(op.operands[0].type))])
        case "llvm.intr.masked.load":
            call(_READ, [op.operands[0], _masked_bytes(op.operands[1], op.results[0].type)])
        case "llvm.intr.masked.store":
            call(_WRITE, [op.operands[1], _masked_bytes(op.operands[2], op.operands[0].type)])
        case "llvm.intr.memcpy":
            call(_WRITE, [op.operands[0], op.operands[2]])
            call(_READ, [op.operands[1], op.operands[2]])
        case "llvm.intr.memset":
            call(_WRITE, [op.operands[0], op.operands[2]])


def _is_atomic(op: ir.Operation) -> bool:
    return "ordering" in op.attributes and ir.IntegerAttr(op.attributes["ordering"]).value != 0


def _bytes(type_: ir.Type) -> int:
    if isinstance(type_, ir.VectorType):
        return int(type_.shape[0]) * _bytes(type_.element_type)
    if isinstance(type_, llvm.StructType):
        return sum(map(_bytes, type_.body))
    if isinstance(type_, llvm.ArrayType):
        return int(type_.num_elements) * _bytes(type_.element_type)
    if isinstance(type_, llvm.PointerType):
        return 8
    return max(int(type_.width) // 8, 1)


def _masked_bytes(mask: ir.Value, type_: ir.Type) -> ir.Value:
    """How many bytes such a vector has in memory: of masks the first lanes are set."""
    lanes = ir.VectorType(mask.type).shape[0]
    bits = llvm.BitcastOp(integer_type(lanes), mask).result
    wide = llvm.ZExtOp(integer_type(), bits).result
    count = llvm.CtPopOp(wide).result
    element = integer(_bytes(ir.VectorType(type_).element_type))
    return llvm.MulOp(count, element, llvm.IntegerOverflowFlags.none).result
