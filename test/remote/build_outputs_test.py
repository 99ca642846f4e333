import sys
from pathlib import Path

import pytest

from test.remote import build_outputs


@pytest.fixture
def build(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    (folder / "foo.runfiles").mkdir(parents=True)
    (folder / "foo.runfiles/inner").write_text("/home/someone")
    (folder / "foo.runfiles_manifest").write_text("/home/someone")
    (folder / "a.S").write_text(".text")
    (folder / "b.npz").write_bytes(b"\0made in /home/someone\0")
    (folder / "link.S").symlink_to("a.S")
    return folder


def test_outputs_are_what_actions_wrote(build: Path) -> None:
    assert list(build_outputs.outputs(build)) == [Path("a.S"), Path("b.npz")]


def test_a_word_is_found_in_bytes(build: Path) -> None:
    assert build_outputs.traces(build, ["/home/someone", "/elsewhere"]) == ["b.npz: /home/someone"]


def test_differences_name_file_and_kind(build: Path) -> None:
    first = build_outputs.hashes(build)
    assert build_outputs.differences(first, first) == []
    (build / "a.S").write_text(".data")
    (build / "c.S").write_text("")
    assert build_outputs.differences(first, build_outputs.hashes(build)) == [
        "c.S: in one build only",
        "a.S: its content",
    ]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
