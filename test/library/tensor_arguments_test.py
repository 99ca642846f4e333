"""Checks how numbers are handed over by value."""

import struct
import sys
from typing import Any

import numpy as np
import pytest

from plumbline.errors import UserError
from plumbline.library.tensor_arguments import Parameter, read_number
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


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
