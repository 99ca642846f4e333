"""Runs files of tests with lit and FileCheck: the program of every lit_test."""

from lit.main import main

if __name__ == "__main__":
    # Says of each test that failed what it ran and what FileCheck missed; and fails if there is
    # no test in a file, as lit then has nothing to run.
    main({})
