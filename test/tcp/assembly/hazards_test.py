import re
import sys

import pytest

from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.tcp.assembly.module import parse_module

_SMALLEST = "-9223372036854775808"


def _parse(text: str) -> None:
    parse_module(text, make_context(), "in.mlir")


def _resource(type_: str, resources: str) -> str:
    return (
        f"func.func @f() -> {type_} {{\n"
        f"  %0 = tcp.const {{value = dense_resource<a> : {type_}}} : {type_}\n"
        f"  return %0 : {type_}\n"
        f"}}\n{resources}"
    )


def _blob(name: str, bytes_: int) -> str:
    return f'{{-# dialect_resources: {{ builtin: {{ {name}: "0x04000000{"00" * bytes_}" }} }} #-}}'


@pytest.mark.parametrize(
    ("type_", "bytes_"),
    [
        *(("tensor<4xf32>", 16), ("tensor<2x3xi8>", 6), ("tensor<f64>", 8), ("tensor<0xf32>", 0)),
        *(("tensor<12xi1>", 2), ("tensor<12xi1>", 12), ("tensor<2xcomplex<f32>>", 16)),
        ("tensor<3xindex>", 24),
    ],
)
def test_a_resource_has_the_size_of_its_type(type_: str, bytes_: int) -> None:
    text = _resource(type_, _blob("a", bytes_))
    if "complex" in type_ or "index" in type_:
        text = text.replace("tcp.const {value = ", "arith.constant ").replace("}} :", " :")
        text = text.replace(f"}} : {type_}\n  return", "\n  return")
    _parse(text)
    with pytest.raises(UserError, match=rf"in\.mlir:2:8: .*<a> .* {bytes_ + 1} bytes, where "):
        _parse(text.replace('"0x04000000', '"0x0400000000'))


def test_a_resource_is_there() -> None:
    with pytest.raises(UserError, match=r"in\.mlir:2:8: .*<a> has no data, where .* takes 16"):
        _parse(_resource("tensor<4xf32>", ""))


def test_a_number_that_stands_for_an_operand_is_no_size() -> None:
    with pytest.raises(UserError, match=r"in\.mlir:3:\d+: .*is no size.*\n.*high.*\n *\^"):
        _parse(
            "func.func @f(%x: tensor<4xf32>, %c: f32) -> tensor<?xf32> {\n"
            "  %0 = tensor.pad %x low[0]\n"
            f"      high[{_SMALLEST}] {{ ^bb0(%i: index): tensor.yield %c : f32 }} "
            ": tensor<4xf32> to tensor<?xf32>\n"
            "  return %0 : tensor<?xf32>\n"
            "}\n"
        )


def test_the_smallest_number_may_be_an_element() -> None:
    _parse(
        "func.func @f() -> (i64, tensor<2xi64>) {\n"
        f"  %0 = arith.constant {{a = [{_SMALLEST}]}} {_SMALLEST} : i64\n"
        f"  %1 = arith.constant dense<[1, {_SMALLEST}]> : tensor<2xi64>\n"
        "  return %0, %1 : i64, tensor<2xi64>\n"
        "}\n"
    )


@pytest.mark.parametrize("content", [r"\FF", r"gr\C3", r"\\\80", r"\C3\\A9"])
def test_strings_are_text(content: str) -> None:
    text = f'module attributes {{x.a = "{content}"}} {{}}\n'
    with pytest.raises(UserError, match=re.escape("in.mlir:1:30: error: the bytes of this string")):
        parse_module(text.replace("x.a", "x.abcde"), make_context(), "in.mlir")


@pytest.mark.parametrize("content", [r"gr\C3\B6", r"\\FF", r"\09\"", "größe"])
def test_all_text_may_be_in_strings(content: str) -> None:
    _parse(f'module attributes {{tcp.a = "{content}"}} {{}}\n')


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
