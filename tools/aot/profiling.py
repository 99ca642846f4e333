"""What the programs share that tell how long each kernel of a program takes."""

import argparse

from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.profiling.of_loader import profile_loader


def run(given: argparse.Namespace, program: TorchLoaderOutput) -> None:
    """Profiles `program`, on its own inputs, and prints what that finds.

    Raises:
      UserError: the program cannot be compiled, or fails.
    """
    profile = profile_loader(
        program,
        target_cpu=given.target_cpu,
        threads=given.threads,
        opt_level=given.opt_level,
    )
    print(profile)
