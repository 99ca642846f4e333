import dataclasses
import sys

import numpy as np
import pytest
import torch
from torch_mlir.extras.fx_importer import TORCH_DTYPE_TO_MLIR_TYPE_ASM

from plumbline.errors import UserError
from plumbline.signature import element_type
from plumbline.signature.element_type import ELEMENT_TYPES, ElementType

_by_name = pytest.mark.parametrize("row", ELEMENT_TYPES, ids=lambda row: row.name)


def test_table_has_the_element_types_of_the_c_abi() -> None:
    floats = "f64 f32 f16 bf16"
    integers = "i8 i16 i32 i64 u8 u16 u32 u64"
    bytes_ = "f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz"
    names = " ".join(row.name for row in ELEMENT_TYPES)
    assert names == f"{floats} {integers} i1 c64 c128 {bytes_}"


@pytest.mark.parametrize("field", ["name", "torch_name", "numpy_dtype", "mlir_signed", "cpp"])
def test_columns_tell_the_rows_apart(field: str) -> None:
    values = [getattr(row, field) for row in ELEMENT_TYPES]
    assert len(set(values)) == len(values)


@_by_name
def test_torch_dtype_has_the_numpy_dtypes_size(row: ElementType) -> None:
    dtype = getattr(torch, row.torch_name)
    assert dtype.itemsize == row.numpy_dtype.itemsize == row.size
    assert dtype.is_signed == (row.name[0] in "fbc" or (row.name[0] == "i" and row.name != "i1"))
    if row.numpy_dtype.kind != "V":
        assert torch.empty(0, dtype=dtype).numpy().dtype == row.numpy_dtype


@_by_name
def test_tolerances_are_those_of_assert_close(row: ElementType) -> None:
    # assert_close names the tolerances that it used in the message of a failure.
    dtype = getattr(torch, row.torch_name)
    actual, expected = torch.ones(1, dtype=dtype), torch.zeros(1, dtype=dtype)
    with pytest.raises(AssertionError) as failure:
        torch.testing.assert_close(actual, expected)
    message = str(failure.value)
    if (row.rtol, row.atol) == (0, 0):
        assert "up to" not in message
    else:
        assert f"(up to {row.atol} allowed)" in message
        assert f"(up to {row.rtol} allowed)" in message


@_by_name
def test_mlir_spelling_is_signless(row: ElementType) -> None:
    spelled = {"c64": "f32", "c128": "f64"}.get(row.name, row.name)
    spelled = "i8" if row.bits else spelled
    assert row.mlir == spelled.replace("u", "i")
    assert row.is_complex == (row.name[0] == "c")


@_by_name
def test_torch_dialect_spelling_is_that_of_the_importer(row: ElementType) -> None:
    # The importer has no unsigned types above 8 bits; those follow the one that it has.
    imported = TORCH_DTYPE_TO_MLIR_TYPE_ASM.get(getattr(torch, row.torch_name))
    assert row.mlir_signed == (imported or row.name.replace("u", "ui"))


@_by_name
def test_every_lookup_finds_every_row(row: ElementType) -> None:
    assert element_type.from_name(row.name) is row
    assert element_type.from_numpy_dtype(row.numpy_dtype) is row
    assert element_type.from_torch_name(row.torch_name) is row
    assert element_type.from_torch_name(str(getattr(torch, row.torch_name))) is row
    if row.is_computed_with:
        assert element_type.from_mlir_signed(row.mlir_signed) is row


_floats_of_8_bits = pytest.mark.parametrize(
    "row", [row for row in ELEMENT_TYPES if row.bits], ids=lambda row: row.name
)


@_floats_of_8_bits
def test_all_bits_of_8_are_the_numbers_that_torch_says(row: ElementType) -> None:
    bits = torch.arange(256).to(torch.uint8)
    expected = bits.view(getattr(torch, row.torch_name)).to(torch.float32).numpy()
    assert row.bits is not None
    np.testing.assert_array_equal(row.bits.values, expected)
    np.testing.assert_array_equal(np.signbit(row.bits.values), np.signbit(expected))
    stored = bits.numpy().view(row.numpy_dtype).reshape(16, 16).T
    np.testing.assert_array_equal(row.in_numpy(stored), expected.reshape(16, 16).T)


@_floats_of_8_bits
def test_dtypes_of_ml_dtypes_go_by_their_names(row: ElementType) -> None:
    class Named:
        """What a dtype of another package is to a lookup: equal to none, of a name."""

        name = row.torch_name

    assert element_type.from_numpy_dtype(Named()) is row  # type: ignore[arg-type]


def test_rows_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ELEMENT_TYPES[0].rtol = 1.0  # type: ignore[misc]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UserError, match=r"'f8' is not supported; these are: f64, .*, f8e5m2fnuz$"):
        element_type.from_name("f8")


@pytest.mark.parametrize("name", ["complex32", "torch.float8_e8m0fnu", "torch", ""])
def test_other_torch_dtypes_are_refused(name: str) -> None:
    with pytest.raises(UserError) as refusal:
        element_type.from_torch_name(name)
    message = str(refusal.value)
    assert message.startswith(f"torch dtype {name} is not supported; these are: float64, ")
    assert message.endswith("float8_e4m3fnuz, float8_e5m2fnuz")


@pytest.mark.parametrize("dtype", ["i8", "si1", "complex<f32>", "f8E5M2", ""])
def test_other_signed_types_are_refused(dtype: str) -> None:
    with pytest.raises(UserError, match=r"dtype .* is not supported; .*f64.*, i1$"):
        element_type.from_mlir_signed(dtype)


@pytest.mark.parametrize("dtype", ["c32", "U3", "V3", ">f4", "M8[ns]", "O", "i1,i1"])
def test_other_numpy_dtypes_are_refused(dtype: str) -> None:
    with pytest.raises(UserError, match=r"is not supported; these are: .*\|V2 \(bf16\)"):
        element_type.from_numpy_dtype(np.dtype(dtype))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
