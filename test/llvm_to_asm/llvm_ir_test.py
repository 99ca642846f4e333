import sys

import pytest

from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.tcp.assembly.module import parse_module


def test_what_is_left_of_other_dialects_is_refused_with_its_place() -> None:
    module = parse_module(
        "module attributes {transform.with_named_sequence} {\n"
        "  transform.named_sequence @__transform_main(%a: !transform.any_op) {\n"
        "    transform.yield\n"
        "  }\n"
        "  llvm.func @f() {\n"
        "    llvm.return\n"
        "  }\n"
        "}\n",
        make_context(),
        "in.mlir",
    )
    with pytest.raises(UserError, match=r"in\.mlir:2:3: .*'transform\.named_sequence' .*\n.*:3:5"):
        translate_to_llvm_ir(module)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
