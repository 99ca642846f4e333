"""Proves that clones share a cache over HTTP, for which Debian's nginx will do.

    bazel run //test/remote:http_cache [-- TARGET...]

One copy of the checkout fills the cache, another takes all from it. Needs nginx-light, 10 GB of
disk, and five minutes.
"""

from pathlib import Path

from test.remote import proof, servers
from test.remote.checkout import snippet


def _prove(scratch: Path, targets: list[str]) -> None:
    with (
        servers.nginx(scratch / "nginx") as port,
        proof.checkout(scratch, "first") as first,
        proof.checkout(scratch, "some/where/else") as second,
    ):
        address = {"cache.example:8080": f"127.0.0.1:{port}"}
        bazelrc = snippet(proof.page(first), "Cache over HTTP", address)
        first.bazel("test", *targets, bazelrc=bazelrc)
        proof.check_only(second.bazel("test", *targets, bazelrc=bazelrc), "remote cache hit")
        proof.check_same_outputs(proof.hashes(first), proof.hashes(second))


if __name__ == "__main__":
    proof.run(__doc__, _prove)
