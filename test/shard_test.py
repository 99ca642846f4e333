"""The shards of a test are together all of it."""

import sys
from pathlib import Path

import pytest

from test.shard import of_this_shard


def test_all_without_shards() -> None:
    assert of_this_shard([1, 2, 3]) == [1, 2, 3]


def test_each_in_one_shard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TEST_TOTAL_SHARDS", "3")
    monkeypatch.setenv("TEST_SHARD_STATUS_FILE", str(tmp_path / "status"))
    seen: list[int] = []
    for index in range(3):
        monkeypatch.setenv("TEST_SHARD_INDEX", str(index))
        seen += of_this_shard(range(10))
    assert sorted(seen) == list(range(10))
    assert (tmp_path / "status").exists()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
