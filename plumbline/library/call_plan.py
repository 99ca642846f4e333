"""What of a call follows from the shapes of its arguments: whether they fit, and what it needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plumbline.archives.reference_archive import Tensor
from plumbline.library.new_arrays import byte_count, maker_of
from plumbline.library.tensor_arguments import Parameter
from plumbline.signature.signature import Signature
from plumbline.signature.size_expressions import evaluate

Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class CallPlan:
    """Of all calls with arguments of certain shapes."""

    shapes: Shapes
    """Of the arguments."""
    argument_bytes: tuple[int, ...]
    """Of each argument; none of a number, which has no memory."""
    result_shapes: Shapes
    """Of sizes that depend on values, the most that they may be; 0 where nothing bounds them."""
    result_bytes: tuple[int, ...]
    new_results: tuple[Callable[[], Tensor], ...]
    """Makes an array for each result."""
    sizes: tuple[int, ...]
    """The values of the symbols."""
    workspace: int | None
    """The bytes of the workspace, where there is one."""


def plan_call(
    signature: Signature,
    parameters: Sequence[Parameter],
    results: Sequence[Parameter],
    shapes: Shapes,
) -> CallPlan:
    """Plans a call of a program, which has `parameters` and `results`.

    Raises:
      UserError: the shapes are not those that the program takes.
    """
    for parameter, shape in zip(parameters, shapes, strict=True):
        parameter.spec.check(parameter.name, parameter.spec.element_type.name, shape)
    signature.shapes.check(signature.name, shapes)
    values = signature.shapes.solve(shapes)
    result_shapes = [
        tuple(0 if size is None else evaluate(size, values) or 0 for size in sizes)
        for sizes in signature.result_shapes
    ]
    memory = signature.workspace
    return CallPlan(
        shapes,
        tuple(
            0 if parameter.spec.is_scalar else byte_count(shape, parameter.dtype)
            for parameter, shape in zip(parameters, shapes, strict=True)
        ),
        tuple(result_shapes),
        tuple(
            byte_count(shape, result.dtype)
            for shape, result in zip(result_shapes, results, strict=True)
        ),
        tuple(
            maker_of(shape, result.dtype, result.spec.order)
            for shape, result in zip(result_shapes, results, strict=True)
        ),
        tuple(values[index] for index in sorted(values)),
        None if memory is None else evaluate(memory.bytes, values),
    )
