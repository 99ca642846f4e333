"""The whole chain in one process: from a PyTorch module to a function that can be called."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch_mlir import ir

from plumbline import element_type
from plumbline.argument_shapes import ArgumentShapes
from plumbline.context import make_context
from plumbline.element_type import ElementType
from plumbline.errors import UserError
from plumbline.linalg_to_llvm.conversion import convert_linalg_to_llvm
from plumbline.linalg_to_llvm.embedded_weights import marks_of
from plumbline.llvm_to_asm.assembly import Target, emit_assembly, emit_object
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.llvm_to_asm.probe import vector_unit_of
from plumbline.loader_to_torch.export import Export, export
from plumbline.loader_to_torch.loader import TorchLoaderOutput, check_program
from plumbline.loader_to_torch.references import to_numpy
from plumbline.native_function import NativeFunction
from plumbline.reference_archive import Tensor
from plumbline.shape_attributes import from_ops
from plumbline.signature import Signature, TensorSpec
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp.shapes import DYNAMIC
from plumbline.tcp_to_linalg.conversion import RuntimeChecks, convert_tcp_to_linalg
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp
from plumbline.torch_to_tcp.torch_types import parse_tensor_type
from plumbline.weight_arguments import symbol

STAGES = ("torch", "tcp", "linalg", "llvm", "llvm_ir", "asm")
"""The stages whose texts a compiled program keeps, in order."""


class CompiledProgram:
    """A compiled PyTorch program: call it with the arguments of the module's `forward`.

    It takes torch tensors or numpy arrays of the element types and shapes in `signature`, and
    returns a tuple of results: numpy arrays if all arguments are such, else torch tensors.
    """

    def __init__(
        self,
        signature: Signature,
        function: NativeFunction,
        texts: Mapping[str, str],
        target: Target,
    ) -> None:
        self.signature = signature
        self._function = function
        self._texts = dict(texts)
        self._target = target

    @property
    def code_bytes(self) -> int:
        """The size of the machine code, as an object file."""
        return self._function.code_bytes

    @property
    def weight_bytes(self) -> int:
        """The size of the weights, which a library holds beside the machine code."""
        return self._function.data_bytes

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

    def __call__(self, *arguments: torch.Tensor | Tensor) -> tuple[Any, ...]:
        """Runs the program.

        Raises:
          UserError: an argument is missing, has another element type or shape than compiled, or a
            size outside its range or that disagrees with another.
        """
        specs = self.signature.inputs
        if len(arguments) != len(specs):
            raise UserError(
                f"{self.signature.name} takes {len(specs)} arguments, not {len(arguments)}"
            )
        arrays = []
        for index, (argument, spec) in enumerate(zip(arguments, specs, strict=True)):
            array = to_numpy(argument) if isinstance(argument, torch.Tensor) else argument
            given = element_type.from_numpy_dtype(array.dtype)
            spec.check(f"argument {index}", given.name, array.shape)
            arrays.append(array)
        self.signature.shapes.check(self.signature.name, [array.shape for array in arrays])
        results = self._function(*arrays)
        if arguments and not any(isinstance(argument, torch.Tensor) for argument in arguments):
            return results
        return tuple(
            _to_torch(result, spec.element_type)
            for result, spec in zip(results, self.signature.outputs, strict=True)
        )


def compile(  # noqa: A001 - the word that PyTorch's users expect
    module: torch.nn.Module,
    example_inputs: Sequence[torch.Tensor],
    dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None,
    *,
    func_name: str = "func_main",
    target_cpu: str = "native",
    opt_level: int = 2,
    runtime_checks: RuntimeChecks = "values",
    when_done: Callable[[str], None] = lambda stage: None,
) -> CompiledProgram:
    """Compiles `module` for this machine, by the stages that `aot_compile` makes targets of.

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
    program = TorchLoaderOutput(module, example_inputs, dynamic_shapes, func_name)
    who = type(module).__name__
    check_program(who, program)
    module.eval()
    program.inputs = tuple(tensor.detach().clone() for tensor in example_inputs)
    target = Target.for_cpu(target_cpu)
    return compile_export(
        who,
        export(who, program),
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
    mlir = parse_module(texts["torch"], make_context(torch=True), who)
    signature = _signature(mlir, func_name)
    convert_torch_to_tcp(mlir)
    texts["tcp"] = print_module(mlir)
    when_done("tcp")
    convert_tcp_to_linalg(mlir, runtime_checks)
    texts["linalg"] = print_module(mlir)
    when_done("linalg")
    convert_linalg_to_llvm(mlir, vector_unit_of(target))
    texts["llvm"] = print_module(mlir)
    when_done("llvm")
    texts["llvm_ir"] = translate_to_llvm_ir(mlir)
    when_done("llvm_ir")
    machine_code = emit_object(texts["llvm_ir"], target, opt_level)
    when_done("machine_code")
    data = {symbol(func_name, name): to_numpy(value) for name, value in exported.weights.items()}
    return CompiledProgram(signature, NativeFunction(machine_code, signature, data), texts, target)


def _signature(module: ir.Module, name: str) -> Signature:
    function = next(
        operation
        for operation in module.body.operations
        if operation.operation.name == "func.func"
        and ir.StringAttr(operation.attributes["sym_name"]).value == name
    )
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = _specs(type_.inputs)
    shapes = from_ops(function, [spec.sizes for spec in inputs])
    given = [index for index, mark in enumerate(marks_of(function)) if mark is None]
    return Signature(
        name,
        tuple(inputs[index] for index in given),
        _specs(type_.results),
        ArgumentShapes(shapes.symbols, tuple(shapes.shapes[index] for index in given)),
    )


def _specs(types: Sequence[ir.Type]) -> tuple[TensorSpec, ...]:
    specs = []
    for type_ in types:
        tensor = parse_tensor_type(type_)
        if tensor is None:
            raise UserError(f"a compiled function cannot take or return {type_}")
        sizes = tuple(None if size == DYNAMIC else size for size in tensor.sizes)
        specs.append(TensorSpec(element_type.from_mlir_signed(tensor.dtype), sizes))
    return tuple(specs)


def _to_torch(array: Tensor, type_: ElementType) -> torch.Tensor:
    if type_.name == "bf16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)
