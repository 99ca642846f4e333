"""Runs entries of the operator database in processes of their own, which may die."""

import functools
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import BinaryIO

from test.forked import run_forked
from test.op_db.outcome import How, Outcome, entries, family_of, run

TIME_LIMIT = 120
"""Seconds of a processor that an entry may take."""

_WARM_UP = "positive"
"""An entry that needs little besides what each first program of a process does."""


def outcomes(names: Iterable[str], how: How, *, workers: int = 1) -> Iterator[Outcome]:
    """Runs the entries of these names, `workers` at a time, and tells of each as it is done."""
    database = entries()
    # What a first export imports and prepares takes longer than most entries: once for all.
    run(database[_WARM_UP], How(samples=1, calls=False))
    for end in run_forked(
        names, functools.partial(_run, how), time_limit=TIME_LIMIT, workers=workers
    ):
        if end.death:
            failures = [f"BUG: {end.death}"]
            yield Outcome(end.item, family_of(database[end.item]), samples=1, failures=failures)
        else:
            yield Outcome(**json.loads(end.written))


def _run(how: How, name: str, pipe: BinaryIO) -> None:
    # One core each: as many processes as there are cores.
    import torch

    torch.set_num_threads(1)
    pipe.write(json.dumps(asdict(run(entries()[name], how))).encode())
