"""A table of the kernels of a program: what they take of a GPU, and how much they do."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from plumbline.gpu_to_nvvm.kernel_work import UNKNOWN, KernelWork
from plumbline.llvm_to_asm.ptxas import KernelResources

_HEAD = (
    *("kernel", "launches", "threads", "registers", "shared", "spilled", "occupancy"),
    *("bytes", "FLOPs", "FLOPs / byte"),
)


def report(kernels: Iterable[KernelResources], work: Sequence[KernelWork], arch: str) -> str:
    """The table, for people: the kernel with most registers first.

    A kernel has a line for each amount of work that launches of it do, which the last columns tell
    of one launch.
    """
    rows: list[tuple[str, ...]] = [_HEAD]
    for kernel in sorted(kernels, key=lambda one: (-one.registers, one.name)):
        rows += [
            (kernel.name, str(done.launches), *_taken(kernel, done, arch), *_cells(done))
            for done in work
            if done.kernel == kernel.name
        ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [f"Kernels as ptxas assembles them for {arch}, memory in bytes", ""]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells))
    return "\n".join(lines) + "\n"


def _taken(kernel: KernelResources, work: KernelWork, arch: str) -> tuple[str, ...]:
    """What it takes of a multiprocessor, with the shared memory that it is launched with."""
    kernel = replace(kernel, shared_bytes=kernel.shared_bytes + work.shared_bytes)
    occupancy = kernel.occupancy(arch)
    return (
        *map(str, (kernel.threads, kernel.registers, kernel.shared_bytes, kernel.spill_bytes)),
        "unknown" if occupancy is None else f"{100 * occupancy:.0f} %",
    )


def _cells(work: KernelWork) -> tuple[str, str, str]:
    intensity = UNKNOWN if work.intensity is None else f"{work.intensity:.1f}"
    return work.bytes, work.flops, intensity
