import re
import sys
from pathlib import Path

import pytest

from plumbline.tcp.dialect import TCP, TcpOp
from tools.tcp_doc import tcp_doc

# The runfiles, or the checkout where pytest runs by itself.
_ROOT = Path(__file__).parents[3]
_PAGE = tcp_doc.page(_ROOT)


def test_page_is_what_the_ops_say() -> None:
    written = (_ROOT / tcp_doc.PAGE).read_text(encoding="utf-8")
    assert written == _PAGE, "out of date: ./bazelw run //tools/tcp_doc"


@pytest.mark.parametrize("op", TCP.operations, ids=lambda op: op.OPERATION_NAME)
def test_every_op_has_an_example(op: type[TcpOp]) -> None:
    section = _PAGE.split(f"### {op.OPERATION_NAME}\n")[1].split("###")[0]
    code = re.search(r"```mlir\n// [^\n]*\n(.*?)```", section, re.DOTALL)
    assert code is not None
    assert re.search(rf"{re.escape(op.OPERATION_NAME)}\b", code[1])


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
