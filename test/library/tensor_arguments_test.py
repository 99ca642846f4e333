"""Checks how numbers are handed over by value, and what is no array of numpy's."""

import struct
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from plumbline.errors import UserError
from plumbline.library.tensor_arguments import Parameter, kind_of, read_number
from plumbline.signature import element_type
from plumbline.signature.signature import TensorSpec


def _parameter(name: str) -> Parameter:
    type_ = element_type.from_name(name)
    return Parameter("argument 1", TensorSpec(type_, (), is_scalar=True), type_.numpy_dtype)


@pytest.mark.parametrize(
    ("type_", "number", "format_"),
    [
        ("f64", 2.5, "d"),
        ("f64", 2, "d"),
        ("f32", 2.5, "f"),
        ("f16", np.float32(2.5), "e"),
        ("i64", -3, "q"),
        ("i8", -3, "b"),
        ("u8", np.array(200), "B"),
        ("i1", True, "?"),
        ("i1", np.bool_(False), "?"),
    ],
)
def test_numbers_of_all_types_are_words(type_: str, number: Any, format_: str) -> None:
    word = read_number(number, _parameter(type_)).to_bytes(8, "little")
    size = struct.calcsize(format_)
    assert struct.unpack(f"<{format_}", word[:size]) == (number,)


@pytest.mark.parametrize(
    ("type_", "number", "message"),
    [
        ("i8", 300, "argument 1 is 300, which is beyond 8 bits"),
        ("u8", -1, "argument 1 is -1, which is beyond 8 bits"),
        ("i64", 1 << 63, "which is beyond 64 bits"),
        ("i32", 3.5, "argument 1 is 3.5; it is a number, an int"),
        ("f32", True, "argument 1 is True; it is a number, a float"),
        ("f32", "1", "argument 1 is str; it is a number, a float"),
        ("i1", 1, "argument 1 is 1; it is a number, True or False"),
        ("bf16", 1.0, "argument 1 is a number of type bf16, of which numpy has none"),
    ],
)
def test_other_numbers_are_refused(type_: str, number: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_number(number, _parameter(type_))


def _tensor(name: str, *sizes: int) -> Parameter:
    type_ = element_type.from_name(name)
    return Parameter("argument 1", TensorSpec(type_, sizes), type_.numpy_dtype)


@pytest.mark.parametrize(("name", "number"), [("f32", 2), ("f64", 2.5), ("i8", -3), ("i1", True)])
def test_numbers_are_tensors_of_rank_0(name: str, number: Any) -> None:
    _, shape, kept = kind_of(number, "argument 1").read(number, _tensor(name))
    assert shape == ()
    assert kept == np.array(number, element_type.from_name(name).numpy_dtype)


def test_numbers_are_no_other_tensors() -> None:
    with pytest.raises(
        UserError, match=r"^argument 1 is a int; it is a numpy array, .*, of rank 1"
    ):
        kind_of(2, "argument 1").read(2, _tensor("f32", 1))
    with pytest.raises(UserError, match=r"^argument 1 is 2\.5; it is a number, an int"):
        kind_of(2.5, "argument 1").read(2.5, _tensor("i32"))


class _OfJax:
    """As JAX's arrays of bfloat16, which numpy knows no DLPack of."""

    def __init__(self, array: Any) -> None:
        self._array, self.dtype = array, array.dtype

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("of a type that is not known")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self._array


def test_what_numpy_has_no_dlpack_of_is_of_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    kind = kind_of(_OfJax(array), "argument 1")
    address, shape, kept = kind.read(_OfJax(array), _tensor("bf16", 2))
    assert (address, shape) == (array.ctypes.data, (2,))
    assert kept is array
    assert kind.give is not None
    given = kind.give(array.view("V2"), _tensor("bf16", 2).spec)
    assert given.dtype == array.dtype
    wide = _OfJax(array.astype(np.float32))
    with pytest.raises(UserError, match="does not lend its memory by DLPack: of a type that"):
        kind.read(wide, _tensor("f32", 2))


class PRNGKeyArray:
    """As JAX's keys, which lend no memory."""


def test_keys_of_jax_are_their_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    bits = np.array([7, 9], np.uint32)
    random = SimpleNamespace(key_data=lambda key: bits)
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(random=random))
    key = PRNGKeyArray()
    assert kind_of(key, "argument 1").read(key, _tensor("u32", 2))[2] is bits


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
