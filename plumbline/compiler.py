"""The whole chain in one process: from a PyTorch module to a function that can be called."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch_mlir import ir

from plumbline.choices import OPTIMISATION_LEVELS, RUNTIME_CHECKS, RuntimeChecks
from plumbline.context import lent_context
from plumbline.errors import UserError
from plumbline.function_name import DEFAULT_FUNCTION_NAME, PACKED_SUFFIX
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.kernels_to_llvm.program_signature import program_signature
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.linked_code import LinkedCode
from plumbline.llvm_to_asm.assembly import (
    Target,
    emit_assembly,
    emit_object,
)
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.llvm_to_asm.probe import vector_unit_of
from plumbline.llvm_to_asm.weights import embedded_weights
from plumbline.loader_to_torch.export import Export, export
from plumbline.loader_to_torch.loader import (
    Mutation,
    TorchLoaderOutput,
    check_dynamic_shapes,
    check_func_name,
    check_inputs,
    check_module,
    check_mutation,
    with_flat_inputs,
)
from plumbline.loader_to_torch.references import to_numpy
from plumbline.loader_to_torch.state import state_of, with_mutations_returned
from plumbline.loader_to_torch.structure import Nested
from plumbline.native_function import NativeFunction
from plumbline.reference_archive import Tensor
from plumbline.signature import Signature
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg
from plumbline.threads import check_threads
from plumbline.torch_arguments import give
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp

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
        self.state: dict[str, torch.Tensor] = {}
        """The first values of the arguments after the module's own, where it writes in place into
        buffers or parameters and was compiled with `mutation = "return"`."""
        self.nested: Nested | None = None
        """What takes tensors out of the arguments, where those were nested when it was compiled."""
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

    def __call__(self, *arguments: Any, out: Any = None) -> tuple[Any, ...]:
        """Runs the program, as `NativeFunction` does, on arguments nested as the example inputs."""
        if self.nested is not None:
            own = arguments[: self.nested.count]
            arguments = (
                *self.nested.flattened("what the program is given", own),
                *arguments[self.nested.count :],
            )
        return super().__call__(*arguments, out=out)


def compile(  # noqa: A001 - the word that PyTorch's users expect
    module: torch.nn.Module,
    example_inputs: Sequence[Any],
    dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None,
    *,
    func_name: str = DEFAULT_FUNCTION_NAME,
    target_cpu: str = "native",
    opt_level: int = 2,
    runtime_checks: RuntimeChecks = "values",
    mutation: Mutation = "refuse",
    threads: int = 1,
    when_done: Callable[[str], None] = lambda stage: None,
) -> CompiledProgram:
    """Compiles `module` for this machine, by the stages that `aot_compile` makes targets of.

    It is compiled in the mode that it is in, and stays as it was. For inference that is
    `module.eval()`; in training mode, layers that draw random numbers are refused, and so are those
    that write running statistics, unless `mutation` says otherwise. The program has a copy of its
    weights: what becomes of the module's own later does not change the program.
    Several threads may compile at once, the same module too. PyTorch exports one program at a time,
    so that they wait for one another there.

    Args:
      module: its `forward` takes and returns tensors, also in tuples, lists and dicts, which count
        as the tensors in them, in order; a None counts as nothing.
      example_inputs: one tensor for each argument of `forward`.
      dynamic_shapes: which dimensions may differ, as `torch.export.export` takes it.
      func_name: the name of the compiled function.
      target_cpu: as the flag --//tools/aot:target_cpu.
      opt_level: as the flag --//tools/aot:opt_level.
      runtime_checks: as the flag --//tools/aot:runtime_checks.
      mutation: what becomes of a module that writes in place into its arguments, buffers or
        parameters: it is refused, or with "return" the new values are results after its own, and
        the buffers and parameters arguments after its own, of which the program's `state` has the
        values that they are to begin with.
      threads: how many threads each call runs on, unless the environment variable PLUMBLINE_THREADS
        says another number as the program is first called. For 1 all runs on the caller's thread,
        whatever the environment says.
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
    check_mutation(caller, mutation)
    check_threads(caller, threads)
    if not callable(when_done):
        raise UserError(f"{caller}: when_done is {when_done!r}; it is a function")
    who = type(module).__name__
    target = Target.for_cpu(target_cpu)
    given = TorchLoaderOutput(module, example_inputs, dynamic_shapes, func_name, mutation=mutation)
    flat = with_flat_inputs(caller, given)
    flat.inputs = tuple(tensor.detach().clone() for tensor in flat.inputs)
    program = with_mutations_returned(who, flat)
    exported = export(who, program)
    compiled = compile_export(
        who,
        exported,
        func_name,
        target,
        opt_level=opt_level,
        runtime_checks=runtime_checks,
        threads=threads,
        when_done=when_done,
    )
    compiled.state.update(state_of(program))
    if isinstance(flat.model, Nested):
        compiled.nested = flat.model
    return compiled


def compile_export(
    who: str,
    exported: Export,
    func_name: str,
    target: Target,
    *,
    opt_level: int = 2,
    runtime_checks: RuntimeChecks = "values",
    threads: int = 1,
    when_done: Callable[[str], None] = lambda stage: None,
) -> CompiledProgram:
    """The stages after the first, for a program that messages call `who`.

    Raises:
      UserError: as `compile` does.
    """
    texts = {"torch": exported.text}
    when_done("torch")
    with lent_context(torch=True) as context:
        signature = _lower(
            who, texts, context, func_name, target, runtime_checks, threads, when_done
        )
    machine_code = emit_object(texts["llvm_ir"], target, opt_level)
    when_done("machine_code")
    data = _data(texts["llvm_ir"], exported.weights)
    code = LinkedCode(machine_code, func_name + PACKED_SUFFIX, data)
    return CompiledProgram(signature, code, texts, target)


def _lower(
    who: str,
    texts: dict[str, str],
    context: ir.Context,
    func_name: str,
    target: Target,
    runtime_checks: RuntimeChecks,
    threads: int,
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
    convert_linalg_to_kernels(mlir, vector_unit_of(target), threads)
    texts["kernels"] = print_module(mlir)
    when_done("kernels")
    signature = program_signature(mlir, func_name)
    convert_kernels_to_llvm(mlir, "pointers")
    texts["llvm"] = print_module(mlir)
    when_done("llvm")
    texts["llvm_ir"] = translate_to_llvm_ir(mlir)
    when_done("llvm_ir")
    return signature


def _data(llvm_ir: str, weights: Mapping[str, torch.Tensor]) -> dict[str, Tensor]:
    """What the symbols of weights stand for: copies, of which equal ones are one."""
    copies: dict[tuple[object, ...], Tensor] = {}
    data = {}
    for symbol, weight in embedded_weights(llvm_ir):
        value = weights[weight.name]
        # Tied weights share memory.
        key = (value.data_ptr(), value.shape, value.dtype, weight.layout)
        if key not in copies:
            array = to_numpy(value)
            copies[key] = array.copy() if weight.layout is None else weight.layout.pack(array)
        data[symbol] = copies[key]
    return data
