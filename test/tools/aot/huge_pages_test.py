import mmap
import sys
from pathlib import Path

import pytest

from tools.aot import huge_pages


def _huge_kilobytes() -> int:
    text = Path("/proc/self/smaps_rollup").read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines() if line.startswith("AnonHugePages:"))
    return int(line.split()[1])


def _can_collapse() -> bool:
    """Whether the system makes a huge page of what is written to already."""
    with mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.write(b"x" * len(memory))
        try:
            memory.madvise(huge_pages._COLLAPSE)
        except OSError:
            return False
        return True


def test_memory_is_in_huge_pages_and_as_it_was() -> None:
    if not _can_collapse():
        pytest.skip("Linux before 6.1, or without huge pages")
    text = bytes(range(256)) * (32 << 10)
    before = _huge_kilobytes()
    huge_pages.collapse()
    assert _huge_kilobytes() >= before + 4096
    assert text == bytes(range(256)) * (32 << 10)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
