"""The whole chain in one process: from a PyTorch module to a function that can be called."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch_mlir import ir

from plumbline.context import lent_context
from plumbline.errors import UserError
from plumbline.function_name import DEFAULT_FUNCTION_NAME, PACKED_SUFFIX
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.kernels_to_llvm.program_signature import program_signature
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.linked_code import LinkedCode
from plumbline.llvm_to_asm.assembly import (
    OPTIMISATION_LEVELS,
    Target,
    emit_assembly,
    emit_object,
)
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.llvm_to_asm.probe import vector_unit_of
from plumbline.loader_to_torch.export import Export, export
from plumbline.loader_to_torch.loader import (
    TorchLoaderOutput,
    check_dynamic_shapes,
    check_func_name,
    check_inputs,
    check_module,
)
from plumbline.loader_to_torch.pytorch_state import for_inference
from plumbline.loader_to_torch.references import to_numpy
from plumbline.native_function import NativeFunction
from plumbline.signature import Signature
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp_to_linalg.conversion import (
    RUNTIME_CHECKS,
    RuntimeChecks,
    convert_tcp_to_linalg,
)
from plumbline.torch_arguments import give
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp
from plumbline.weight_arguments import symbol

STAGES = ("torch", "tcp", "linalg", "kernels", "llvm", "llvm_ir", "asm")
"""The stages whose texts a compiled program keeps, in order."""


class CompiledProgram(NativeFunction):
    """A compiled PyTorch program: call it with the arguments of the module's `forward`.

    It returns numpy arrays if all arguments are such, else torch tensors.
    """

    def __init__(
        self,
        signature: Signature,
        code: LinkedCode,
        texts: Mapping[str, str],
        target: Target,
    ) -> None:
        super().__init__(signature, code.address, code)
        self._give_without_arguments = give
        self._code = code
        self._texts = dict(texts)
        self._target = target

    @property
    def code_bytes(self) -> int:
        """The size of the machine code, as an object file."""
        return self._code.code_bytes

    @property
    def weight_bytes(self) -> int:
        """The size of the weights, which a library holds beside the machine code."""
        return self._code.data_bytes

    def stage(self, name: str) -> str:
        """The text of a stage, one of `STAGES`.

        Raises:
          UserError: there is no stage of that name.
        """
        if name not in STAGES:
            raise UserError(f"there is no stage {name!r}; these are: {', '.join(STAGES)}")
        if name == "asm" and name not in self._texts:
            self._texts[name] = emit_assembly(self._texts["llvm_ir"], self._target)
        return self._texts[name]


def compile(  # noqa: A001 - the word that PyTorch's users expect
    module: torch.nn.Module,
    example_inputs: Sequence[torch.Tensor],
    dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None,
    *,
    func_name: str = DEFAULT_FUNCTION_NAME,
    target_cpu: str = "native",
    opt_level: int = 2,
    runtime_checks: RuntimeChecks = "values",
    when_done: Callable[[str], None] = lambda stage: None,
) -> CompiledProgram:
    """Compiles `module` for this machine, by the stages that `aot_compile` makes targets of.

    It is compiled as for inference, whatever mode it is in, and stays as it was. The program has a
    copy of its weights: what becomes of the module's own later does not change the program.
    Several threads may compile at once, the same module too. PyTorch exports one program at a time,
    so that they wait for one another there.

    Args:
      module: its `forward` takes tensors and returns a tensor, or a tuple or list of them.
      example_inputs: one tensor for each argument of `forward`.
      dynamic_shapes: which dimensions may differ, as `torch.export.export` takes it.
      func_name: the name of the compiled function.
      target_cpu: as the flag --//tools/aot:target_cpu.
      opt_level: as the flag --//tools/aot:opt_level.
      runtime_checks: as the flag --//tools/aot:runtime_checks.
      when_done: called after each stage with its name, to measure or to show progress: those of
        `STAGES` as far as "llvm_ir", then "machine_code".

    Raises:
      UserError: the program cannot be compiled; the message says what is in the way.
    """
    caller = "plumbline.compile"
    check_module(caller, "module", module)
    check_inputs(caller, "example_inputs", example_inputs)
    check_dynamic_shapes(caller, dynamic_shapes, module, example_inputs)
    check_func_name(caller, func_name)
    if not isinstance(target_cpu, str):
        raise UserError(f"{caller}: target_cpu is {target_cpu!r}; it is a string")
    if isinstance(opt_level, bool) or opt_level not in OPTIMISATION_LEVELS:
        levels = ", ".join(map(str, OPTIMISATION_LEVELS))
        raise UserError(f"{caller}: opt_level is {opt_level!r}; it is one of {levels}")
    if runtime_checks not in RUNTIME_CHECKS:
        levels = ", ".join(map(repr, RUNTIME_CHECKS))
        raise UserError(f"{caller}: runtime_checks is {runtime_checks!r}; it is one of {levels}")
    if not callable(when_done):
        raise UserError(f"{caller}: when_done is {when_done!r}; it is a function")
    who = type(module).__name__
    target = Target.for_cpu(target_cpu)
    inputs = tuple(tensor.detach().clone() for tensor in example_inputs)
    program = TorchLoaderOutput(module, inputs, dynamic_shapes, func_name)
    with for_inference(module):
        exported = export(who, program)
        exported = dataclasses.replace(exported, weights=_copies(exported.weights))
    return compile_export(
        who,
        exported,
        func_name,
        target,
        opt_level=opt_level,
        runtime_checks=runtime_checks,
        when_done=when_done,
    )


def compile_export(
    who: str,
    exported: Export,
    func_name: str,
    target: Target,
    *,
    opt_level: int = 2,
    runtime_checks: RuntimeChecks = "values",
    when_done: Callable[[str], None] = lambda stage: None,
) -> CompiledProgram:
    """The stages after the first, for a program that messages call `who`.

    Raises:
      UserError: as `compile` does.
    """
    texts = {"torch": exported.text}
    when_done("torch")
    with lent_context(torch=True) as context:
        signature = _lower(who, texts, context, func_name, target, runtime_checks, when_done)
    machine_code = emit_object(texts["llvm_ir"], target, opt_level)
    when_done("machine_code")
    data = {symbol(func_name, name): to_numpy(value) for name, value in exported.weights.items()}
    code = LinkedCode(machine_code, func_name + PACKED_SUFFIX, data)
    return CompiledProgram(signature, code, texts, target)


def _lower(
    who: str,
    texts: dict[str, str],
    context: ir.Context,
    func_name: str,
    target: Target,
    runtime_checks: RuntimeChecks,
    when_done: Callable[[str], None],
) -> Signature:
    """Adds what the stages after "torch" make of its text to `texts`, as far as LLVM IR."""
    mlir = parse_module(texts["torch"], context, who)
    convert_torch_to_tcp(mlir)
    texts["tcp"] = print_module(mlir)
    when_done("tcp")
    convert_tcp_to_linalg(mlir, runtime_checks)
    texts["linalg"] = print_module(mlir)
    when_done("linalg")
    convert_linalg_to_kernels(mlir, vector_unit_of(target))
    texts["kernels"] = print_module(mlir)
    when_done("kernels")
    signature = program_signature(mlir, func_name)
    convert_kernels_to_llvm(mlir, "pointers")
    texts["llvm"] = print_module(mlir)
    when_done("llvm")
    texts["llvm_ir"] = translate_to_llvm_ir(mlir)
    when_done("llvm_ir")
    return signature


def _copies(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copies of tensors; those that share memory, as tied weights do, become one."""
    copies: dict[tuple[object, ...], torch.Tensor] = {}
    result = {}
    for name, value in weights.items():
        key = (value.data_ptr(), value.shape, value.dtype)
        if key not in copies:
            copies[key] = value.clone()
        result[name] = copies[key]
    return result
