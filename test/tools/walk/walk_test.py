"""The pages that show stages show what these make."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tools.walk.walk import PAGES, ROOT, walked


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_pages_show_what_the_stages_make(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    # Bazel starts tests where their data is.
    assert walked(text, Path.cwd()) == text, "`./bazelw run //tools/walk` writes it anew"


def test_all_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.mlir").write_text(f"module {{\n\n\tlong {'x' * 200}\n}}\n")
    page = "Text.\n\n    $ build\n    $ cat bazel-bin/x.mlir\n    old\n\n    older\n\nMore.\n"
    shown = f"    module {{\n\n        long {'x' * 123} ...\n    }}\n"
    assert walked(page, tmp_path) == (
        f"Text.\n\n    $ build\n    $ cat bazel-bin/x.mlir\n{shown}\nMore.\n"
    )


def test_the_next_command_stays(tmp_path: Path) -> None:
    (tmp_path / "x.mlir").write_text("new\n")
    page = "    $ cat bazel-bin/x.mlir\n    old\n\n    $ other\n    shown\n"
    assert walked(page, tmp_path) == (
        "    $ cat bazel-bin/x.mlir\n    new\n\n    $ other\n    shown\n"
    )


def test_tensors(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", Input0=np.float32(10))
    page = "    $ python3 -c 'print(numpy.load(\"bazel-bin/x.npz\").items())'\n    old\n\nMore."
    assert walked(page, tmp_path).split("\n")[1:] == [
        "    ('Input0', array(10., dtype=float32))",
        "",
        "More.",
    ]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
