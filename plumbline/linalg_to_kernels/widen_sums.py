"""Has long sums of a few elements side by side be sums of more, of which few are left to be added.

Of the coordinates of 100,000 points there are 3 sums. Those of 160 points in a row are 480 elements
side by side, of which vectors hold 480 sums; what is left to be added up is 160 of them for each.
That takes a fifth of the time of three sums of which each reads every third element (AMD Zen 4).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import defining_operation, operations_of
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    Computation,
    computation,
)
from plumbline.linalg_to_kernels.split_sums import is_sum, parts_of_sum
from plumbline.tcp_to_linalg.building import empty, generic, zero
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, REDUCTION, dims_map, loop_nest

_FEW = 16
"""With so many elements side by side vectors are full."""

_LEAST, _MOST = 32, 512
"""How many are to be: two vectors, and as many sums as a kernel adds to at once."""

_FEWEST = 16
"""Of each of these so many are to be added up, or more."""


def widen_sums(module: ir.Operation) -> None:
    """Makes two sums of each such one in `module` of a function's argument."""
    with module.context:
        for op in operations_of(module, "linalg"):
            found = computation(op) if op.name == GENERIC else None
            if found is not None and (narrow := _narrow(found)) is not None:
                narrow.widen()


@dataclass(frozen=True)
class _Narrow:
    """A sum of `count` terms for each of a few elements side by side, and for each of some rows."""

    found: Computation
    rows: Sequence[int]
    count: int
    few: Sequence[int]
    runs: int
    """Of how many terms in a row the elements are to lie side by side."""

    def widen(self) -> None:
        """Makes a sum for each of these elements, and one of the runs' sums."""
        found, op = self.found, self.found.op
        (value,), (init,) = found.inputs, found.inits
        element = ir.RankedTensorType(init.type).element_type
        rows, inner = len(self.rows), 1 + len(self.few)
        wide = self.runs * math.prod(self.few)
        terms, add = parts_of_sum(found)
        with ir.InsertionPoint(op), op.location:
            of_runs = _reshaped(value, [*self.rows, self.count // self.runs, wide], rows)
            type_ = ir.RankedTensorType.get([*self.rows, wide], element)
            zeros = generic(empty(type_, []), [], [], lambda _: zero(element))
            (sums,) = loop_nest([zeros], [of_runs], _maps(rows, 1), _kinds(rows, 1), terms)
            apart = _reshaped(sums, [*self.rows, self.runs, *self.few], rows)
            (total,) = loop_nest(
                [init], [apart], _maps(rows, inner - 1), _kinds(rows, inner - 1), add
            )
        op.results[0].replace_all_uses_with(total)
        op.erase()


def _maps(rows: int, few: int) -> list[ir.AffineMap]:
    """What a sum reads, and where it goes."""
    loops = rows + 1 + few
    others = [loop for loop in range(loops) if loop != rows]
    return [ir.AffineMap.get_identity(loops), dims_map(loops, others)]


def _kinds(rows: int, few: int) -> list[str]:
    return [*[PARALLEL] * rows, REDUCTION, *[PARALLEL] * few]


def _reshaped(value: ir.Value, shape: Sequence[int], rows: int) -> ir.Value:
    """A tensor whose axes but the first ones, the rows, have been put together and taken apart."""
    type_ = ir.RankedTensorType(value.type)
    first, element = [[row] for row in range(rows)], type_.element_type
    flat = [*shape[:rows], math.prod(shape[rows:])]
    if type_.rank > len(flat):
        groups = [*first, [*range(rows, type_.rank)]]
        value = tensor.CollapseShapeOp(ir.RankedTensorType.get(flat, element), value, groups).result
    groups = [*first, [*range(rows, len(shape))]]
    return tensor.ExpandShapeOp(
        ir.RankedTensorType.get(shape, element), value, groups, [], shape
    ).result


def _narrow(found: Computation) -> _Narrow | None:
    """How a sum is such a one, if it is."""
    if len(found.inputs) != 1 or not is_sum(found) or DYNAMIC in found.sizes:
        return None
    is_whole = found.maps[0] == ir.AffineMap.get_identity(len(found.reduces))
    kinds = [reduces for reduces, _ in itertools.groupby(found.reduces)]
    if not is_whole or kinds[-2:] != [True, False] or len(kinds) > 3 or not _is_argument(found):
        return None
    first = found.reduces.index(True)
    last = first + sum(found.reduces)
    rows, few = found.sizes[:first], found.sizes[last:]
    count, elements = math.prod(found.sizes[first:last]), math.prod(few)
    if not 1 < elements < _FEW:
        return None
    most = min(_MOST // elements, count // _FEWEST)
    runs = next((runs for runs in range(most, 1, -1) if count % runs == 0), 1)
    return _Narrow(found, rows, count, few, runs) if runs * elements >= _LEAST else None


def _is_argument(found: Computation) -> bool:
    """Whether what is added up is in memory as it came."""
    (value,) = found.inputs
    while (op := defining_operation(value)) is not None:
        if op.name not in ("tensor.collapse_shape", "tensor.expand_shape"):
            return False
        value = op.operands[0]
    return True
