"""What a sweep says of why an entry does not pass."""

import sys

import pytest

from test.op_db.outcome import reason


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("sample.py:12: error: no such sizes", "no such sizes"),
        ("sample.mlir:12:8: error: 'scf.while' op has no kernel", "'scf.while' op has no kernel"),
        ("it holds %arg3 of u0\n  sample.py:12\n  what would help: nothing", "it holds of"),
    ],
)
def test_reasons_are_alike_for_programs_that_differ(message: str, expected: str) -> None:
    assert reason(message) == expected


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
