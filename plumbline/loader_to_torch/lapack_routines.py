"""LAPACK's routines by functions of PyTorch's, as JAX has them done on a CPU.

Operands and results are those of JAX's custom calls, with dimensions of a batch before those of
matrices; of an operand that LAPACK writes in place, what it leaves there is a result. Results that
say whether it went well do so in its way, as far as PyTorch's do; those of iterations, which always
come to an end here, are 0. Complex numbers are taken and given as two tensors, of their parts.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._higher_order_ops.scan import scan
from torch.export import Dim

from plumbline.loader_to_torch.exported_function import ExportedFunction, exported_function

Options = Mapping[str, str]
"""What a routine is asked for, as LAPACK says it: a letter each, and T or F for what is or not."""

_Results = tuple[torch.Tensor, ...]

_EXAMPLES = {"m": 7, "n": 5, "k": 3, "l": 2}
"""Sizes for what is dynamic as a routine is exported, by the letters that LAPACK has for them."""

_BATCH = 4
"""The same for a dimension of a batch."""


@dataclass(frozen=True)
class Operand:
    """A tensor that a routine is given."""

    sizes: tuple[int | None, ...]
    """None where they are dynamic."""
    dtype: str
    """As PyTorch calls it: "float32"; of complex numbers that of their parts."""
    is_complex: bool = False


@dataclass(frozen=True)
class Routine:
    """What LAPACK does under a name, which leaves out the letter that says of which numbers."""

    compute: Callable[..., _Results]
    """It takes the options, then the operands, and gives the results that are asked for."""
    operands: tuple[str, ...]
    """The letters of the last sizes of each."""
    results: tuple[int, ...]
    """The numbers of those of LAPACK's that may be asked for."""
    options: tuple[str, ...] = ()
    """What it has to be told."""
    on_the_right: tuple[str, ...] = ()
    """The same where the matrix stands on the right of what it is multiplied with."""
    vectors: tuple[int, ...] = ()
    """The results that are not asked for with the `mode` N."""

    def letters(self, options: Options) -> tuple[str, ...]:
        """The letters of the last sizes of each operand."""
        return self.on_the_right if options.get("side") == "R" else self.operands

    def asked_for(self, options: Options) -> tuple[int, ...]:
        """The numbers of the results that `compute` gives."""
        left_out = self.vectors if options.get("mode") == "N" else ()
        return tuple(number for number in self.results if number not in left_out)


def _all_well(matrix: torch.Tensor) -> torch.Tensor:
    return torch.zeros(matrix.shape[:-2], dtype=torch.int32)


def _potrf(options: Options, matrix: torch.Tensor) -> _Results:
    factor, info = torch.linalg.cholesky_ex(matrix, upper=options["uplo"] == "U")
    return factor, info


def _getrf(_: Options, matrix: torch.Tensor) -> _Results:
    factors, pivots, info = torch.linalg.lu_factor_ex(matrix)
    return factors, pivots, info


def _trsm(options: Options, matrix: torch.Tensor, right: torch.Tensor) -> _Results:
    is_upper = options["uplo"] == "U"
    if options["trans_x"] != "N":
        matrix = matrix.mH if options["trans_x"] == "C" else matrix.mT
        is_upper = not is_upper
    solution = torch.linalg.solve_triangular(
        matrix,
        right,
        upper=is_upper,
        left=options["side"] == "L",
        unitriangular=options["diag"] == "U",
    )
    return (solution,)


def _geqrf(_: Options, matrix: torch.Tensor) -> _Results:
    packed, factors = torch.geqrf(matrix)
    return packed, factors


def _orgqr(_: Options, packed: torch.Tensor, factors: torch.Tensor) -> _Results:
    return (torch.linalg.householder_product(packed, factors),)


def _syevd(options: Options, matrix: torch.Tensor) -> _Results:
    if options["mode"] == "N":
        # As it is exported, eigvalsh computes vectors too, which loops then carry along.
        values, _ = torch.ops.aten._linalg_eigh(matrix, options["uplo"], False)
        return values, _all_well(matrix)
    values, vectors = torch.linalg.eigh(matrix, UPLO=options["uplo"])
    return vectors, values, _all_well(matrix)


def _gesdd(options: Options, matrix: torch.Tensor) -> _Results:
    if options["mode"] == "N":
        _, values, _ = torch.ops.aten._linalg_svd(matrix, False, False)
        return values, _all_well(matrix)
    left, values, right = torch.linalg.svd(matrix, full_matrices=options["mode"] == "A")
    return values, left, right, _all_well(matrix)


def _geev(options: Options, matrix: torch.Tensor) -> _Results:
    values, *vectors = _eigenvalues(options, matrix)
    return values.real, values.imag, *vectors, _all_well(matrix)


def _cgeev(options: Options, matrix: torch.Tensor) -> _Results:
    return *_eigenvalues(options, matrix), _all_well(matrix)


def _eigenvalues(options: Options, matrix: torch.Tensor) -> _Results:
    if options.get("mode") == "N":
        return (torch.ops.aten._linalg_eigvals(matrix),)
    values, vectors = torch.linalg.eig(matrix)
    return values, vectors


def _gtsv(
    _: Options,
    below: torch.Tensor,
    diagonal: torch.Tensor,
    above: torch.Tensor,
    right: torch.Tensor,
) -> _Results:
    """X of A X = B, where A has three diagonals: row i is below[i], diagonal[i], above[i].

    By elimination, in which the row that comes next takes the place of one whose pivot is less
    (Golub and Van Loan, Matrix Computations, 4.3): rows then reach two places beyond the diagonal.
    """
    if diagonal.shape[-1] == 1:
        return right / diagonal.unsqueeze(-1), (diagonal == 0).squeeze(-1).to(torch.int32)
    given = [each.movedim(-1, 0) for each in (below, diagonal, above)]
    sides = right.movedim(-2, 0)
    # Of the last row, what is above is none.
    above = torch.cat([given[2][:-1], torch.zeros_like(given[2][:1])])

    def eliminate(
        row: _Results, following: _Results
    ) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        pivot, beside, side = row
        lower, middle, beyond, lower_side = following
        swaps = lower.abs() > pivot.abs()
        factor = torch.where(swaps, pivot / lower, lower / pivot)
        top = torch.where(swaps, lower, pivot)
        next_to = torch.where(swaps, middle, beside)
        after = torch.where(swaps, beyond, 0.0)
        column = swaps.unsqueeze(-1)
        top_side = torch.where(column, lower_side, side)
        rest = torch.where(swaps, beside, middle) - factor * next_to
        rest_beside = torch.where(swaps, 0.0, beyond) - factor * after
        rest_side = torch.where(column, side, lower_side) - factor.unsqueeze(-1) * top_side
        return [rest, rest_beside, rest_side], [top, next_to, after, top_side]

    def substitute(known: _Results, row: _Results) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        first, second = known
        pivot, beside, after, side = (
            each.unsqueeze(-1) if each.ndim < first.ndim else each for each in row
        )
        solution = (side - beside * first - after * second) / pivot
        return [solution, first.clone()], [solution.clone()]

    first = [given[1][0].clone(), above[0].clone(), sides[0].clone()]
    rest = [given[0][1:], given[1][1:], above[1:], sides[1:]]
    (pivot, _, side), rows = scan(eliminate, first, rest)
    last = side / pivot.unsqueeze(-1)
    _, solved = scan(substitute, [last, torch.zeros_like(last)], rows, reverse=True)
    solution = torch.cat([solved[0], last.unsqueeze(0)]).movedim(0, -2)
    is_singular = (rows[0] == 0).any(0) | (pivot == 0)
    return solution, is_singular.to(torch.int32)


ROUTINES: Mapping[str, Routine] = {
    # There are no vectors from the left.
    "cgeev": Routine(_cgeev, ("nn",), (0, 2, 3), vectors=(2,)),
    "geev": Routine(_geev, ("nn",), (0, 1, 3, 4), vectors=(3,)),
    "geqrf": Routine(_geqrf, ("mn",), (0, 1)),
    # What they leave of the matrix is nothing.
    **dict.fromkeys(
        ("gesdd", "gesvd"),
        Routine(_gesdd, ("mn",), (1, 2, 3, 4), ("mode",), vectors=(2, 3)),
    ),
    "getrf": Routine(_getrf, ("mn",), (0, 1, 2)),
    # Nobody asks for the factors.
    "gtsv": Routine(_gtsv, ("n", "n", "n", "nk"), (3, 4)),
    "orgqr": Routine(_orgqr, ("mn", "k"), (0,)),
    "potrf": Routine(_potrf, ("nn",), (0, 1), ("uplo",)),
    "syevd": Routine(_syevd, ("nn",), (0, 1, 2), ("mode", "uplo"), vectors=(0,)),
    "trsm": Routine(
        _trsm, ("nn", "nk"), (0,), ("diag", "side", "trans_x", "uplo"), on_the_right=("nn", "kn")
    ),
}


OF_COMPLEX: Mapping[str, str] = {"geev": "cgeev", "heevd": "syevd", "ungqr": "orgqr"}
"""What some of `ROUTINES` are called where LAPACK has another routine for complex numbers."""


def _of_parts(compute: Callable[..., _Results], operands: Sequence[Operand]) -> Any:
    """What takes both parts of operands that are complex, and gives those of such results."""

    def computed(*parts: torch.Tensor) -> _Results:
        given = iter(parts)
        numbers = (
            torch.complex(next(given), next(given)) if operand.is_complex else next(given)
            for operand in operands
        )
        results: list[torch.Tensor] = []
        for result in compute(*numbers):
            results += [result.real, result.imag] if result.is_complex() else [result]
        return tuple(results)

    return computed


@dataclass(frozen=True)
class ExportedRoutine:
    """A routine for certain operands and options."""

    function: ExportedFunction
    results: tuple[int, ...]
    """The numbers of those of LAPACK's that it has."""
    square: tuple[int, ...]
    """The operands that are square, which LAPACK's need not be."""


def exported_routine(
    name: str, options: frozenset[tuple[str, str]], operands: tuple[Operand, ...]
) -> ExportedRoutine:
    """One of `ROUTINES`, exported for operands as these.

    A matrix of which neither size is known is taken to be square: programs that JAX exports for
    sizes of which it does not know which is less are about such.

    Raises:
      UserError: PyTorch cannot export it for them.
    """
    routine, chosen = ROUTINES[name], dict(options)
    examples, dims = [], []
    square = []
    of_operands = zip(operands, routine.letters(chosen), strict=True)
    for number, (operand, letters) in enumerate(of_operands):
        if letters == "mn" and operand.sizes[-2:] == (None, None):
            letters = "nn"
            square.append(number)
        batch = len(operand.sizes) - len(letters)
        names = [*(f"batch{axis}" for axis in range(batch)), *letters]
        sizes = [
            _EXAMPLES.get(name, _BATCH) if size is None else size
            for name, size in zip(names, operand.sizes, strict=True)
        ]
        # Sizes of matrices may be held against each other, which a program then asserts.
        dynamic = {
            axis: Dim(names[axis]) if axis < batch else Dim.AUTO
            for axis, size in enumerate(operand.sizes)
            if size is None
        }
        for _ in range(1 + operand.is_complex):
            examples.append(torch.ones(sizes, dtype=getattr(torch, operand.dtype)))
            dims.append(dynamic)
    compute = _of_parts(functools.partial(routine.compute, chosen), operands)
    function = exported_function(f"LAPACK's {name}", compute, examples, dims)
    return ExportedRoutine(function, routine.asked_for(chosen), tuple(square))
