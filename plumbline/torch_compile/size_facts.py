"""What PyTorch knows of sizes that may differ, as text.

That decides how it compares sizes as it traces a program; and each comparison that it does not know
the answer of becomes a fact, by which Dynamo tells whether a later call is one of the program's.
"""

import ast
import functools
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import sympy
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy import functions

_STATE = (
    "settings",
    "axioms",
    "backed_var_to_val",
    "var_to_range",
    "unbacked_inputs",
    "var_to_hint_override",
    "real_tensor_prop_unbacked_vals",
    "replacements",
    "unbacked_renamings",
    "divisible",
    "exclusion_constraints",
    "size_like",
    "val_to_var",
    "unbacked_symint_counter",
    "unbacked_symfloat_counter",
    "frozen",
    "runtime_asserts_frozen",
    "_error_on_new_guards",
    "unbacked_alloc_order",
)
"""The attributes that have it. Others are for messages, or follow from these."""


def facts(known: ShapeEnv) -> str:
    """All of it."""
    asserted = [
        (symbol, [each.expr for each in asserts])
        for symbol, asserts in known.deferred_runtime_asserts.items()
    ]
    guards = [(guard.expr, guard.size_oblivious) for guard in known.guards]
    state = (getattr(known, name) for name in _STATE)
    return "\n".join(map(_text, (*state, guards, asserted)))


@functools.lru_cache(maxsize=1 << 14)
def expression(value: sympy.Basic) -> str:
    """An expression, in which symbols have what is assumed of them."""
    return str(sympy.srepr(value))


def _text(value: Any) -> str:
    if isinstance(value, sympy.Basic):
        return expression(value)
    if isinstance(value, Mapping):
        return _text(list(value.items()))
    if isinstance(value, set):
        # The order of its elements differs from process to process.
        return f"{{{','.join(sorted(map(_text, value)))}}}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{','.join(map(_text, value))}]"
    if hasattr(value, "lower") and hasattr(value, "upper"):
        return f"range{_text((value.lower, value.upper))}"
    return repr(value)


class Comparisons:
    """What is compared from when this is made."""

    def __init__(self, known: ShapeEnv) -> None:
        self._known = known
        self._before = len(known.guards)

    def told(self) -> Any:
        """Them, in the order that they were made in, and what then is known, as JSON can say it.

        None where they can be told to no other process.
        """
        symbols = _symbols(self._known)
        told = []
        for guard in self._known.guards[self._before :]:
            text = expression(guard.expr)
            try:
                if _read(text, symbols) != guard.expr:
                    return None
            except LookupError:
                return None
            told.append([text, guard.size_oblivious])
        return {"guards": told, "facts": _digest(self._known)}


def repeat_comparisons(known: ShapeEnv, told: Any) -> bool:
    """Makes the comparisons that `Comparisons.told` told of, of what was known before them.

    Returns:
      Whether then the same is known as there.
    """
    symbols = _symbols(known)
    for text, size_oblivious in told["guards"]:
        known.evaluate_expr(_read(text, symbols), size_oblivious=size_oblivious)
    return bool(told["facts"] == _digest(known))


def _digest(known: ShapeEnv) -> str:
    return hashlib.sha256(facts(known).encode()).hexdigest()


def _symbols(known: ShapeEnv) -> dict[str, sympy.Symbol]:
    return {symbol.name: symbol for symbol in known.var_to_range}


def _read(text: str, symbols: Mapping[str, sympy.Symbol]) -> sympy.Basic:
    """What `expression` gives a text for, of these symbols.

    Raises:
      LookupError: it has another one, or a function that is not known here.
    """

    def made(tree: ast.expr | None) -> Any:
        # Nothing of it is run, unlike by sympy's own reader.
        match tree:
            case ast.Constant(value):
                return value
            case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
                return -value
            case ast.Name(name):
                return _CONSTANTS[name]
            case ast.Call(ast.Name("Symbol"), [ast.Constant(str(name))]):
                return symbols[name]
            case ast.Call(ast.Name(name), operands, options):
                named = {str(option.arg): made(option.value) for option in options}
                return _functions()[name](*map(made, operands), **named)
        raise LookupError(text)

    result: sympy.Basic = made(ast.parse(text, mode="eval").body)
    return result


_CONSTANTS = {"true": sympy.true, "false": sympy.false}


@functools.cache
def _functions() -> dict[str, Any]:
    """Those that expressions of sizes are made of; of two of one name, PyTorch's."""
    own = (
        *(sympy.Add, sympy.Mul, sympy.Pow, sympy.Integer, sympy.Rational, sympy.Float),
        *(sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge),
        *(sympy.And, sympy.Or, sympy.Not),
    )
    pytorchs = {
        name: value
        for name, value in vars(functions).items()
        if isinstance(value, type)
        and issubclass(value, sympy.Basic)
        and value.__module__ == functions.__name__
    }
    return {**{each.__name__: each for each in own}, **pytorchs}
