"""Proves that clones share a disk cache, and that what they build does not depend on where.

    bazel run //test/remote:disk_cache [-- TARGET...]

Two copies of the checkout, in folders of different names and depths and for users of different
names, build the same targets. Needs 10 GB of disk, and five minutes.
"""

from pathlib import Path

from test.remote import proof
from test.remote.checkout import snippet


def _prove(scratch: Path, targets: list[str]) -> None:
    with (
        proof.checkout(scratch, "first") as first,
        proof.checkout(scratch, "some/where/else", USER="somebody-else", TZ="Asia/Tokyo") as second,
    ):
        cache = {"/var/cache/plumbline": str(scratch / "cache")}
        bazelrc = snippet(proof.page(first), "Disk cache", cache)
        first.bazel("test", *targets, bazelrc=bazelrc)
        proof.check_no_traces(first)
        outputs = proof.hashes(first)

        second.bazel("test", *targets)
        proof.check_no_traces(second)
        proof.check_same_outputs(outputs, proof.hashes(second))

        second.bazel("clean")
        proof.check_only(second.bazel("test", *targets, bazelrc=bazelrc), "remote cache hit")
        proof.check_same_outputs(outputs, proof.hashes(second))


if __name__ == "__main__":
    proof.run(__doc__, _prove)
