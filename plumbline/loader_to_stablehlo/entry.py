"""The function of a module that others call."""

from torch_mlir import ir

from plumbline.errors import UserError
from plumbline.signature.c_signature import functions_with_bodies

_MAIN = "main"
"""What exporters call it."""


def public_functions(module: ir.Module | ir.Operation) -> dict[str, ir.OpView]:
    """Those of a module that others may call, by their names."""
    functions = functions_with_bodies(module, "func.func", public=True)
    return {ir.StringAttr(each.attributes["sym_name"]).value: each for each in functions}


def entry_of(module: ir.Module, who: str) -> ir.OpView:
    """The one that becomes a C function: `main` if there is one; messages call the module `who`.

    JAX says of no other that it is private which stands for the body of an op.

    Raises:
      UserError: there is none, or there are several without a `main`.
    """
    functions = public_functions(module)
    if _MAIN in functions:
        return functions[_MAIN]
    if len(functions) != 1:
        found = f"{len(functions)}: {', '.join(functions)}" if functions else "none"
        raise UserError(
            f"{who}: one public function becomes a C function, {_MAIN} if there is one; it has "
            f"{found}"
        )
    (function,) = functions.values()
    return function
