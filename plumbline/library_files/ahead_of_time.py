"""Compiles a program ahead of time from within the Python program that has it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch.export import ExportedProgram

from plumbline.errors import showing_the_message_alone
from plumbline.library_files.build import TorchProgram, write_files
from plumbline.library_files.kinds import KINDS
from plumbline.library_files.options import LibraryOptions
from plumbline.loader_to_stablehlo.program import (
    HoldsStablehlo,
    StablehloProgram,
    refuse_beside,
    stablehlo_of,
)
from plumbline.loader_to_torch.loader import Mutation, TorchLoaderOutput, checked, given_program
from plumbline.target.choices import RuntimeChecks
from plumbline.target.gpu_chip import DEFAULT_ARCH


@showing_the_message_alone
def aot(
    model: torch.nn.Module | TorchLoaderOutput | ExportedProgram | HoldsStablehlo,
    *inputs: Any,
    name: str,
    out: str | os.PathLike[str] = ".",
    dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None,
    mutation: Mutation = "refuse",
    mutable: Sequence[str] = (),
    func_name: str | None = None,
    target_cpu: str = "baseline",
    abi: str = "pointers",
    memory: str = "malloc",
    threads: int = 1,
    weights: str = "embedded",
    opt_level: int = 2,
    runtime_checks: RuntimeChecks = "values",
    target: str = "host",
    gpu_arch: str = DEFAULT_ARCH,
    cubins: Sequence[str] = (),
    allow_tf32: bool = False,
    on_gpu_tensors: bool = False,
    stream: bool = False,
) -> Path:
    """Compiles `model` to the files of a library: libfoo.so, libfoo.a, foo.h, and so on.

    For WebAssembly it has foo.wasm and foo.mjs in place of libfoo.so, for Windows foo.dll.

    They are those that aot_library makes, and the command `plumbline compile`. The model is
    compiled in the mode that it is in, and stays as it was.

    Args:
      model: its `forward` takes and returns tensors, also in tuples, lists and dicts. Or what a
        loader returns, `plumbline.load_onnx` say, or what `torch.export.export` gives, which have
        inputs and what is said of them. Or a
        program of JAX's, as for `plumbline.compile`, which has no `inputs`. The arguments of the
        library are its arrays, in the order of `jax.tree.leaves((arguments, keyword_arguments))`.
        Or one of TensorFlow's, as there, whose `inputs` are what `example_inputs` are; those of the
        library are its tensors, in the order of `tf.nest.flatten((arguments, keyword_arguments))`.
      *inputs: a sample of each argument of `forward`.
      name: of the library, foo; files are named after it, and the C function.
      out: the folder to write to, which is made where there is none.
      dynamic_shapes: which dimensions may differ, as `torch.export.export` takes it.
      mutation: as for `TorchLoaderOutput`.
      mutable: as for `TorchLoaderOutput`.
      func_name: the name of the C function, where it is another.
      target_cpu: the CPU that code is made for; the default is one that most have. "wasm32" is
        WebAssembly, for browsers, and "x86_64-windows" Windows.
      abi: how C calls it: by "pointers", or by "memref" descriptors, as MLIR does.
      memory: "malloc": temporaries come from the heap; "pool": from a workspace of the caller's.
      threads: how many a call runs on.
      weights: "embedded" in the library, "arguments" of the C function before its own (parameters
        and buffers; constants are embedded), or "file": the library maps them from
        foo.safetensors, which its users hand to `foo_load_weights`.
      opt_level: how much LLVM optimises, as in clang -O.
      runtime_checks: what the program checks as it runs, one of `choices.RUNTIME_CHECKS`.
      target: "host", or "nvptx": kernels then run on a GPU of NVIDIA's.
      gpu_arch: the oldest GPUs that these run on.
      cubins: GPUs that the library has machine code for, beside PTX, so that its first call there
        compiles nothing. It takes ptxas, of the package nvidia-cuda-nvcc or on PATH.
      allow_tf32: whether products of f32 may be taken of numbers rounded to TF32, on tensor cores.
      on_gpu_tensors: of the target "nvptx": all pointers are to memory of the GPU, and nothing is
        copied; else the library copies what is on the host there, and results back.
      stream: with `on_gpu_tensors`: calls are queued on a stream of the caller's, who brings a
        workspace in memory of the GPU along.

    Returns:
      The shared object, which `plumbline.load` takes; or the DLL, or the module of WebAssembly.

    Raises:
      UserError: the program cannot be compiled, or the files cannot be written. The message says
        what is in the way. Nothing is written then.
    """
    options = LibraryOptions(
        name,
        func_name=func_name,
        target_cpu=target_cpu,
        abi=abi,
        memory=memory,
        threads=threads,
        weights=weights,
        opt_level=opt_level,
        runtime_checks=runtime_checks,
        target=target,
        gpu_arch=gpu_arch,
        cubins=tuple(cubins),
        allow_tf32=allow_tf32,
        on_gpu_tensors=on_gpu_tensors,
        stream=stream,
    )
    caller = "plumbline.aot"
    source: TorchProgram | StablehloProgram | None = stablehlo_of(model, inputs or None)
    if isinstance(source, StablehloProgram):
        refuse_beside(
            caller,
            source,
            inputs=bool(inputs),
            dynamic_shapes=dynamic_shapes,
            mutation=mutation,
            mutable=mutable,
        )
    else:
        program = given_program(
            caller,
            cast("torch.nn.Module | TorchLoaderOutput | ExportedProgram", model),
            inputs
            if inputs or not isinstance(model, TorchLoaderOutput | ExportedProgram)
            else None,
            dynamic_shapes=dynamic_shapes,
            func_name=func_name or name,
            mutation=mutation,
            mutable=mutable,
        )
        kind = type(program.model)
        origin = f"{kind.__module__}.{kind.__qualname__}"
        # References are not recorded: to run a model may change it.
        source = TorchProgram(
            kind.__name__, origin, lambda: checked(caller, program), recorded=False
        )
    write_files(source, options, options.kinds, Path(out))
    return Path(out, KINDS[options.loaded_kind].file_name(name))
