"""Linear algebra: what JAX has LAPACK do on a CPU, and StableHLO's own ops of its kind.

Programs of PyTorch have all of it, made of other ops. Here such a program is exported for the
operands at hand and lowered to TCP, and stands in the place of the op.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir

# The wheel has no public module for it.
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir.dialects import arith, cf
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.bindings.pipeline import Pipeline
from plumbline.bindings.walk import operations_of
from plumbline.context import lent_context
from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.signature.c_signature import functions_with_bodies
from plumbline.signature.element_type import from_mlir_signed
from plumbline.stablehlo_to_tcp.pattern import Patterns, tensor, tensor_type
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.dialect import NAMESPACE
from plumbline.tcp.ops.symbolic_shape import BindSymbolicShapeOp
from plumbline.tcp.shapes import DYNAMIC
from plumbline.tcp.transforms.drop_symbolic_shape_ops import DROP_SYMBOLIC_SHAPE_OPS
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp

PREFIX = "lapack_"
"""How JAX's names for LAPACK's routines begin; the letter of an element type follows."""

_SUFFIX = "_ffi"
_LETTERS = {"s": "f32", "d": "f64"}
_CONFIGS = ("backend_config", "mhlo.backend_config")
_WITHOUT_LIMIT = 2**63 - 1

_NONE = "TCP has no op for it"
_COMPLEX = "it is of complex numbers, of which TCP has none; compute it of real matrices"


@dataclass(frozen=True)
class _Size:
    """A size that a function is for some values of, as its first operand to have it does."""

    operand: int
    axis: int
    least: int
    most: int


@dataclass(frozen=True)
class _Function:
    text: str
    """In TCP."""
    results: tuple[int, ...]
    """Which of LAPACK's results it has."""
    sizes: tuple[_Size, ...]
    square: tuple[int, ...]
    """The operands that it takes for square matrices."""


def convert_routine(op: ir.OpView, target: str) -> list[Tensor]:
    """A custom call of JAX's for a routine of LAPACK's, which begins with `PREFIX`.

    Raises:
      Unsupported: there is no program of PyTorch's for it.
    """
    # Imports PyTorch, which few programs need.
    from plumbline.loader_to_torch.lapack_routines import ROUTINES

    letter, name = target[len(PREFIX)], target[len(PREFIX) + 1 :].removesuffix(_SUFFIX)
    if letter not in _LETTERS or name not in ROUTINES:
        reason = _COMPLEX if letter in ("c", "z") else _NONE
        raise Unsupported(f"'{target}', which JAX has LAPACK do; {reason}")
    options = _options(op)
    if missing := [each for each in ROUTINES[name].options if each not in options]:
        raise Unsupported(f"'{target}' without {', '.join(missing)}, which it is to be told")
    vectors = ROUTINES[name].vectors
    if vectors and not any(_is_needed(op.results[number]) for number in vectors):
        options["mode"] = "N"
    # Sizes of results follow, where they are dynamic.
    count = len(ROUTINES[name].operands)
    if len(op.operands) < count:
        raise Unsupported(f"'{target}' of {len(op.operands)} operands, where it takes {count}")
    operands = [tensor(value) for value in list(op.operands)[:count]]
    return _computed(target, name, options, operands, [*map(tensor_type, op.results)])


def convert_cholesky(op: ir.OpView) -> list[Tensor]:
    """The lower factor of symmetric matrices, or its transpose."""
    operand = tensor(op.operands[0])
    lower = "lower" in op.attributes and ir.BoolAttr(op.attributes["lower"]).value
    options = {"uplo": "L" if lower else "U"}
    info = TensorType(operand.type.sizes[:-2], "si32")
    return _computed("cholesky", "potrf", options, [operand], [operand.type, info])[:1]


def convert_triangular_solve(op: ir.OpView) -> list[Tensor]:
    """X of A X = B or X A = B, of one triangle of A."""
    operands = [tensor(operand) for operand in op.operands]
    transposition = str(_stablehlo.TransposeAttr(op.attributes["transpose_a"]).value)

    def is_set(name: str) -> bool:
        return bool(ir.BoolAttr(op.attributes[name]).value)

    options = {
        "diag": "U" if is_set("unit_diagonal") else "N",
        "side": "L" if is_set("left_side") else "R",
        "trans_x": "N" if transposition == "NO_TRANSPOSE" else "T",
        "uplo": "L" if is_set("lower") else "U",
    }
    return _computed("triangular_solve", "trsm", options, operands, [operands[1].type])


def _options(op: ir.OpView) -> dict[str, str]:
    """What a routine is asked for: JAX has LAPACK's letters as their codes."""
    options = {}
    for config in _CONFIGS:
        if config in op.attributes and isinstance(op.attributes[config], ir.DictAttr):
            for named in ir.DictAttr(op.attributes[config]):
                if isinstance(named.attr, ir.IntegerAttr):
                    options[named.name] = chr(ir.IntegerAttr(named.attr).value)
    return options


def _is_needed(value: ir.Value) -> bool:
    """Whether something comes of a value that is not thrown away."""
    return any(
        not use.owner.results or any(map(_is_needed, use.owner.results)) for use in value.uses
    )


def _computed(
    who: str,
    name: str,
    options: Mapping[str, str],
    operands: Sequence[Tensor],
    results: Sequence[TensorType],
) -> list[Tensor]:
    """The results of a routine, which messages call `who`: those that it has not are of any value.

    Raises:
      Unsupported: PyTorch has none for these operands and options.
    """
    types = tuple(operand.type for operand in operands)
    try:
        function = _function(name, frozenset(options.items()), types)
    except UserError as error:
        raise Unsupported(f"'{who}' of such operands: {error}") from error
    for size in function.sizes:
        _assert_size(who, operands[size.operand], size)
    for number in function.square:
        _assert_square(who, operands[number])
    made = dict(zip(function.results, _inlined(who, function, operands), strict=True))
    tensors = []
    for number, type_ in enumerate(results):
        value = made.get(number) or _anything(type_)
        tensors.append(Tensor(value, TensorType(tuple(value.type.shape), type_.dtype)))
    return tensors


@functools.cache
def _function(
    name: str, options: frozenset[tuple[str, str]], operands: tuple[TensorType, ...]
) -> _Function:
    """The function of TCP that does a routine's work for operands of these types.

    Raises:
      UserError: PyTorch's program cannot be exported for them, or lowered.
    """
    from plumbline.loader_to_torch.lapack_routines import Operand, exported_routine

    given = tuple(
        Operand(
            tuple(None if size == DYNAMIC else size for size in operand.sizes),
            from_mlir_signed(operand.dtype).torch_name,
        )
        for operand in operands
    )
    exported = exported_routine(name, options, given)
    with lent_context(torch=True) as context:
        module = parse_module(exported.text, context, name)
        convert_torch_to_tcp(module)
        sizes = tuple(_sizes(module.operation))
        Pipeline("drop-symbolic-shape-ops-of-routines", (DROP_SYMBOLIC_SHAPE_OPS,)).run(module)
        text = print_module(module, is_verified=True)
        # A context is lent again with no module in it alone.
        del module
    return _Function(text, exported.results, sizes, exported.square)


def _sizes(module: ir.Operation) -> Iterator[_Size]:
    """The sizes of operands that the function of a module is for some values of alone."""
    (function,) = functions_with_bodies(module, "func.func", public=True)
    numbers = {
        value: number for number, value in enumerate(function.regions[0].blocks[0].arguments)
    }
    seen = set()
    for op in operations_of(module, NAMESPACE):
        if op.name != BindSymbolicShapeOp.OPERATION_NAME or op.operands[0] not in numbers:
            continue
        operand, *symbols = op.operands
        expressions = ir.AffineMapAttr(op.attributes["shape_expressions"]).value
        for axis, expression in enumerate(expressions.results):
            if not isinstance(expression, ir.AffineSymbolExpr):
                continue
            symbol = symbols[expression.position].owner
            least, most = (
                ir.IntegerAttr(symbol.attributes[limit]).value for limit in ("min_val", "max_val")
            )
            # Programs of JAX have sizes of 1 and more.
            if symbol not in seen and (least > 1 or most < _WITHOUT_LIMIT):
                yield _Size(numbers[operand], axis, least, most)
            seen.add(symbol)


def _assert_square(who: str, operand: Tensor) -> None:
    rows, columns = (size_arithmetic.of(operand, operand.type.rank - back) for back in (2, 1))
    holds = arith.cmpi(arith.CmpIPredicate.eq, rows, columns)
    cf.AssertOp(holds, f"{who}: its matrix has to be square, as no size of it is known")


def _assert_size(who: str, operand: Tensor, size: _Size) -> None:
    """Asserts that a size is one that the function is for."""
    index = ir.IndexType.get()
    given = size_arithmetic.of(operand, size.axis)
    for predicate, limit, words in (
        (arith.CmpIPredicate.sge, size.least, "at least"),
        (arith.CmpIPredicate.sle, size.most, "at most"),
    ):
        if limit < _WITHOUT_LIMIT:
            holds = arith.cmpi(predicate, given, arith.constant(index, limit))
            cf.AssertOp(
                holds, f"{who}: dimension {size.axis} of its matrix has to be {words} {limit}"
            )


def _inlined(who: str, function: _Function, operands: Sequence[Tensor]) -> list[ir.Value]:
    """What the function makes of the operands, by its ops before the one that is converted."""
    place = ir.InsertionPoint.current
    module = parse_module(function.text, place.block.owner.context, who)
    (inner,) = functions_with_bodies(module, "func.func", public=True)
    block = inner.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, operands, strict=True):
        value, type_ = operand.value, argument.type
        argument.replace_all_uses_with(
            value if value.type == type_ else tensor_dialect.cast(type_, value)
        )
    *ops, end = block.operations
    results = list(end.operands)
    for op in ops:
        op.operation.move_before(place.ref_operation)
    return results


def _anything(type_: TensorType) -> ir.Value:
    """A tensor that nobody reads."""
    nothing = arith.constant(ir.IndexType.get(), 0)
    builtin = type_.builtin()
    sizes = [nothing if size == DYNAMIC else size for size in type_.sizes]
    return tensor_dialect.empty(sizes, builtin.element_type)


PATTERNS: Patterns = {
    "stablehlo.cholesky": convert_cholesky,
    "stablehlo.triangular_solve": convert_triangular_solve,
}
