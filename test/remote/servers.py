"""The servers of the proofs, started in a folder of their own and ended again."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from test.remote.checkout import ProofFailed, outer_environment

_HERE = Path(__file__).parent
_PATIENCE = 60
"""In seconds, how long a server may take to answer."""


def free_port() -> int:
    """A TCP port of this machine that nothing listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def running(
    command: list[str], log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a server, and ends it with the block. What it prints goes to `log`."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env={**outer_environment(), **(environment or {})},
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Waits until a server answers.

    Raises:
      ProofFailed: it ended, or takes too long.
    """
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    raise ProofFailed(f"{process.args!r} does not answer:\n{log.read_text(errors='replace')}")


@contextlib.contextmanager
def nginx(folder: Path) -> Iterator[int]:
    """Debian's nginx as a cache over HTTP, which stores what is PUT; yields its port."""
    program = _program("nginx", "nginx-light", "/usr/sbin")
    folder.mkdir(parents=True)
    (folder / "content").mkdir()
    port = free_port()
    configuration = (_HERE / "nginx.conf").read_text(encoding="utf-8")
    for name, value in {"{folder}": str(folder), "{port}": str(port)}.items():
        configuration = configuration.replace(name, value)
    (folder / "nginx.conf").write_text(configuration)
    log = folder / "nginx.log"
    command = [program, "-c", str(folder / "nginx.conf"), "-p", str(folder)]
    if os.geteuid() == 0:
        # Debian's own user would have no way into the folder.
        command += ["-g", "user root;"]
    with running(command, log) as process:
        wait_for_port(port, process, log)
        yield port


@contextlib.contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """Debian's PostgreSQL with an empty database; yields where buildgrid finds it."""
    folder.mkdir(parents=True)
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        raise ProofFailed("there is no PostgreSQL here: apt-get install postgresql")
    # It refuses to run as root, and has brought a user of its own.
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if as_user:
        shutil.chown(folder, "postgres")
    data, sockets = folder / "data", folder
    with (folder.parent / "initdb.log").open("wb") as log:
        initdb = [str(programs[-1] / "initdb"), "-D", str(data), "-A", "trust", "-U", "buildgrid"]
        subprocess.run([*as_user, *initdb], check=True, stdout=log, stderr=log, cwd="/")
    server = [str(programs[-1] / "postgres"), "-D", str(data), "-k", str(sockets)]
    server += ["-c", "listen_addresses=", "-c", "fsync=off"]
    with running([*as_user, *server], folder.parent / "postgresql.log"):
        create = [
            str(programs[-1] / "createdb"),
            "-h",
            str(sockets),
            "-U",
            "buildgrid",
            "buildgrid",
        ]
        for _ in range(_PATIENCE):
            if subprocess.run(create, stderr=subprocess.DEVNULL, check=False).returncode == 0:
                break
            time.sleep(1)
        else:
            raise ProofFailed((folder.parent / "postgresql.log").read_text())
        yield f"postgresql+psycopg2://buildgrid@/buildgrid?host={sockets}"


def worker_python(folder: Path) -> Path:
    """A new Python with the packages of worker_packages.txt."""
    print("installing buildgrid and what it needs", flush=True)
    venv = [sys.executable, "-m", "venv", str(folder)]
    subprocess.run(venv, check=True, env=outer_environment())
    python = folder / "bin/python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    pip += ["-r", str(_HERE / "worker_packages.txt")]
    subprocess.run(pip, check=True, env=outer_environment())
    return python


@contextlib.contextmanager
def buildgrid(folder: Path, python: Path) -> Iterator[int]:
    """The server of buildgrid; yields its port."""
    folder.mkdir(parents=True)
    program = str(python.parent / "bgd")
    with postgresql(folder / "postgresql") as database:
        port = free_port()
        configuration = (_HERE / "buildgrid.yml").read_text(encoding="utf-8")
        for name, value in {
            "{address}": f"127.0.0.1:{port}",
            "{database}": database,
            "{folder}": str(folder),
        }.items():
            configuration = configuration.replace(name, value)
        (folder / "buildgrid.yml").write_text(configuration)
        with (folder / "migrate.log").open("wb") as log:
            migrate = [program, "migrate", "apply", database]
            subprocess.run(migrate, check=True, stdout=log, stderr=log, env=outer_environment())
        log_file = folder / "buildgrid.log"
        server = [program, "server", "start", str(folder / "buildgrid.yml")]
        with running(server, log_file) as process:
            wait_for_port(port, process, log_file)
            yield port


@contextlib.contextmanager
def worker(folder: Path, python: Path, port: int, name: str) -> Iterator[Path]:
    """One worker of buildgrid's; yields its log, which has a line for each action."""
    _program("bwrap", "bubblewrap", "/usr/bin")
    folder.mkdir(parents=True)
    log = folder / "worker.log"
    command = [str(python), "-m", "test.remote.worker", f"--server=127.0.0.1:{port}"]
    command += [f"--folder={folder}", f"--name={name}"]
    with running(command, log, {"PYTHONPATH": str(_HERE.parents[1])}) as process:
        yield log
        if process.poll() is not None:
            raise ProofFailed(f"worker {name} ended:\n{log.read_text(errors='replace')}")


def _program(name: str, package: str, folder: str) -> str:
    path = shutil.which(name) or shutil.which(name, path=folder)
    if path is None:
        raise ProofFailed(f"there is no {name} here: apt-get install {package}")
    return path
