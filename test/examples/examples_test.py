"""The examples do what their pages say."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from examples.unsharp_mask.unsharp_mask_loader_lib import unsharp_mask_loader

_EXAMPLES = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], "examples")
_SHARPEN = (
    [_EXAMPLES / "unsharp_mask/sharpen"],
    [
        _EXAMPLES / "unsharp_mask/sharpen_py",
        f"--library={_EXAMPLES / 'unsharp_mask/libunsharp_mask.so'}",
    ],
)


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _levels(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


@pytest.mark.parametrize("sharpen", _SHARPEN, ids=["C++", "Python"])
def test_a_picture_is_sharpened(sharpen: list[str | Path], tmp_path: Path) -> None:
    before, after = _EXAMPLES / "unsharp_mask/before.png", tmp_path / "after.png"
    ran = _run(*sharpen, before, after)
    assert ran.returncode == 0, ran.stderr
    assert sorted(tmp_path.iterdir()) == [after]
    assert np.array_equal(_levels(after), _levels(_EXAMPLES / "unsharp_mask/after.png"))
    image = torch.tensor(_levels(before)).permute(2, 0, 1) / 255
    expected = (unsharp_mask_loader().model(image) * 255 + 0.5).byte().permute(1, 2, 0).numpy()
    # A level lies where PyTorch's does, but for numbers that round either way.
    difference = np.abs(expected.astype(int) - _levels(after))
    assert difference.max() <= 1
    assert difference.mean() < 1e-3


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    page = _EXAMPLES / "unsharp_mask/README.md"
    ran = _run(*_SHARPEN[0], page, tmp_path / "after.png")
    assert (ran.returncode, ran.stderr) == (1, f"{page}: Not a PNG file\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "program", ["conv_bias_add_relu/run", "gpt2_generate/generate", "mlp_c/classify"]
)
def test_pages_show_what_is_printed(program: str) -> None:
    ran = _run(_EXAMPLES / program)
    assert ran.returncode == 0, ran.stderr
    page = (_EXAMPLES / program).with_name("README.md").read_text(encoding="utf-8")
    shown = "".join(f"    {line}\n" for line in ran.stdout.rstrip("\n").splitlines())
    assert f"    $ bazel run //examples/{program.replace('/', ':')}\n{shown}" in page


def test_a_token_that_is_none_is_refused_where_the_loader_looks_it_up() -> None:
    ran = _run(_EXAMPLES / "gpt2_generate/generate", "17", "600")
    assert ran.returncode == 1
    assert ran.stderr.startswith("place 1, token 600: examples/gpt2_generate/gpt2_loader_lib.py:")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
