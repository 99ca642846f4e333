import errno
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from plumbline.archives import atomic_file


def test_content_appears_and_nothing_else(tmp_path: Path) -> None:
    atomic_file.write_text(tmp_path / "x", "äß\n")
    assert (tmp_path / "x").read_bytes() == "äß\n".encode()
    assert os.listdir(tmp_path) == ["x"]


def test_a_link_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    for target in ("x", "y"):
        atomic_file.write_link(tmp_path / "link", target)
        assert os.readlink(tmp_path / "link") == target
    assert os.listdir(tmp_path) == ["link"]


def test_the_mode_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        atomic_file.write_bytes(tmp_path / "x", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_an_error_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_text("before")

    def fail(*arguments: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError):  # noqa: PT011 - the one raised above
        atomic_file.write_text(tmp_path / "x", "after")
    assert (tmp_path / "x").read_text() == "before"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_a_file_is_moved(
    is_elsewhere: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.write_text("after")
    source.chmod(0o700)
    (tmp_path / "x").write_text("before")
    replace = os.replace

    def replaced(old: str | Path, new: Path) -> None:
        if is_elsewhere and old == source:
            raise OSError(errno.EXDEV, "another file system")
        replace(old, new)

    monkeypatch.setattr(os, "replace", replaced)
    before = os.umask(0o027)
    try:
        atomic_file.move(source, tmp_path / "x")
    finally:
        os.umask(before)
    assert (tmp_path / "x").read_text() == "after"
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == (["source", "x"] if is_elsewhere else ["x"])


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        atomic_file.write_text(tmp_path / "no" / "x", "")


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    # As /dev/null must not be, which a program run by root could replace by a file.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    atomic_file.write_bytes(pipe, b"content")
    reader.join()
    assert read == [b"content"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")
    (tmp_path / "link").symlink_to("file")
    atomic_file.write_text(tmp_path / "link", "after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "after"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
