"""Passes and pipelines by name: told apart from MLIR's, printed, read, and each of them tested."""

import re
import sys
from pathlib import Path

import pytest

from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.passes.registry import FOLLOWED, PASSES, PIPELINES
from plumbline.passes.textual import PipelineReader
from tools.tcp_opt.upstream_passes import is_upstream_pass

TESTS = Path(__file__).parent.parent
CONTEXT = make_context(torch=True, stablehlo=True)
READER = PipelineReader(PASSES, PIPELINES, lambda name: is_upstream_pass(name, CONTEXT), FOLLOWED)


@pytest.mark.parametrize("name", [*PASSES, *PIPELINES])
def test_no_pass_of_mlir_has_the_name(name: str) -> None:
    assert not is_upstream_pass(name, CONTEXT)


@pytest.mark.parametrize("name", [*PASSES, *PIPELINES])
def test_it_says_what_it_does_in_one_line(name: str) -> None:
    summary = PASSES[name].summary if name in PASSES else PIPELINES[name].summary
    assert summary
    assert "\n" not in summary


@pytest.mark.parametrize("name", PIPELINES)
def test_what_a_pipeline_prints_reads_as_the_same(name: str) -> None:
    text = str(PIPELINES[name])
    assert str(READER.read(text)) == text
    PIPELINES[name].manager(CONTEXT)


@pytest.mark.parametrize("name", [*PASSES, *PIPELINES])
def test_each_is_tested(name: str) -> None:
    runs = (
        line
        for file in TESTS.rglob("*.mlir")
        for line in file.read_text().splitlines()
        if line.startswith("// RUN:")
    )
    flag = re.compile(rf"[\s,('\"]-{{0,2}}{re.escape(name)}(?![\w-])")
    assert any(flag.search(line) for line in runs)


def test_options() -> None:
    use = PASSES["convert-torch-to-tcp"].with_options("convert-torch-ops=aten.tanh,aten.exp")
    assert str(use) == "convert-torch-to-tcp{convert-torch-ops=aten.tanh,aten.exp}"
    assert str(READER.read(f"builtin.module({use})")) == f"builtin.module({use})"
    with pytest.raises(UserError, match="no such option color"):
        PASSES["convert-torch-to-tcp"].with_options("color=red")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
