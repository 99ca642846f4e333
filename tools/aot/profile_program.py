"""Tells how long each kernel of a loader's program takes, on the loader's inputs."""

import argparse

from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.watch import Watch
from tools.aot import compiling, loader_stage, profiling, stage


def _profile(given: argparse.Namespace, program: TorchLoaderOutput, _watch: Watch) -> None:
    profiling.run(given, program)


if __name__ == "__main__":
    arguments = stage.parser(__doc__)
    compiling.add_options(arguments)
    loader_stage.run(arguments, _profile)
