"""Programs whose arguments and results are nested, which a compiled function's are not."""

import sys
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput, with_flat_inputs
from plumbline.loader_to_torch.references import record_further_cases, record_references


class _Decoder(torch.nn.Module):
    """One more token, with keys and values of those before it, and perhaps a mask."""

    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(()))
        # Neither a parameter nor a buffer, and too large for the text.
        self.scales = torch.randn(17)

    def forward(
        self,
        x: torch.Tensor,
        past: dict[str, tuple[torch.Tensor, torch.Tensor]],
        bias: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
    ) -> dict[str, Any]:
        keys, values = past["layer"]
        scores: torch.Tensor = self.layer(x) + keys
        if bias is not None:
            scores = scores + bias
        if mask is not None:
            scores = scores * mask * self.scales.sum()
        return {"scores": scores, "loss": None, "past": (keys + 1, [values * 2])}


def _arguments(rows: int) -> tuple[Any, ...]:
    past = {"layer": (torch.randn(rows, 3), torch.randn(4))}
    return torch.randn(rows, 3), past, None, torch.randn(3)


def _results(returned: dict[str, Any]) -> list[torch.Tensor]:
    keys, [values] = returned["past"]
    return [returned["scores"], keys, values]


_ROWS = Dim("rows")
_SHAPES = {"x": {0: _ROWS}, "past": {"layer": ({0: _ROWS}, None)}, "bias": None, "mask": None}


def test_tensors_are_taken_out_of_arguments_and_results() -> None:
    model = _Decoder().eval()
    program = plumbline.compile(model, _arguments(2), _SHAPES)
    assert [spec.sizes for spec in program.signature.inputs] == [(None, 3), (None, 3), (4,), (3,)]
    for name in ("layer.weight", "scales"):
        assert f'plumbline.weight = "{name}"' in program.stage("torch")
    assert "plumbline/loader_to_torch" not in program.stage("torch")
    arguments = _arguments(5)
    with torch.no_grad():
        expected = _results(model(*arguments))
    torch.testing.assert_close(list(program(*arguments)), expected)
    x, past, none, mask = arguments
    for wrong in ((x, past["layer"], none, mask), (x, past, mask, mask), (x, past)):
        with pytest.raises(UserError, match="what the program is given is not nested as"):
            program(*wrong)


def test_hooks_are_called_once() -> None:
    model = _Decoder()
    # As libraries do that wrap what a module computes.
    model.forward = model.forward  # type: ignore[method-assign]
    model.register_forward_hook(lambda module, given, returned: {"scores": returned["scores"] * 3})
    arguments = _arguments(2)
    with torch.no_grad():
        expected = model(*arguments)["scores"]
    (scores,) = plumbline.compile(model, arguments)(*arguments)
    torch.testing.assert_close(scores, expected)


def test_references_have_the_tensors() -> None:
    program = TorchLoaderOutput(_Decoder(), _arguments(2), _SHAPES, further_inputs=[_arguments(7)])
    flat = with_flat_inputs("it", program)
    references = record_references("it", flat)
    assert [array.shape for array in references.inputs] == [(2, 3), (2, 3), (4,), (3,)]
    assert [array.shape for array in references.outputs] == [(2, 3), (2, 3), (4,)]
    shapes = export("it", flat).shapes
    references = record_further_cases("it", flat, shapes, references)
    assert [case.inputs[1].shape for case in references.further_cases] == [(7, 3)]


class _Counts(_Decoder):
    """The same, which also writes in place and assigns to what it was given and has."""

    def forward(
        self,
        x: torch.Tensor,
        past: dict[str, tuple[torch.Tensor, torch.Tensor]],
        bias: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
    ) -> dict[str, Any]:
        past["layer"][1].add_(1)
        self.count = self.count + 1
        return super().forward(x, past, bias, mask)


def test_nested_arguments_and_state_go_together() -> None:
    model = _Counts()
    program = plumbline.compile(model, _arguments(2), mutation="return")
    assert list(program.state) == ["count"]
    arguments = _arguments(2)
    values = arguments[1]["layer"][1].clone()
    scores, keys, doubled, written, count = program(*arguments, torch.tensor(4.0))
    torch.testing.assert_close(written, values + 1)
    assert count == 5
    with torch.no_grad():
        expected = _results(model(*arguments))
    torch.testing.assert_close([scores, keys, doubled], expected)


def test_what_is_no_tensor_is_named_with_its_place() -> None:
    x, past, none, _ = _arguments(2)
    with pytest.raises(UserError) as refusal:
        plumbline.compile(_Decoder(), (x, past, none, 3.0))
    assert "plumbline.compile: example_inputs[3] is of type float" in str(refusal.value)
    with pytest.raises(UserError) as refusal:
        plumbline.compile(_Decoder(), (x, {"layer": (x, "v")}))
    assert "example_inputs[1]['layer'][1] is of type str" in str(refusal.value)


def test_shapes_that_are_nested_otherwise_are_refused() -> None:
    shapes = {**_SHAPES, "past": {"layer": ({0: _ROWS},)}}
    with pytest.raises(UserError, match="dynamic_shapes is not nested as inputs is"):
        plumbline.compile(_Decoder(), _arguments(2), shapes)


class _ReturnsANumber(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, int]:
        return x + 1, 3


def test_a_number_is_no_result() -> None:
    with pytest.raises(UserError, match="output 1 of forward is the number 3; a compiled"):
        plumbline.compile(_ReturnsANumber(), (torch.ones(2),))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
