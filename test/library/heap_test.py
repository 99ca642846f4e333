"""What the heap keeps of what programs free."""

import platform
import subprocess
import sys

import pytest

_FREES = """
import ctypes
{first}
c = ctypes.CDLL(None)
c.malloc.restype = c.sbrk.restype = ctypes.c_void_p
c.malloc.argtypes, c.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
for round in range(2):
    blocks = [c.malloc(1 << 20) for _ in range(8)]
    end = c.sbrk(0)
    for block in blocks:
        c.free(block)
print(end - c.sbrk(0) >> 20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="is what glibc does")
@pytest.mark.parametrize(
    ("first", "given_back"), [("", True), ("import plumbline.library.heap", False)]
)
def test_freed_blocks_are_kept(first: str, *, given_back: bool) -> None:
    code = _FREES.format(first=first)
    megabytes = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert (int(megabytes) >= 4) is given_back


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
