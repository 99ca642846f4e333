"""Pipelines run on modules: what comes of all passes is verified, and what one refuses is told."""

import sys
from typing import Any

import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from plumbline.bindings.pipeline import LoweringError, Pass, Pipeline
from plumbline.errors import UserError

_MODULE = """
func.func @f(%x: i32) -> i32 {
  return %x : i32
}
"""


def _giving(type_: str) -> Pass:
    """A pass that has the function say that it gives such a number."""

    def run(module: ir.Operation) -> None:
        function = module.regions[0].blocks[0].operations[0]
        function.attributes["function_type"] = ir.TypeAttr.parse(f"(i32) -> {type_}")

    return Pass(f"give-{type_}", f"Say that the function gives an {type_}", run)


def test_what_comes_of_all_passes_is_verified() -> None:
    with ir.Context():
        module = ir.Module.parse(_MODULE)
        with pytest.raises(
            LoweringError, match=r"(?s)^two-passes failed:.*-:3:3: error: type of return"
        ):
            Pipeline("two-passes", ("cse", _giving("i64"))).run(module)


def test_what_passes_of_mlir_are_handed_is_verified() -> None:
    """They take it for valid: where it is not, some end the process."""
    runs = []
    last = Pass("last", "Say that it runs", lambda _: runs.append("last"))
    with ir.Context():
        module = ir.Module.parse(_MODULE)
        with pytest.raises(LoweringError) as failure:
            Pipeline("three-passes", (_giving("i64"), "cse", last)).run(module)
    message = str(failure.value)
    assert "-:3:3: error: type of return" in message
    assert "error: the pass give-i64 left an invalid 'builtin.module'" in message
    assert not runs


def test_what_passes_of_ours_hand_to_each_other_is_not() -> None:
    with ir.Context():
        module = ir.Module.parse(_MODULE)
        Pipeline("two-passes", (_giving("i64"), _giving("i32"))).run(module)
        assert module.operation.verify()


def test_what_a_pass_tried_in_vain_is_forgotten_once_it_has_succeeded() -> None:
    """The conversion to LLVM's types reports memory spaces that it finds another way for."""

    def refuse(module: ir.Operation) -> None:
        raise UserError("no such machine")

    attempt = Pass("attempt", "Try", lambda module: module.location.emit_error("no way here"))
    last = Pass("refuse", "Refuse", refuse)
    with ir.Context(), pytest.raises(LoweringError) as failure:
        Pipeline("two-passes", (attempt, last)).run(ir.Module.parse(_MODULE))
    assert "no such machine" in str(failure.value)
    assert "no way here" not in str(failure.value)


def test_a_manager_serves_a_context_until_a_run_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """To make one, and its passes ready, takes as long as they take over a small program."""
    made: list[Pipeline] = []
    make = Pipeline.manager

    def noted(pipeline: Pipeline, *arguments: Any) -> PassManager:
        made.append(pipeline)
        return make(pipeline, *arguments)

    monkeypatch.setattr(Pipeline, "manager", noted)

    right, wrong = (Pipeline("two-passes", (_giving(type_), "cse")) for type_ in ("i32", "i64"))
    with ir.Context():
        for _ in range(2):
            right.run(ir.Module.parse(_MODULE))
        assert len(made) == 1
        for _ in range(2):
            with pytest.raises(LoweringError, match="type of return"):
                wrong.run(ir.Module.parse(_MODULE))
        assert len(made) == 3
    with ir.Context():
        right.run(ir.Module.parse(_MODULE))
    assert len(made) == 4


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
