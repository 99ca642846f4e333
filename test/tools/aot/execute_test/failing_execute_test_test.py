"""Runs a generated execute test on archives that it must not pass."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plumbline.archives.reference_archive import ReferenceArchive, Tensor
from test.tools.aot.execute_test import fake_archives

_PROGRAM = Path(__file__).parent / "fake_aliasing_execute_test"
_ACCUMULATE = Path(__file__).parent / "fake_accumulate_execute_test"
_ARCHIVE = f"{os.environ['TEST_WORKSPACE']}/test/tools/aot/execute_test/fake_aliasing.npz"
_CALLED = "fake_aliasing runs"
_BISECT = "To find the op whose numbers are wrong:\n  bazel run //fake:aliasing_bisect\n"


def _runfile(runfiles: Path) -> Path:
    path = runfiles / _ARCHIVE
    path.parent.mkdir(parents=True)
    return path


def _run(runfiles: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_PROGRAM],
        capture_output=True,
        check=False,
        text=True,
        # As if started by hand: nothing of this test's own runfiles.
        env={"RUNFILES_DIR": str(runfiles), **environment},
    )


def _failure(runfiles: Path, **environment: str) -> str:
    ran = _run(runfiles, **environment)
    # A crash would show as the negative number of its signal.
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "[  FAILED  ] ExecuteTest.AgreesWithReferences" in ran.stdout
    return ran.stdout


def _failure_on(archive: ReferenceArchive, runfiles: Path, **environment: str) -> str:
    archive.write(_runfile(runfiles))
    return _failure(runfiles, **environment)


def _first_case() -> ReferenceArchive:
    """The archive without further cases, which must be of the same types as the first."""
    return replace(fake_archives.aliasing(), further_cases=(), refused=None)


def _with_output(index: int, tensor: Tensor) -> ReferenceArchive:
    archive = fake_archives.aliasing()
    outputs = list(archive.outputs)
    outputs[index] = tensor
    return replace(archive, outputs=tuple(outputs))


def _write_tensors(path: Path, **tolerances: Tensor) -> None:
    """Writes what ReferenceArchive refuses to hold: the right tensors, other tolerances."""
    archive = fake_archives.aliasing()
    members = {f"Input{i}": tensor for i, tensor in enumerate(archive.inputs)}
    members |= {f"Output{i}": tensor for i, tensor in enumerate(archive.outputs)}
    np.savez(path, **members, **tolerances)  # type: ignore[arg-type]


def test_right_archive_passes(tmp_path: Path) -> None:
    fake_archives.aliasing().write(_runfile(tmp_path))
    ran = _run(tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert _CALLED in ran.stdout
    assert _BISECT not in ran.stdout


def test_wrong_result_is_reported(tmp_path: Path) -> None:
    expected = fake_archives.aliasing().outputs[0].copy()
    expected[1, 0] += 1
    output = _failure_on(_with_output(0, expected), tmp_path)
    assert (
        "Output0, tensor<2x3xf32>: 1 of 6 elements differ (rtol 0, atol 0)\n"
        "  worst at [1, 0]: actual 6, expected 7\n"
        "  absolute difference 1, relative 0.142857, ULP 2097152"
    ) in output
    assert output.count(_BISECT) == 1


def test_every_output_is_reported(tmp_path: Path) -> None:
    archive = fake_archives.aliasing()
    wrong = replace(
        archive,
        outputs=(
            *archive.outputs[:4],
            fake_archives.bfloat16(2),
            ~archive.outputs[5],
            archive.outputs[6],
        ),
    )
    output = _failure_on(wrong, tmp_path)
    assert "Output4, tensor<bf16>: 1 of 1 elements differ" in output
    assert "Output5, tensor<4xi1>: 4 of 4 elements differ" in output
    assert output.count("elements differ") == 2


def test_tolerances_come_from_the_archive(tmp_path: Path) -> None:
    archive = _with_output(4, fake_archives.bfloat16(2))
    archive = replace(archive, rtol=(0.0,) * 4 + (0.25, 0.0, 0.0))
    archive.write(_runfile(tmp_path))
    assert _run(tmp_path).returncode == 0


def test_wrong_shape_is_reported(tmp_path: Path) -> None:
    output = _failure_on(_with_output(6, np.empty((3, 0), np.int64)), tmp_path)
    assert "Output6 is tensor<0x3xi64>, expected tensor<3x0xi64>" in output


def _with_case_output(index: int, tensor: Tensor) -> ReferenceArchive:
    archive = fake_archives.aliasing()
    (case,) = archive.further_cases
    outputs = (*case.outputs[:index], tensor, *case.outputs[index + 1 :])
    return replace(archive, further_cases=(replace(case, outputs=outputs),))


def test_wrong_result_at_another_size_is_reported_with_its_case(tmp_path: Path) -> None:
    expected = fake_archives.aliasing().further_cases[0].outputs[0].copy()
    expected[3, 2] += 1
    _with_case_output(0, expected).write(_runfile(tmp_path))
    output = _run(tmp_path).stdout
    assert "[       OK ] ExecuteTest.AgreesWithReferences (" in output
    assert "Case1" in output
    assert "Output0, tensor<4x3xf32>: 1 of 12 elements differ" in output
    assert "[  FAILED  ] ExecuteTest.AgreesWithReferencesAtOtherSizes" in output


def test_a_refusal_of_the_right_sizes_is_reported(tmp_path: Path) -> None:
    fake_archives.aliasing().write(_runfile(tmp_path))
    ran = _run(tmp_path, FAKE_REFUSES_ALL="1")
    assert ran.returncode == 1, ran.stdout
    assert "argument 0 has size 3 in dimension 1, not 3" in ran.stdout
    assert "[  FAILED  ] ExecuteTest.AgreesWithReferencesAtOtherSizes" in ran.stdout


def test_a_wrong_size_that_is_not_refused_is_reported(tmp_path: Path) -> None:
    fake_archives.aliasing().write(_runfile(tmp_path))
    ran = _run(tmp_path, FAKE_REFUSES_NOTHING="1")
    assert ran.returncode == 1, ran.stdout
    assert "[  FAILED  ] ExecuteTest.RefusesAWrongSize" in ran.stdout


def test_changed_input_is_reported(tmp_path: Path) -> None:
    output = _failure_on(fake_archives.aliasing(), tmp_path, FAKE_CHANGES_ITS_INPUT="1")
    assert (
        "Input0, tensor<2x3xf32>: the compiled function changed 1 of 6 elements of its input\n"
        "  first at [1, 0]: was 4, is 5"
    ) in output


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("FORGETS_TO_WRITE", "Output0, tensor<3xf32>: 3 of 3 elements differ (rtol 0, atol 0)"),
        ("CHANGES_ITS_INPUT", "Input1, tensor<3xf32>: the compiled function changed 1 of 3"),
    ],
)
def test_what_is_written_in_place_is_looked_at(fault: str, message: str) -> None:
    def run(**environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [_ACCUMULATE],
            capture_output=True,
            check=False,
            text=True,
            env={**os.environ, **environment},
        )

    assert run().returncode == 0
    failing = run(**{f"FAKE_{fault}": "1"})
    assert failing.returncode == 1, failing.stdout + failing.stderr
    assert message in failing.stdout


@pytest.mark.parametrize(
    ("fault", "where"),
    [
        ("READS_BEYOND", "1 bytes beyond the end of"),
        ("READS_BEFORE", "4 bytes before the start of"),
    ],
)
def test_what_lies_beside_an_input_is_not_to_be_touched(
    tmp_path: Path, fault: str, where: str
) -> None:
    fake_archives.aliasing().write(_runfile(tmp_path))
    ran = _run(tmp_path, **{f"FAKE_{fault}": "1"})
    assert ran.returncode == -signal.SIGSEGV
    message = f"The compiled function touches memory that is not its own, {where} Input0.\n"
    assert ran.stderr == message


def test_memory_that_is_not_given_back_is_reported(tmp_path: Path) -> None:
    output = _failure_on(fake_archives.aliasing(), tmp_path, FAKE_KEEPS_MEMORY="1")
    assert "not all temporaries have been given back" in output


@pytest.mark.parametrize(
    ("member", "tensor", "found", "expected"),
    [
        ("inputs", np.zeros(3, np.float32), "dtype <f4 and shape (3)", "f32 of rank 2"),
        ("inputs", np.zeros((2, 3)), "dtype <f8 and shape (2, 3)", "f32 of rank 2"),
        ("inputs", np.zeros((2, 3), np.int32), "dtype <i4 and shape (2, 3)", "f32 of rank 2"),
        ("outputs", np.zeros((), np.float32), "dtype <f4 and shape ()", "f32 of rank 2"),
        ("outputs", np.zeros((2, 3), np.uint32), "dtype <u4 and shape (2, 3)", "f32 of rank 2"),
    ],
)
def test_wrong_signature_fails_before_the_call(
    tmp_path: Path, member: str, tensor: Tensor, found: str, expected: str
) -> None:
    archive = _first_case()
    change: Any = {member: (tensor, *getattr(archive, member)[1:])}
    output = _failure_on(replace(archive, **change), tmp_path)
    name = {"inputs": "Input0", "outputs": "Output0"}[member]
    assert (
        f"{name} of {_ARCHIVE} has numpy {found}, expected {expected}; "
        "the test was generated from another archive"
    ) in output
    assert _CALLED not in output


def test_wrong_count_fails_before_the_call(tmp_path: Path) -> None:
    archive = _first_case()
    output = _failure_on(replace(archive, inputs=archive.inputs[:2]), tmp_path)
    assert f"{_ARCHIVE} has 2 inputs and 7 outputs, expected 3 and 7" in output
    assert _CALLED not in output


def test_any_byte_but_zero_is_true(tmp_path: Path) -> None:
    # As in numpy. The compiled function relies on bytes of 0 and 1.
    archive = fake_archives.aliasing()
    flags = (archive.inputs[2].view(np.uint8) * 2).view(np.bool_)
    replace(archive, inputs=(*archive.inputs[:2], flags)).write(_runfile(tmp_path))
    ran = _run(tmp_path)
    assert ran.returncode == 0, ran.stdout


def test_missing_tolerances_fail_before_the_call(tmp_path: Path) -> None:
    _write_tensors(_runfile(tmp_path), rtol=np.zeros(7))
    output = _failure(tmp_path)
    assert f"{_ARCHIVE} has no member atol" in output
    assert _CALLED not in output


def test_too_few_tolerances_fail_before_the_call(tmp_path: Path) -> None:
    _write_tensors(_runfile(tmp_path), rtol=np.zeros(6), atol=np.zeros(7))
    output = _failure(tmp_path)
    assert f"rtol of {_ARCHIVE} has 6 values for 7 outputs" in output
    assert _CALLED not in output


def test_malformed_archive_fails_with_its_problem(tmp_path: Path) -> None:
    _runfile(tmp_path).write_text("nonsense")
    output = _failure(tmp_path)
    assert "C++ exception" in output
    assert "fake_aliasing.npz" in output
    assert _CALLED not in output


def test_missing_archive_fails_with_its_path(tmp_path: Path) -> None:
    output = _failure(tmp_path)
    assert f"{_ARCHIVE} is not among the test's runfiles" in output
    assert _BISECT not in output
    assert _CALLED not in output


def test_program_started_by_hand_finds_its_own_runfiles(tmp_path: Path) -> None:
    # The layout of bazel-bin. Bazel itself makes the folder of runfiles only at some point of the
    # build that is none of this test's business, so the test makes its own, beside a copy: from a
    # link to the program that would be looked for where the program is.
    workspace = Path(__file__).parents[4]
    program = tmp_path / _PROGRAM.relative_to(workspace)
    program.parent.mkdir(parents=True)
    shutil.copy(_PROGRAM, program)
    for libraries in workspace.glob("_solib_*"):
        (tmp_path / libraries.name).symlink_to(libraries)
    fake_archives.aliasing().write(_runfile(program.with_name(f"{program.name}.runfiles")))
    ran = subprocess.run([program], capture_output=True, check=False, text=True, env={})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert _CALLED in ran.stdout


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
