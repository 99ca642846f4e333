"""A stage program that stays writes, byte for byte, what one does that is started each time."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from google.protobuf import proto

from tools.aot.worker_protocol import WorkRequest, WorkResponse

_WORKSPACE = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
_LOADERS = "test.AotCompile.model_loader_lib"

# The programs of the chain after the exporter, with their inputs and outputs.
_CHAIN = (
    ("torch_to_tcp", "torch.mlir", "tcp.mlir"),
    ("tcp_to_linalg", "tcp.mlir", "linalg.mlir"),
    ("linalg_to_kernels", "linalg.mlir", "kernels.mlir"),
    ("kernels_to_llvm", "kernels.mlir", "llvm.mlir"),
    ("llvm_to_llvm_ir", "llvm.mlir", "ll"),
    ("llvm_ir_to_asm", "ll", "S"),
)

Run = Callable[..., None]


def _environment() -> dict[str, str]:
    return {**os.environ, "BUILD_WORKING_DIRECTORY": ""}


@contextlib.contextmanager
def _worker(program: Path, folder: Path) -> Iterator[Run]:
    process = subprocess.Popen(
        [program, "--persistent_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env=_environment(),
    )
    assert process.stdin
    assert process.stdout

    def run(*words: str) -> None:
        assert process.stdin
        assert process.stdout
        proto.serialize_length_prefixed(WorkRequest(arguments=words), process.stdin)
        process.stdin.flush()
        response = proto.parse_length_prefixed(WorkResponse, process.stdout)
        assert (response.exit_code, response.output) == (0, "")

    yield run
    process.communicate()
    assert process.returncode == 0


@contextlib.contextmanager
def _started_each_time(program: Path, folder: Path) -> Iterator[Run]:
    def run(*words: str) -> None:
        (folder / "arguments").write_text("".join(f"{word}\n" for word in words))
        subprocess.run([program, "@arguments"], cwd=folder, env=_environment(), check=True)
        (folder / "arguments").unlink()

    yield run


@pytest.fixture(scope="module")
def torch_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """What the exporter writes of two programs, started each time and staying."""
    exporter = _WORKSPACE / "test/AotCompile/broadcast_add_mixed_ranks_torch_exporter"
    folders = []
    for way in (_started_each_time, _worker):
        folder = tmp_path_factory.mktemp("exports")
        with way(exporter, folder) as run:
            for name in ("mlp", "broadcast_add_mixed_ranks"):
                run(
                    f"--torch-loader-path={_LOADERS}.{name}_loader",
                    f"--mlir={name}.torch.mlir",
                    f"--reference-tensors={name}.npz",
                    f"--weights={name}.safetensors",
                )
        folders.append(folder)
    return folders[0], folders[1]


def _content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_exports(torch_files: tuple[Path, Path]) -> None:
    first, second = map(_content, torch_files)
    assert len(first) == 6
    assert first == second


def test_the_rest_of_the_chain(torch_files: tuple[Path, Path]) -> None:
    for way, folder in zip((_started_each_time, _worker), torch_files, strict=True):
        for program, source, target in _CHAIN:
            with way(_WORKSPACE / "tools/aot" / program, folder) as run:
                weights = ["--weights=mlp.safetensors", "--packed-weights=packed.safetensors"]
                run(f"mlp.{source}", "-o", f"mlp.{target}", *(weights if target == "S" else []))
    first, second = map(_content, torch_files)
    # And the packed weights.
    assert len(first) == 6 + len(_CHAIN) + 1
    assert first == second


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
