"""Whole files: what stands around the ops, where errors point, and what is printed."""

import sys
import time
from collections.abc import Sequence

import pytest
from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.tcp.assembly import module
from plumbline.tcp.assembly.lexer import Tokens
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp.assembly.reader import Reader
from plumbline.tcp.dialect import formats
from test.tcp.checks import check_round_trip, context, error_of, function, parse

TANH = "%0 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>"


def location_of(module: ir.Module, name: str) -> str:
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == name:
            found.append(str(op.location))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    (location,) = found
    return location


# -- what stands around ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// nothing\n",
        'func.func private @f()\nfunc.func private @g() attributes {x = "}"}\n',
        "#map = affine_map<(d0) -> (d0)>\nfunc.func private @f() attributes {x = #map}\n",
        "func.func private @f() loc(#loc)\n#loc = loc(unknown)\n",
        'func.func private @f() loc(#named)\n#loc = loc("a.py":1:2)\n'
        '#named = loc("tcp.tanh"(#loc))\n',
        'func.func private @f() loc(fused["tcp.tanh"("a":1:2), "tcp.add"("b":1:2)])\n',
        "#a = dense<1> : tensor<2xi64>\nfunc.func private @f() attributes {x = #a}\n",
        "!t = tensor<?xf32>\nfunc.func private @f(!t)\n",
        "module {\n}\nfunc.func private @f()\n",
        'module @m attributes {x.y = "z"} {\n} loc("a":1:2)\n',
        '"builtin.module"() ({\n^bb0:\n}) : () -> ()\n',
        "module {\n}\n\n{-#\n  dialect_resources: {\n    builtin: {\n"
        '      blob: "0x0400000000000000"\n    }\n  }\n#-}\n',
        "func.func private @f()\n{-#\n  dialect_resources: {\n    builtin: {\n"
        '      blob: "0x0400000000000000"\n    }\n  }\n#-}\n',
    ],
)
def test_a_file_is_a_module(text: str) -> None:
    module = parse(text)
    assert module.operation.name == "builtin.module"
    inner = [op.operation.name for op in module.body]
    assert inner == (["builtin.module"] if "}\nfunc" in text else []) + ["func.func"] * text.count(
        "func.func"
    )


def test_attributes_and_name_of_a_module_stay() -> None:
    check_round_trip('module @m attributes {x.y = "z"} {\n}\n')


def test_foreign_text_stays_as_it_is() -> None:
    check_round_trip(
        """\
#map = affine_map<(d0) -> (d0)>
module {
  func.func @f(%arg0: tensor<4xf32> {tcp.name = "%0 = tcp.tanh"}, %arg1: i1) -> tensor<4xf32> \
attributes {tcp.add = 1 : i64, tcp.sub, text = "tcp.tanh %x : f32 -> f32"} {
    %0 = tensor.empty() : tensor<4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} \
ins(%arg0 : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %3 = arith.addf %in, %in : f32
      linalg.yield %3 : f32
    } -> tensor<4xf32>
    %2 = scf.if %arg1 -> (tensor<4xf32>) {
      %3 = tcp.tanh %1 {tcp.tanh, tcp.yield = 1 : i64} : tensor<4xf32> -> tensor<4xf32>
      scf.yield %3 : tensor<4xf32>
    } else {
      scf.yield %1 : tensor<4xf32>
    }
    return %2 : tensor<4xf32>
  }
}
"""
    )


def test_blocks_and_successors() -> None:
    check_round_trip(
        """\
module {
  func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    cf.br ^bb1(%arg0 : tensor<2xf32>)
  ^bb1(%0: tensor<2xf32>):  // pred: ^bb0
    %1 = tcp.tanh %0 : tensor<2xf32> -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
"""
    )


def test_large_constants_and_resources() -> None:
    hexadecimal = "0x" + "00" * 7 + "01" + "02" * 8 * 199
    text = f"""\
module {{
  func.func @f() {{
    %0 = tcp.const {{value = dense_resource<blob> : tensor<2xf32>}} : tensor<2xf32>
    %1 = tcp.const {{value = dense<"{hexadecimal}"> : tensor<200xi64>}} : tensor<200xi64>
    return
  }}
}}

{{-#
  dialect_resources: {{
    builtin: {{
      blob: "0x080000000000803F0000803F"
    }}
  }}
#-}}
"""
    # A context of its own for each: it keeps resources, and renames another one of that name.
    module = parse_module(text, make_context(), "a.mlir")
    assert print_module(module) == text
    generic = print_module(module, generic=True)
    assert print_module(parse_module(generic, make_context(), "b.mlir")) == text


@pytest.mark.parametrize(
    "types",
    [
        pytest.param(["index", "tensor<?xf32>"] * 32, id="of_different_types_in_turn"),
        pytest.param(["index"] * 500 + ["tensor<?xf32>"] * 500, id="of_one_type_in_a_row"),
    ],
)
def test_many_values(types: Sequence[str]) -> None:
    check_round_trip(function(types, _custom_op_of(types)))


def test_too_many_values_of_different_types() -> None:
    types = ["index", "tensor<?xf32>"] * 33
    error = error_of(function(types, _custom_op_of(types)))
    assert "error: 'inputs' takes at most 64 values of different types in a row" in error


def _custom_op_of(types: Sequence[str]) -> str:
    """An op that takes all arguments, which are of these types."""
    values = ", ".join(f"%arg{index}" for index in range(len(types)))
    return f'tcp.custom_op("f") {values} : {", ".join(types)} -> ()'


def test_an_alias_is_kept_where_something_else_uses_it() -> None:
    check_round_trip(
        """\
#map = affine_map<()[s0] -> (s0)>
module {
  func.func @f(%arg0: tensor<?xf32>) attributes {x = #map} {
    %0 = tcp.symbolic_int "s0" {min_val = 2, max_val = 8} : i64
    tcp.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
    tcp.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0 * 2)> : tensor<?xf32>
    return
  }
}
"""
    )


def test_both_forms_of_an_enumeration_are_read() -> None:
    types = "tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>"
    text = f"%0 = tcp.divsi %arg0, %arg0 {{{{rounding_mode = {{}}}}}} : {types}"
    custom = function(["tensor<2xi8>"], text.format("#tcp<rounding_mode Floor>"))
    generic = function(["tensor<2xi8>"], text.format('#tcp.rounding_mode<"Floor">'))
    assert print_module(parse(custom)) == print_module(parse(generic)) == custom


def test_the_generic_form_needs_nothing_but_what_it_says() -> None:
    text = """\
%0:2 = "tcp.isolated_group"(%arg0) <{a = 1 : i64}> ({
^bb0(%x: tensor<?xf32>):
  %1 = tcp.tanh %x : tensor<?xf32> -> tensor<?xf32>
  "tcp.yield"(%1, %x) : (tensor<?xf32>, tensor<?xf32>) -> ()
}) {b = #tcp<signedness Signed>} : (tensor<?xf32>)
     -> (tensor<?xf32>, tensor<?xf32>)
%2 = tcp.tanh %0#1 : tensor<?xf32> -> tensor<?xf32>"""
    printed = print_module(parse(function(["tensor<?xf32>"], text)))
    attributes = "attributes {a = 1 : i64, b = #tcp<signedness Signed>}"
    assert f"%0:2 = tcp.isolated_group %arg0 {attributes} {{\n" in printed
    check_round_trip(printed)


def test_an_op_that_fits_no_format_stays_generic() -> None:
    module = parse(function(["tensor<?xf32>"], TANH))
    tanh = module.body.operations[0].regions[0].blocks[0].operations[0]
    with context(), ir.Location.unknown(), ir.InsertionPoint(tanh):
        ir.Operation.create("tcp.tanh", results=[], operands=[])
    assert '"tcp.tanh"() : () -> ()\n' in print_module(module)
    assert 'tcp.custom_op"' not in print_module(module)


def test_a_list_that_starts_with_a_function_without_inputs_stays_generic() -> None:
    type_ = "() -> index"
    text = f'%0 = "tcp.custom_op"() {{op_name = "f"}} : () -> ({type_})'
    printed = print_module(parse(function([], text)))
    assert '"tcp.custom_op"() {' in printed
    assert print_module(parse(printed)) == printed


# -- places ------------------------------------------------------------------------------------


def test_locations_are_those_of_the_source() -> None:
    text = """\
// A comment with tcp.tanh and "quotes.

func.func @f(%a: tensor<?xf32>, %i: index, %one: tensor<1xf32>) -> tensor<?xf32> {
  %0 = tcp.broadcast %one, // a size
         %i {
           axes = [
             0
           ]
         } : tensor<1xf32>,
         index -> tensor<?xf32>
  %1 = tcp.group attributes {
      x = 1
  }
  {
    %2 = tcp.add %a,
      %0 : tensor<?xf32>, tensor<?xf32>
        -> tensor<?xf32>   %3 = tcp.tanh %2 : tensor<?xf32> -> tensor<?xf32>
    tcp.yield %3
     : tensor<?xf32>
  } :
  tensor<?xf32>
      %4 = tcp.sqrt %1 : tensor<?xf32> -> tensor<?xf32>
  %5 = tcp.abs %4
    : tensor<?xf32> -> tensor<?xf32>
  %6 = tcp.neg %5 : tensor<?xf32> -> tensor<?xf32>
  return %4 : tensor<?xf32>
}
"""
    module = parse(text)
    for op in ("broadcast", "group", "add", "yield", "sqrt", "abs", "neg"):
        lines = text[: text.index(f"tcp.{op}")].splitlines()
        expected = f'loc("test.mlir":{len(lines)}:{len(lines[-1]) + 1})'
        assert location_of(module, f"tcp.{op}") == expected, op
    assert location_of(module, "func.func") == 'loc("test.mlir":3:1)'
    assert location_of(module, "func.return") == 'loc("test.mlir":26:3)'
    # Columns after another op on its line cannot be kept, lines can.
    assert location_of(module, "tcp.tanh").startswith('loc("test.mlir":17:')


def test_every_line_keeps_its_number() -> None:
    text = function(["tensor<?xf32>"], TANH.replace(" ", "\n// x\n"))
    generic = str(Reader(Tokens(text), formats()).read())
    assert generic.count("\n") == text.count("\n")


ARGUMENTS = ["tensor<?xf32>", "tensor<?xf64>", "index", "tensor<1xf32>"]


@pytest.mark.parametrize(
    ("body", "at", "message"),
    [
        ("%0 = tcp.tanh : f32 -> f32", ": f32", "expected SSA operand"),
        ("%0 = tcp.tanh", "\n    return", "expected SSA operand"),
        ("%0 = tcp.add %arg0 %arg0 : f32", "%arg0 :", "expected ','"),
        ("%0 = tcp.tanh %arg0 tensor<?xf32>", "tensor<?xf32>\n    return", "expected ':'"),
        ("%0 = tcp.tanh %arg0 : -> f32", "-> f32", "expected type"),
        ("%0 = tcp.tanh %arg0 : tensor<?xf32>", "return", "expected '->'"),
        ("%0 = tcp.tanh %arg0 : f32 -> loc(unknown)", "loc(", "expected type"),
        ("%0 = tcp.tanh %arg0 : f32 -> tcp.yield", "tcp.yield", "expected type"),
        ("%0 = tcp.tanh %arg0 : tensor<?xf32 -> f32", "<?xf32 ->", "'<' is never closed"),
        ("%0 = tcp.tanh %arg0 : (f32) f32", "f32\n    return", "expected '->' in function type"),
        ("%0 = tcp.slice %arg0 start()", "start()", "expected 'starts'"),
        ("%0 = tcp.slice %arg0 starts(%arg1,)", ")\n    return", "expected SSA operand"),
        ("tcp.group attributes %arg0", "%arg0\n", "expected '{' in attribute dictionary"),
        ("tcp.group tcp.yield", "tcp.yield", "expected '{' to begin a region"),
        ("tcp.custom_op(%arg0)", "%arg0)", "expected attribute value"),
        ("%0 = tcp.tahn %arg0 : f32", "tcp.tahn", "custom op 'tcp.tahn' is unknown"),
        ("%0 = tcp.tanh %b : f32 -> f32", "%b", "use of undeclared SSA value name"),
        ("%0 = tcp.tanh %arg0 : tensor<?xf3> -> f32", "f3> ->", "expected non-function type"),
        ("%0 = tcp.tanh %arg0 {a = } : f32 -> f32", "} : f32", "expected attribute value"),
        (
            "%0 = tcp.add %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>",
            "%arg1 : tensor<?xf32>,",
            "use of value '%arg1' expects different type than prior uses: 'tensor<?xf32>' vs "
            "'tensor<?xf64>'",
        ),
        (
            "%0 = tcp.tanh %arg0 {a = #tcp<signedness Sign>} : tensor<?xf32> -> tensor<?xf32>",
            "#tcp<",
            "'\"Sign\"' does not satisfy the constraint",
        ),
        (
            "%0, %1 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>",
            "%0, %1",
            "operation defines 1 results but was provided 2 to bind",
        ),
        (
            "%0 = tcp.concat %arg0 {dim = 0 : index} : tensor<?xf32>, index -> tensor<?xf32>",
            "tcp.concat",
            "number of operands and types do not match: got 1 operands and 2 types",
        ),
        ('"tcp.tanh"(%arg0) : f32', ": f32", "expected function type"),
        ('"tcp.tanh"(%arg0', "(%arg0\n", "'(' is never closed"),
    ],
)
def test_errors_point_at_their_place(body: str, at: str, message: str) -> None:
    text = function(ARGUMENTS, body)
    start = text.index(body)
    offset = text.index(at, start)
    offset += len(at) - len(at.lstrip())
    line, column = text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1
    error = error_of(text)
    assert error.startswith(f"test.mlir:{line + 1}:{column + 1}: error: {message}"), error
    shown, caret = error.splitlines()[1:3]
    assert shown == text.splitlines()[line]
    assert caret == " " * column + "^"


@pytest.mark.parametrize(
    "text",
    [
        "module ",
        "module attributes",
        "module {} loc",
        '"builtin.module"',
        "#a =",
        "tcp.yield",
        "tcp.yield %0",
        "tcp.yield %0 :",
        "tcp.group attributes",
        "%0 = tcp.tanh %a {x = 1} : f32 ->",
        'tcp.custom_op("f") :',
        'tcp.custom_op("f") : (',
        '"tcp.tanh"()',
        '"tcp.tanh"() :',
        '"tcp.tanh"() : ()',
        '"tcp.tanh"() : () ->',
        '"tcp.tanh"() <',
    ],
)
def test_text_that_ends_too_soon(text: str) -> None:
    assert "error: " in error_of(text)


def test_notes_and_the_lines_they_are_about() -> None:
    error = error_of("func.func @f(%a: index) {\n  %0 = tcp.tanh %a : f32 -> f32\n  return\n}\n")
    assert error == (
        "test.mlir:2:17: error: use of value '%a' expects different type than prior uses: "
        "'f32' vs 'index'\n"
        "  %0 = tcp.tanh %a : f32 -> f32\n"
        "                ^\n"
        "test.mlir:1:14: note: prior use here\n"
        "func.func @f(%a: index) {\n"
        "             ^"
    )


def test_the_generic_form_is_not_shown() -> None:
    error = error_of(function([], "tcp.group {\n  tcp.yield\n  tcp.yield\n}"))
    assert error.endswith("the last operation in the parent block\n      tcp.yield\n      ^")


def test_an_op_of_no_dialect_stays_as_it_is() -> None:
    text = 'module { "concat"() : () -> () }'
    assert str(Reader(Tokens(text), formats()).read()) == text


def test_columns_count_characters() -> None:
    error = error_of(
        'func.func @f() {\n\t"é.é"() {a = "é"} : () -> () %0 = tcp.tanh %é : f32 -> f32\n}'
    )
    assert error.startswith("test.mlir:2:45: error: expected SSA operand"), error
    line = '  tcp.custom_op("é") : () -> () tcp.custom_op("g") %b : index -> ()'
    error = error_of(f"func.func @f() {{\n{line}\n}}")
    place = f"test.mlir:2:{line.index('%b') + 1}"
    assert error.startswith(f"{place}: error: use of undeclared SSA value name"), error
    error = error_of('func.func @f() {\n\tfoo.bar {a = "éé"} %0 : f32\n}')
    assert error.startswith("test.mlir:2:2: error: "), error
    assert error.endswith("\n\t^")


def test_an_op_with_a_location_of_its_own_is_named_by_it() -> None:
    text = TANH.replace("-> tensor<?xf32>", '-> tensor<?xf64> loc("model.py":7:3)')
    error = error_of(function(["tensor<?xf32>"], text))
    assert error == (
        "model.py:7:3: error: 'tcp.tanh' op requires the same element type for all operands and "
        "results"
    )


def test_only_what_is_said_to_verify_is_printed_unverified() -> None:
    """To verify once more took a fifth of printing."""
    parsed = parse(function(["tensor<?xf32>"], TANH))
    (tanh,) = [op for op in all_operations(parsed) if op.name == "tcp.tanh"]
    with parsed.context, ir.Location.unknown():
        tanh.results[0].set_type(ir.RankedTensorType.get([2, 2], ir.F64Type.get()))
    assert '"func.func"' in print_module(parsed)
    assert '"func.func"' not in print_module(parsed, is_verified=True)


def test_all_errors_of_a_verifier_are_told_with_the_filename() -> None:
    with pytest.raises(UserError, match=r'^dir/a "b".mlir:3:5: error: '):
        parse_module(function([], "tcp.foo"), context(), 'dir/a "b".mlir')


# -- cost --------------------------------------------------------------------------------------


def seconds_to_read_and_write(ops: int) -> float:
    lines = [TANH]
    for index in range(1, ops):
        attributes = f'{{name = "op_{index}", sizes = [1, 2, 3]}}'
        types = "tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>"
        lines.append(f"%{index} = tcp.add %{index - 1}, %arg0 {attributes} : {types}")
    text = function(["tensor<?xf32>"], "\n".join(lines))
    start = time.perf_counter()
    assert print_module(parse(text)) == text
    return time.perf_counter() - start


def test_cost_is_linear() -> None:
    few, many = seconds_to_read_and_write(2_500), seconds_to_read_and_write(10_000)
    assert many < 20, "10,000 ops take some seconds"
    assert many < 8 * few, f"four times the ops took {many / few:.1f} times as long"


def test_texts_without_tcp_are_not_split_into_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """#map = affine_map<(d0) -> (d0)>
module @named {
  func.func @f(%arg0: index) -> i1 {
    %0 = affine.apply #map(%arg0)
    %1 = arith.cmpi sge, %0, %arg0 : index
    return %1 : i1
  }
}
"""
    split = parse_module(f"// tcp\n{text}", context(), "f.mlir")

    def refuse(text: str, max_nesting: int) -> None:
        raise AssertionError(text)

    monkeypatch.setattr(module, "Tokens", refuse)
    parsed = parse_module(text, context(), "f.mlir")
    assert str(parsed) == str(split)
    assert location_of(parsed, "arith.cmpi") == 'loc("f.mlir":5:10)'


@pytest.mark.parametrize("brackets", ["[]", "<>", "()"])
def test_brackets_without_tcp_nest_no_deeper(brackets: str) -> None:
    deep = brackets[0] * 1000 + brackets[1] * 1000
    with pytest.raises(UserError, match="error: brackets nest deeper than 200 levels"):
        parse_module(f"module attributes {{a = {deep}}} {{}}", context(), "f.mlir")


def test_deeply_nested_groups() -> None:
    depth = 190
    text = "tcp.group {\n" * depth + "tcp.yield\n" + "}\ntcp.yield\n" * (depth - 1) + "}"
    printed = print_module(parse(function([], text)))
    assert print_module(parse(printed)) == printed
    error = error_of(function([], "tcp.group {\n" * 1000))
    assert "error: brackets nest deeper than 200 levels" in error


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
