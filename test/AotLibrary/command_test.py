"""Holds what the command `plumbline` makes of programs against what aot_library makes of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Commands run in forks of this process, which then need not import PyTorch.
import plumbline.library_files.build
import plumbline.loader_to_torch.recorded_export  # noqa: F401
from plumbline.cli.main import main
from plumbline.library_files.kinds import KINDS, OF_TORCH, OF_WEIGHTS, not_of
from plumbline.target.target import MICROCONTROLLER, WEBASSEMBLY

_ROOT = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
_FILES = _ROOT / "test/AotLibrary"

_MLP = "test/AotCompile/model_loader_lib.py:mlp_loader"

_FLAGS = [
    f"--opt-level={os.environ['AOT_OPT_LEVEL']}",
    f"--runtime-checks={os.environ['AOT_RUNTIME_CHECKS']}",
]

_CPU = f"--target-cpu={os.environ['AOT_TARGET_CPU']}"

_GPU = ["--target=nvptx", f"--gpu-arch={os.environ['AOT_GPU_ARCH']}"]

_CUBINS = "--cubins=sm_80,sm_90"

_COMMANDS = {
    "mlp": [_MLP, _CPU],
    "mlp_by_memrefs": [_MLP, _CPU, "--abi=memref"],
    "mlp_of_a_file": [_MLP, _CPU, "--weights=file"],
    "mlp_of_a_pool": [_MLP, _CPU, "--memory=pool"],
    "mlp_of_arguments": [
        _MLP,
        "--target-cpu=x86-64-v2",
        "--func-name=mlp_with_weights",
        "--weights=arguments",
    ],
    "mlp_on_a_stream": [_MLP, _CPU, *_GPU, "--on-gpu-tensors", "--stream", _CUBINS],
    "encoder_layer_on_two_threads": [
        "test/AotCompile/contraction_loader_lib.py:encoder_layer_loader",
        _CPU,
        "--threads=2",
    ],
    "mlp_in_webassembly": [_MLP, "--target-cpu=wasm32"],
    "mlp_on_a_microcontroller": [_MLP, "--target-cpu=cortex-m55", "--memory=pool"],
    "scaled_rows": ["test/AotLibrary/scaled_rows.mlir", _CPU],
    "digits_on_a_microcontroller": [
        "examples/tflite_digits/digits.tflite",
        "--target-cpu=cortex-m4",
        "--memory=pool",
    ],
}

_TARGETS = {
    "--target=nvptx": "nvptx",
    "--target-cpu=cortex-m4": MICROCONTROLLER,
    "--target-cpu=cortex-m55": MICROCONTROLLER,
    "--target-cpu=wasm32": WEBASSEMBLY,
}

_FREESTANDING = _TARGETS.keys() - {"--target=nvptx"}


def _words(name: str, out: Path) -> list[str]:
    """The command for all files that Bazel makes of a library."""
    words = ["compile", *_COMMANDS[name], *_FLAGS, "--name", name]
    return [*words, "--emit", ",".join(_kinds(name)), "--out", str(out)]


def _kinds(name: str) -> list[str]:
    missing = {"packed-weights" if "--weights=file" in _COMMANDS[name] else "weights-file"}
    target = next((_TARGETS[word] for word in _COMMANDS[name] if word in _TARGETS), "host")
    missing |= set() if _CUBINS in _COMMANDS[name] else {"fatbin"}
    missing |= not_of(target)
    if name == "scaled_rows":
        missing |= {*OF_TORCH, *OF_WEIGHTS, "tcp"}
    return [kind for kind in KINDS if kind not in missing]


def _contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("name", _COMMANDS)
def test_the_files_are_those_of_bazel(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(_ROOT)
    assert main(_words(name, tmp_path)) == 0
    made = _contents(tmp_path)
    expected = {file: (_FILES / file).read_bytes() for file in made}
    differing = [file for file in made if made[file] != expected[file]]
    assert not differing
    libraries = {file for file in made if file.startswith("lib")}
    if _FREESTANDING.intersection(_COMMANDS[name]):
        assert libraries == {f"lib{name}.a"}
    else:
        assert libraries == {f"lib{name}.a", f"lib{name}.so"}
        assert (tmp_path / f"{name}.so").readlink() == Path(f"lib{name}.so")


def test_two_builds_are_the_same_bit_for_bit(tmp_path: Path) -> None:
    contents = []
    for number, seed in enumerate(("1", "31337")):
        folder = tmp_path / f"a folder of its own {number}"
        environment = {
            **os.environ,
            "PYTHONPATH": ":".join(sys.path),
            "PYTHONHASHSEED": seed,
            "TMPDIR": str(tmp_path),
        }
        command = [sys.executable, "-m", "plumbline", *_words("mlp_of_a_pool", folder)]
        subprocess.run(command, cwd=_ROOT, env=environment, check=True)
        contents.append(_contents(folder))
    assert contents[0] == contents[1]
    assert len(contents[0]) == len(_kinds("mlp_of_a_pool"))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
