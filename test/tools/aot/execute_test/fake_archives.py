"""The reference archives of the functions in fake_functions.cpp; run as a program, writes them."""

import sys
from pathlib import Path

import numpy as np

from plumbline.archives.reference_archive import Case, ReferenceArchive, RefusedSize, Tensor
from plumbline.signature.element_type import ELEMENT_TYPES

_SCALE = np.float32(1.5)


def bfloat16(values: object) -> Tensor:
    """The upper halves of float32, which must lose nothing, as the archive stores them."""
    wide = np.asarray(values, np.float32)
    bits = wide.view(np.uint32)
    assert not np.any(bits & 0xFFFF)
    return (bits >> 16).astype(np.uint16).view("V2")


def aliasing() -> ReferenceArchive:
    """Of `fake_aliasing`. Fortran order and NaN are there for the reader and the comparison."""
    tensor = np.array([[1, np.nan, 3], [4, -np.inf, 6]], np.float32)
    flags = np.array([True, False, False, True])
    outputs = _aliasing_outputs(tensor, flags)
    further = np.arange(12, dtype=np.float32).reshape(4, 3)
    return ReferenceArchive(
        func_name="fake_aliasing",
        inputs=(np.asfortranarray(tensor), bfloat16(_SCALE), flags),
        outputs=outputs,
        rtol=(0.0,) * len(outputs),
        atol=(0.0,) * len(outputs),
        # The scale is that of the first case, so the file does not have it twice.
        further_cases=(
            Case((further, bfloat16(_SCALE), ~flags), _aliasing_outputs(further, ~flags)),
        ),
        refused=RefusedSize(0, 1, 4),
    )


def _aliasing_outputs(tensor: Tensor, flags: Tensor) -> tuple[Tensor, ...]:
    return (
        np.asfortranarray(tensor * _SCALE),
        (tensor * _SCALE).T,
        tensor,
        tensor[-1] * _SCALE,
        bfloat16(_SCALE),
        ~flags,
        np.empty((0, 3), np.int64),
    )


def every_type() -> ReferenceArchive:
    """Of `fake_every_type`: one output for each element type, its place in the table its rank.

    After rank 14 comes rank 0 again.
    """
    outputs = []
    for place, element_type in enumerate(ELEMENT_TYPES):
        rank = place % 15
        values = np.array([0, 1] if rank else [1])
        if element_type.name == "bf16":
            typed = bfloat16(values)
        elif element_type.bits is not None:
            typed = values.astype(np.uint8).view(element_type.numpy_dtype)
        else:
            typed = values.astype(element_type.numpy_dtype)
        outputs.append(typed.reshape((2,) + (1,) * (rank - 1) if rank else ()))
    return ReferenceArchive(
        func_name="fake_every_type",
        inputs=(),
        outputs=tuple(outputs),
        rtol=tuple(element_type.rtol for element_type in ELEMENT_TYPES),
        atol=tuple(element_type.atol for element_type in ELEMENT_TYPES),
    )


def accumulate() -> ReferenceArchive:
    """Of `fake_accumulate`, which adds its second input to its first, and has no results."""
    total, x = np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)
    return ReferenceArchive(
        "fake_accumulate", (total, x), (total + x,), (0.0,), (0.0,), inout=((0, 0),)
    )


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    aliasing().write(folder / "fake_aliasing.npz")
    accumulate().write(folder / "fake_accumulate.npz")
    every_type().write(folder / "fake_every_type.npz")
