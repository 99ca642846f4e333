"""The small models on a GPU: ptxas takes them, nothing is spilled, and they are right.

The full ones take minutes each, and gigabytes: they are compiled for a GPU, and tested where there
is one (`tools/gpu/check`).
"""

import sys

import pytest

import test.AotCompile.models
from test.linalg_to_gpu.emulated_programs import EmulatedProgram
from test.linalg_to_gpu.loaders import Loader, loaders_in
from test.shard import of_this_shard

_SMALL = [loader for loader in loaders_in(test.AotCompile.models) if "_small" in str(loader.id)]


@pytest.mark.parametrize("loader", of_this_shard(_SMALL))
def test_model(loader: Loader) -> None:
    loaded = loader()
    EmulatedProgram.of(loaded).check(*loaded.inputs)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
