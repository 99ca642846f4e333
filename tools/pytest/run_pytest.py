"""Runs the tests of several files in one process: the program of every pytest_test."""

import atexit
import gc
import os
import sys

import pytest


class _FrozenImports:
    """Keeps what is imported, a million objects with PyTorch, out of garbage collections.

    It lives as long as the process; to look through it took a seventh of the time. What the tests
    themselves import, as half of PyTorch is by the first that exports a program, took another
    fiftieth.
    """

    def __init__(self) -> None:
        gc.disable()
        self._tests = 0
        self._collections = 0

    def pytest_collection_finish(self) -> None:
        """Comes when all files have been imported."""
        gc.freeze()
        gc.enable()

    def pytest_runtest_setup(self) -> None:
        """Comes before each test, when what is still there of those before it is there to stay.

        That goes for all after a collection of all, and but for a little after the first test.
        """
        of_all = gc.get_stats()[-1]["collections"]
        if self._tests == 1 or of_all > self._collections:
            gc.freeze()
        self._tests += 1
        self._collections = of_all


class _SameNumbers:
    """Has each test draw the same random numbers, whichever tests come before it, or none."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        # It takes a second to import, which a test without it need not wait for.
        if torch := sys.modules.get("torch"):
            torch.manual_seed(0)


# pytest's handlers of log records would have PyTorch make one, with a stack, for each thing that it
# traces: a twentieth of an export. A test of what is logged has a handler of its own.
_OPTIONS = ("-q", "-p", "no:logging")

if __name__ == "__main__":
    # A test compiles what it tests, and not what another run has left.
    os.environ.setdefault("PLUMBLINE_CACHE_DIR", "")
    # Hypothesis looks for it: examples are the same each time, and none fails for the time that it
    # takes, which says how busy the machine is.
    os.environ.setdefault("CI", "true")
    plugins = [_FrozenImports(), _SameNumbers()]
    status = pytest.main([*_OPTIONS, *sys.argv[1:]], plugins=plugins)
    # What has to be done as a process ends is done, and all else left to the system: to take apart
    # a million objects one by one took a fortieth of the time. That programs end well is for tests
    # that run some.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
