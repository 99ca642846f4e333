"""Says of how many programs the kernels for a GPU are assembled and right, and what these take.

    bazel run //test/linalg_to_gpu:figures
    bazel run //test/linalg_to_gpu:figures -- --full 'resnet*' bert_base

The programs are those of the suite and the small models; patterns choose some. Each is compiled to
PTX, assembled by ptxas for sm_80 and sm_90 without a spill, and run on the CPU by the stand-in for
the driver, against PyTorch. With --full, which takes gigabytes and minutes for each, the full
models are compiled and assembled as well, and not run.
"""

import argparse
import fnmatch
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import test.AotCompile
import test.AotCompile.models
from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.gpu_to_nvvm.kernel_work import kernel_work
from plumbline.llvm_to_asm.ptxas import KernelResources
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.tcp.assembly.module import parse_module
from test.linalg_to_gpu.emulated_programs import EmulatedProgram
from test.linalg_to_gpu.loaders import loaders_in

_MOST_KERNELS = 10
"""Which the table shows: those with most registers."""

_ARCH = "sm_80"

_Kind = str
_PROGRAM, _SMALL_MODEL, _MODEL = "programs of the suite", "small models", "full models"


@dataclass(frozen=True)
class Kernel:
    """A kernel of a program."""

    program: str
    resources: KernelResources


@dataclass
class Count:
    """How many programs of a kind came how far."""

    programs: int = 0
    assembled: int = 0
    run: int = 0
    right: int = 0

    def __str__(self) -> str:
        """As a line says it."""
        said = f"{self.assembled} of {self.programs} compiled to PTX and assembled without a spill"
        return f"{said}; {self.right} of {self.run} right on the CPU" if self.run else said


def programs(
    patterns: Sequence[str], *, full: bool
) -> Iterator[tuple[_Kind, str, Callable[[], TorchLoaderOutput]]]:
    """The kind, the name and the loader of each program whose name fits one of the patterns."""
    for package in (test.AotCompile, test.AotCompile.models):
        for parameter in loaders_in(package):
            name, (loader,) = str(parameter.id), parameter.values
            kind = _PROGRAM
            if package is test.AotCompile.models:
                kind = _SMALL_MODEL if "_small" in name else _MODEL
            is_chosen = any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
            if is_chosen and (full or kind != _MODEL):
                assert callable(loader)
                yield kind, name, loader


def measure(
    kind: _Kind, name: str, loader: Callable[[], TorchLoaderOutput], count: Count
) -> list[Kernel]:
    """Adds a program to the count of its kind; gives its kernels.

    Raises:
      Exception: it is not compiled, assembled without a spill, or right.
    """
    count.programs += 1
    loaded = loader()
    program = EmulatedProgram.of(loaded)
    count.assembled += 1
    if kind != _MODEL:
        count.run += 1
        program.check(*loaded.inputs)
        count.right += 1
    return _kernels(name, program)


def _kernels(name: str, program: EmulatedProgram) -> list[Kernel]:
    module = parse_module(program.gpu, make_context(torch=True), name)
    given = {work.kernel: work.shared_bytes for work in kernel_work(module)}
    return [
        Kernel(name, replace(one, shared_bytes=one.shared_bytes + given.get(one.name, 0)))
        for one in program.resources
    ]


def table(kernels: Sequence[Kernel]) -> str:
    """The largest of them, in Markdown."""
    lines = [
        "| program | kernel | threads | registers | spilled bytes | shared bytes | occupancy |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    largest = sorted(kernels, key=lambda one: (-one.resources.registers, one.resources.name))
    for kernel in largest[:_MOST_KERNELS]:
        one = kernel.resources
        occupancy = one.occupancy(_ARCH)
        cells = [kernel.program, one.name, one.threads, one.registers, one.spill_bytes]
        cells += [one.shared_bytes, "?" if occupancy is None else f"{100 * occupancy:.0f} %"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Runs the program; gives its exit status: 1 if a program is not as it should be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("patterns", nargs="*", default=["*"], help="of programs' names")
    parser.add_argument("--full", action="store_true", help="the full models as well")
    options = parser.parse_args(arguments)
    counts: dict[_Kind, Count] = {}
    kernels: list[Kernel] = []
    problems: list[str] = []
    for kind, name, loader in programs(options.patterns, full=options.full):
        print(name, file=sys.stderr, flush=True)
        try:
            kernels += measure(kind, name, loader, counts.setdefault(kind, Count()))
        except (UserError, AssertionError) as error:
            problems.append(f"{name}: {error}")
        except Exception:
            # The other programs are counted all the same.
            problems.append(f"{name}: {traceback.format_exc()}")
    for kind, count in counts.items():
        print(f"{kind}: {count}")
    print(f"\n{len(kernels)} kernels; those with most registers, assembled for {_ARCH}:\n")
    print(table(kernels))
    for problem in problems:
        print(f"\n{problem}")
    return 1 if problems or not counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
