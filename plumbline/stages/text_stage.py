"""A stage that is run by itself: it reads the text of a program, and writes another."""

from collections.abc import Callable
from typing import TypeVar

from torch_mlir import ir

from plumbline.context import context_for
from plumbline.tcp.assembly.module import parse_module, print_module

_Made = TypeVar("_Made")
_Parse = Callable[[str, ir.Context, str], ir.Module]


def lower_text(
    text: str,
    filename: str,
    lower: Callable[[ir.Module], None],
    *,
    debug_info: bool = True,
    stablehlo: bool = False,
    parse: _Parse = parse_module,
) -> str:
    """The text of what `lower` makes of the module in `text`, in place, by a pipeline.

    It has the locations of ops, for a stage that refuses one later and names the user's source by
    them; without `debug_info` it has none. The rest is as for `read_module`.

    Raises:
      UserError: `parse` or `lower` raises it.
    """

    def lowered(module: ir.Module) -> str:
        lower(module)
        return print_module(module, debug_info=debug_info, is_verified=True)

    return read_module(text, filename, lowered, stablehlo=stablehlo, parse=parse)


def read_module(
    text: str,
    filename: str,
    read: Callable[[ir.Module], _Made],
    *,
    torch: bool = True,
    stablehlo: bool = False,
    parse: _Parse = parse_module,
) -> _Made:
    """What `read` makes of the module in `text`, which messages call `filename`.

    Nothing of the module may be kept: its context, of `torch` and `stablehlo` as for
    `make_context`, is lent.

    Raises:
      UserError: `parse` or `read` raises it.
    """
    with context_for(text, torch=torch, stablehlo=stablehlo) as context:
        # No variable holds the module: a context is lent again with no module in it alone.
        return read(parse(text, context, filename))
