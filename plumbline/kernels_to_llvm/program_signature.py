"""What callers of a program need to know of it, read off its kernels."""

from torch_mlir import ir

from plumbline.c_names import c_names
from plumbline.c_signature import embedded_weight_names
from plumbline.kernels_to_llvm.result_sizes import result_sizes
from plumbline.name_attributes import noted_names
from plumbline.shape_attributes import attached
from plumbline.signature import Signature, TensorSpec
from plumbline.size_expressions import Size


def program_signature(module: ir.Module, name: str) -> Signature:
    """The signature of a public function of kernels on buffers.

    Arguments that are weights of the library are left out.

    Raises:
      UserError: a size of a result does not follow from those of the arguments.
      PassFailure: its attributes are malformed; that has been reported.
    """
    with module.context:
        function = ir.SymbolTable(module.operation)[name]
        weights = sum(weight is not None for weight in embedded_weight_names(function))
        shapes = attached(function, skipped=weights).closed()
        tensors = noted_names(function)
        result_shapes = result_sizes(function, shapes)
        return Signature(
            name,
            c_names(tensors, shapes, skipped=weights),
            tuple(
                TensorSpec(tensor.element_type, _static(sizes))
                for tensor, sizes in zip(tensors.inputs[weights:], shapes.shapes, strict=True)
            ),
            tuple(
                TensorSpec(tensor.element_type, _static(sizes))
                for tensor, sizes in zip(tensors.outputs, result_shapes, strict=True)
            ),
            shapes,
            result_shapes,
        )


def _static(sizes: tuple[Size | None, ...]) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in sizes)
