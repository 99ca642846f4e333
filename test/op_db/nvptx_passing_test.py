"""What passes on the host is compiled for a GPU too, and right where its kernels run here.

Of each entry one sample, as it takes longer: ptxas makes code of its kernels, and the stand-in
driver runs them on the CPU.
"""

import sys

import pytest

from test.op_db.outcome import How
from test.op_db.record import failures


def test_what_passes_on_the_host_does_for_a_gpu() -> None:
    found = failures(How("nvptx", samples=1))
    assert not found, "\n".join(found)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
