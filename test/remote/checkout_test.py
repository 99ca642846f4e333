import sys

import pytest

from test.remote.checkout import ProofFailed, parse_build, snippet

_OUTPUT = """\
INFO: Found 1 target...
INFO: Elapsed time: 4.961s, Critical Path: 4.62s
INFO: 22 processes: 7 remote cache hit, 15 internal.
INFO: Build completed successfully, 22 total actions
"""

_PAGE = """\
# Remote

## Disk cache

In a .bazelrc:

    build --disk_cache=/cache

and then

    $ bazel build //...

## Nothing
"""


def test_what_bazel_says_at_the_end() -> None:
    build = parse_build(_OUTPUT)
    assert build.processes == {"remote cache hit": 7, "internal": 15}
    assert str(build) == "5 s: 7 remote cache hit, 15 internal"
    assert parse_build("INFO: 1 process: 1 internal.\n").processes == {"internal": 1}
    assert parse_build("ERROR: no such target\n").processes == {}


def test_lines_for_a_bazelrc() -> None:
    assert snippet(_PAGE, "Disk cache", {"/cache": "/tmp/c"}) == "build --disk_cache=/tmp/c\n"


@pytest.mark.parametrize(
    ("heading", "names"), [("Nothing", {}), ("Something", {}), ("Disk cache", {"/elsewhere": ""})]
)
def test_a_page_without_them_proves_nothing(heading: str, names: dict[str, str]) -> None:
    with pytest.raises(ProofFailed):
        snippet(_PAGE, heading, names)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
