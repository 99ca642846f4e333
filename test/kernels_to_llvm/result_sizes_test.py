import sys

import pytest

from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.kernels_to_llvm.program_signature import program_signature
from plumbline.signature.size_expressions import evaluate
from plumbline.tcp.assembly.module import parse_module

_ARGUMENT = "%x: memref<?x?xf32> {plumbline.shape = affine_map<()[s0, s1] -> (s0, s1 * 2)>}"
_SYMBOLS = (
    '[{name = "n", min_val = 1 : i64, max_val = 9 : i64}, '
    '{name = "m", min_val = 2 : i64, max_val = 9223372036854775807 : i64}]'
)


def _texts(body: str, result: str = "memref<?xf32>", others: str = "") -> list[str]:
    text = (
        f"func.func @f({_ARGUMENT}) -> {result} attributes {{plumbline.symbols = {_SYMBOLS}}} {{\n"
        "  %c0 = arith.constant 0 : index\n"
        "  %c1 = arith.constant 1 : index\n"
        "  %c4 = arith.constant 4 : index\n"
        "  %n = memref.dim %x, %c0 : memref<?x?xf32>\n"
        "  %m2 = memref.dim %x, %c1 : memref<?x?xf32>\n"
        f"{body}\n}}\n{others}"
    )
    signature = program_signature(parse_module(text, make_context(torch=True), "f.mlir"), "f")
    return [signature.shapes.text(size) for size in signature.result_shapes[0]]


@pytest.mark.parametrize(
    ("computed", "expected"),
    [
        ("%s = arith.addi %n, %m2 : index", "n + 2*m"),
        ("%s = arith.subi %m2, %n : index", "2*m - n"),
        ("%s = arith.divsi %m2, %c4 : index", "(2*m) floordiv 4"),
        ("%s = arith.ceildivsi %n, %c4 : index", "n ceildiv 4"),
        ("%s = arith.minsi %n, %c4 : index", "min(n, 4)"),
        ("%s = arith.maxsi %n, %c4 : index", "max(n, 4)"),
        # So many numbers as torch.arange makes of it.
        ("%s = arith.maxsi %n, %c0 : index", "n"),
        # What affine.apply of a floordiv is lowered to: a size is never below 0.
        (
            "%b = arith.cmpi slt, %n, %c0 : index\n  %s = arith.select %b, %c0, %n : index",
            "n",
        ),
        # Sizes times a float, as F.interpolate computes them.
        (
            "%i = arith.index_cast %n : index to i64\n  %f = arith.sitofp %i : i64 to f64\n"
            "  %k = arith.constant 1.5 : f64\n  %p = arith.mulf %f, %k : f64\n"
            "  %r = math.floor %p : f64\n  %t = arith.fptosi %r : f64 to i64\n"
            "  %s = arith.index_cast %t : i64 to index",
            "floor(n * 1.5)",
        ),
    ],
)
def test_sizes_are_formulas(computed: str, expected: str) -> None:
    body = f"  {computed}\n  %0 = memref.alloc(%s) : memref<?xf32>\n  return %0 : memref<?xf32>"
    assert _texts(body) == [expected]


def test_sizes_are_those_of_what_is_looked_at() -> None:
    body = """
  %0 = memref.alloc(%n, %m2) : memref<?x?xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  return %1 : memref<?xf32>"""
    assert _texts(body) == ["2*n*m"]


def test_sizes_come_out_of_branches_that_agree_and_of_calls() -> None:
    body = """
  %b = arith.cmpi slt, %n, %m2 : index
  %0 = scf.if %b -> memref<?x?xf32> {
    %1 = memref.alloc(%n, %m2) : memref<?x?xf32>
    scf.yield %1 : memref<?x?xf32>
  } else {
    %1 = func.call @g(%x, %m2) : (memref<?x?xf32>, index) -> memref<?x?xf32>
    scf.yield %1 : memref<?x?xf32>
  }
  return %0 : memref<?x?xf32>"""
    other = """
func.func private @g(%x: memref<?x?xf32>, %m: index) -> memref<?x?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %0 = memref.alloc(%n, %m) : memref<?x?xf32>
  return %0 : memref<?x?xf32>
}"""
    assert _texts(body, "memref<?x?xf32>", other) == ["n", "2*m"]


_LOOPS = {
    "for": """
  %0:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %one, %b = %two)
      -> (memref<?xf32>, memref<?xf32>) {
    %next = func.call @g(%a, %b, %n) : (memref<?xf32>, memref<?xf32>, index) -> memref<?xf32>
    scf.yield %b, %next : memref<?xf32>, memref<?xf32>
  }""",
    "while": """
  %go = arith.constant true
  %0:2 = scf.while (%a = %one, %b = %two)
      : (memref<?xf32>, memref<?xf32>) -> (memref<?xf32>, memref<?xf32>) {
    scf.condition(%go) %b, %a : memref<?xf32>, memref<?xf32>
  } do {
  ^bb0(%b: memref<?xf32>, %a: memref<?xf32>):
    %next = func.call @g(%a, %b, %n) : (memref<?xf32>, memref<?xf32>, index) -> memref<?xf32>
    scf.yield %b, %next : memref<?xf32>, memref<?xf32>
  }""",
}


@pytest.mark.parametrize("loop", _LOOPS)
@pytest.mark.parametrize("keeps", [True, False])
def test_sizes_stay_in_loops_that_keep_them(loop: str, *, keeps: bool) -> None:
    """Of two buffers that change places; one is new in each round."""
    body = f"""
  %one = memref.alloc(%n) : memref<?xf32>
  %two = memref.alloc(%n) : memref<?xf32>{_LOOPS[loop]}
  return %0#0 : memref<?xf32>"""
    size = "%d" if keeps else "%e"
    other = f"""
func.func private @g(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) -> memref<?xf32> {{
  %c0 = arith.constant 0 : index
  %d = memref.dim %a, %c0 : memref<?xf32>
  %e = arith.addi %d, %n : index
  %0 = memref.alloc({size}) : memref<?xf32>
  return %0 : memref<?xf32>
}}"""
    if keeps:
        assert _texts(body, others=other) == ["n"]
    else:
        with pytest.raises(UserError, match="a loop changes it"):
            _texts(body, others=other)


def test_a_choice_by_sizes_is_a_formula_too() -> None:
    text = (
        f"func.func @f({_ARGUMENT}) -> memref<?xf32> attributes {{plumbline.symbols = {_SYMBOLS}}} "
        "{\n  %c0 = arith.constant 0 : index\n  %c4 = arith.constant 4 : index\n"
        "  %n = memref.dim %x, %c0 : memref<?x?xf32>\n"
        "  %b = arith.cmpi sle, %n, %c4 : index\n  %s = arith.select %b, %c4, %n : index\n"
        "  %0 = memref.alloc(%s) : memref<?xf32>\n  return %0 : memref<?xf32>\n}\n"
    )
    signature = program_signature(parse_module(text, make_context(torch=True), "f.mlir"), "f")
    ((size,),) = signature.result_shapes
    assert size is not None
    assert [evaluate(size, {0: n, 1: 2}) for n in (1, 4, 5, 9)] == [4, 4, 5, 9]


_COUNTED = (
    "  %l = memref.load %x[%c0, %c0] : memref<?x?xf32>\n  %w = arith.fptosi %l : f32 to i64\n"
    "  %k = arith.index_cast %w : i64 to index\n"
    # What nobody knows, from 0 to n.
    "  %u = arith.minsi %k, %n : index\n  %v = arith.maxsi %u, %c0 : index\n"
)


@pytest.mark.parametrize(
    ("computed", "bound"),
    [
        ("%s = arith.minsi %k, %n : index", "n"),
        ("%s = arith.addi %v, %c4 : index", "n + 4"),
        ("%s = arith.muli %v, %m2 : index", "2*n*m"),
        ("%s = arith.muli %v, %v : index", "n*n"),
        ("%s = arith.subi %v, %c1 : index", "n - 1"),
        # What is taken away is at least 0.
        ("%s = arith.subi %m2, %v : index", "2*m"),
        ("%s = arith.divsi %v, %c4 : index", "n floordiv 4"),
        ("%s = arith.maxsi %v, %m2 : index", "max(n, 2*m)"),
        (
            "%b = arith.cmpi slt, %v, %c4 : index\n  %s = arith.select %b, %c4, %v : index",
            "max(4, n)",
        ),
    ],
)
def test_what_depends_on_values_has_a_bound(computed: str, bound: str) -> None:
    body = (
        f"{_COUNTED}  {computed}\n  %0 = memref.alloc(%s) : memref<?xf32>\n"
        "  return %0 : memref<?xf32>"
    )
    assert _texts(body) == [bound]


@pytest.mark.parametrize(
    "computed",
    [
        "%s = arith.addi %k, %n : index",
        "%s = arith.maxsi %k, %n : index",
        # It may be below 0, so that the difference is more than n.
        "%s = arith.subi %n, %k : index",
        "%s = arith.muli %u, %u : index",
    ],
)
def test_what_has_no_bound_is_refused(computed: str) -> None:
    body = (
        f"{_COUNTED}  {computed}\n  %0 = memref.alloc(%s) : memref<?xf32>\n"
        "  return %0 : memref<?xf32>"
    )
    with pytest.raises(UserError, match="nor are they bounded by one"):
        _texts(body)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
