"""The pages of stages that aot_compile makes."""

import inspect
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from test.AotCompile import model_loader_lib

_PAGES = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], "test/AotCompile")


def _data(name: str) -> Any:
    text = (_PAGES / f"_internal_{name}.html").read_text(encoding="utf-8")
    (found,) = re.findall(r'<script type="application/json" id="data">(.*)</script>', text)
    return json.loads(found)


@pytest.mark.parametrize(
    ("name", "stages"),
    [
        ("mlp", ["torch", "tcp", "linalg", "kernels", "llvm", "llvm-ir", "asm"]),
        ("mlp_nvptx", ["torch", "tcp", "linalg", "gpu", "nvvm", "ptx", "llvm-ir", "asm"]),
    ],
)
def test_a_line_of_a_loader_is_found_in_all_stages(name: str, stages: list[str]) -> None:
    data = _data(name)
    assert [stage["name"] for stage in data["stages"]] == stages
    lines, first = inspect.getsourcelines(model_loader_lib.mlp_loader)
    text = "y = self.norm(self.second(torch.relu(self.first(x)))) * self.scale"
    (number,) = (first + index for index, line in enumerate(lines) if text in line)
    (source,) = data["sources"]
    assert source["file"] == "test/AotCompile/model_loader_lib.py"
    ((_, shown, origin),) = (line for line in source["lines"] if line[0] == number)
    assert shown.strip() == text
    # What launches the kernels of a GPU is no part of them.
    for stage in data["stages"][: stages.index("llvm-ir")]:
        assert any(origin in origins for origins in stage["origins"]), stage["name"]


def test_a_file_of_tcp_is_its_own_source() -> None:
    (source,) = _data("basic_tcp_ops")["sources"]
    assert source["file"] == "test/AotCompile/basic_tcp_ops.mlir"
    assert any("tcp." in text for _, text, *_ in source["lines"])


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
