"""The share of a test that is run in several processes, as Bazel's `shard_count` asks for."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")


def of_this_shard(items: Sequence[Item]) -> Sequence[Item]:
    """Those of `items` that this process is to test: all, where there is but one."""
    if status_file := os.environ.get("TEST_SHARD_STATUS_FILE"):
        # Tells Bazel that the shards do differ.
        Path(status_file).touch()
    index, count = (
        int(os.environ.get(f"TEST_{name}", default))
        for name, default in (("SHARD_INDEX", "0"), ("TOTAL_SHARDS", "1"))
    )
    return items[index::count]
