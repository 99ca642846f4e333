"""What of PyTorch's operator database is recorded as passing does pass.

`bazel run //test/op_db:sweep -- --passing test/op_db/passing.txt` makes the record anew.
"""

import sys

import pytest

from test.op_db.outcome import How, entries
from test.op_db.record import failures, recorded


def test_what_passed_passes() -> None:
    found = failures(How())
    assert not found, "\n".join(found)


def test_the_record_names_entries() -> None:
    names = recorded()
    assert names == sorted(set(names))
    assert not set(names) - entries().keys()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
