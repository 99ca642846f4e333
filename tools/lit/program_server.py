"""Runs programs in forks of one process that has imported them.

The lit tests run four hundred commands, and to import what tcp-opt is made of takes ten times
longer than what it then does. So a server imports once. A program that `program_client.py` asks it
for runs in a fork of it: with the client's arguments, folder, environment and standard streams, as
if the client were the program.
"""

import contextlib
import gc
import json
import os
import selectors
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping

from plumbline.errors.watched_process import exit_status

Program = Callable[[list[str]], int]
"""Takes a command line without the program's name, and gives the exit status."""

_STREAMS = 3
"""Standard input, output and error: the first descriptors of any process."""


@contextlib.contextmanager
def serve(load: Callable[[], Mapping[str, Program]]) -> Iterator[str]:
    """Serves programs by name, until the end of the context; gives the path of the socket.

    The programs are loaded in the server, while this process goes on.
    """
    # Not in TEST_TMPDIR, as the path of a socket holds no more than 107 bytes.
    with tempfile.TemporaryDirectory(prefix="lit-", dir="/tmp") as folder:
        path = os.path.join(folder, "socket")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            # Clients that come before the programs are loaded wait.
            listener.listen(socket.SOMAXCONN)
            ended, end = os.pipe()
            server = os.fork()
            if server == 0:
                os.close(end)
                with contextlib.suppress(KeyboardInterrupt):
                    _serve(listener, ended, load())
                os._exit(0)
        os.close(ended)
        try:
            yield path
        finally:
            # However this process ends, the server hears of it.
            os.close(end)
            os.waitpid(server, 0)


def _serve(listener: socket.socket, ended: int, programs: Mapping[str, Program]) -> None:
    # What is there is there for good: no fork needs to look at it to collect garbage, and so to
    # copy its pages.
    gc.collect()
    gc.freeze()
    # Whatever is in the buffers, each fork would write once more.
    sys.stdout.flush()
    sys.stderr.flush()
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(ended, selectors.EVENT_READ)
        while True:
            ready = [key.fd for key, _ in selector.select()]
            _forget_the_dead()
            if ended in ready:
                return
            client, _ = listener.accept()
            with client:
                if os.fork() == 0:
                    listener.close()
                    _answer(client, programs)
                    os._exit(0)


def _forget_the_dead() -> None:
    """Takes note of forks that have ended; it is the clients that hear how."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(client: socket.socket, programs: Mapping[str, Program]) -> None:
    """Becomes the program that a client asks for, and tells it the exit status."""
    length, streams, _, _ = socket.recv_fds(client, 4, _STREAMS)
    with client.makefile("rb") as file:
        request = json.loads(file.read(int.from_bytes(length, "big")))
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    # Python's own remember what kind of file the server's were.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    name, *arguments = request["command"]
    status = exit_status(lambda: sys.exit(programs[name](arguments)))
    client.sendall(bytes([status % 256]))
