"""What of PyTorch's operator database is recorded as passing does pass.

`bazel run //test/op_db:sweep -- --passing test/op_db/passing.txt` makes the record anew.
"""

import sys
import warnings
from pathlib import Path

import pytest

from test.op_db.outcome import entries
from test.op_db.workers import outcomes
from test.shard import of_this_shard

_RECORD = Path(__file__).parent / "passing.txt"


def test_what_passed_passes() -> None:
    names = of_this_shard(_RECORD.read_text().split())
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
