"""Finds the op at which a loader's program, compiled, leaves PyTorch's numbers.

It is run on the loader's inputs. Ends with 1 where numbers differ.
"""

import argparse

from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.watch import Watch
from tools.aot import bisection, loader_stage, stage


def _bisect(given: argparse.Namespace, program: TorchLoaderOutput, watch: Watch) -> None:
    bisection.run(f"loader {given.torch_loader_path}", given, program)


if __name__ == "__main__":
    arguments = stage.parser(__doc__)
    bisection.add_options(arguments)
    loader_stage.run(arguments, _bisect)
