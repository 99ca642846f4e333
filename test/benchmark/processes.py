"""What Bazel's server and its workers have used: processor time and memory, as Linux tells it."""

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    """A process, now."""

    parent: int
    own: float
    """CPU-seconds of its own."""
    children: float
    """CPU-seconds of the processes that it has waited for, and of theirs."""
    peak: int
    """The most memory that it has had, in MB."""

    @property
    def cpu(self) -> float:
        """CPU-seconds in all."""
        return self.own + self.children


def process(pid: int) -> Process:
    """The process of that number.

    Raises:
      OSError: there is none, or none any more.
    """
    # Format: proc(5). The second field, the name, may hold spaces and parentheses.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    peak = [line.split()[1] for line in status if line.startswith("VmHWM:")]
    user, system, children_user, children_system = (int(field) / _TICKS for field in fields[11:15])
    return Process(
        parent=int(fields[1]),
        own=user + system,
        children=children_user + children_system,
        peak=int(peak[0]) // 1024 if peak else 0,
    )


def workers(server: int) -> dict[str, Process]:
    """The persistent workers of Bazel's server, by the names of their programs."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            words = (entry / "cmdline").read_text().split("\0")
            each = process(int(entry.name))
        except OSError:
            continue
        if each.parent == server and "--persistent_worker" in words:
            program = next(word for word in words if word.endswith(".py"))
            found[f"{Path(program).stem} ({entry.name})"] = each
    return found
