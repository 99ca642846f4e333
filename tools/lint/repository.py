"""The checkout that is being worked on, seen from a test or a tool that Bazel runs."""

import subprocess
from pathlib import Path

# Bazel runs this file through a chain of links that ends in the checkout. A test that uses it reads
# files that it does not declare, so it carries the tags "external" (never cached) and "local" (no
# sandbox).
ROOT = Path(__file__).resolve().parents[2]


def files(*patterns: str) -> list[str]:
    """Lists the files that git tracks, or would track if they were added.

    Args:
      *patterns: git's pathspecs, such as `*.py`, which match in every folder.

    Returns:
      Paths relative to `ROOT`, sorted.

    Raises:
      RuntimeError: nothing matches, which is a slip in the patterns.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    listing = subprocess.run(
        [*command, *patterns], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    found = sorted({path for path in listing.split("\0") if path and (ROOT / path).is_file()})
    if not found:
        raise RuntimeError(f"no file in {ROOT} matches {' '.join(patterns)}")
    return found
