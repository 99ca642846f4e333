"""Gives mutated files to the stage programs and to tcp-opt, and sorts what becomes of each.

A file must end in a whole result or in one message. The message that LLVM or MLIR ended a process
is one, but counted apart: what leads there often is better refused beforehand.
"""

import collections
import contextlib
import importlib.util
import itertools
import os
import pickle
import random
import re
import resource
import runpy
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from plumbline.errors import watched_process
from test.hostile.mutation import mutate_bytes, mutate_text
from test.hostile.seeds import Seeds
from tools.aot import stage
from tools.tcp_opt import tcp_opt

_SECONDS = 20
"""How long one file may take: a thousand times what its valid form does."""

_MEMORY = 6 << 30
"""In bytes, of address space. A file that needs more ends in a message, too."""

_AT_ONCE = 100
"""How many files one process takes."""

_DIED = re.compile(
    r"ended by (?P<cause>SIG\w+|exit with status \d+) within LLVM or MLIR(?P<rest>.*)"
)
_TRACEBACK = "Traceback (most recent call last)"

BAD = ("traceback", "silent", "left a file", "too slow", "bare signal")
"""Ends that are a fault of Plumbline's."""


@dataclass(frozen=True)
class Trial:
    """One mutated file and the command that reads it."""

    stage: str
    arguments: tuple[str, ...]
    files: dict[str, bytes]
    """By name; the arguments have these names."""


@dataclass
class Figures:
    """What became of all files, by stage."""

    ends: "collections.Counter[tuple[str, str]]" = field(default_factory=collections.Counter)
    deaths: "collections.Counter[tuple[str, str]]" = field(default_factory=collections.Counter)
    findings: dict[str, Trial] = field(default_factory=dict)
    """The first file for each kind of fault, by what tells it from others."""

    def report(self) -> str:
        """The figures as a table."""
        stages = sorted({name for name, _ in self.ends})
        kinds = ["accepted", "refused", "died, reported", *BAD]
        lines = [f"{'stage':<24}" + "".join(f"{kind:>16}" for kind in kinds)]
        for name in stages:
            counts = (f"{self.ends[name, kind]:>16}" for kind in kinds)
            lines.append(f"{name:<24}" + "".join(counts))
        lines.append(f"{sum(self.ends.values())} files")
        lines += [
            f"  {count} x {name}: {cause}" for (name, cause), count in self.deaths.most_common()
        ]
        lines += [f"  FOUND {what}" for what in self.findings]
        return "\n".join(lines)


def trials(seeds: Seeds, rng: random.Random) -> Iterator[Trial]:
    """Mutated files without end."""

    def text(texts: Sequence[str]) -> bytes:
        source = rng.choice(texts)
        if rng.random() < 0.15:
            return mutate_bytes(rng, source.encode())
        return mutate_text(rng, source, texts).encode(errors="replace")

    def torch_to_tcp() -> Trial:
        return _stage("torch_to_tcp", text(seeds.torch))

    def tcp_to_linalg() -> Trial:
        checks = rng.choice(("off", "on"))
        return _stage("tcp_to_linalg", text(seeds.tcp), f"--runtime-checks={checks}")

    def linalg_to_kernels() -> Trial:
        return _stage("linalg_to_kernels", text(seeds.linalg))

    def kernels_to_llvm() -> Trial:
        return _stage("kernels_to_llvm", text(seeds.kernels))

    def linalg_to_gpu() -> Trial:
        arch = rng.choice(("sm_80", "sm_90a"))
        # What passes on the way take: sorts and scans among it.
        source = seeds.linalg if rng.random() < 0.7 else seeds.gpu
        return _stage("linalg_to_gpu", text(source), f"--gpu-arch={arch}")

    def gpu_to_nvvm() -> Trial:
        return _stage("gpu_to_nvvm", text(seeds.gpu))

    def nvvm_to_ptx() -> Trial:
        return _stage("nvvm_to_ptx", text(seeds.nvvm), f"--opt-level={rng.randrange(4)}")

    def llvm_to_llvm_ir() -> Trial:
        # What launches kernels is the same stage's.
        source = seeds.llvm if rng.random() < 0.7 else seeds.nvvm
        return _stage("llvm_to_llvm_ir", text(source))

    def llvm_ir_to_asm() -> Trial:
        return _stage("llvm_ir_to_asm", text(seeds.llvm_ir), f"--opt-level={rng.randrange(4)}")

    def weights() -> Trial:
        archive = mutate_bytes(rng, rng.choice(seeds.safetensors))
        trial = _stage("llvm_ir_to_asm", seeds.llvm_ir[-1].encode(), "--weights=weights")
        return Trial(trial.stage, trial.arguments, {**trial.files, "weights": archive})

    def execute_test() -> Trial:
        files = {"npz": rng.choice(seeds.npz), "template": rng.choice(seeds.template).encode()}
        if rng.random() < 0.8:
            files["npz"] = mutate_bytes(rng, files["npz"])
        else:
            files["template"] = text(seeds.template)
        arguments = ("--reference-tensors=npz", "--template=template", "--runfile=x", "--out=out")
        return Trial("generate_execute_test", arguments, files)

    def opt() -> Trial:
        kind, passes = rng.choice(
            [
                (seeds.tcp, ["--tcp-to-linalg-pipeline"]),
                (seeds.tcp, ["--tcp-to-llvm-pipeline"]),
                (seeds.tcp, ["--tcp-fuse-elementwise-ops", "--tcp-isolate-group-ops"]),
                (seeds.tcp, ["--mlir-print-op-generic"]),
                (seeds.linalg, ["--linalg-to-kernels-pipeline"]),
                (seeds.kernels, ["--kernels-to-llvm-pipeline"]),
                (seeds.linalg, ["--linalg-to-gpu-pipeline"]),
                (seeds.gpu, ["--gpu-to-nvvm-pipeline"]),
                (seeds.torch, ["--torch-backend-to-tcp-backend-pipeline"]),
                (seeds.stablehlo, ["--stablehlo-to-tcp-pipeline"]),
                (seeds.stablehlo, ["--verify-roundtrip", "--canonicalize"]),
            ]
        )
        return Trial("tcp-opt", (*passes, "in", "-o", "out"), {"in": text(kind)})

    def opt_bytecode() -> Trial:
        content = mutate_bytes(rng, rng.choice(seeds.bytecode))
        passes = rng.choice(["--canonicalize", "--cse", "--tcp-canonicalize"])
        return Trial("tcp-opt bytecode", (passes, "in", "-o", "out"), {"in": content})

    makers: dict[Callable[[], Trial], int] = {
        torch_to_tcp: 4,
        tcp_to_linalg: 5,
        linalg_to_kernels: 4,
        kernels_to_llvm: 4,
        linalg_to_gpu: 3,
        gpu_to_nvvm: 3,
        nvvm_to_ptx: 2,
        llvm_to_llvm_ir: 3,
        llvm_ir_to_asm: 3,
        weights: 1,
        execute_test: 1,
        opt: 4,
        opt_bytecode: 1,
    }
    while True:
        yield rng.choices(list(makers), list(makers.values()))[0]()


def _stage(name: str, content: bytes, *arguments: str) -> Trial:
    return Trial(name, ("in", "-o", "out", *arguments), {"in": content})


def hunt(seeds: Seeds, seed: int, count: int, progress: Callable[[int, Figures], None]) -> Figures:
    """Tries `count` files, the same ones for the same seed."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _MEMORY if hard == resource.RLIM_INFINITY else min(hard, _MEMORY)
    figures = Figures()
    source = trials(seeds, random.Random(seed))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["BUILD_WORKING_DIRECTORY"] = folder
        tempfile.tempdir = folder
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        chosen = list(itertools.islice(source, count))
        for number, (trial, (end, detail)) in enumerate(zip(chosen, _ends(chosen), strict=True)):
            figures.ends[trial.stage, end] += 1
            if end.startswith("died"):
                figures.deaths[trial.stage, detail] += 1
            if end != "accepted" and end != "refused":
                figures.findings.setdefault(f"{end}: {trial.stage}: {detail}", trial)
            progress(number, figures)
    return figures


def _ends(chosen: Sequence[Trial]) -> Iterator[tuple[str, str]]:
    """What becomes of each file.

    A process of its own for each would take most of the time. So one takes many, without the child
    that stage programs work in, until one of the files ends it: that is tried again as users would.
    """
    rest = list(chosen)
    while rest:
        at_once = rest[:_AT_ONCE]
        del rest[:_AT_ONCE]
        for end in _in_one_process(at_once):
            yield end
            del at_once[0]
        if at_once:
            yield run(at_once.pop(0))
        rest[:0] = at_once


def _in_one_process(chosen: Sequence[Trial]) -> Iterator[tuple[str, str]]:
    """What becomes of the files before the first that ends the process."""
    reading, writing = os.pipe()
    worker = os.fork()
    if worker == 0:
        with (
            patch.object(stage, "run_watched", _run_unwatched),
            patch.object(tcp_opt, "run_watched", _run_unwatched),
            os.fdopen(writing, "wb") as ends,
        ):
            for trial in chosen:
                pickle.dump(run(trial, watched=False), ends)
                ends.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as ends:
        while True:
            try:
                yield pickle.load(ends)
            except EOFError:
                break
    os.waitpid(worker, 0)


def _run_unwatched(program: Callable[[], object], *, keep_back_errors: bool = False) -> int:
    """Stands in for `run_watched` where the whole process may end."""
    return watched_process.exit_status(program)


def run(trial: Trial, *, watched: bool = True) -> tuple[str, str]:
    """What becomes of a file, and what tells that from other such ends.

    Unless it is `watched`, as users have it, that may be the end of this process.
    """
    for left in Path().iterdir():
        _remove(left)
    for name, content in trial.files.items():
        Path(name).write_bytes(content)
    status, printed = _run_program(trial, watched=watched)
    left_over = {path.name for path in Path().iterdir()} - set(trial.files)
    left_over = {name for name in left_over if not name.startswith("plumbline-")}
    if _TRACEBACK in printed:
        last = [line for line in printed.strip().split("\n") if line.strip()][-1]
        where = [line.strip() for line in printed.split("\n") if line.startswith('  File "')]
        place = re.sub(r'File ".*/(\w+\.py)"', r"\1", where[-1]) if where else ""
        return "traceback", f"{place}: {last[:150]}"
    if status == 128 + signal.SIGTERM:
        return "too slow", ""
    if status != 0 and "out" in left_over:
        return "left a file", str(left_over)
    if left_over - {"out"}:
        return "left a file", str(left_over)
    if status == 0:
        return ("accepted", "") if "out" in left_over else ("silent", "no output")
    if found := _DIED.search(printed):
        words = " ".join(re.findall(r"[A-Za-z]{3,}", found["rest"]))[:90]
        return "died, reported", found["cause"] + words
    if "error" not in printed:
        return "silent", printed[:100]
    return "refused", ""


def _remove(path: Path) -> None:
    if path.is_dir():
        for inner in path.iterdir():
            inner.unlink()
        path.rmdir()
    else:
        path.unlink()


def _run_program(trial: Trial, *, watched: bool) -> tuple[int, str]:
    """The exit status and standard error of a program, which forks from here: all is imported."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile(dir="/dev/shm") as errors, _time_limit(watched=watched):
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        try:
            status = _call(trial)
        finally:
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            os.close(kept[0])
            os.close(kept[1])
        errors.seek(0)
        return status, errors.read().decode(errors="replace")


def _call(trial: Trial) -> int:
    if trial.stage.startswith("tcp-opt"):
        return tcp_opt.watched_main(trial.arguments)
    former, sys.argv = sys.argv, [trial.stage, *trial.arguments]
    try:
        spec = importlib.util.find_spec(f"tools.aot.{trial.stage}")
        runpy.run_path(str(spec and spec.origin), run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            os.write(2, end.code.encode(errors="replace"))
            return 1
        return int(end.code or 0)
    finally:
        sys.argv = former
    return 0


@contextlib.contextmanager
def _time_limit(*, watched: bool) -> Iterator[None]:
    """Ends the child that works on a file once its time is up: a stage program hands that on.

    Unless that is `watched`, it ends this process, also where it is stuck in C++ and comes to no
    handler of Python's.
    """
    handler = (lambda *_: os.kill(os.getpid(), signal.SIGTERM)) if watched else signal.SIG_DFL
    former = signal.signal(signal.SIGALRM, handler)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)
