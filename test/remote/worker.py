"""A worker for buildgrid's server: it asks for actions, runs each in a sandbox, sends the results.

BuildGrid's own worker, buildbox-worker, is a C++ program that neither PyPI nor Debian has; the
server is on PyPI, with the messages of the Remote Workers API, which this program speaks. It runs
one action at a time: a machine has as many workers as cores.

    python -m test.remote.worker --server=HOST:PORT --folder=FOLDER --name=NAME

runs in an environment with the packages of worker_packages.txt, until it is told to end.
"""

import argparse
import concurrent.futures
import io
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2.remote_execution_pb2 import (
    Action,
    ActionResult,
    Command,
    Digest,
    Directory,
)
from buildgrid._protos.google.devtools.remoteworkers.v1test2.bots_pb2 import (
    BotSession,
    BotStatus,
    CreateBotSessionRequest,
    Lease,
    LeaseState,
    UpdateBotSessionRequest,
)
from buildgrid._protos.google.devtools.remoteworkers.v1test2.bots_pb2_grpc import BotsStub
from buildgrid._protos.google.devtools.remoteworkers.v1test2.worker_pb2 import Device, Worker
from buildgrid._protos.google.rpc import code_pb2, status_pb2
from buildgrid.server.client.cas import Downloader, Uploader
from buildgrid.server.exceptions import BgdError

from test.remote import sandbox
from test.remote.input_root import File, Folder, InputRoots

_HEARTBEAT = 20
"""In seconds, how often the server hears of an action that still runs."""

_POLL = 60
"""In seconds, how long the server may keep a question for work unanswered."""

_PROPERTIES = {"OSFamily": "linux", "ISA": "x86-64", "distribution": "debian-12"}
"""What this worker is, as the platform of the clients asks for it (//tools/remote:BUILD)."""


class RemoteStore:
    """The server's storage, as `InputRoots` asks for it."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._download = Downloader(channel, retries=3)
        self._sizes: dict[str, int] = {}
        self._folders: dict[str, Folder] = {}

    def message(self, digest: Digest, message: Action | Command | Directory) -> None:
        """Fills `message` with that of this digest."""
        blob = self._download.get_blob(digest)
        if blob is None:
            raise FileNotFoundError(f"the server does not have {digest.hash}")
        message.ParseFromString(blob)

    def tree(self, digest: Digest) -> str:
        """The name under which `folder` knows the folder of this digest."""
        self._sizes[digest.hash] = digest.size_bytes
        return str(digest.hash)

    def folder(self, digest: str) -> Folder:
        """The folder of that hash."""
        if digest not in self._folders:
            message = Directory()
            self.message(Digest(hash=digest, size_bytes=self._sizes[digest]), message)
            self._folders[digest] = Folder(
                files={
                    node.name: File(node.digest.hash, node.digest.size_bytes, node.is_executable)
                    for node in message.files
                },
                folders={node.name: self.tree(node.digest) for node in message.directories},
                links={node.name: node.target for node in message.symlinks},
            )
        return self._folders[digest]

    def fetch(self, wanted: dict[Path, File]) -> None:
        """Writes files into folders that exist."""
        for path, file in wanted.items():
            digest = Digest(hash=file.hash, size_bytes=file.size)
            self._download.download_file(digest, str(path))
        self._download.flush()


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    exit_code: int
    output: bytes
    errors: bytes
    timed_out: bool = False


class Executor:
    """Runs actions."""

    def __init__(self, channel: grpc.Channel, folder: Path) -> None:
        self._store = RemoteStore(channel)
        self._upload = Uploader(channel, retries=3)
        self._roots = InputRoots(folder / "cache", self._store)
        self._root = folder / "execution_root"
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, lease: Lease) -> None:
        """Runs the action of a lease, and writes into the lease how that went."""
        try:
            action = self._action(lease)
            result, timed_out = self._execute(action)
        except (OSError, grpc.RpcError, BgdError) as error:
            print(f"{lease.id}: {error}", file=sys.stderr, flush=True)
            lease.status.CopyFrom(
                status_pb2.Status(code=code_pb2.FAILED_PRECONDITION, message=str(error))
            )
        else:
            lease.result.Pack(result)
            code = code_pb2.DEADLINE_EXCEEDED if timed_out else code_pb2.OK
            lease.status.CopyFrom(status_pb2.Status(code=code))
        lease.state = LeaseState.COMPLETED

    def stop(self) -> None:
        """Ends the action that runs, if one does."""
        process = self._process
        if process is not None:
            process.kill()

    def _action(self, lease: Lease) -> Action:
        action = Action()
        if not lease.payload.Unpack(action):
            digest = Digest()
            lease.payload.Unpack(digest)
            self._store.message(digest, action)
        return action

    def _execute(self, action: Action) -> tuple[ActionResult, bool]:
        command = Command()
        self._store.message(action.command_digest, command)
        outputs = list(command.output_paths or [*command.output_files, *command.output_directories])
        # From where the command starts, which nearly always is the root.
        within = PurePosixPath(command.working_directory)
        shutil.rmtree(self._root, ignore_errors=True)
        started = time.monotonic()
        mounts = self._roots.make(
            self._store.tree(action.input_root_digest),
            self._root,
            [within / output for output in outputs] + [within / "working_directory"],
        )
        made = time.monotonic()
        outcome = self._run(
            sandbox.command_line(
                command.arguments,
                {variable.name: variable.value for variable in command.environment_variables},
                self._root,
                mounts,
                command.working_directory,
            ),
            action.timeout.ToSeconds() if action.HasField("timeout") else None,
        )
        ran = time.monotonic()
        result = ActionResult(exit_code=outcome.exit_code)
        self._add_text(result, outcome)
        for output in outputs:
            self._add_output(result, output, self._root / within / output)
        self._upload.flush()
        sent = time.monotonic()
        print(
            f"inputs {made - started:.2f} s, command {ran - made:.2f} s, "
            f"outputs {sent - ran:.2f} s: exit code {outcome.exit_code}, {outputs[:1]}",
            flush=True,
        )
        return result, outcome.timed_out

    def _run(self, command: list[str], timeout: float | None) -> Outcome:
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        timed_out = False
        try:
            output, errors = self._process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            self._process.kill()
            output, errors = self._process.communicate()
        code = self._process.returncode
        self._process = None
        # As a shell says that a signal ended a program.
        return Outcome(128 - code if code < 0 else code, output, errors, timed_out)

    def _add_text(self, result: ActionResult, outcome: Outcome) -> None:
        if outcome.output:
            result.stdout_digest.CopyFrom(self._upload.put_blob(io.BytesIO(outcome.output)))
        if outcome.errors:
            result.stderr_digest.CopyFrom(self._upload.put_blob(io.BytesIO(outcome.errors)))

    def _add_output(self, result: ActionResult, name: str, path: Path) -> None:
        """Adds what is at `path`, if anything is; a missing output is the client's to judge."""
        if path.is_dir():
            result.output_directories.add(
                path=name, tree_digest=self._upload.upload_tree(str(path))
            )
        elif path.is_file():
            result.output_files.add(
                path=name,
                digest=self._upload.upload_file(str(path)),
                is_executable=os.access(path, os.X_OK),
            )


def serve(server: str, folder: Path, name: str) -> None:
    """Asks for work and does it, until the process is ended."""
    # A batch of files is a little larger than gRPC's limit of four megabytes.
    channel = grpc.insecure_channel(server, options=[("grpc.max_receive_message_length", -1)])
    bots = BotsStub(channel)
    executor = Executor(channel, folder)
    device = Device(handle=name)
    for key, value in _PROPERTIES.items():
        device.properties.add(key=key, value=value)
    session = bots.CreateBotSession(
        CreateBotSessionRequest(
            bot_session=BotSession(
                bot_id=name, status=BotStatus.OK, worker=Worker(devices=[device])
            )
        ),
        timeout=_POLL,
    )
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        while True:
            if session.leases:
                _work_on(bots, session, executor, thread)
            session = _update(bots, session)


def _work_on(
    bots: BotsStub,
    session: BotSession,
    executor: Executor,
    thread: concurrent.futures.ThreadPoolExecutor,
) -> None:
    """Runs the action of the session's lease, while telling the server that it does."""
    lease = session.leases[0]
    work = thread.submit(executor.run, lease)
    while True:
        try:
            work.result(timeout=_HEARTBEAT)
            return
        except concurrent.futures.TimeoutError:
            alive = BotSession()
            alive.CopyFrom(session)
            # The client may have gone meanwhile.
            if not _update(bots, alive).leases:
                executor.stop()


def _update(bots: BotsStub, session: BotSession) -> BotSession:
    """Tells the server how things stand, and returns what it wants done."""
    return bots.UpdateBotSession(
        UpdateBotSessionRequest(name=session.name, bot_session=session), timeout=_POLL
    )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--server", required=True, help="host and port of the server")
    arguments.add_argument("--folder", required=True, type=Path, help="for inputs and outputs")
    arguments.add_argument("--name", required=True, help="unlike that of any other worker")
    given = arguments.parse_args()
    serve(given.server, given.folder.resolve(), given.name)
