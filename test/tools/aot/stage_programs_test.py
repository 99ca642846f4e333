import os
import subprocess
import sys
from pathlib import Path

import pytest

# The programs of the chain after the exporter, with what each makes.
_CHAIN = [
    ("torch_to_tcp", "tcp.add"),
    ("tcp_to_linalg", "linalg.generic"),
    ("linalg_to_kernels", "func.func private @"),
    ("kernels_to_llvm", "llvm.func @add"),
    ("llvm_to_llvm_ir", "define void @add"),
    ("llvm_ir_to_asm", "add:"),
]
_PROGRAMS = [name for name, _ in _CHAIN]

_ADD = """
func.func @add(%x: !torch.vtensor<[?],f32>, %y: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.add.Tensor %x, %y, %int1 : !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>, !torch.int -> !torch.vtensor<[?],f32>
  return %0 : !torch.vtensor<[?],f32>
}
"""  # noqa: E501


def _run(program: str, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program of the chain, or one that is named by its path from the workspace on."""
    workspace = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
    return subprocess.run(
        [
            workspace / "tools/aot" / program if "/" not in program else workspace / program,
            *arguments,
        ],
        cwd=cwd,
        env={**os.environ, "BUILD_WORKING_DIRECTORY": str(cwd)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_chain_by_hand(tmp_path: Path) -> None:
    (tmp_path / "0").write_text(_ADD)
    for number, (program, expected) in enumerate(_CHAIN):
        # Paths are relative to where the user stands, as `bazel run` tells it.
        result = _run(program, str(number), "-o", str(number + 1), cwd=tmp_path)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
        assert expected in (tmp_path / str(number + 1)).read_text()


def test_the_exporter_by_hand(tmp_path: Path) -> None:
    loader = "test.AotCompile.model_loader_lib.broadcast_add_mixed_ranks_loader"
    result = _run(
        "test/AotCompile/broadcast_add_mixed_ranks_torch_exporter",
        f"--torch-loader-path={loader}",
        cwd=tmp_path,
    )
    files = [
        "broadcast_add_mixed_ranks_reference_tensors.npz",
        "broadcast_add_mixed_ranks_weights.safetensors",
        "broadcast_add_mixed_ranks_torch.mlir",
    ]
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [f"writing {file}" for file in files]
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(files)


@pytest.mark.parametrize("program", _PROGRAMS)
def test_help(program: str, tmp_path: Path) -> None:
    result = _run(program, "--help", cwd=tmp_path)
    assert result.returncode == 0
    assert "Stage program:" in result.stdout


@pytest.mark.parametrize("program", _PROGRAMS)
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"this is not IR\n", "1:1"),
        (b"\xff\xfe\x00", "not a text file"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_malformed_input_ends_in_one_message(
    program: str, content: bytes | None, expected: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "in").write_bytes(content)
    result = _run(program, "in", "-o", "out", "--label=//a:b", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith("error: //a:b: ")
    assert expected in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "in").write_text(_ADD)
    result = _run("torch_to_tcp", "in", "-o", "no/such/folder", cwd=tmp_path)
    assert result.returncode == 1
    assert "no/such/folder: cannot be written: No such file" in result.stderr


def test_an_op_that_cannot_be_lowered_is_named_with_its_source(tmp_path: Path) -> None:
    (tmp_path / "in").write_text(
        """
        #here = loc("model.py":7:0)
        #there = loc("model.py":9:0)
        func.func @f(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
          %0 = torch.operator "torch.aten.lgamma"(%x) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> loc(#here)
          %1 = torch.aten.tanh %0 : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32> loc(#here)
          %2 = torch.operator "torch.my.op"(%1) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> loc(#there)
          return %2 : !torch.vtensor<[3],f32>
        }
        """  # noqa: E501
    )
    result = _run("torch_to_tcp", "in", "-o", "out", cwd=tmp_path)
    assert result.returncode == 1
    # The report is the last on the screen.
    head, _, text = result.stderr.rpartition("there is no lowering to TCP or linalg for these ops:")
    assert head.startswith("error: ")
    assert "  aten.lgamma(f32[3]): 1 place\n    model.py:7\n    what would help: " in text
    assert "  my.op(f32[3]): 1 place\n    model.py:9\n    what would help: " in text
    assert "tanh" not in result.stderr


def test_what_a_later_stage_refuses_is_told_at_the_users_line(tmp_path: Path) -> None:
    (tmp_path / "tcp").write_text(
        """
        func.func @f(%x: tensor<?xf32>) -> tensor<2xf32> {
          %at = arith.constant dense<0> : tensor<2x1xindex>
          %0 = tensor.gather %x[%at] gather_dims([0])
            : (tensor<?xf32>, tensor<2x1xindex>) -> tensor<2xf32> loc("model.py":9:0)
          return %0 : tensor<2xf32>
        }
        """
    )
    assert _run("tcp_to_linalg", "tcp", "-o", "linalg", cwd=tmp_path).returncode == 0
    result = _run("linalg_to_kernels", "linalg", "-o", "kernels", cwd=tmp_path)
    assert result.returncode == 1
    assert "  model.py:9: error: op was not bufferized" in result.stderr
    assert not (tmp_path / "kernels").exists()


def test_the_target_is_a_choice(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("define void @f() {\n  ret void\n}\n")
    result = _run("llvm_ir_to_asm", "in", "-o", "out", "--target-cpu=pentium9", cwd=tmp_path)
    assert result.returncode == 1
    assert "target_cpu 'pentium9'" in result.stderr
    result = _run("llvm_ir_to_asm", "in", "-o", "out", "--opt-level=9", cwd=tmp_path)
    assert result.returncode == 2
    assert "invalid choice" in result.stderr


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
