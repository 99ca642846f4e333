"""Stages that are run by themselves, from text to text."""

import sys

import pytest
from torch_mlir import ir

from plumbline.errors import UserError
from plumbline.stages.text_stage import lower_text, read_module

MODULE = "module {\n  func.func private @f()\n}\n"


def test_one_context_serves_several_texts() -> None:
    first, second = (read_module(MODULE, "a.mlir", _context_of) for _ in range(2))
    assert first == second


def _context_of(module: ir.Module) -> ir.Context:
    return module.context


@pytest.mark.parametrize("debug_info", [False, True])
def test_what_is_written_is_what_was_made_of_the_text(debug_info: bool) -> None:
    def rename(module: ir.Module) -> None:
        (function,) = module.body
        ir.SymbolTable.set_symbol_name(function.operation, "g")

    text = lower_text(MODULE, "a.mlir", rename, debug_info=debug_info)
    assert "@g()" in text
    assert ('"a.mlir":2:3' in text) == debug_info


def test_a_text_that_is_none_is_refused_under_its_name() -> None:
    with pytest.raises(UserError, match=r"^a\.mlir:1:1: error: "):
        lower_text("nothing", "a.mlir", lambda module: None)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
