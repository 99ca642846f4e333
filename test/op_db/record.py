"""The record of the entries that pass, and what of it does not."""

import warnings
from pathlib import Path

from test.op_db.outcome import How
from test.op_db.workers import outcomes
from test.shard import of_this_shard

_FILE = Path(__file__).parent / "passing.txt"


def recorded() -> list[str]:
    """The names of the entries that are recorded as passing."""
    return _FILE.read_text().split()


def failures(how: How) -> list[str]:
    """Of those of this shard all that do not pass, each with why."""
    names = of_this_shard(recorded())
    assert names
    warnings.simplefilter("ignore")
    return [
        f"{outcome.op}: {'; '.join(outcome.failures) or outcome.skipped}"
        for outcome in outcomes(names, how)
        if outcome.kind != "all"
    ]
