"""The commands, as a user types them."""

import functools
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

# Commands run in forks of this process, which then need not import PyTorch.
import plumbline.library_files.build
import plumbline.loader_to_torch.recorded_export
from plumbline.cli.exit_status import DIFFERS, FAULT, MISTAKE, SUCCESS
from plumbline.cli.main import main
from plumbline.library_files.kinds import KINDS, shipped

_LOADERS = """
import os
import signal
import time

import torch
from torch.export import Dim

from plumbline import TorchLoaderOutput


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.arange(1.0, 40.0))

    def forward(self, x):
        return x * self.scale


class Drifting(torch.nn.Module):
    # As far as its export goes, it is another program.
    def forward(self, x):
        return x + 1 if torch.compiler.is_exporting() else x + 2


def scaled_loader():
    return TorchLoaderOutput(Scaled(), (torch.ones(2, 39),), {"x": {0: Dim("rows")}})


class Counted(torch.nn.Module):
    def forward(self, x, counts, factor):
        counts.add_(1)
        return x * factor


def counted_loader():
    return TorchLoaderOutput(
        Counted(),
        (torch.ones(3), torch.zeros(2), 2.5),
        {"x": {}, "counts": {}, "factor": Dim.DYNAMIC},
        mutable=["counts"],
    )


def drifting_loader():
    return TorchLoaderOutput(Drifting(), (torch.ones(3),))


def sparse_loader():
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.sparse.mm(x.to_sparse(), x)

    return TorchLoaderOutput(Model(), (torch.eye(3),))


class Counting(Scaled):
    def forward(self, x, total):
        total.add_(x)
        return total * self.scale, x.shape[0]


def counting_loader():
    return TorchLoaderOutput(Counting(), (torch.ones(39), torch.zeros(39)), mutable=["total"])


def tanh_loader():
    return TorchLoaderOutput(torch.nn.Tanh(), (torch.ones(3),))


def sleeping_loader():
    time.sleep(1000)


class Sleeping(torch.nn.Module):
    def forward(self, x):
        time.sleep(1000)


def sleeping_forward_loader():
    return TorchLoaderOutput(Sleeping(), (torch.ones(3),))


def ending_loader():
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "scaled.py").write_text(_LOADERS)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def library() -> Path:
    assert main(["compile", "models/scaled.py:scaled_loader", "--out", "out"]) == SUCCESS
    return Path("out/scaled.so")


def test_compile_writes_a_library_and_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "models/scaled.py:scaled_loader", "--out", "a/b"]) == SUCCESS
    files = {KINDS[kind].file_name("scaled") for kind in shipped("host")}
    assert {file.name for file in Path("a/b").iterdir()} == files
    assert capfd.readouterr() == ("", "")
    (result,) = plumbline.load("a/b/libscaled.so")(np.full((1, 39), 2, np.float32))
    assert result.tolist() == [[2.0 * index for index in range(1, 40)]]
    assert plumbline.load("a/b/scaled.so").description.origin == "models.scaled.scaled_loader"


def test_the_link_of_a_library_takes_the_place_of_no_file() -> None:
    words = ["compile", "models/scaled.py:scaled_loader", "--emit", "shared-object,link"]
    for _ in range(2):
        assert main(words) == SUCCESS
        assert Path("scaled.so").readlink() == Path("libscaled.so")
    Path("scaled.so").unlink()
    Path("scaled.so").write_text("something else")
    assert main(words) == MISTAKE
    assert Path("scaled.so").read_text() == "something else"


def test_emit_writes_what_it_is_told_alone() -> None:
    words = ["compile", "models/scaled.py:scaled_loader", "--name", "foo", "--emit", "tcp,llvm-ir"]
    assert main([*words, "--out", "out"]) == SUCCESS
    assert {file.name for file in Path("out").iterdir()} == {
        "_internal_foo_tcp.mlir",
        "_internal_foo.ll",
    }
    assert "tcp.mul" in Path("out/_internal_foo_tcp.mlir").read_text()
    assert "define i32 @foo(" in Path("out/_internal_foo.ll").read_text()


def test_a_stage_runs_only_if_its_file_is_wanted() -> None:
    # That CPU is not known, which the kernels are the first to ask for.
    words = ["compile", "models/scaled.py:scaled_loader", "--target-cpu", "abacus", "--out", "out"]
    assert main([*words, "--emit", "linalg"]) == SUCCESS
    assert main([*words, "--emit", "linalg,kernels"]) == MISTAKE


def test_options_reach_the_library() -> None:
    words = ["compile", "models/scaled.py:scaled_loader", "--name", "pooled", "--out", "out"]
    words += ["--func-name", "scale_rows", "--memory", "pool", "--weights", "arguments"]
    assert main([*words, "--target-cpu", "x86-64-v2", "-O", "0"]) == SUCCESS
    described = json.loads(Path("out/pooled.json").read_text())
    assert described["name"] == "scale_rows"
    assert described["target_cpu"] == "x86-64-v2"
    assert described["workspace"] is not None
    assert len(described["inputs"]) == 2


def test_a_file_of_tcp_is_a_program_too() -> None:
    Path("twice.mlir").write_text("""
func.func @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tcp.add %x, %x : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
""")
    assert main(["compile", "twice.mlir"]) == SUCCESS
    (result,) = plumbline.load("libtwice.so")(np.arange(3, dtype=np.float32))
    assert result.tolist() == [0, 2, 4]
    assert main(["compile", "twice.mlir", "--emit", "weights"]) == MISTAKE
    assert main(["compile", "twice.mlir", "--func-name", "thrice"]) == MISTAKE


def test_a_file_of_stablehlo_is_a_program_too() -> None:
    Path("twice.mlir").write_text("""
func.func public @main(%x: tensor<3xui8> loc("levels")) -> tensor<3xui8> {
  %0 = stablehlo.add %x, %x : tensor<3xui8>
  return %0 : tensor<3xui8>
}
""")
    assert main(["compile", "twice.mlir"]) == SUCCESS
    (result,) = plumbline.load("libtwice.so")(np.array([1, 2, 100], np.uint8))
    assert result.tolist() == [2, 4, 200]
    assert "int twice(const uint8_t *levels, uint8_t *out0);" in Path("twice.h").read_text()
    assert main(["compile", "twice.mlir", "--emit", "torch"]) == MISTAKE
    assert main(["compile", "twice.mlir", "--func-name", "thrice"]) == SUCCESS
    assert "int thrice(" in Path("twice.h").read_text()
    assert main(["test", "twice.mlir"]) == MISTAKE


_MISTAKES = {
    "nothing.py:loader": "nothing.py: there is no such file",
    "models/scaled.py": "say which function is the loader, models/scaled.py:NAME; it has scaled_",
    "models/scaled.py:scald_loader": "has no function scald_loader; did you mean scaled_loader?",
    "models/scaled.py:sparse_loader": "makes a sparse tensor",
    "models": "models: there is no such file",
    "text.txt:loader": "text.txt: it is neither a .py file, with a loader, nor a .pt2 file",
    "broken.pt2": "model broken.pt2: torch.export.load does not read it",
    "broken.py": "it is not Python",
    "broken.mlir": "broken.mlir:1:1: error: ",
    "random.py:loader": "random.py: Python has a module random of its own",
}


@pytest.mark.parametrize("program", _MISTAKES)
def test_a_mistake_is_told_in_one_message(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    for file in ("text.txt", "broken.pt2", "broken.py", "broken.mlir", "random.py"):
        Path(file).write_text("no program (")
    assert main(["compile", program, "--out", "out"]) == MISTAKE
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert _MISTAKES[program] in err
    assert "Traceback" not in err
    # What was made on the way is not left.
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["models/scaled.py:tanh_loader"],
            "loader models.scaled.tanh_loader: function name 'tanh' is taken in the C library; "
            "choose another, as --func-name or func_name of its TorchLoaderOutput: without one, it "
            "is the library's, which --name gives",
        ),
        (["a-file.mlir"], "'a-file' cannot be the name of a library: give it another by --name"),
        (["a-file.mlir", "--name="], "the name '' becomes part of file names"),
        (["a-file.mlir", "--name=f", "--abi=memref", "--memory=pool"], '"pool" goes with abi "po'),
        (
            ["a-file.mlir", "--name=f", "--func-name=g"],
            "a-file.mlir: its function cannot be called",
        ),
        (["a-file.mlir", "--name=f", "--weights=file"], 'a-file.mlir: weights "file" are of a Py'),
    ],
)
def test_messages_speak_as_the_command_does(
    words: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("a-file.mlir").write_text("")
    assert main(["compile", *words]) == MISTAKE
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("command", ["compile", "test"])
def test_a_loader_has_to_return(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    words = [command, "models/scaled.py:ending_loader"]
    assert main(words) == MISTAKE
    message = "error: loader models.scaled.ending_loader ended the process by SIGKILL; it has to"
    assert capfd.readouterr().err.startswith(message)
    words = [command, "models/scaled.py:sleeping_loader", "--loader-time-limit=1"]
    assert main(words) == MISTAKE
    assert capfd.readouterr() == (
        "",
        "error: loader models.scaled.sleeping_loader is still running after 1 seconds; if it takes "
        "that long, give it more: --loader-time-limit=SECONDS, or 0 for any time\n",
    )
    assert list(Path().iterdir()) == [Path("models")]


def test_a_forward_has_to_return(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["test", "models/scaled.py:sleeping_forward_loader", "--loader-time-limit=1"]
    assert main(words) == MISTAKE
    assert "loader: forward is still running after 1 seconds" in capfd.readouterr().err


def test_a_process_that_is_ended_is_told_and_leaves_nothing_behind(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    def end_the_process(*arguments: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(plumbline.library_files.build, "tcp_to_linalg", end_the_process)
    assert main(["compile", "models/scaled.py:scaled_loader", "--out", "out"]) == FAULT
    assert "scaled_loader: what followed it ended the process by SIGKILL" in capfd.readouterr().err
    Path("none.mlir").write_text("func.func @none() { return }")
    assert main(["compile", "none.mlir", "--out", "out"]) == FAULT
    assert "error: plumbline compile was ended by SIGKILL" in capfd.readouterr().err
    assert not Path("out").exists()
    assert not list(temporary.iterdir())


def test_without_a_compiler_nothing_is_written(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert main(["compile", "models/scaled.py:scaled_loader", "--out", "out"]) == MISTAKE
    assert "no-such-compiler cannot be run" in capfd.readouterr().err
    assert not Path("out").exists()


def test_show_tells_what_a_library_says_of_itself(
    library: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(library)]) == SUCCESS
    shown = capfd.readouterr().out
    for line in (
        "scaled, of out/scaled.so",
        "  made from  models.scaled.scaled_loader",
        "  made for   baseline",
        "  inputs     x     float32 [rows, 39], 156*rows bytes",
        "  outputs    out0  float32 [rows, 39], 156*rows bytes",
        "  sizes      rows  at least 0",
        "  workspace  none: temporaries come from the heap",
    ):
        assert line in shown.splitlines()
    assert main(["show", str(library), "--json"]) == SUCCESS
    assert capfd.readouterr().out == Path("out/scaled.json").read_text()
    library.unlink()
    assert main(["show", str(library)]) == MISTAKE
    assert "no such file; there is out/libscaled.so" in capfd.readouterr().err
    assert main(["show", "."]) == MISTAKE
    assert capfd.readouterr().err == "error: .: it is no file\n"
    assert main(["show", "models/scaled.py"]) == MISTAKE
    assert "it is no ELF file" in capfd.readouterr().err


def test_run_reads_writes_and_compares(library: Path, capfd: pytest.CaptureFixture[str]) -> None:
    x = np.arange(78, dtype=np.float32).reshape(2, 39)
    np.savez("in.npz", x=x)
    words = ["run", str(library), "--inputs", "in.npz"]
    assert main([*words, "--outputs", "out.npz"]) == SUCCESS
    with np.load("out.npz") as outputs:
        np.testing.assert_array_equal(outputs["out0"], x * np.arange(1, 40, dtype=np.float32))
    assert main([*words, "--compare", "out.npz", "--time"]) == SUCCESS
    out = capfd.readouterr().out
    assert "out0: f32[2, 39]: no difference" in out
    assert "ms a call" in out
    np.savez("other.npz", Output0=x)
    assert main([*words, "--compare", "other.npz"]) == DIFFERS
    assert "elements differ" in capfd.readouterr().out
    np.savez("other.npz", z=x)
    assert main(["run", str(library), "--inputs", "other.npz"]) == MISTAKE
    assert "it has z, where it is to have" in capfd.readouterr().err
    np.savez("other.npz", x=x[:, :5])
    assert main(["run", str(library), "--inputs", "other.npz"]) == MISTAKE
    assert "argument 0 is f32[2, 5]" in capfd.readouterr().err


def test_references_are_inputs_and_what_to_compare_with(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ["compile", "models/scaled.py:scaled_loader", "--emit", "shared-object,references"]
    assert main(words) == SUCCESS
    references = "_internal_scaled_reference_tensors.npz"
    words = ["run", "libscaled.so", "--inputs", references, "--compare", references]
    assert main(words) == SUCCESS


def test_what_a_program_writes_and_loads_is_compared_as_well(
    capfd: pytest.CaptureFixture[str],
) -> None:
    program = "models/scaled.py:counting_loader"
    assert main(["test", program, "--weights", "file"]) == SUCCESS
    assert "total: f32[39]: no difference" in capfd.readouterr().out
    words = ["compile", program, "--weights", "file", "--emit", "library,references"]
    assert main(words) == SUCCESS
    references = "_internal_counting_reference_tensors.npz"
    words = ["run", "libcounting.so", "--inputs", references, "--compare", references]
    assert main(words) == MISTAKE
    assert "call counting_load_weights first" in capfd.readouterr().err
    assert main([*words, "--weights", "counting.safetensors", "--time"]) == SUCCESS
    out = capfd.readouterr().out
    for line in (
        "out0: f32[39]: no difference",
        "out1: i64[]: no difference",
        "total: f32[39]: no",
    ):
        assert line in out
    assert main(["compile", program, "--emit", "weights-file"]) == MISTAKE
    assert 'there is no weights-file file of it with weights "embedded"' in capfd.readouterr().err


def test_test_holds_a_program_against_pytorch(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "models/scaled.py:scaled_loader"]) == SUCCESS
    out = capfd.readouterr().out
    assert "case 2, out0: f32[3, 39]: no difference" in out
    assert out.endswith("scaled: agrees with PyTorch\n")
    assert main(["test", "models/scaled.py:drifting_loader"]) == DIFFERS
    out = capfd.readouterr().out
    assert "out0: f32[3]: 3 of 3 elements differ" in out
    assert out.endswith("drifting: 1 differ\n")
    assert list(Path().iterdir()) == [Path("models")]


def test_what_is_written_in_place_and_numbers_are_held_against_pytorch_too(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["test", "models/scaled.py:counted_loader"]) == SUCCESS
    assert "counts: f32[2]: no difference" in capfd.readouterr().out
    words = ["compile", "models/scaled.py:counted_loader", "--emit", "shared-object,references"]
    assert main(words) == SUCCESS
    references = "_internal_counted_reference_tensors.npz"
    words = ["run", "libcounted.so", "--inputs", references, "--outputs", "out.npz", "--time"]
    assert main([*words, "--compare", references]) == SUCCESS
    with np.load("out.npz") as outputs:
        assert outputs["out0"].tolist() == [2.5, 2.5, 2.5]
        assert outputs["counts"].tolist() == [1, 1]


def test_a_library_runs_under_another_program(
    library: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", "models/scaled.py:counted_loader", "--run-under=env A=1"]) == SUCCESS
    assert "counts: f32[2]: no difference" in capfd.readouterr().out
    np.savez("in.npz", x=np.ones((2, 39), np.float32))
    words = ["run", str(library), "--inputs=in.npz", "--outputs=out.npz"]
    assert main([*words, "--run-under=env"]) == SUCCESS
    with np.load("out.npz") as outputs:
        assert outputs["out0"][1].tolist() == [*range(1, 40)]
    for command, message in (
        ("it's", '--run-under "it\'s": No closing quotation'),
        ("", "--run-under has no command"),
        ("false", "scaled.so, under false: it ended with exit status 1"),
    ):
        assert main([*words, f"--run-under={command}"]) == MISTAKE
        assert message in capfd.readouterr().err


def test_a_profile_has_each_kernel_and_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "models/scaled.py:scaled_loader"]) == SUCCESS
    out, err = capfd.readouterr()
    assert out.startswith("scaled: a call takes ")
    assert "models/scaled.py:18  return x * self.scale\n" in out
    assert err == ""
    Path("twice.mlir").write_text("module {}")
    assert main(["profile", "twice.mlir"]) == MISTAKE
    assert "error: twice.mlir: a file of TCP has no inputs to run on; " in capfd.readouterr().err


def test_a_page_shows_the_stages_beside_the_source(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["explore", "models/scaled.py:scaled_loader", "--output"]
    assert main([*words, "scaled.html"]) == SUCCESS
    page = Path("scaled.html").read_text()
    assert "return x * self.scale" in page
    for stage in ("torch", "tcp", "linalg", "kernels", "llvm", "llvm-ir", "asm"):
        assert f'"name":"{stage}"' in page
    assert '"shares":{}' in page
    assert main([*words, "profiled.html", "--profile"]) == SUCCESS
    assert '"shares":{"0":' in Path("profiled.html").read_text()
    assert main([*words, "nowhere/scaled.html"]) == MISTAKE
    assert "nowhere/scaled.html: cannot be written: No such file" in capfd.readouterr().err
    Path("doubled.mlir").write_text("""
func.func @doubled(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tcp.add %x, %x : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
""")
    assert main(["explore", "doubled.mlir", "--output", "doubled.html"]) == SUCCESS
    assert '"name":"torch"' not in Path("doubled.html").read_text()


def test_help_names_all_commands_and_statuses(capfd: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["compile"], ["run"], ["show"], ["test"], ["completion"]):
        with pytest.raises(SystemExit) as end:
            main([*words, "--help"])
        assert end.value.code == 0
        assert "examples:" in capfd.readouterr().out
    with pytest.raises(SystemExit) as end:
        main(["compile", "x.mlir", "--memory", "heap"])
    assert end.value.code == MISTAKE


@functools.cache
def _script(shell: str) -> str:
    code = "import sys; from plumbline.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "completion", shell]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


def _completed(*words: str) -> list[str]:
    """What bash offers for the last of `words`."""
    given = " ".join(f'"{word}"' for word in words)
    script = f"{_script('bash')}COMP_WORDS=({given}); COMP_CWORD={len(words) - 1}; _plumbline\n"
    script += 'printf "%s\\n" "${COMPREPLY[@]}"'
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()


def test_bash_completes_commands_options_and_choices() -> None:
    assert _completed("plumbline", "co") == ["compile", "completion"]
    assert _completed("plumbline", "compile", "model.mlir", "--mem") == ["--memory"]
    assert _completed("plumbline", "test", "--memory", "p") == ["pool"]
    assert _completed("plumbline", "test", "--memory", "=") == ["malloc", "pool"]
    assert _completed("plumbline", "test", "--memory", "=", "p") == ["pool"]
    assert _completed("plumbline", "completion", "") == ["bash", "zsh", "fish"]
    # A file, then, which bash completes by itself.
    assert _completed("plumbline", "run", "li") == []


def test_bash_completes_lists() -> None:
    assert _completed("plumbline", "compile", "--emit", "ll") == ["llvm", "llvm-ir"]
    lists = ["tcp,llvm", "tcp,llvm-ir"]
    assert _completed("plumbline", "compile", "--emit", "tcp,ll") == lists
    assert _completed("plumbline", "compile", "--emit", "asm,tcp,li") == [
        "asm,tcp,library",
        "asm,tcp,linalg",
        "asm,tcp,link",
    ]


def _completed_by_fish(line: str) -> list[str]:
    """What fish offers for a line."""
    script = f"{_script('fish')}complete -C {shlex.quote(line)}\n"
    ran = subprocess.run(["fish", "-N", "-c", script], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    return [word.partition("\t")[0] for word in ran.stdout.splitlines()]


def test_fish_completes_the_same() -> None:
    assert _completed_by_fish("plumbline co") == ["compile", "completion"]
    assert _completed_by_fish("plumbline compile model.mlir --memo") == ["--memory"]
    assert _completed_by_fish("plumbline test --memory p") == ["pool"]
    assert _completed_by_fish("plumbline test --memory=p") == ["--memory=pool"]
    assert _completed_by_fish("plumbline completion z") == ["zsh"]
    assert _completed_by_fish("plumbline compile --emit ll") == ["llvm", "llvm-ir"]
    assert _completed_by_fish("plumbline compile --emit tcp,ll") == ["tcp,llvm", "tcp,llvm-ir"]
    assert "models/" in _completed_by_fish("plumbline run --inputs mod")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
