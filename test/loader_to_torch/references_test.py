import sys

import numpy as np
import pytest
import torch

from plumbline.loader_to_torch.loader import load
from plumbline.loader_to_torch.references import record_references, to_numpy
from plumbline.reference_archive import ReferenceArchive

_PACKAGE = "test.loader_to_torch.broken_loaders"


def _record(function: str) -> ReferenceArchive:
    return record_references("it", load(f"{_PACKAGE}.{function}"))


def test_outputs_are_what_the_model_computes() -> None:
    program = load(f"{_PACKAGE}.sound")
    archive = record_references("it", program)
    with torch.no_grad():
        expected = program.model(*program.inputs)
    np.testing.assert_array_equal(archive.inputs[0], program.inputs[0].numpy())
    np.testing.assert_array_equal(archive.outputs[0], expected.numpy())


def test_default_tolerances_are_those_of_assert_close() -> None:
    archive = _record("sound")
    assert archive.rtol == (1.3e-6,)
    assert archive.atol == (1e-5,)


def test_a_loaders_own_tolerances() -> None:
    archive = _record("with_tolerance")
    assert archive.rtol == (0.5, 0.5)
    assert archive.atol == (0.25, 0.125)


def test_bfloat16_is_kept_as_its_bytes() -> None:
    archive = _record("half_precision")
    assert archive.inputs[0].dtype == np.dtype("V2")
    # 1.5 is 0x3FC0 in bfloat16.
    assert archive.inputs[0].tobytes() == b"\xc0\x3f"
    assert archive.outputs[0].tobytes() == b"\xc0\xbf"


def test_views_are_stored_as_what_they_show() -> None:
    tensor = torch.arange(6).reshape(2, 3).t()[1:]
    np.testing.assert_array_equal(to_numpy(tensor), np.array([[1, 4], [2, 5]]))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
