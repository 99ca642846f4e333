"""Counts the test targets of one run of Bazel, for the last line of .ci/run."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

_PASSED = {"PASSED", "FLAKY"}


def count(events: list[dict[str, Any]], bazel_status: int) -> tuple[int, int]:
    """Counts the tests that passed and those that did not.

    Args:
      events: Bazel's build event protocol (`--build_event_json_file`), in order.
      bazel_status: Bazel's exit status.

    Returns:
      The numbers of passed and failed test targets. A test that Bazel knew and did not bring to an
      end, for instance because it did not build, has failed. If no test has failed and still Bazel
      did, or if there was no test at all, that counts as one failure.
    """
    tests: set[str] = set()
    skipped: set[str] = set()
    passed: set[str] = set()
    for event in events:
        [(kind, identity)] = event["id"].items()
        label = identity.get("label", "")
        if kind == "targetConfigured" and "testSize" in event.get("configured", {}):
            tests.add(label)
        elif kind == "targetCompleted" and event.get("aborted", {}).get("reason") == "SKIPPED":
            skipped.add(label)
        # Without a summary in it, if Bazel was stopped meanwhile.
        elif event.get("testSummary", {}).get("overallStatus") in _PASSED:
            passed.add(label)
    failed = len(tests - skipped - passed)
    if failed == 0 and (bazel_status != 0 or not passed):
        failed = 1
    return len(passed), failed


def main() -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=Path, required=True, help="the build event JSON file")
    parser.add_argument("--bazel-status", type=int, required=True, help="Bazel's exit status")
    arguments = parser.parse_args()
    lines = arguments.events.read_text().splitlines()
    passed, failed = count([json.loads(line) for line in lines], arguments.bazel_status)
    if not lines:
        print("Bazel did not start; what it needs is said above.", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
