"""Ops built in Python: results, attributes, accessors, and what the class refuses."""

import sys
from collections.abc import Iterator, Sequence

import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from plumbline.tcp.assembly.module import print_module
from plumbline.tcp.attributes import case_of
from plumbline.tcp.ops import (
    contraction,
    data_movement,
    elementwise,
    indexing,
    reduction,
    structure,
)
from test.tcp.checks import context, function, parse

ARGUMENTS = ["tensor<?x3xf32>", "tensor<2x?xf32>", "index", "tensor<1x3xf32>", "tensor<2x1xi64>"]


@pytest.fixture
def module() -> ir.Module:
    return parse(function(ARGUMENTS, ""))


@pytest.fixture
def values(module: ir.Module) -> Iterator[Sequence[ir.Value]]:
    """The function's arguments, with the insertion point before its return."""
    block = module.body.operations[0].regions[0].blocks[0]
    with context(), ir.Location.unknown(), ir.InsertionPoint(block.operations[0]):
        yield list(block.arguments)


def test_result_types_follow_from_operands(values: Sequence[ir.Value]) -> None:
    dynamic, static = values[0], values[1]
    assert str(elementwise.TanhOp(dynamic).out.type) == "tensor<?x3xf32>"
    assert str(elementwise.AddOp(dynamic, static).out.type) == "tensor<2x3xf32>"
    compared = elementwise.CompareOp(dynamic, static, predicate="lt")
    assert str(compared.out.type) == "tensor<2x3xi1>"
    assert str(elementwise.SelectOp(compared, dynamic, dynamic).out.type) == "tensor<2x3xf32>"
    turned = data_movement.TransposeOp(dynamic, permutation=[1, 0])
    assert str(turned.out.type) == "tensor<3x?xf32>"
    assert str(data_movement.ReverseOp(dynamic, axes=[0]).out.type) == "tensor<?x3xf32>"
    gathered = indexing.GatherOp(dynamic, values[4], dim=0)
    assert str(gathered.out.type) == "tensor<2x1xf32>"
    assert str(indexing.GatherNdOp(dynamic, values[4]).out.type) == "tensor<2x3xf32>"
    assert str(contraction.MatmulOp(static, turned).out.type) == "tensor<2x?xf32>"


def test_constant(values: Sequence[ir.Value]) -> None:
    value = ir.Attribute.parse("dense<1.0> : tensor<2xf64>")
    constant = data_movement.ConstOp(value=value)
    assert constant.out.type == value.type
    assert constant.value == value


def test_accessors(values: Sequence[ir.Value]) -> None:
    broadcast = data_movement.BroadcastOp(values[3], [values[2]], axes=[0], results=values[0].type)
    assert broadcast.input == values[3]
    assert broadcast.sizes == [values[2]]
    assert [axis.value for axis in broadcast.axes] == [0]
    index = values[2]
    sliced = data_movement.SliceOp(values[0], [index, index], [], [index], results=values[0].type)
    assert [len(part) for part in (sliced.starts, sliced.sizes, sliced.strides)] == [2, 0, 1]
    clamp = elementwise.ClampOp(values[0], min_float=0.5, max_float=None)
    assert str(clamp.min_float) == "5.000000e-01 : f64"
    assert clamp.max_float is None
    division = elementwise.DivsiOp(values[4], values[4], rounding_mode="Floor")
    assert case_of(division.rounding_mode) == "Floor"
    types = [values[0].type, index.type]
    custom = structure.CustomOp([values[0], index], op_name="f", results=types)
    assert custom.inputs == [values[0], index]
    assert [result.type for result in custom.outs] == types


def test_built_ops_verify_and_print(module: ir.Module, values: Sequence[ir.Value]) -> None:
    summed = reduction.ReduceOp(
        values[0],
        axes=[1],
        combiner="sum",
        accumulation_type=ir.F32Type.get(),
        results=ir.Type.parse("tensor<?xf32>"),
    )
    structure.CustomOp([values[2], summed], op_name="f", results=[])
    assert module.operation.verify()
    assert print_module(module) == function(
        ARGUMENTS,
        "%0 = tcp.reduce %arg0 {accumulation_type = f32, axes = [1], combiner = #tcp<combiner sum>}"
        " : tensor<?x3xf32> -> tensor<?xf32>\n"
        'tcp.custom_op("f") %arg2, %0 : index, tensor<?xf32> -> ()',
    )


def test_a_region_is_for_its_builder_to_fill(values: Sequence[ir.Value], module: ir.Module) -> None:
    group = structure.GroupOp(results=[values[0].type])
    with ir.InsertionPoint(group.body.blocks.append()):
        structure.YieldOp([values[0]])
    assert module.operation.verify()
    assert [result.type for result in group.outs] == [values[0].type]


def test_mistakes_of_the_caller(values: Sequence[ir.Value]) -> None:
    with pytest.raises(TypeError, match=r"AddOp takes operands \(in1, in2\), got 1"):
        elementwise.AddOp(values[0])
    with pytest.raises(TypeError, match="TanhOp has no attribute 'speed'"):
        elementwise.TanhOp(values[0], speed=1)
    with pytest.raises(ValueError, match="expected one of eq, ne, lt, le, gt, ge, not 'less'"):
        elementwise.CompareOp(values[0], values[0], predicate="less")
    with pytest.raises(TypeError, match=r"expected constant tensor attribute .*, not 3"):
        data_movement.ConstOp(value=3)
    with pytest.raises(TypeError, match=r"tcp\.cast: the type of the result must be given"):
        elementwise.CastOp(values[0])
    with pytest.raises(TypeError, match=r"tcp\.reduce: the types of the results must be given"):
        reduction.ReduceOp(values[0], axes=[0], combiner="max")
    with pytest.raises(TypeError, match=r"tcp\.add: the operands differ in shape"):
        elementwise.AddOp(values[0], values[3].owner.arguments[4])


def test_a_verifier_reports_at_the_location_of_the_op(values: Sequence[ir.Value]) -> None:
    with ir.Location.file("model.py", 12, 4):
        op = elementwise.TanhOp(values[0], results=values[3].type)
        op.operation.attributes["x"] = ir.UnitAttr.get()
        bad = elementwise.ClampOp(values[0])
    assert op.operation.verify()
    with pytest.raises(ir.MLIRError) as raised:
        bad.operation.verify()
    (diagnostic,) = raised.value.error_diagnostics
    assert str(diagnostic.location) == 'loc("model.py":12:4)'
    assert diagnostic.message == (
        "'tcp.clamp' op requires at least one of 'min_float' and 'max_float'"
    )


def test_pure_ops_without_uses_go(values: Sequence[ir.Value], module: ir.Module) -> None:
    elementwise.TanhOp(values[0])
    structure.CustomOp([values[0]], op_name="keep", results=[])
    elementwise.AddOp(values[0], values[0])
    PassManager.parse("builtin.module(cse)").run(module.operation)
    names = [op.operation.name for op in module.body.operations[0].regions[0].blocks[0]]
    assert names == ["tcp.custom_op", "func.return"]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
