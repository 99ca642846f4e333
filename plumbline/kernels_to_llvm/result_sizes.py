"""How large the results of a program are, as its caller needs to know who brings their memory."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.bindings.walk import defining_operation
from plumbline.errors import UserError
from plumbline.errors.location import located
from plumbline.kernels_to_llvm.size_bounds import SizeBoundReader
from plumbline.kernels_to_llvm.size_reader import SizeReader, UnknownSize, returned
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.size_expressions import Size
from plumbline.signature.unbacked_size import UnbackedSize


@dataclass(frozen=True)
class ResultSizes:
    """The sizes of all results of a function, as expressions of those of its arguments."""

    shapes: tuple[tuple[Size | None, ...], ...]
    """Of those in `unbacked`, the most that they may be; None where nothing bounds one."""
    unbacked: tuple[UnbackedSize, ...]
    """Those that depend on values."""


def result_sizes(
    function: ir.OpView, shapes: ArgumentShapes, *, bounded: bool = True
) -> ResultSizes:
    """The sizes of the results of a public `func.func` on memrefs, whose arguments have `shapes`.

    Raises:
      UserError: one neither follows from those of the arguments, nor is bounded by them, where they
        are to be `bounded`.
    """
    known = argument_sizes(function, shapes)
    exact = SizeReader(function, known, shapes)
    bounds = SizeBoundReader(function, known, shapes)
    sizes: list[tuple[Size | None, ...]] = []
    unbacked = []
    for number, result in enumerate(returned(function)):
        own: list[Size | None] = []
        for axis in range(result.type.rank):
            try:
                own.append(exact.of_dimension(result, axis))
                continue
            except UnknownSize:
                unbacked.append(UnbackedSize(number, axis))
            try:
                own.append(bounds.of_dimension(result, axis))
            except UnknownSize as unknown:
                if not bounded:
                    own.append(None)
                    continue
                raise UserError(_without_bound(function, number, result, unknown)) from None
        sizes.append(tuple(own))
    return ResultSizes(tuple(sizes), tuple(unbacked))


def _without_bound(function: ir.OpView, number: int, result: ir.Value, unknown: UnknownSize) -> str:
    name = ir.StringAttr(function.attributes["sym_name"]).value
    owner = defining_operation(result)
    message = (
        f"func.func @{name}: the sizes of result {number} do not follow from those of the "
        f"arguments by a formula ({unknown}), nor are they bounded by one, so that no caller can "
        "bring memory for it: where values decide how large it is, say how large that can be, with "
        'torch._check(n <= 64), or have aot_compile take abi = "memref", whose results are memory '
        "of the program's"
    )
    return message if owner is None else located(owner.location, message)


def argument_sizes(function: ir.OpView, shapes: ArgumentShapes) -> list[Sequence[Size | None]]:
    """What is known of the sizes of all arguments, of which the first may be weights.

    The others have `shapes`.
    """
    arguments = list(function.regions[0].blocks[0].arguments)
    weights = len(arguments) - len(shapes.shapes)
    return [*(list(argument.type.shape) for argument in arguments[:weights]), *shapes.shapes]
