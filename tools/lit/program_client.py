"""Asks a server for a program, and is to its caller what the program would be.

    python program_client.py SOCKET PROGRAM ARGUMENT...

It imports little, so that it starts in a moment.
"""

import json
import os
import socket
import sys

_NO_STATUS = 70
"""The program's end without an exit status, as by a signal: EX_SOFTWARE of sysexits.h."""


def main(path: str, *command: str) -> int:
    """Runs a program; returns its exit status."""
    request = {"command": command, "folder": os.getcwd(), "environment": dict(os.environ)}
    content = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, [len(content).to_bytes(4, "big")], [0, 1, 2])
        server.sendall(content)
        status = server.recv(1)
    if not status:
        print(f"{command[0]} ended without an exit status", file=sys.stderr)
        return _NO_STATUS
    return status[0]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
