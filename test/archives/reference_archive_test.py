import contextlib
import dataclasses
import hashlib
import io
import sys
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plumbline.archives.reference_archive import Case, ReferenceArchive, RefusedSize, Tensor
from plumbline.errors import UserError
from plumbline.signature.element_type import ELEMENT_TYPES, ElementType

_SOUND: dict[str, Tensor] = {
    "Input0": np.zeros((2, 3), np.float32),
    "Input1": np.array(True),
    "Output0": np.zeros((0, 4), np.uint8),
    "Output1": np.array([b"ab", b"cd"], "V2"),
    "func_name": np.array("f"),
    "rtol": np.array([0.0, 1e-3]),
    "atol": np.array([0.0, 1e-5]),
}


def _archive(**changes: Any) -> ReferenceArchive:
    fields: dict[str, Any] = {
        "func_name": "f",
        "inputs": (np.zeros((2, 3), np.float32),),
        "outputs": (np.ones(2, np.int64),),
        "rtol": (0.5,),
        "atol": (0.25,),
    }
    return ReferenceArchive(**fields | changes)


def _npz(path: Path, members: Mapping[str, Tensor]) -> Path:
    # The archive's own code has no part in it; np.savez would add a .npy to the names it is given.
    np.savez(path, **members)  # type: ignore[arg-type]
    return path


def _refusal(path: Path) -> str:
    with pytest.raises(UserError) as refused:
        ReferenceArchive.read(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def _assert_same(actual: Tensor, expected: Tensor) -> None:
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize("row", ELEMENT_TYPES, ids=lambda row: row.name)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3, 4)], ids=str)
def test_round_trip(tmp_path: Path, row: ElementType, shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape))
    content = np.arange(count * row.numpy_dtype.itemsize, dtype=np.uint8)
    if row.name == "i1":
        content %= 2
    tensor = content.view(row.numpy_dtype).reshape(shape)
    written = _archive(
        inputs=(tensor, np.asfortranarray(tensor)),
        outputs=(tensor, tensor.T),
        rtol=(0, 1),
        atol=(2, 3),
    )
    written.write(tmp_path / "x.npz")

    read = ReferenceArchive.read(tmp_path / "x.npz")
    assert read.func_name == "f"
    assert (read.rtol, read.atol) == ((0, 1), (2, 3))
    for actual, expected in zip(
        read.inputs + read.outputs, written.inputs + written.outputs, strict=True
    ):
        _assert_same(actual, expected)


def test_no_inputs(tmp_path: Path) -> None:
    _archive(inputs=()).write(tmp_path / "x.npz")
    assert ReferenceArchive.read(tmp_path / "x.npz").inputs == ()


def test_more_than_ten_inputs_keep_their_order(tmp_path: Path) -> None:
    _archive(inputs=tuple(np.array(i) for i in range(12))).write(tmp_path / "x.npz")
    assert [int(i) for i in ReferenceArchive.read(tmp_path / "x.npz").inputs] == list(range(12))


def test_numpy_reads_it(tmp_path: Path) -> None:
    _archive().write(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as members:
        assert members.files == ["Input0", "Output0", "func_name", "rtol", "atol"]
        assert members["func_name"][()] == "f"
        np.testing.assert_array_equal(members["Output0"], np.ones(2, np.int64), strict=True)


def test_reads_what_numpy_writes(tmp_path: Path) -> None:
    archive = ReferenceArchive.read(_npz(tmp_path / "x.npz", _SOUND))
    assert (len(archive.inputs), len(archive.outputs)) == (2, 2)
    assert archive.outputs[1].tobytes() == b"abcd"


def test_what_a_user_left_out_is_as_for_pytorch(tmp_path: Path) -> None:
    outputs: dict[str, Tensor] = {
        "Output0": np.ones(2, np.float32),
        "Output1": np.ones(2, np.int64),
    }
    path = _npz(tmp_path / "x.npz", {"Input0": np.ones(3), **outputs})
    archive = ReferenceArchive.read(path, func_name="f")
    assert archive.func_name == "f"
    assert (archive.rtol, archive.atol) == ((1.3e-6, 0), (1e-5, 0))

    said = {"func_name": np.array("g"), "rtol": np.array([0.5, 0]), "atol": np.array([0.25, 0])}
    archive = ReferenceArchive.read(_npz(path, {**outputs, **said}), func_name="f")
    assert archive.func_name == "g"
    assert (archive.rtol, archive.atol) == ((0.5, 0), (0.25, 0))


def test_equal_archives_are_equal_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _archive().write(tmp_path / "now.npz")
    monkeypatch.setattr(time, "time", lambda: 2e9)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(2e9))
    _archive().write(tmp_path / "later.npz")
    assert (tmp_path / "now.npz").read_bytes() == (tmp_path / "later.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "now.npz") as members:
        assert {info.date_time for info in members.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_each_release_of_python_writes_the_same_file(tmp_path: Path) -> None:
    # The file of Python 3.11.2 and 3.11.7, whose zipfile modules differ in what they make of a
    # member of unknown size.
    _archive().write(tmp_path / "x.npz")
    content = (tmp_path / "x.npz").read_bytes()
    assert len(content) == 1202
    digest = "9264b424a281abaea6f52d8019f92e7d387a621ab2a34fbf6bfa059456d5544f"
    assert hashlib.sha256(content).hexdigest() == digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"func_name": "a-b"}, "'a-b' is not a C identifier"),
        ({"outputs": (), "rtol": (), "atol": ()}, "there is no output"),
        (
            {"inputs": (np.zeros(1, np.clongdouble),)},
            "Input0: numpy dtype complex256 is not supported",
        ),
        ({"outputs": (np.zeros(1, "U1"),)}, "Output0: numpy dtype <U1 is not supported"),
        ({"rtol": (0.1, 0.2)}, "rtol has 2 values for 1 outputs"),
        ({"atol": ()}, "atol has 0 values for 1 outputs"),
        ({"rtol": (-0.1,)}, "rtol has -0.1; a tolerance is finite"),
        ({"atol": (float("nan"),)}, "atol has nan"),
        ({"atol": (float("inf"),)}, "atol has inf"),
    ],
)
def test_unsound_parts_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as refused:
        _archive(**changes)
    assert message in str(refused.value)


@pytest.mark.parametrize("member", ["func_name", "rtol", "atol", "Input0", "Output0"])
def test_a_missing_member_is_named(tmp_path: Path, member: str) -> None:
    members = {name: tensor for name, tensor in _SOUND.items() if name != member}
    message = _refusal(_npz(tmp_path / "x.npz", members))
    assert message == f"not a reference archive: {member} is missing"


@pytest.mark.parametrize(
    "member", ["input0", "Input", "Input00", "Input-1", "Output1x", "Inputs0", "x", "dir/Input0"]
)
def test_a_member_too_many_is_named(tmp_path: Path, member: str) -> None:
    message = _refusal(_npz(tmp_path / "x.npz", _SOUND | {member: np.zeros(1)}))
    assert message == (
        f"not a reference archive: members that do not belong here: {member}; tensors are called "
        "Input0, Input1, ... and Output0, Output1, ..."
    )


@pytest.mark.parametrize(
    ("member", "tensor", "message"),
    [
        ("func_name", np.array(["f"]), "func_name has dtype <U1 and shape (1,)"),
        ("func_name", np.array(b"f"), "func_name has dtype |S1 and shape ()"),
        ("func_name", np.array("1"), "function name '1' is not a C identifier"),
        ("rtol", np.zeros(2, np.float32), "rtol has dtype float32 and shape (2,)"),
        ("atol", np.zeros((2, 1)), "atol has dtype float64 and shape (2, 1)"),
        ("atol", np.zeros(3), "atol has 3 values for 2 outputs"),
        ("Input1", np.zeros(2, np.clongdouble), "Input1: numpy dtype complex256 is not supported"),
        ("Output0", np.zeros(2, ">f4"), "Output0: numpy dtype >f4 is not supported"),
    ],
)
def test_a_wrong_member_is_named(tmp_path: Path, member: str, tensor: Tensor, message: str) -> None:
    assert message in _refusal(_npz(tmp_path / "x.npz", _SOUND | {member: tensor}))


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    message = _refusal(_npz(tmp_path / "x.npz", _SOUND | {"Input0": np.array([None], "O")}))
    assert "Input0 is malformed: Object arrays cannot be loaded" in message


def test_a_member_that_occurs_twice_is_named(tmp_path: Path) -> None:
    path = _npz(tmp_path / "x.npz", _SOUND)
    with zipfile.ZipFile(path, "a") as members, pytest.warns(UserWarning, match="Duplicate name"):
        members.writestr("rtol.npy", b"")
    assert _refusal(path) == "not a reference archive: rtol occurs more than once"


def test_bytes_after_a_tensor_are_refused(tmp_path: Path) -> None:
    content = io.BytesIO()
    np.save(content, np.zeros(2))
    path = _npz(tmp_path / "x.npz", _SOUND)
    with zipfile.ZipFile(path, "a") as members:
        members.writestr("Input2.npy", content.getvalue() + b"!")
    assert _refusal(path) == "not a reference archive: Input2 is longer than its header says"


@pytest.mark.parametrize("shape", [(2**55,), (2**40, 2**40)], ids=str)
def test_a_header_that_asks_for_more_than_memory_is_refused(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        content, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    path = _npz(tmp_path / "x.npz", _SOUND)
    with zipfile.ZipFile(path, "a") as members:
        members.writestr("Input2.npy", content.getvalue())
    assert "Input2 is malformed" in _refusal(path)


def test_files_that_are_no_archive(tmp_path: Path) -> None:
    assert _refusal(tmp_path / "nowhere.npz") == "cannot be read: No such file or directory"
    assert _refusal(tmp_path) == "cannot be read: Is a directory"
    (tmp_path / "empty.npz").write_bytes(b"")
    assert "not an .npz file" in _refusal(tmp_path / "empty.npz")
    np.save(tmp_path / "single.npy", np.zeros(1))
    assert "not an .npz file" in _refusal(tmp_path / "single.npy")


def test_a_flipped_bit_in_a_tensor_is_found(tmp_path: Path) -> None:
    _archive(inputs=(np.full(4, 0x55, np.uint8),)).write(tmp_path / "x.npz")
    content = (tmp_path / "x.npz").read_bytes()
    (tmp_path / "x.npz").write_bytes(content.replace(b"\x55" * 4, b"\x55\x54\x55\x55"))
    assert "Input0 is malformed: Bad CRC-32" in _refusal(tmp_path / "x.npz")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changes=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4),
    length=st.none() | st.integers(0, 10**6),
)
def test_no_damage_escapes_as_another_exception(
    tmp_path: Path, changes: list[tuple[int, int]], length: int | None
) -> None:
    path = tmp_path / "x.npz"
    _npz(path, _SOUND)
    content = bytearray(path.read_bytes())
    for position, value in changes:
        content[position % len(content)] = value
    path.write_bytes(content if length is None else content[: length % len(content)])
    # Some damage does no harm: it hits a time, or a byte of a header that nobody reads.
    with contextlib.suppress(UserError):
        ReferenceArchive.read(path)


def test_further_cases_round_trip(tmp_path: Path) -> None:
    nan = np.array([np.nan, 0.0])
    written = _archive(
        inputs=(np.zeros((2, 3), np.float32), nan),
        further_cases=(
            Case((np.ones((0, 3), np.float32), nan.copy()), (np.ones(0, np.int64),)),
            Case((np.ones((4, 3), np.float32), -nan), (np.ones(4, np.int64),)),
        ),
        refused=RefusedSize(0, 1, 4),
    )
    written.write(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as members:
        # Equal to Input1 by its bits, as that of the second case is not.
        assert "Case1.Input1" not in members
        assert {"Case1.Input0", "Case2.Input1", "Case2.Output0", "refused"} <= set(members)
    read = ReferenceArchive.read(tmp_path / "x.npz")
    assert read.refused == RefusedSize(0, 1, 4)
    for actual, expected in zip(read.further_cases, written.further_cases, strict=True):
        for one, other in zip(
            (*actual.inputs, *actual.outputs), (*expected.inputs, *expected.outputs), strict=True
        ):
            _assert_same(one, other)


def test_inputs_that_are_written_round_trip(tmp_path: Path) -> None:
    x, y = np.zeros(2), np.ones(2)
    archive = ReferenceArchive("foo", (x, y), (x, y, x), (0.0,) * 3, (0.0,) * 3, inout=((0, 2),))
    path = tmp_path / "written.npz"
    archive.write(path)
    assert ReferenceArchive.read(path).inout == ((0, 2),)
    assert archive.with_leading_inputs([x]).inout == ((1, 2),)
    for inout, message in (
        (((0, 1), (0, 2)), "inout names an input more than once"),
        (((0, 1),), "the outputs that inout names are not the last ones, each once"),
        (((0, 2), (1, 2)), "the outputs that inout names are not the last ones, each once"),
    ):
        with pytest.raises(UserError, match=message):
            dataclasses.replace(archive, inout=inout)


def test_leading_inputs_come_before_those_of_all_cases() -> None:
    weight = np.arange(3)
    archive = _archive(
        further_cases=(Case((np.ones((4, 3), np.float32),), (np.ones(4, np.int64),)),),
        refused=RefusedSize(0, 1, 4),
    ).with_leading_inputs([weight])
    assert archive.further_cases[0].inputs[0] is weight
    assert archive.refused == RefusedSize(1, 1, 4)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"Case2.Output0": np.zeros((1, 4), np.uint8)}, "Case1 is missing"),
        (
            {"Case1.Output0": np.zeros((1, 4), np.uint8)},
            "there are 1 of Case1.Output0, ..., not 2",
        ),
        (
            {
                "Case1.Input7": np.zeros(1),
                "Case1.Output0": np.zeros((1, 4), np.uint8),
                "Case1.Output1": np.array([b"ab"], "V2"),
            },
            "Case1.Input7: the first case has no such input",
        ),
        (
            {
                "Case1.Input0": np.zeros(1, np.float32),
                "Case1.Output0": np.zeros((1, 4), np.uint8),
                "Case1.Output1": np.array([b"ab"], "V2"),
            },
            "Case1.Input0 has dtype float32 and rank 1, where the first case has float32 and 2",
        ),
        ({"Case0.Output0": np.zeros(1)}, "members that do not belong here: Case0.Output0"),
        ({"refused": np.zeros(3)}, "refused has dtype float64 and shape (3,)"),
        ({"refused": np.array([0, 2, 5])}, "refused names dimension 2 of Input0: there is none"),
        ({"inout": np.zeros((1, 3), np.int64)}, "inout has dtype int64 and shape (1, 3)"),
        ({"inout": np.array([[4, 0]])}, "inout names Input4 and Output0: there are none such"),
        ({"inout": np.array([[1, 0]])}, "Input1 and Output0 differ in shape or dtype"),
    ],
)
def test_further_cases_that_are_none_are_refused(
    tmp_path: Path, members: dict[str, Tensor], expected: str
) -> None:
    assert expected in _refusal(_npz(tmp_path / "x.npz", _SOUND | members))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
