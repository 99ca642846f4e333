"""The report of ops that nothing lowers; the diagnostics of the passes are in beside_tcp.mlir."""

import sys

import pytest

from plumbline.bindings.pipeline import LoweringError
from plumbline.context import make_context
from plumbline.tcp.assembly.module import parse_module
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp

_TEXT = """
!t = !torch.vtensor<[?,4],f32>
!c = !torch.vtensor<[?,4],complex<f32>>
func.func @f(%x: !t, %y: !c) -> !t {
  %none = torch.constant.none
  %0 = torch.aten.tanh %x : !t -> !t loc("layer.0"("model.py":6:0))
  %1 = torch.operator "torch.my.op"(%0) : (!t) -> !t loc("layer.0"(callsite("lib.py":1:0 at "model.py":7:0)))
  %2 = torch.operator "torch.my.op"(%1) : (!t) -> !t loc("layer.1"("model.py":7:0))
  %3 = torch.operator "torch.my.op"(%y) : (!c) -> !t loc("model.py":8:0)
  %4 = torch.aten.bernoulli %3, %none : !t, !torch.none -> !t loc("model.py":9:0)
  %5 = torch.aten.mul.Tensor %2, %4 : !t, !t -> !t loc("model.py":10:0)
  return %5 : !t
}
"""  # noqa: E501


def test_all_ops_are_listed_with_count_place_module_and_what_would_help() -> None:
    module = parse_module(_TEXT, make_context(torch=True), "it.mlir")

    with pytest.raises(LoweringError) as refusal:
        convert_torch_to_tcp(module)

    first, complex_one, last = str(refusal.value).split("what would help: ")[:-1]
    _, first_advice, complex_advice, last_advice = str(refusal.value).split("what would help: ")
    assert first.splitlines() == [
        "there is no lowering to TCP or linalg for these ops:",
        "  my.op(f32[?,4]): 2 places",
        "    model.py:7, in lib.py:1, in module layer.0",
        "    model.py:7, in module layer.1",
        "    ",
    ]
    assert first_advice.startswith("write a decomposition of it")
    assert "-convert-torch-to-tcp-custom-op" in first_advice
    assert complex_one.splitlines()[1:3] == [
        "  my.op(complex<f32>[?,4]): 1 place",
        "    model.py:8",
    ]
    assert complex_advice.startswith("few ops on complex numbers have a lowering")
    assert last.splitlines()[1:3] == ["  aten.bernoulli(f32[?,4]): 1 place", "    model.py:9"]
    assert last_advice == first_advice.partition("\n")[0]


def test_an_op_that_a_pattern_refuses_says_why() -> None:
    text = """
      func.func @f(%x: !torch.vtensor<[?],f32>, %dim: !torch.int) -> !torch.vtensor<[?],f32> {
        %none = torch.constant.none
        %0 = torch.aten.cumsum %x, %dim, %none :
            !torch.vtensor<[?],f32>, !torch.int, !torch.none -> !torch.vtensor<[?],f32>
        return %0 : !torch.vtensor<[?],f32>
      }
    """
    module = parse_module(text, make_context(torch=True), "it.mlir")

    with pytest.raises(LoweringError) as refusal:
        convert_torch_to_tcp(module)

    assert "  aten.cumsum(f32[?]" in str(refusal.value)
    assert (
        "what would help: TCP takes it, but not a number that is computed at run time: "
        "call it otherwise"
    ) in str(refusal.value)


@pytest.mark.parametrize("name", ["aten.mm", "aten.cumsum", "aten.scatter_add"])
def test_an_op_that_is_carried_with_other_operands_is_named(name: str) -> None:
    text = f"""
      func.func @f(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {{
        %0 = torch.operator "torch.{name}"(%x) :
            (!torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32>
        return %0 : !torch.vtensor<[?],f32>
      }}
    """
    module = parse_module(text, make_context(torch=True), "it.mlir")

    with pytest.raises(
        LoweringError, match="not operands other than PyTorch gives the op"
    ) as refusal:
        convert_torch_to_tcp(module)

    assert f"  {name}(f32[?]): 1 place\n    it.mlir:3:" in str(refusal.value)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
