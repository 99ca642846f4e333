"""Programs whose arguments and results are nested, which a compiled function's are not."""

import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim
from transformers.modeling_outputs import BaseModelOutput

import plumbline
from plumbline.errors import UserError
from plumbline.library_files.c_header import c_header
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput, with_flat_inputs
from plumbline.loader_to_torch.references import record_further_cases, record_references
from plumbline.signature.library_description import LibraryDescription


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
            scores = scores * mask * self.scales[-3:]
        return {"scores": scores, "loss": None, "past": (keys + 1, [values * 2])}


def _arguments(rows: int) -> tuple[Any, ...]:
    past = {"layer": (torch.randn(rows, 3), torch.randn(4))}
    return torch.randn(rows, 3), past, None, torch.randn(3)


def _results(returned: dict[str, Any]) -> list[torch.Tensor]:
    keys, [values] = returned["past"]
    return [returned["scores"], keys, values]


@dataclass
class _Pair:
    first: torch.Tensor
    second: dict[str, torch.Tensor]


torch.export.register_dataclass(_Pair)

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


def test_results_are_called_after_keys_and_fields() -> None:
    program = plumbline.compile(_Decoder().eval(), _arguments(2), _SHAPES)
    assert program.signature.names.outputs == ("scores", "past_0", "past_1_0")
    assert program.signature.names.inputs[:3] == ("x", "past_layer_0", "past_layer_1")

    class Wrapped(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return BaseModelOutput(last_hidden_state=x + 1, hidden_states=(x * 2, x * 3))

    x = torch.randn(3)
    program = plumbline.compile(Wrapped(), (x,))
    assert program.signature.names.outputs == (
        "last_hidden_state", "hidden_states_0", "hidden_states_1",
    )  # fmt: skip
    torch.testing.assert_close(program(x), (x + 1, x * 2, x * 3))

    class Paired(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return _Pair(x + 1, {"x": x * 2}), None, x * 3

    program = plumbline.compile(Paired(), (x,))
    assert program.signature.names.outputs == ("out0", "out1", "out2")
    torch.testing.assert_close(program(x), (x + 1, x * 2, x * 3))

    class Alone(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return _Pair(x + 1, {"x": x * 2})

    program = plumbline.compile(Alone(), (x,))
    assert program.signature.names.outputs == ("first", "second_x")


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
        plumbline.compile(_Decoder(), (x, past, none, 3j))
    assert "plumbline.compile: example_inputs[3] is of type complex" in str(refusal.value)
    with pytest.raises(UserError) as refusal:
        plumbline.compile(_Decoder(), (x, {"layer": (x, "v")}))
    assert "example_inputs[1]['layer'][1] is of type str" in str(refusal.value)


def test_shapes_that_are_nested_otherwise_are_refused() -> None:
    shapes = {**_SHAPES, "past": {"layer": ({0: _ROWS},)}}
    with pytest.raises(UserError, match="dynamic_shapes is not nested as inputs is"):
        plumbline.compile(_Decoder(), _arguments(2), shapes)


class _Sample(torch.nn.Module):
    """Numbers of all kinds among arguments and results, some of which decide what is computed."""

    def forward(
        self,
        scores: torch.Tensor,
        temperature: float,
        options: dict[str, int],
        negated: bool = False,
        masked: bool = False,
    ) -> dict[str, Any]:
        values = scores / temperature
        if negated:
            values = -values
        values = values * masked
        row = values[options["position"]] * options["factor"]
        return {
            "row": row,
            "next": options["position"] + 1,
            "rows": scores.shape[0],
            "doubled": temperature * 2,
            "five": 5,
            "negated": negated,
        }


_NUMBERS_DIFFER = {
    "scores": {0: _ROWS},
    "temperature": Dim.DYNAMIC,
    "options": {"position": Dim.AUTO, "factor": None},
    "negated": Dim.STATIC,
    "masked": Dim.DYNAMIC,
}


def _numbers(temperature: float, position: int, masked: bool) -> tuple[Any, ...]:
    return torch.randn(4, 3), temperature, {"position": position, "factor": 3}, True, masked


@pytest.fixture(scope="module")
def sample() -> plumbline.CompiledProgram:
    return plumbline.compile(_Sample(), _numbers(0.7, 2, True), _NUMBERS_DIFFER, func_name="sample")


@pytest.mark.parametrize("numbers", [(0.5, 3, True), (2, 0, False), (-1.5, -1, True)])
def test_numbers_that_may_differ_are_arguments(
    sample: plumbline.CompiledProgram, numbers: tuple[float, int, bool]
) -> None:
    names = ("scores", "temperature", "options_position", "masked")
    assert sample.signature.names.inputs == names
    assert [spec.is_scalar for spec in sample.signature.inputs] == [False, True, True, True]
    arguments = _numbers(*numbers)
    row, *others = sample(*arguments)
    expected = _Sample()(*arguments)
    torch.testing.assert_close(row, expected["row"])
    temperature, position, _ = numbers
    assert others == [position + 1, 4, 2 * float(temperature), 5, True]
    assert [*map(type, others)] == [int, int, float, int, bool]


class _Compared(torch.nn.Module):
    def forward(self, x: torch.Tensor, number: float) -> tuple[Any, ...]:
        chosen = torch.cond(number > 1.0, torch.neg, torch.clone, (x,))
        return chosen, number > 1.0, number < 1.0, number >= 1, number <= 1, number == 1.0


def test_a_number_that_is_nan_compares_as_in_python() -> None:
    x = torch.ones(2)
    compared = plumbline.compile(_Compared(), (x, 1.5), {"x": None, "number": Dim.DYNAMIC})
    for number in (math.nan, -math.inf, 1.0, 2.0):
        expected, *truths = _Compared()(x, number)
        chosen, *others = compared(x, number)
        assert torch.equal(chosen, expected)
        assert others == truths


def test_other_numbers_are_part_of_the_program(sample: plumbline.CompiledProgram) -> None:
    scores, temperature, options, _, masked = _numbers(0.7, 2, True)
    for arguments, message in (
        (
            (scores, temperature, options, False, masked),
            r"has False at \[3\], where the program is compiled for True: a number is part of it, "
            r"unless dynamic_shapes has torch.export.Dim.DYNAMIC for it",
        ),
        (
            (scores, temperature, {**options, "factor": 2}, True, masked),
            r"has 2 at \[2\]\['factor'\], where the program is compiled for 3",
        ),
        ((scores, temperature, options, 1, masked), r"has 1 at \[3\], .* compiled for True"),
        ((scores, True, options, True, masked), "argument 1 is True; it is a number, a float"),
        ((scores, "1", options, True, masked), "argument 1 is str; it is a number, a float"),
        (
            (scores, 1, {**options, "position": 1.0}, True, masked),
            "2 is 1.0; it is a number, an int",
        ),
        ((scores, 1, {**options, "position": 1 << 63}, True, masked), "which is beyond 64 bits"),
        ((scores, 1, options, True, 1), "argument 3 is 1; it is a number, True or False"),
        ((scores, 1, {**options, "position": 4}, True, True), "out of range"),
    ):
        with pytest.raises(UserError, match=message):
            sample(*arguments)


def test_numbers_come_by_value_in_c(sample: plumbline.CompiledProgram, tmp_path: Path) -> None:
    text = c_header(LibraryDescription(sample.signature, "native", "here"))
    declared = " ".join(text.split())
    assert (
        "int sample( const float *scores, double temperature, int64_t options_position, "
        "bool masked, float *row, int64_t *next, int64_t *rows, double *doubled, int64_t *five, "
        "bool *negated, int64_t rows_);"
    ) in declared
    assert "//   temperature       float64, a number" in text.splitlines()
    (tmp_path / "sample.h").write_text(text)
    (tmp_path / "sample.S").write_text(sample.stage("asm"))
    (tmp_path / "main.c").write_text(_MAIN)
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "sample.S", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    ran = subprocess.run(["./a.out"], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert ran.stdout == "0: -24 -30 -36, 2 2 1 5 1\n0: -0 -0 -0, 1 2 8 5 1\n"


_MAIN = r"""
#include <stdio.h>

#include "sample.h"

int main(void) {
  const float scores[6] = {1, 2, 3, 4, 5, 6};
  const double temperatures[2] = {0.5, 4};
  float row[3];
  double doubled;
  int64_t next, rows, five;
  bool negated;
  int i;
  for (i = 0; i < 2; ++i) {
    const int code = sample(scores, temperatures[i], 1 - i, i == 0, row, &next, &rows, &doubled,
                            &five, &negated, 2);
    printf("%d: %g %g %g, %d %d %g %d %d\n", code, row[0], row[1], row[2], (int)next, (int)rows,
           doubled, (int)five, negated);
  }
  return 0;
}
"""


def test_references_have_numbers_as_tensors() -> None:
    program = TorchLoaderOutput(
        _Sample(),
        _numbers(0.7, 2, True),
        _NUMBERS_DIFFER,
        further_inputs=[_numbers(3.0, 0, False)],
    )
    flat = with_flat_inputs("it", program)
    references = record_references("it", flat)
    assert [str(array.dtype) for array in references.inputs] == [
        "float32",
        "float64",
        "int64",
        "bool",
    ]
    assert [array.ndim for array in references.outputs] == [1, 0, 0, 0, 0, 0]
    exported = export("it", flat)
    references = record_further_cases("it", flat, exported.shapes, references)
    (case,) = references.further_cases
    assert [float(array) for array in case.inputs[1:]] == [3, 0, 0]
    assert float(case.outputs[3]) == 6


def test_a_name_for_a_number_s_size_is_refused() -> None:
    with pytest.raises(UserError, match=r"for input 1, the number 0.7: .*Dim.DYNAMIC makes it an"):
        plumbline.compile(
            _Sample(), _numbers(0.7, 2, True), {**_NUMBERS_DIFFER, "temperature": _ROWS}
        )


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
