"""What actions Bazel ran, from the profile that it writes."""

import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

# What one program's actions say that those of another do not.
_NAMES = re.compile(r"(program_\d+: )| //\S+|\S*program_\d+\S*")


@dataclass
class Actions:
    """The actions of one kind."""

    count: int = 0
    seconds: float = 0.0
    """Of all together, each from its beginning to its end."""


def actions(profile: Path) -> dict[str, Actions]:
    """The kinds of actions of a build, by what Bazel says while one runs.

    Args:
      profile: what `--profile` wrote, a gzipped file of the Trace Event Format.
    """
    found: dict[str, Actions] = defaultdict(Actions)
    with gzip.open(profile, "rt") as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        if event.get("cat") == "action processing":
            kind = found[" ".join(_NAMES.sub(" ", event["name"]).split())]
            kind.count += 1
            kind.seconds += event["dur"] / 1e6
    return found
