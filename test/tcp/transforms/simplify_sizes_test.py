"""That numbers computed of sizes stay what they are, whatever the pass decides of them."""

import operator
import sys
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.pipeline import Pipeline
from plumbline.context import lent_context
from plumbline.tcp.assembly.module import parse_module
from plumbline.tcp.transforms.simplify_sizes import TCP_SIMPLIFY_SIZES

_SIMPLIFY = Pipeline("simplify", (TCP_SIMPLIFY_SIZES, "canonicalize"))

_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.divsi": lambda a, b: abs(a) // b * (1 if a > 0 else -1),
    "arith.floordivsi": operator.floordiv,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.muli": operator.mul,
    "arith.remsi": lambda a, b: abs(a) % b * (1 if a > 0 else -1),
    "arith.subi": operator.sub,
}
_DIVIDE = ("ceildivsi", "divsi", "floordivsi", "remsi")

_COMPARED: Mapping[arith.CmpIPredicate, Callable[[int, int], bool]] = {
    arith.CmpIPredicate.eq: operator.eq,
    arith.CmpIPredicate.ne: operator.ne,
    arith.CmpIPredicate.sge: operator.ge,
    arith.CmpIPredicate.sgt: operator.gt,
    arith.CmpIPredicate.sle: operator.le,
    arith.CmpIPredicate.slt: operator.lt,
}


_CONSTANTS = {"%k0": 0, "%k1": 1, "%k2": 2, "%k3": -1, "%k4": -3}


@st.composite
def _functions(draw: st.DrawFn) -> str:
    """A function of three sizes and a number, which may be below 0."""
    values, lines, results = ["%d0", "%d1", "%d2", "%n", *_CONSTANTS], [], []
    for number in range(draw(st.integers(2, 8))):
        # Sums and choices often, so that there is something to decide.
        often = ["arith.addi", "arith.subi", "arith.minsi", "arith.maxsi"]
        name = draw(st.sampled_from([*_COMPUTED, *often, *often]))
        left, right = (draw(st.sampled_from(values)) for _ in range(2))
        right = "%k2" if name.removeprefix("arith.") in _DIVIDE else right
        lines.append(f"%v{number} = {name} {left}, {right} : index")
        values.append(f"%v{number}")
        results.append(values[-1])
    for number in range(8):
        left, other, constant = (
            draw(st.sampled_from(among)) for among in (values, values, [*_CONSTANTS])
        )
        predicate = draw(st.sampled_from([each.name for each in _COMPARED]))
        # With what is not far from it, or with another one.
        near = left if draw(st.booleans()) else other
        lines.append(f"%r{number} = arith.addi {near}, {constant} : index")
        lines.append(f"%c{number} = arith.cmpi {predicate}, {left}, %r{number} : index")
        lines.append(f"%s{number} = arith.select %c{number}, %k1, %k0 : index")
        lines.append(f"%l{number} = arith.minsi {left}, %r{number} : index")
        lines.append(f"%g{number} = arith.maxsi %r{number}, {left} : index")
        results += [f"%{kind}{number}" for kind in "slg"]
    types = ", ".join(["index"] * len(results))
    constants = [f"{name} = arith.constant {number} : index" for name, number in _CONSTANTS.items()]
    return f"""
func.func @f(%x: tensor<?x?xf32>, %y: tensor<?xf32>, %n: index) -> ({types}) {{
  {chr(10).join(constants)}
  %d0 = tensor.dim %x, %k0 : tensor<?x?xf32>
  %d1 = tensor.dim %x, %k1 : tensor<?x?xf32>
  %joined = tcp.concat %y, %y {{dim = 0 : index}} : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %d2 = tensor.dim %joined, %k0 : tensor<?xf32>
  {chr(10).join(lines)}
  return {", ".join(results)} : {types}
}}"""


def _results(module: ir.Module, sizes: Sequence[int], number: int) -> list[int]:
    """What the function gives for such sizes and a number."""
    (function,) = module.body.operations
    block = function.regions[0].blocks[0]
    x, y, n = block.arguments
    lengths = {(x, 0): sizes[0], (x, 1): sizes[1], (y, 0): sizes[2]}
    known: dict[ir.Value, int] = {n: number}
    for op in (view.operation for view in block.operations):
        operands = list(op.operands)
        if op.name == "arith.constant":
            known[op.results[0]] = int(op.attributes["value"].value)
        elif op.name == "tcp.concat":
            lengths[op.results[0], 0] = sum(lengths[operand, 0] for operand in operands)
        elif op.name == "tensor.dim":
            known[op.results[0]] = lengths[operands[0], known[operands[1]]]
        elif op.name == "arith.cmpi":
            predicate = arith.CmpIPredicate(ir.IntegerAttr(op.attributes["predicate"]).value)
            known[op.results[0]] = _COMPARED[predicate](*(known[each] for each in operands))
        elif op.name == "arith.select":
            condition, yes, no = operands
            known[op.results[0]] = known[yes if known[condition] else no]
        elif op.name == "func.return":
            return [known[operand] for operand in operands]
        else:
            known[op.results[0]] = _COMPUTED[op.name](*(known[each] for each in operands))
    raise AssertionError


# To look for a smaller function takes minutes, and these are small.
@settings(phases=[Phase.generate])
@given(
    _functions(),
    st.lists(st.tuples(*[st.integers(0, 6)] * 3, st.integers(-5, 5)), min_size=8, max_size=8),
)
def test_numbers_stay_what_they_are(text: str, calls: Sequence[tuple[int, int, int, int]]) -> None:
    with lent_context() as context, context, ir.Location.unknown():
        module = parse_module(text, context, "f.mlir")
        expected = [_results(module, sizes, number) for *sizes, number in calls]
        _SIMPLIFY.run(module)
        assert [_results(module, sizes, number) for *sizes, number in calls] == expected


def _simplified(text: str) -> str:
    with lent_context() as context, context, ir.Location.unknown():
        module = parse_module(text, context, "f.mlir")
        _SIMPLIFY.run(module)
        return str(module)


def test_long_products_of_sums_end() -> None:
    """These would have two to the power of 40 terms, and as many ways to ask what they are of."""
    lines = [
        f"%s{at} = arith.addi %p{at}, %m : index\n%l{at} = arith.minsi %s{at}, %n : index\n"
        f"%p{at + 1} = arith.muli %s{at}, %l{at} : index"
        for at in range(40)
    ]
    text = f"""
func.func @f(%x: tensor<?x?xf32>) -> index {{
  %k0 = arith.constant 0 : index
  %k1 = arith.constant 1 : index
  %p0 = tensor.dim %x, %k0 : tensor<?x?xf32>
  %m = tensor.dim %x, %k1 : tensor<?x?xf32>
  %n = arith.addi %p0, %m : index
  {chr(10).join(lines)}
  %least = arith.minsi %p40, %n : index
  return %least : index
}}"""
    assert "arith.minsi" in _simplified(text)


def test_long_rows_of_concatenations_end() -> None:
    """Each size is that of the one before and more."""
    tensor = "tensor<?xf32>"
    lines = [
        f"%x{at + 1} = tcp.concat %x{at}, %y {{dim = 0 : index}} : {tensor}, {tensor} -> {tensor}"
        for at in range(1500)
    ]
    text = f"""
func.func @f(%x0: {tensor}, %y: {tensor}) -> index {{
  %k0 = arith.constant 0 : index
  {chr(10).join(lines)}
  %size = tensor.dim %x1500, %k0 : {tensor}
  %least = arith.maxsi %size, %k0 : index
  return %least : index
}}"""
    assert "arith.maxsi" not in _simplified(text)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
