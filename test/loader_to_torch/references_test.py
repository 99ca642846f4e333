import re
import sys

import numpy as np
import pytest
import torch

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.archives.torch_tensors import to_torch
from plumbline.errors import UserError
from plumbline.loader_to_torch.loader import TorchLoaderOutput, load
from plumbline.loader_to_torch.references import check_repeatable, record_references
from plumbline.signature.element_type import ELEMENT_TYPES

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


class _Nondeterministic(torch.nn.Module):
    """Returns the next of some tensors each time."""

    def __init__(self, answers: list[torch.Tensor]) -> None:
        super().__init__()
        self.answers = iter(answers)

    def forward(self) -> torch.Tensor:
        return next(self.answers)


def _check_repeatable(first: torch.Tensor, second: torch.Tensor) -> None:
    program = TorchLoaderOutput(_Nondeterministic([first, second]), ())
    check_repeatable("it", program, record_references("it", program))


@pytest.mark.parametrize("name", [type_.torch_name for type_ in ELEMENT_TYPES])
def test_a_second_answer_is_held_against_the_first(name: str) -> None:
    first = torch.tensor([[1], [1]]).to(getattr(torch, name))
    second = torch.tensor([[1], [0]]).to(getattr(torch, name))
    _check_repeatable(first, first.clone())
    value = re.escape(str(first[1].item()))
    expected = rf"it: output 0 differs from call to call, {value} and then .* at \[1, 0\]"
    with pytest.raises(UserError, match=expected):
        _check_repeatable(first, second)


def test_nan_twice_is_the_same() -> None:
    _check_repeatable(torch.tensor([float("nan"), 1]), torch.tensor([float("nan"), 1]))
    with pytest.raises(UserError, match=r"nan and then 1\.0"):
        _check_repeatable(torch.tensor(float("nan")), torch.tensor(1.0))


def test_each_run_has_the_buffers_of_the_loader() -> None:
    """What forward leaves in them makes no difference; exporting refuses that it does."""
    program = load(f"{_PACKAGE}.counts_its_calls")
    references = record_references("it", program)
    check_repeatable("it", program, references)
    assert torch.equal(to_torch(references.outputs[0]), torch.ones(2, 3))
    assert program.model.calls == 0


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
