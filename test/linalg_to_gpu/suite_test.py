"""The programs of the suite on a GPU: ptxas takes them, nothing is spilled, and they are right.

Their kernels run on the CPU by the stand-in driver. The small models are a test of their own
(`models_test.py`).
"""

import sys

import pytest
import torch

import test.AotCompile
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from test.linalg_to_gpu.emulated_programs import EmulatedProgram
from test.linalg_to_gpu.loaders import Loader, loaders_in


@pytest.mark.parametrize("loader", loaders_in(test.AotCompile))
def test_program(loader: Loader) -> None:
    # Near a pole, as that of tanh, bits of a product become thousands.
    torch.manual_seed(0)
    loaded: TorchLoaderOutput = loader()
    EmulatedProgram.of(loaded).check(*loaded.inputs)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
