"""The whole chain in one process: from a PyTorch module to a function that can be called."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch_mlir import ir

from plumbline import element_type
from plumbline.context import make_context
from plumbline.element_type import ElementType
from plumbline.errors import UserError
from plumbline.linalg_to_llvm.conversion import convert_linalg_to_llvm
from plumbline.linalg_to_llvm.embedded_weights import marks_of
from plumbline.llvm_to_asm.assembly import Target, emit_assembly, emit_object
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput, check_program
from plumbline.loader_to_torch.references import to_numpy
from plumbline.native_function import NativeFunction
from plumbline.reference_archive import Tensor
from plumbline.signature import Signature, TensorSpec
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp
from plumbline.torch_to_tcp.torch_types import DYNAMIC, TorchTensorType
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
          UserError: an argument is missing, or has another element type or shape than compiled.
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
) -> CompiledProgram:
    """Compiles `module` for this machine, by the stages that `aot_compile` makes targets of.

    Args:
      module: its `forward` takes tensors and returns a tensor, or a tuple or list of them.
      example_inputs: one tensor for each argument of `forward`.
      dynamic_shapes: which dimensions may differ, as `torch.export.export` takes it.
      func_name: the name of the compiled function.
      target_cpu: as the flag --//tools/aot:target_cpu.
      opt_level: as the flag --//tools/aot:opt_level.

    Raises:
      UserError: the program cannot be compiled; the message says what is in the way.
    """
    program = TorchLoaderOutput(module, example_inputs, dynamic_shapes, func_name)
    who = type(module).__name__
    check_program(who, program)
    module.eval()
    program.inputs = tuple(tensor.detach().clone() for tensor in example_inputs)
    target = Target.for_cpu(target_cpu)

    exported = export(who, program)
    texts = {"torch": exported.text}
    mlir = parse_module(texts["torch"], make_context(torch=True), who)
    signature = _signature(mlir, func_name)
    convert_torch_to_tcp(mlir)
    texts["tcp"] = print_module(mlir)
    convert_tcp_to_linalg(mlir)
    texts["linalg"] = print_module(mlir)
    convert_linalg_to_llvm(mlir)
    texts["llvm"] = print_module(mlir)
    texts["llvm_ir"] = translate_to_llvm_ir(mlir)
    machine_code = emit_object(texts["llvm_ir"], target, opt_level)
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
    given = [
        type_ for type_, mark in zip(type_.inputs, marks_of(function), strict=True) if mark is None
    ]
    return Signature(name, _specs(given), _specs(type_.results))


def _specs(types: Sequence[ir.Type]) -> tuple[TensorSpec, ...]:
    specs = []
    for type_ in types:
        tensor = TorchTensorType.parse(type_)
        if tensor is None:
            raise UserError(f"a compiled function cannot take or return {type_}")
        sizes = tuple(None if size == DYNAMIC else size for size in tensor.sizes)
        specs.append(TensorSpec(element_type.from_torch_dialect(tensor.dtype), sizes))
    return tuple(specs)


def _to_torch(array: Tensor, type_: ElementType) -> torch.Tensor:
    if type_.name == "bf16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)
