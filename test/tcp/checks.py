"""What every test of an op's text asks: does it come back, and is what is wrong with it said?"""

import functools
import re
from collections.abc import Sequence

import pytest
from torch_mlir import ir

from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.tcp.assembly.module import parse_module, print_module

FILE = "test.mlir"


@functools.cache
def context() -> ir.Context:
    """The context that all tests of a program share; a verifier's mistake would spoil no other."""
    return make_context()


def parse(text: str) -> ir.Module:
    """The module that `text` holds."""
    return parse_module(text, context(), FILE)


def function(arguments: Sequence[str], body: str) -> str:
    """A module as the printer has it, with `body` in a function of arguments of these types."""
    signature = ", ".join(f"%arg{index}: {type_}" for index, type_ in enumerate(arguments))
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"module {{\n  func.func @f({signature}) {{\n{lines}    return\n  }}\n}}\n"


def check_round_trip(text: str) -> None:
    """Custom form, generic form, custom form again: all the same, with and without locations."""
    module = parse(text)
    assert print_module(module) == text
    generic = print_module(module, generic=True)
    assert not re.search(r"^ *(%\S+ = )?tcp\.", generic, re.MULTILINE), "an op is not generic"
    assert print_module(parse(generic)) == text
    located = print_module(module, debug_info=True)
    assert print_module(parse(located), debug_info=True) == located


def error_of(text: str) -> str:
    """The message of the one mistake in `text`."""
    with pytest.raises(UserError) as raised:
        parse(text)
    return str(raised.value)
