import json
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from plumbline.archives.weights_archive import read_layout
from plumbline.errors import UserError

_WEIGHTS = {
    "layer.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "layer.bias": np.array([True, False]),
    "empty": np.empty((0, 3), np.float64),
    "scalar": np.array(7, np.int64),
}


def test_elements_lie_where_the_layout_says(tmp_path: Path) -> None:
    file = tmp_path / "x.safetensors"
    file.write_bytes(safetensors.numpy.save(_WEIGHTS))
    layout = read_layout(file)
    assert set(layout) == set(_WEIGHTS)
    content = file.read_bytes()
    for name, stored in layout.items():
        expected = _WEIGHTS[name]
        assert content[stored.offset : stored.offset + stored.size] == expected.tobytes()
        assert stored.shape == expected.shape
        assert (
            stored.dtype
            == {"f4": "F32", "b1": "BOOL", "f8": "F64", "i8": "I64"}[expected.dtype.str[1:]]
        )
        elements = stored.read(file)
        assert (elements.shape, elements.tobytes()) == (expected.shape, expected.tobytes())
        assert stored.element_bytes == (expected.itemsize if expected.size else 1)


def _file(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    text = json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def _entry(offsets: object, shape: object = (3,)) -> bytes:
    return _file({"a": {"data_offsets": offsets, "shape": shape}}, b"123")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "not a safetensors file"),
        (b"\0" * 7, "not a safetensors file"),
        (_file({}, length=1 << 60), "its header is too long"),
        (_entry([0, 4]), "lie outside the file"),
        (_entry([-1, 2]), "lie outside the file"),
        (_entry([2, 1]), "lie outside the file"),
        (_entry([0.0, 1.0]), "not whole numbers"),
        (_entry([0]), "not a safetensors file"),
        (_entry([0, 3], [2]), "3 bytes do not make elements of shape"),
        (_entry([0, 3], [-3]), "is not of whole numbers"),
        (_entry([0, 3], [1.5]), "is not of whole numbers"),
        (_entry([0, 3], 3), "not a safetensors file"),
        (_entry([0, 3]), "dtype None is no name"),
        (_file({"a": {"data_offsets": [0, 3]}}, b"123"), "shape"),
        (_file({"a": {}}), "data_offsets"),
        (_file({"a": 3}), "not a safetensors file"),
        (_file([]), "not a safetensors file"),
        (_file("x"), "not a safetensors file"),
    ],
)
def test_malformed_files_are_refused(content: bytes, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "x.safetensors"
    file.write_bytes(content)
    with pytest.raises(UserError, match=expected) as refusal:
        read_layout(file)
    assert str(file) in str(refusal.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_layout(tmp_path / "none")


@given(st.binary(max_size=200))
def test_no_bytes_crash_it(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("weights") / "x.safetensors"
    file.write_bytes(content)
    try:
        layout = read_layout(file)
    except UserError:
        return
    assert all(stored.offset + stored.size <= len(content) for stored in layout.values())


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
