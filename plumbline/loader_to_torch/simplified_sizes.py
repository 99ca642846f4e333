"""What programs that go over windows compute of sizes, written shorter than PyTorch writes it.

Such a program pads h by (8 - h % 8) % 8, and then counts the windows, int(n / (h * w / 8 / 8)).
PyTorch leaves the sum as it is, and the quotients: that the one is a multiple of 8, and the other a
whole number, are questions then, and what is computed of them grows. DCTLSA, a network for images,
took seven minutes so, and takes half of one.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from traceback import FrameSummary
from typing import Any
from unittest import mock

import sympy
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy.functions import (
    CeilToInt,
    FloatTrueDiv,
    FloorDiv,
    FloorToInt,
    IntTrueDiv,
    Mod,
    PythonMod,
    ToFloat,
    TruncToInt,
)

from plumbline.loader_to_torch.memory_questions import is_of_memory


@contextlib.contextmanager
def simplified_sizes() -> Iterator[None]:
    """Has PyTorch write padded sizes as multiples, and quotients of sizes as sizes."""
    with contextlib.ExitStack() as stack:
        for name, simplify in _SIMPLIFY.items():
            stack.enter_context(mock.patch.object(SymNode, name, _then(simplify, name)))
        yield


def _then(simplify: Callable[[SymNode], None], name: str) -> Callable[..., SymNode]:
    compute: Callable[..., SymNode] = SymNode.__dict__[name]

    def computed(*operands: SymNode) -> SymNode:
        result = compute(*operands)
        simplify(result)
        return result

    return computed


def _simplify_padded(sum_: SymNode) -> None:
    """Writes a size and what it lacks to a multiple of n as (h + n - 1) // n * n."""
    found = _padded(sum_._expr) if isinstance(sum_._expr, sympy.Add) else None
    if found is not None and sum_.shape_env is not None:
        size, multiple = found
        # As is plain of the sum.
        _note(sum_.shape_env, sympy.Le(size, multiple))
        sum_._expr = multiple


def _padded(sum_: sympy.Add) -> tuple[sympy.Expr, sympy.Expr] | None:
    """A size, and the multiple that the sum is of it and what it lacks to that."""
    for term in sum_.args:
        lacking = _lacking(term) if isinstance(term, Mod | PythonMod) else None
        if lacking is not None:
            size, number = lacking
            if sympy.Add(*(each for each in sum_.args if each != term)) == size:
                return size, number * FloorDiv(size + number - 1, number)
    return None


def _lacking(term: Mod | PythonMod) -> tuple[sympy.Expr, sympy.Integer] | None:
    """The size that a term lacks to a multiple of a number, and that number.

    Such are -h % n and (n - h % n) % n.
    """
    of, number = term.args
    if not isinstance(number, sympy.Integer) or number < 1:
        return None
    left = number - of
    if isinstance(left, Mod | PythonMod) and left.args[1] == number:
        return left.args[0], number
    return (sympy.expand(-of), number) if isinstance(term, PythonMod) else None


def _note(shapes: ShapeEnv, holds: Any) -> None:
    """Has what holds be known, as PyTorch knows it of what it has asserted."""
    known = dict(shapes.get_implications(holds))
    if not known.keys() <= shapes.axioms.keys():
        shapes.axioms.update(known)
        shapes._update_version_counter()


_NONE_LEFT = {sympy.Eq: sympy.Eq, sympy.Le: sympy.Eq, sympy.Ne: sympy.Ne, sympy.Gt: sympy.Ne}
"""Of a number that is at least 0, questions how it compares with 0, as whether it is that."""


def _simplify_question(asked: SymNode) -> None:
    """Asks whether nothing is lacking to a multiple as whether nothing is left over.

    Which PyTorch then knows of what is computed of the size.
    """
    question: Any = asked._expr
    shapes = asked.shape_env
    compare = _NONE_LEFT.get(type(question))
    if compare is None or question.rhs != 0 or not isinstance(question.lhs, Mod | PythonMod):
        return
    lacking = _lacking(question.lhs)
    if lacking is not None and shapes is not None and shapes.bound_sympy(lacking[0]).lower >= 0:
        asked._expr = compare(Mod(*lacking), 0)


def _simplify_floor(quotient: SymNode) -> None:
    """Divides what is known to be a multiple."""
    if isinstance(quotient._expr, FloorDiv) and quotient.shape_env is not None:
        by_multiples = _ByMultiples.known(quotient.shape_env)
        divided = by_multiples.written(quotient._expr)
        if not divided.has(FloorDiv):
            quotient._expr = by_multiples.given_back(divided)


_ADDED: dict[type[sympy.Function], Callable[[sympy.Integer], sympy.Integer]] = {
    CeilToInt: lambda divisor: divisor - 1,
    FloorToInt: lambda divisor: sympy.S.Zero,
}
"""What is added to an integer before it is divided, so that the integer below is the rounded one.

Floats give the same of integers up to 2^53 less some bits, which no size has.
"""


def _simplify_quotient(rounded: SymNode) -> None:
    """Writes what is rounded, and is whole without that, as it is without.

    A rounded quotient of a size is one of integers.
    """
    expression: Any = rounded._expr
    shapes, kind = rounded.shape_env, type(expression)
    if kind not in (CeilToInt, FloorToInt, TruncToInt) or shapes is None:
        return
    by_multiples = _ByMultiples.known(shapes)
    number = by_multiples.written(expression.args[0])
    whole = _whole(number)
    if whole is None and isinstance(number, IntTrueDiv) and kind in _ADDED:
        size, divisor = number.args
        if isinstance(divisor, sympy.Integer) and divisor > 0:
            whole = FloorDiv(size + _ADDED[kind](divisor), divisor)
    if whole is not None:
        rounded._expr = by_multiples.given_back(whole)


@dataclass(frozen=True)
class _ByMultiples:
    """Sizes that are multiples, written so."""

    quotients: Mapping[sympy.Symbol, tuple[sympy.Symbol, sympy.Integer]]
    """Of each such size what it is a multiple of, and how many times."""

    @classmethod
    def known(cls, shapes: ShapeEnv) -> "_ByMultiples":
        """Those that the program is exported for alone."""
        multiples = [
            each
            for each in shapes.divisible
            if each.args[0].is_Symbol and isinstance(each.args[1], sympy.Integer)
        ]
        asserted = _asserted(shapes) if multiples else set()
        return cls(
            {
                left.args[0]: (sympy.Dummy(integer=True, positive=True), left.args[1])
                for left in multiples
                if sympy.Eq(left, 0) in asserted
            }
        )

    def written(self, number: sympy.Expr) -> sympy.Expr:
        """The same of how many times each is there."""
        if not self.quotients:
            return number
        return number.xreplace({size: n * times for size, (times, n) in self.quotients.items()})

    def given_back(self, number: sympy.Expr) -> sympy.Expr:
        """The same of the sizes."""
        whole = number.xreplace({times: size / n for size, (times, n) in self.quotients.items()})
        if not _has_fractions(whole):
            return whole
        return number.xreplace(
            {times: FloorDiv(size, n) for size, (times, n) in self.quotients.items()}
        )


def _asserted(shapes: ShapeEnv) -> set[sympy.Basic]:
    """The guards that calls are held to: not those of memory, which the program may do without."""
    return {
        guard.expr
        for guard in shapes.guards
        if not isinstance(frame := guard.sloc.framework_loc, FrameSummary)
        or not is_of_memory(frame)
    }


def _whole(number: sympy.Expr) -> sympy.Expr | None:
    """A float as an integer, if it is one of integers, and all quotients in it are.

    Which floats hold exactly.
    """
    if number.is_integer:
        return number
    if isinstance(number, sympy.Float):
        return sympy.Integer(int(number)) if float(number).is_integer() else None
    if isinstance(number, ToFloat):
        return number.args[0]
    if isinstance(number, IntTrueDiv | FloatTrueDiv):
        dividend, divisor = map(_whole, number.args)
        if dividend is None or divisor is None:
            return None
        quotient = dividend / divisor
        # SymPy takes n / 22 for an integer where n is a product of some integers.
        return quotient if quotient.is_integer and not _has_fractions(quotient) else None
    return None


def _has_fractions(number: sympy.Expr) -> bool:
    return any(each.q != 1 for each in number.atoms(sympy.Rational))


_SIMPLIFY: dict[str, Callable[[SymNode], None]] = {
    "add": _simplify_padded,
    "eq": _simplify_question,
    "ne": _simplify_question,
    "le": _simplify_question,
    "gt": _simplify_question,
    "int_floordiv": _simplify_floor,
    "trunc": _simplify_quotient,
    "floor": _simplify_quotient,
    "ceil": _simplify_quotient,
}
"""For each operation of sizes what is made of its result."""
