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
from plumbline.stablehlo_to_tcp.pattern import Patterns, recast, tensor, tensor_type
from plumbline.stablehlo_to_tcp.torch_functions import TcpFunction, inlined, lowered
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.complex_numbers.parts import Pair, as_tensor, is_complex, part_type
from plumbline.tcp.complex_numbers.splitting import Replacement, Splitting
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
_REAL, _COMPLEX = "sd", "cz"
"""The letters of real and of complex element types."""

_CONFIGS = ("backend_config", "mhlo.backend_config")

_NONE = "TCP has no op for it"
_LEFT = "it gives eigenvectors from the left: compute those of the adjoint"


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
    name, options, count = _call(op.operation, target)
    if any(is_complex(value.type) for value in (*op.operands, *op.results)):
        raise Unsupported(f"'{target}' of complex numbers in tensors of such sizes")
    operands = [tensor(value) for value in list(op.operands)[:count]]
    return _computed(target, name, options, operands, [*map(tensor_type, op.results)])


def convert_complex_routine(splitting: Splitting, op: ir.Operation) -> Replacement:
    """The same where an operand or a result is of complex numbers.

    Raises:
      Unsupported: as above, or it is the call of something else.
    """
    target = ir.StringAttr(op.attributes["call_target_name"]).value
    if not target.startswith(PREFIX):
        raise Unsupported(f"'{target}' of complex numbers")
    name, options, count = _call(op, target)
    given = list(op.operands)[:count]
    parts = [
        [as_tensor(part) for part in splitting.pair(value)]
        if is_complex(value.type)
        else [as_tensor(value)]
        for value in given
    ]
    made = _values(target, name, options, parts)
    values = iter(made.values)
    replaced: list[ir.Value | Pair] = []
    for number, result in enumerate(op.results):
        type_ = part_type(result.type)
        count = 1 + is_complex(result.type)
        if number in made.results:
            found = [recast(next(values), type_) for _ in range(count)]
        else:
            found = [_anything(_tensor_type(type_)) for _ in range(count)]
        replaced.append((found[0], found[1]) if is_complex(result.type) else found[0])
    return replaced


def _call(op: ir.Operation, target: str) -> tuple[str, dict[str, str], int]:
    """The routine that a call is for, what it is asked for, and of how many operands.

    Raises:
      Unsupported: there is no program of PyTorch's for it.
    """
    # Imports PyTorch, which few programs need.
    from plumbline.loader_to_torch.lapack_routines import OF_COMPLEX, ROUTINES

    letter, name = target[len(PREFIX)], target[len(PREFIX) + 1 :].removesuffix(_SUFFIX)
    if letter in _COMPLEX:
        name = OF_COMPLEX.get(name, name)
    if letter not in _REAL + _COMPLEX or name not in ROUTINES:
        raise Unsupported(f"'{target}', which JAX has LAPACK do; {_NONE}")
    options = _options(op)
    if options.pop("compute_left", "N") == "V":
        raise Unsupported(f"'{target}', which JAX has LAPACK do; {_LEFT}")
    if missing := [each for each in ROUTINES[name].options if each not in options]:
        raise Unsupported(f"'{target}' without {', '.join(missing)}, which it is to be told")
    vectors = ROUTINES[name].vectors
    if vectors and not any(_is_needed(op.results[number]) for number in vectors):
        options["mode"] = "N"
    # Sizes of results follow, where they are dynamic.
    count = len(ROUTINES[name].operands)
    if len(op.operands) < count:
        raise Unsupported(f"'{target}' of {len(op.operands)} operands, where it takes {count}")
    return name, options, count


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


def _options(op: ir.Operation) -> dict[str, str]:
    """What a routine is asked for: JAX has LAPACK's letters as their codes."""
    options = {}
    for config in _CONFIGS:
        if config in op.attributes and isinstance(op.attributes[config], ir.DictAttr):
            for named in ir.DictAttr(op.attributes[config]):
                if isinstance(named.attr, ir.IntegerAttr):
                    options[named.name] = chr(ir.IntegerAttr(named.attr).value)
    return options


def _tensor_type(type_: ir.RankedTensorType) -> TensorType:
    return TensorType(tuple(type_.shape), str(type_.element_type))


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
    found = _values(who, name, options, [[operand] for operand in operands])
    made = dict(zip(found.results, found.values, strict=True))
    tensors = []
    for number, type_ in enumerate(results):
        value = made.get(number) or _anything(type_)
        tensors.append(Tensor(value, TensorType(tuple(value.type.shape), type_.dtype)))
    return tensors


@dataclass(frozen=True)
class _Found:
    results: tuple[int, ...]
    """The numbers of LAPACK's results that there are."""
    values: list[ir.Value]
    """Them, of complex ones both parts."""


def _values(
    who: str, name: str, options: Mapping[str, str], operands: Sequence[Sequence[Tensor]]
) -> _Found:
    """What a routine, which messages call `who`, makes of operands: tensors, or two parts of each.

    Raises:
      Unsupported: PyTorch has none for these operands and options.
    """
    types = tuple((operand[0].type, len(operand) > 1) for operand in operands)
    try:
        routine = _routine(name, frozenset(options.items()), types)
    except UserError as error:
        raise Unsupported(f"'{who}' of such operands: {error}") from error
    for number in routine.square:
        _assert_square(who, operands[number][0])
    given = [part for operand in operands for part in operand]
    return _Found(routine.results, inlined(who, routine.function, given))


@functools.cache
def _routine(
    name: str,
    options: frozenset[tuple[str, str]],
    operands: tuple[tuple[TensorType, bool], ...],
) -> _Routine:
    """The function of TCP that does a routine's work for operands of these types.

    Of complex ones, which are marked, it takes both parts, of the type.

    Raises:
      UserError: PyTorch's program cannot be exported for them, or lowered.
    """
    from plumbline.loader_to_torch.lapack_routines import Operand, exported_routine

    given = tuple(
        Operand(
            tuple(None if size == DYNAMIC else size for size in operand.sizes),
            from_mlir_signed(operand.dtype).torch_name,
            is_complex,
        )
        for operand, is_complex in operands
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
