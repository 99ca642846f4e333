"""The reference archives of the functions in fake_functions.cpp; run as a program, writes them."""

import sys
from pathlib import Path

import numpy as np

from plumbline.element_type import ELEMENT_TYPES
from plumbline.reference_archive import ReferenceArchive, Tensor


def bfloat16(values: object) -> Tensor:
    """The upper halves of float32, which must lose nothing, as the archive stores them."""
    wide = np.asarray(values, np.float32)
    bits = wide.view(np.uint32)
    assert not np.any(bits & 0xFFFF)
    return (bits >> 16).astype(np.uint16).view("V2")


def aliasing() -> ReferenceArchive:
    """Of `fake_aliasing`. Fortran order and NaN are there for the reader and the comparison."""
    tensor = np.array([[1, np.nan, 3], [4, -np.inf, 6]], np.float32)
    scale = np.float32(1.5)
    flags = np.array([True, False, False, True])
    outputs = (
        np.asfortranarray(tensor * scale),
        (tensor * scale).T,
        tensor,
        tensor[-1] * scale,
        bfloat16(scale),
        ~flags,
        np.empty((0, 3), np.int64),
    )
    return ReferenceArchive(
        func_name="fake_aliasing",
        inputs=(np.asfortranarray(tensor), bfloat16(scale), flags),
        outputs=outputs,
        rtol=(0.0,) * len(outputs),
        atol=(0.0,) * len(outputs),
    )


def every_type() -> ReferenceArchive:
    """Of `fake_every_type`: one output for each element type, its place in the table its rank."""
    outputs = []
    for rank, element_type in enumerate(ELEMENT_TYPES):
        values = np.array([0, 1] if rank else [1])
        typed = (
            bfloat16(values)
            if element_type.name == "bf16"
            else values.astype(element_type.numpy_dtype)
        )
        outputs.append(typed.reshape((2,) + (1,) * (rank - 1) if rank else ()))
    return ReferenceArchive(
        func_name="fake_every_type",
        inputs=(),
        outputs=tuple(outputs),
        rtol=tuple(element_type.rtol for element_type in ELEMENT_TYPES),
        atol=tuple(element_type.atol for element_type in ELEMENT_TYPES),
    )


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    aliasing().write(folder / "fake_aliasing.npz")
    every_type().write(folder / "fake_every_type.npz")
