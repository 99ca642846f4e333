"""Tests how test targets are counted."""

import sys
from typing import Any

import pytest

from tools.ci.test_count import count

Event = dict[str, Any]


def _configured(label: str) -> Event:
    return {
        "id": {"targetConfigured": {"label": label}},
        "configured": {"targetKind": "py_test rule", "testSize": "SMALL"},
    }


def _summary(label: str, status: str) -> Event:
    return {
        "id": {"testSummary": {"label": label}},
        "testSummary": {"overallStatus": status},
    }


def _library(label: str) -> Event:
    return {
        "id": {"targetConfigured": {"label": label}},
        "configured": {"targetKind": "py_library rule"},
    }


def _aborted(label: str, reason: str) -> Event:
    return {"id": {"targetCompleted": {"label": label}}, "aborted": {"reason": reason}}


def test_passed_and_failed() -> None:
    events = [
        _library("//:library"),
        *map(_configured, ["//:a", "//:b", "//:c", "//:d"]),
        _summary("//:a", "PASSED"),
        _summary("//:b", "FLAKY"),
        _summary("//:c", "FAILED"),
        _summary("//:d", "TIMEOUT"),
    ]
    assert count(events, 3) == (2, 2)


def test_all_passed() -> None:
    assert count([_configured("//:a"), _summary("//:a", "PASSED")], 0) == (1, 0)


def test_a_test_that_does_not_build_has_failed() -> None:
    assert count([_configured("//:a"), _configured("//:b"), _summary("//:a", "PASSED")], 1) == (
        1,
        1,
    )


def test_a_test_that_is_stopped_has_failed() -> None:
    stopped = {"id": {"testSummary": {"label": "//:b"}}, "aborted": {"reason": "USER_INTERRUPTED"}}
    events = [*map(_configured, ["//:a", "//:b"]), _summary("//:a", "PASSED"), stopped]
    assert count(events, 8) == (1, 1)


def test_a_test_for_another_platform_does_not_count() -> None:
    events = [
        *map(_configured, ["//:a", "//:b"]),
        _summary("//:a", "PASSED"),
        _aborted("//:b", "SKIPPED"),
    ]
    assert count(events, 0) == (1, 0)


def test_a_package_that_does_not_load_is_a_failure() -> None:
    assert count([_configured("//:a"), _summary("//:a", "PASSED")], 1) == (1, 1)


def test_no_tests_is_a_failure() -> None:
    assert count([], 4) == (0, 1)
    assert count([_library("//:library")], 0) == (0, 1)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
