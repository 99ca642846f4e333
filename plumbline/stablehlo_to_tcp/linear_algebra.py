"""Linear algebra: what JAX has LAPACK do on a CPU, and StableHLO's own ops of its kind.

Functions of PyTorch's do it (`torch_functions.py`).
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir

# The wheel has no public module for it.
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir.dialects import arith, cf
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.signature.element_type import from_mlir_signed
from plumbline.stablehlo_to_tcp.pattern import Patterns, tensor, tensor_type
from plumbline.stablehlo_to_tcp.torch_functions import TcpFunction, inlined, lowered
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.shapes import DYNAMIC

PREFIX = "lapack_"
"""How JAX's names for LAPACK's routines begin; the letter of an element type follows."""

OF_XLA = {
    "Eigh": "syevd",
    "ProductOfElementaryHouseholderReflectors": "orgqr",
    "Qr": "geqrf",
}
"""XLA's own calls, as programs of TensorFlow have them, and LAPACK's name for what they compute."""

_SUFFIX = "_ffi"
_LETTERS = {"s": "f32", "d": "f64"}
_CONFIGS = ("backend_config", "mhlo.backend_config")

_NONE = "TCP has no op for it"
_COMPLEX = "it is of complex numbers, of which TCP has none; compute it of real matrices"


@dataclass(frozen=True)
class _Routine:
    function: TcpFunction
    results: tuple[int, ...]
    """Which of LAPACK's results it has."""
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


def convert_factorization(op: ir.OpView, target: str) -> list[Tensor]:
    """One of XLA's own calls, of `OF_XLA`, which has the first of LAPACK's operands and results.

    Raises:
      Unsupported: there is no program of PyTorch's for it.
    """
    options = {}
    if target == "Eigh":
        # Whether it reads the lower triangle, whether values rise, and how iterations end.
        lower, rises, *_ = ir.StringAttr(op.attributes["backend_config"]).value.split(",")
        if rises != "1":
            raise Unsupported("'Eigh' of values in any order; have it sort them")
        options = {"mode": "V", "uplo": "L" if lower == "1" else "U"}
        if not _is_needed(op.results[0]):
            options["mode"] = "N"
    operands = [tensor(operand) for operand in op.operands]
    return _computed(target, OF_XLA[target], options, operands, [*map(tensor_type, op.results)])


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
        routine = _routine(name, frozenset(options.items()), types)
    except UserError as error:
        raise Unsupported(f"'{who}' of such operands: {error}") from error
    for number in routine.square:
        _assert_square(who, operands[number])
    values = inlined(who, routine.function, operands)
    made = dict(zip(routine.results, values, strict=True))
    tensors = []
    for number, type_ in enumerate(results):
        value = made.get(number) or _anything(type_)
        tensors.append(Tensor(value, TensorType(tuple(value.type.shape), type_.dtype)))
    return tensors


@functools.cache
def _routine(
    name: str, options: frozenset[tuple[str, str]], operands: tuple[TensorType, ...]
) -> _Routine:
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
    return _Routine(lowered(exported.function, name), exported.results, exported.square)


def _assert_square(who: str, operand: Tensor) -> None:
    rows, columns = (size_arithmetic.of(operand, operand.type.rank - back) for back in (2, 1))
    holds = arith.cmpi(arith.CmpIPredicate.eq, rows, columns)
    cf.AssertOp(holds, f"{who}: its matrix has to be square, as no size of it is known")


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
