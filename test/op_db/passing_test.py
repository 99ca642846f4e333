"""What of PyTorch's operator database is recorded as passing does pass.

`bazel run //test/op_db:sweep -- --passing test/op_db/passing.txt` makes the record anew.
"""

import os
import sys
import warnings
from pathlib import Path

import pytest

from test.op_db.outcome import entries
from test.op_db.workers import outcomes

_RECORD = Path(__file__).parent / "passing.txt"


def test_what_passed_passes() -> None:
    if status_file := os.environ.get("TEST_SHARD_STATUS_FILE"):
        # Tells Bazel that the shards do differ.
        Path(status_file).touch()
    index, count = (
        int(os.environ.get(f"TEST_{name}", default))
        for name, default in (("SHARD_INDEX", "0"), ("TOTAL_SHARDS", "1"))
    )
    names = _RECORD.read_text().split()[index::count]
    assert names
    warnings.simplefilter("ignore")
    failures = [
        f"{outcome.op}: {'; '.join(outcome.failures) or outcome.skipped}"
        for outcome in outcomes(names)
        if outcome.kind != "all"
    ]
    assert not failures, "\n".join(failures)


def test_the_record_names_entries() -> None:
    names = _RECORD.read_text().split()
    assert names == sorted(set(names))
    assert not set(names) - entries().keys()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
