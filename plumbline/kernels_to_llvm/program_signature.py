"""What callers of a program need to know of it, read off its kernels."""

from torch_mlir import ir

from plumbline.kernels_to_llvm.device_workspace import allocate_by_memrefs
from plumbline.kernels_to_llvm.parallel_loops import outline_parallel_loops
from plumbline.kernels_to_llvm.result_arguments import take_results_as_arguments
from plumbline.kernels_to_llvm.result_sizes import ResultSizes, result_sizes
from plumbline.kernels_to_llvm.workspace import workspace_of
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.c_names import c_names
from plumbline.signature.c_signature import embedded_weights
from plumbline.signature.device_tensors import has_device_tensors
from plumbline.signature.inout_arguments import inout_arguments
from plumbline.signature.name_attributes import noted_names
from plumbline.signature.shape_attributes import attached
from plumbline.signature.signature import Signature, TensorSpec, Workspace
from plumbline.signature.size_expressions import Size
from plumbline.signature.tensor_names import shapes_of_elements
from plumbline.signature.unbacked_size import without_unbacked


def program_signature(
    module: ir.Module,
    name: str,
    memory: str = "malloc",
    weights_are: str = "embedded",
    queue: str = "own",
    *,
    bounded: bool = True,
) -> Signature:
    """The signature of a public function of kernels on buffers, or of launches on a GPU.

    Arguments that are weights of the library are left out. `memory` is one of `choices.MEMORIES`,
    `weights_are` one of `choices.WEIGHTS`, and `queue` one of `choices.QUEUES`.
    Whoever brings memory for results needs them to be `bounded`.

    Raises:
      UserError: a size of a result neither follows from those of the arguments nor is bounded by
        them, where it is to be; or, for a pool, a size of a temporary.
      PassFailure: its attributes are malformed; that has been reported.
    """
    with module.context:
        function = ir.SymbolTable(module.operation)[name]
        weights = sum(weight is not None for weight in embedded_weights(function))
        shapes = attached(function, skipped=weights).closed()
        tensors = noted_names(function)
        counted = shapes_of_elements(tensors.inputs[weights:], shapes.shapes)
        results = result_sizes(function, shapes, bounded=bounded)
        result_shapes = shapes_of_elements(tensors.outputs, results.shapes)
        return Signature(
            name,
            c_names(tensors, shapes, weights, results.unbacked),
            tuple(
                TensorSpec(tensor.element_type, _static(sizes), tensor.is_scalar)
                for tensor, sizes in zip(tensors.inputs[weights:], counted, strict=True)
            ),
            tuple(
                TensorSpec(
                    tensor.element_type,
                    without_unbacked(number, _static(sizes), results.unbacked),
                    tensor.is_scalar,
                )
                for number, (tensor, sizes) in enumerate(
                    zip(tensors.outputs, result_shapes, strict=True)
                )
            ),
            ArgumentShapes(shapes.symbols, counted),
            result_shapes,
            _workspace(module, name, shapes, results) if memory == "pool" else None,
            tuple(argument - weights for argument in inout_arguments(function)),
            weights > 0 and weights_are == "file",
            has_device_tensors(function),
            queue == "stream",
            results.unbacked,
        )


def _workspace(
    module: ir.Module, name: str, shapes: ArgumentShapes, results: ResultSizes
) -> Workspace:
    # A copy: the module stays as it is.
    copy = module.operation.clone().operation
    outline_parallel_loops(copy)
    allocate_by_memrefs(copy)
    function = ir.SymbolTable(copy)[name]
    with function.location:
        take_results_as_arguments(function, results.unbacked)
        return workspace_of(function, shapes, len(results.shapes))


def _static(sizes: tuple[Size | None, ...]) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in sizes)
