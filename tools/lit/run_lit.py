"""Runs files of tests with lit and FileCheck: the program of every lit_test."""

import os
from collections.abc import Mapping

from lit.main import main

from tools.lit.program_server import Program, serve


def _load() -> Mapping[str, Program]:
    import filecheck.main

    from plumbline.context import prepare_context
    from tools.tcp_opt import tcp_opt

    # The one that each run of tcp-opt begins with.
    prepare_context(torch=True, stablehlo=True)

    def file_check(arguments: list[str]) -> int:
        # Leaves by sys.exit, but where it only prints help.
        filecheck.main.main(["FileCheck", *arguments])
        return 0

    return {"tcp-opt": tcp_opt.watched_main, "FileCheck": file_check}


if __name__ == "__main__":
    with serve(_load) as path:
        # For lit.cfg.py, which makes of each command in a RUN line a question to the server.
        os.environ["PROGRAM_SERVER"] = path
        # Says of each test that failed what it ran and what FileCheck missed; and fails if there is
        # no test in a file, as lit then has nothing to run.
        main({})
