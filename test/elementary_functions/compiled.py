"""Single ops of the math dialect as compiled functions of numpy arrays."""

from collections.abc import Mapping

from torch_mlir import ir

from plumbline.context import make_context
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.library.linked_code import linked_function
from plumbline.library.native_function import NativeFunction
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.c_names import CNames
from plumbline.signature.element_type import from_name
from plumbline.signature.signature import Signature, TensorSpec
from plumbline.target.probe import vector_unit_of
from plumbline.target.target import Target


def _text(name: str, operands: int, type_: str) -> str:
    """A function `math_<name>` that does `math.<name>` to each element."""
    tensor = f"tensor<?x{type_}>"
    indices = range(operands)
    return f"""
func.func @math_{name}({", ".join(f"%x{i}: {tensor}" for i in indices)}) -> {tensor} {{
  %axis = arith.constant 0 : index
  %size = tensor.dim %x0, %axis : {tensor}
  %empty = tensor.empty(%size) : {tensor}
  %result = linalg.generic {{
      indexing_maps = [{", ".join(["affine_map<(i) -> (i)>"] * (operands + 1))}],
      iterator_types = ["parallel"]
  }} ins({", ".join(f"%x{i}" for i in indices)} : {", ".join([tensor] * operands)})
     outs(%empty : {tensor}) {{
    ^bb0({", ".join(f"%e{i}: {type_}" for i in indices)}, %old: {type_}):
      %new = math.{name} {", ".join(f"%e{i}" for i in indices)} : {type_}
      linalg.yield %new : {type_}
  }} -> {tensor}
  return %result : {tensor}
}}
"""


def llvm_ir_of(functions: Mapping[str, int], type_: str, target: Target) -> str:
    """The LLVM IR of ops, by name, for each of which is told how many operands it has."""
    text = "".join(_text(name, operands, type_) for name, operands in functions.items())
    # torch: the lowering knows ops of tm_tensor, which come with that.
    with make_context(torch=True):
        module = ir.Module.parse(text)
        convert_linalg_to_kernels(module, vector_unit_of(target))
        convert_kernels_to_llvm(module, "pointers")
        return translate_to_llvm_ir(module)


def load(llvm_ir: str, functions: Mapping[str, int], type_: str, target: Target) -> "Functions":
    """What `llvm_ir_of` gave as functions that take and give arrays of one dimension."""
    code = emit_object(llvm_ir, target)
    spec = TensorSpec(from_name(type_), (None,))
    loaded = {}
    for name, operands in functions.items():
        shapes = ArgumentShapes((), (spec.sizes,) * operands).closed()
        # As long as the first operand, which the last has to be as well.
        size = shapes.shapes[0][0]
        assert size is not None
        names = CNames(tuple(f"arg{number}" for number in range(operands)), ("out0",), ())
        signature = Signature(
            f"math_{name}", names, (spec,) * operands, (spec,), shapes, ((size,),)
        )
        loaded[name] = linked_function(code, signature)
    return loaded


Functions = dict[str, NativeFunction]
