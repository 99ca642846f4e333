import errno
import hashlib
import multiprocessing
import os
import stat
import time
from pathlib import Path

import pytest

from plumbline.cache.folder import CacheFolder
from plumbline.errors import UserError

_KEY, _OTHER = (hashlib.sha256(name).digest() for name in (b"one", b"other"))


@pytest.fixture
def folder(tmp_path: Path) -> CacheFolder:
    return CacheFolder(tmp_path / "cache")


def _file(folder: CacheFolder, key: bytes = _KEY) -> Path:
    return folder.path / key.hex()


def test_what_is_written_is_read(folder: CacheFolder) -> None:
    assert folder.read(_KEY) is None
    for content in (b"", b"machine code", os.urandom(100_000)):
        folder.write(_KEY, content)
        assert CacheFolder(folder.path).read(_KEY) == content
    assert folder.read(_OTHER) is None
    assert os.listdir(folder.path) == [_KEY.hex()]


def test_a_file_that_is_not_as_it_was_written_does_not_count(folder: CacheFolder) -> None:
    folder.write(_KEY, b"machine code")
    whole = _file(folder).read_bytes()
    torn = [whole[:size] for size in range(len(whole))]
    changed = [
        whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        for place in range(len(whole))
    ]
    for content in (*torn, *changed, whole + b"\0", os.urandom(1000)):
        _file(folder).write_bytes(content)
        assert folder.read(_KEY) is None
    folder.write(_KEY, b"machine code")
    assert folder.read(_KEY) == b"machine code"


def test_a_file_under_another_key_does_not_count(folder: CacheFolder) -> None:
    folder.write(_KEY, b"machine code")
    _file(folder).rename(_file(folder, _OTHER))
    assert folder.read(_OTHER) is None


def test_only_the_user_reads_and_writes(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        folder = CacheFolder(tmp_path / "cache")
        folder.write(_KEY, b"machine code")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(_file(folder).stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_where_others_write_is_refused(folder: CacheFolder, mode: int) -> None:
    folder.write(_KEY, b"machine code")
    folder.path.chmod(mode)
    with pytest.raises(UserError, match="cache can be written by other users; what is kept"):
        CacheFolder(folder.path)
    assert folder.read(_KEY) is None
    folder.write(_OTHER, b"machine code")
    assert not _file(folder, _OTHER).exists()


def test_what_belongs_to_another_user_is_refused(
    folder: CacheFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write(_KEY, b"machine code")
    monkeypatch.setattr(os, "geteuid", lambda: folder.path.stat().st_uid + 1)
    with pytest.raises(UserError, match="cache belongs to another user"):
        CacheFolder(folder.path)
    assert folder.read(_KEY) is None


def test_a_file_that_others_write_does_not_count(folder: CacheFolder) -> None:
    folder.write(_KEY, b"machine code")
    _file(folder).chmod(0o620)
    assert folder.read(_KEY) is None


def test_a_link_and_what_is_no_file_do_not_count(folder: CacheFolder) -> None:
    folder.write(_OTHER, b"machine code")
    elsewhere = folder.path.parent / "elsewhere"
    folder.write(_KEY, b"machine code")
    _file(folder).rename(elsewhere)
    _file(folder).symlink_to(elsewhere)
    assert folder.read(_KEY) is None
    _file(folder).unlink()
    os.mkfifo(_file(folder))
    assert folder.read(_KEY) is None


def test_what_was_not_used_for_longest_is_removed(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path, most_bytes=10_000)
    keys = [hashlib.sha256(bytes([number])).digest() for number in range(10)]
    foreign = tmp_path / "notes.txt"
    foreign.write_bytes(bytes(20_000))
    for age, key in enumerate(keys[:9]):
        folder.write(key, bytes(1000))
        os.utime(_file(folder, key), (age, age))
    assert folder.read(keys[0]) == bytes(1000)
    folder.write(keys[9], bytes(1000))
    kept = [key for key in keys if _file(folder, key).exists()]
    assert kept == [keys[0], *keys[5:]]
    assert foreign.exists()


def test_what_is_too_large_is_not_kept(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path, most_bytes=10_000)
    folder.write(_KEY, bytes(1000))
    folder.write(_OTHER, bytes(2000))
    assert os.listdir(tmp_path) == [_KEY.hex()]


def test_what_was_left_unfinished_is_removed(folder: CacheFolder) -> None:
    old, new = (folder.path / f".{digit * 32}.part" for digit in "ab")
    for file in (old, new):
        file.write_bytes(b"a part")
    os.utime(old, (time.time() - 7200,) * 2)
    folder.write(_KEY, b"machine code")
    assert not old.exists()
    assert new.exists()


def test_a_full_disk_is_no_failure(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", fail)
        folder.write(_KEY, b"machine code")
    assert os.listdir(folder.path) == []


def test_what_can_only_be_read_is_read(
    folder: CacheFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "read-only file system")

    folder.write(_KEY, b"machine code")
    monkeypatch.setattr(os, "utime", fail)
    assert folder.read(_KEY) == b"machine code"


def test_a_folder_may_disappear(folder: CacheFolder) -> None:
    folder.path.rmdir()
    assert folder.read(_KEY) is None
    folder.path.rmdir()
    folder.write(_KEY, b"machine code")
    assert folder.read(_KEY) == b"machine code"


def _write_often(path: Path, number: int) -> None:
    folder = CacheFolder(path, most_bytes=1_000_000)
    for turn in range(40):
        folder.write(_KEY, bytes([number]) * 100_000)
        folder.write(hashlib.sha256(bytes([number, turn])).digest(), bytes(50_000))
        content = folder.read(_KEY)
        assert content is None or content == content[:1] * 100_000


def test_processes_write_and_remove_at_once(folder: CacheFolder) -> None:
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=_write_often, args=(folder.path, number)) for number in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert not list(folder.path.glob(".*"))
    assert sum(file.stat().st_size for file in folder.path.iterdir()) < 1_000_000


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
