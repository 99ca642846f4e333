"""The one table of element types: how each is spelled in torch, numpy, MLIR and C++."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from plumbline.errors import UserError
from plumbline.signature.float8 import FLOAT8_FORMATS, Float8Format

Tensor = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class ElementType:
    """An element type of tensors that a compiled function takes or returns.

    `rtol` and `atol` are the defaults of `torch.testing.assert_close`.
    """

    name: str
    """Signedness included: "f32", "i8", "u8", "i1"."""
    torch_name: str
    """The attribute of the `torch` module: "float32", "bool"."""
    numpy_dtype: np.dtype[np.generic]
    """How the reference archive stores it. numpy has no bfloat16, so bf16 is two raw bytes, and no
    floats of 8 bits, which are records of one byte, called as torch calls the type."""
    mlir: str
    """Signless, as tensors are at the C ABI: "i8" for both i8 and u8, and for floats of 8 bits. Of
    complex numbers, that of either part: their tensors have one dimension more there, the last, in
    which the real part comes first."""
    mlir_signed: str
    """Signed, as the Torch dialect and StableHLO have them: "si8" and "ui8", but "i1"."""
    cpp: str
    """A type of the same size and layout that `tools/aot/abi.h` declares or includes."""
    rtol: float
    atol: float
    part: "ElementType | None" = None
    """The type of the real and of the imaginary part, where an element is a complex number."""
    bits: Float8Format | None = None
    """What the bits mean, where an element is a float of 8 bits: all stages see its bits alone."""

    @property
    def c(self) -> str:
        """A type of C with the same size, which for floats that C does not have is their bits.

        That of complex numbers is declared by the headers that use it (`c_header.py`).
        """
        if self.is_complex:
            return f"plumbline_{self.torch_name}"
        is_own = self.cpp.startswith("plumbline::")
        return f"uint{8 * self.size}_t" if is_own else self.cpp.removeprefix("std::")

    @property
    def is_complex(self) -> bool:
        """Whether an element is a pair, of a real and an imaginary part."""
        return self.part is not None

    @property
    def is_computed_with(self) -> bool:
        """Whether ops of TCP take it: not complex numbers, nor floats of 8 bits."""
        return self.part is None and self.bits is None

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return self.numpy_dtype.itemsize

    def in_numpy(self, array: Tensor) -> Tensor:
        """`array`, of `numpy_dtype`, in a dtype that numpy computes in and that has the values."""
        if self.bits is not None:
            return self.bits.values[array.view(np.uint8)]
        if self.name == "bf16":
            bits = np.ascontiguousarray(array).view(np.uint16).reshape(array.shape)
            return (bits.astype(np.uint32) << 16).view(np.float32)
        return array


def _integer(name: str) -> ElementType:
    bits = int(name[1:])
    numpy_name = f"{'u' if name[0] == 'u' else ''}int{bits}"
    sign = "ui" if name[0] == "u" else "si"
    return ElementType(
        name,
        numpy_name,
        np.dtype(numpy_name),
        f"i{bits}",
        f"{sign}{bits}",
        f"std::{numpy_name}_t",
        0.0,
        0.0,
    )


def _float(
    torch_name: str, name: str, numpy_name: str, cpp: str, rtol: float, atol: float
) -> ElementType:
    return ElementType(name, torch_name, np.dtype(numpy_name), name, name, cpp, rtol, atol)


def _float8(format_: Float8Format) -> ElementType:
    short = format_.torch_name.removeprefix("float8_")
    return ElementType(
        f"f8{short}",
        format_.torch_name,
        np.dtype([(format_.torch_name, np.uint8)]),
        "i8",
        f"f8{short.upper()}",
        f"plumbline::Float8{short.upper()}",
        0.0,
        0.0,
        bits=format_,
    )


def _complex(torch_name: str, name: str, part: ElementType) -> ElementType:
    return ElementType(
        name,
        torch_name,
        np.dtype(torch_name),
        part.mlir,
        f"complex<{part.mlir}>",
        f"plumbline::Complex<{part.cpp}>",
        part.rtol,
        part.atol,
        part,
    )


_F64 = _float("float64", "f64", "float64", "double", 1e-7, 1e-7)
_F32 = _float("float32", "f32", "float32", "float", 1.3e-6, 1e-5)

ELEMENT_TYPES: tuple[ElementType, ...] = (
    _F64,
    _F32,
    _float("float16", "f16", "float16", "plumbline::Float16", 1e-3, 1e-5),
    _float("bfloat16", "bf16", "V2", "plumbline::BFloat16", 1.6e-2, 1e-5),
    *(_integer(name) for name in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")),
    ElementType("i1", "bool", np.dtype("bool"), "i1", "i1", "bool", 0.0, 0.0),
    _complex("complex64", "c64", _F32),
    _complex("complex128", "c128", _F64),
    *map(_float8, FLOAT8_FORMATS),
)


def from_name(name: str) -> ElementType:
    """Finds the element type called `name`, such as "f32".

    Raises:
      UserError: there is none of that name.
    """
    for element_type in ELEMENT_TYPES:
        if element_type.name == name:
            return element_type
    raise UserError(
        f"element type {name!r} is not supported; these are: "
        + ", ".join(element_type.name for element_type in ELEMENT_TYPES)
    )


def from_numpy_dtype(dtype: np.dtype[np.generic]) -> ElementType:
    """Finds the element type that the reference archive stores as `dtype`.

    The package ml_dtypes gives numpy dtypes of its own for what numpy has none of: these are known
    by their names.

    Raises:
      UserError: there is none; a byte order that is not the machine's counts as another dtype.
    """
    for element_type in ELEMENT_TYPES:
        if element_type.numpy_dtype == dtype or _is_of_ml_dtypes(element_type, dtype):
            return element_type
    raise UserError(
        f"numpy dtype {dtype} is not supported; these are: "
        + ", ".join(
            f"{element_type.numpy_dtype} ({element_type.name})" for element_type in ELEMENT_TYPES
        )
    )


def _is_of_ml_dtypes(element_type: ElementType, dtype: np.dtype[np.generic]) -> bool:
    return element_type.numpy_dtype.kind == "V" and dtype.name == element_type.torch_name


def from_torch_name(name: str) -> ElementType:
    """Finds the element type of the torch dtype `name`, "float32" or "torch.float32".

    Raises:
      UserError: there is none, as for quantized dtypes.
    """
    for element_type in ELEMENT_TYPES:
        if element_type.torch_name == name.removeprefix("torch."):
            return element_type
    raise UserError(
        f"torch dtype {name} is not supported; these are: "
        + ", ".join(element_type.torch_name for element_type in ELEMENT_TYPES)
    )


def from_mlir_signed(dtype: str) -> ElementType:
    """Finds the element type that MLIR spells `dtype` with its sign, such as "si64".

    Raises:
      UserError: there is none that an op computes with, as for complex and quantized dtypes and
        floats of 8 bits.
    """
    computed = [element_type for element_type in ELEMENT_TYPES if element_type.is_computed_with]
    for element_type in computed:
        if element_type.mlir_signed == dtype:
            return element_type
    raise UserError(
        f"dtype {dtype} is not supported; these are: "
        + ", ".join(element_type.mlir_signed for element_type in computed)
    )
