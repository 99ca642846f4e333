"""Proves that all actions run on other machines: buildgrid's server, and two workers of ours.

    bazel run //test/remote:remote_execution [-- TARGET...]

The workers run actions in sandboxes that show nothing of the checkout, nor of Bazel's folders
(sandbox.py): what an action reads and does not declare, it does not find. Needs postgresql and
bubblewrap, 15 GB of disk, and ten minutes.
"""

import contextlib
from pathlib import Path

from test.remote import proof, servers
from test.remote.checkout import Checkout, ProofFailed, snippet

_README = "//test/AotCompile:broadcast_add_mixed_ranks_compile_execute_test"
_WORKERS = 2


def _prove(scratch: Path, targets: list[str]) -> None:
    python = servers.worker_python(scratch / "python")
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(servers.buildgrid(scratch / "server", python))
        logs = [
            stack.enter_context(
                servers.worker(scratch / f"worker{number}", python, port, f"worker{number}")
            )
            for number in range(1, _WORKERS + 1)
        ]
        client = stack.enter_context(proof.checkout(scratch, "client"))
        address = {"buildgrid.example:50051": f"127.0.0.1:{port}"}
        bazelrc = snippet(proof.page(client), "Remote execution", address)

        proof.check_only(client.bazel("run", "--config=remote", _README, bazelrc=bazelrc), "remote")
        proof.check_only(
            client.bazel("test", "--config=remote", *targets, bazelrc=bazelrc), "remote"
        )
        proof.check_no_traces(client)
        _check_all_worked(logs)
        _check_undeclared_input_is_missing(client, bazelrc)

        client.bazel("clean")
        proof.check_only(
            client.bazel("test", "--config=remote", *targets, bazelrc=bazelrc), "remote cache hit"
        )
        outputs = proof.hashes(client)

        # A host of another name, another user, and perhaps another Python.
        client.bazel("clean")
        client.bazel("test", *targets)
        proof.check_same_outputs(outputs, proof.hashes(client))


def _check_all_worked(logs: list[Path]) -> None:
    counts = [log.read_text().count("exit code 0") for log in logs]
    if not all(counts):
        raise ProofFailed(f"of the workers' actions, {counts} succeeded")
    proof.say(f"the workers ran {' and '.join(map(str, counts))} actions")


def _check_undeclared_input_is_missing(client: Checkout, bazelrc: str) -> None:
    """Fails if an action finds a file of the checkout, or a Debian package's, that is no input."""
    package = client.folder / "undeclared"
    package.mkdir()
    for number, file in enumerate([client.folder / "README.md", Path("/usr/src/googletest")]):
        (package / "BUILD").write_text(
            f'genrule(name = "copy{number}", outs = ["listing{number}"], cmd = "ls {file} > $@")\n'
        )
        try:
            target = f"//undeclared:copy{number}"
            client.bazel("build", "--config=remote", target, bazelrc=bazelrc)
        except ProofFailed as error:
            if "No such file or directory" not in str(error):
                raise
        else:
            raise ProofFailed(f"an action reads {file}, which is none of its inputs")
    proof.say("what is no input is not there: a file of the checkout, sources in /usr/src")


if __name__ == "__main__":
    proof.run(__doc__, _prove)
