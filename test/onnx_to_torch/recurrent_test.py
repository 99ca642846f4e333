"""Layers of recurrent networks that ONNX's own tests have not."""

import sys
from pathlib import Path

import pytest
import torch

import plumbline
from plumbline.errors import UserError
from test.onnx_to_torch.models import program

_GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}
_LENGTHS = [5, 2, 4]


def _weights(kind: str, directions: int = 1) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    gates = _GATES[kind]
    return {
        "w": torch.randn(directions, gates * 3, 2),
        "r": torch.randn(directions, gates * 3, 3),
        "b": torch.randn(directions, gates * 6),
    }


@pytest.mark.parametrize("kind", _GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_sequences_of_other_lengths_are_as_alone(kind: str, direction: str, tmp_path: Path) -> None:
    weights = _weights(kind, 1 + (direction == "bidirectional"))
    attributes = f'<hidden_size=3, direction="{direction}">'
    alone = program(
        tmp_path,
        f"""(float[T,B,2] x) => (float[T,D,B,3] y, float[D,B,3] last) {{
          y, last = {kind}{attributes}(x, w, r, b)
        }}""",
        weights,
    )
    together = program(
        tmp_path,
        f"""(float[T,B,2] x, int32[B] n) => (float[T,D,B,3] y, float[D,B,3] last) {{
          y, last = {kind}{attributes}(x, w, r, b, n)
        }}""",
        weights,
    )
    x = torch.randn(5, 3, 2)
    results, states = together(x, torch.tensor(_LENGTHS, dtype=torch.int32)).values()
    for number, length in enumerate(_LENGTHS):
        result, state = alone(x[:length, number : number + 1]).values()
        torch.testing.assert_close(results[:length, :, number : number + 1], result)
        torch.testing.assert_close(states[:, number : number + 1], state)
        assert not results[length:, :, number].any()


def test_a_step_of_an_lstm_is_the_formula_of_onnx(tmp_path: Path) -> None:
    weights = _weights("LSTM") | {"h": torch.randn(1, 1, 3), "c": torch.randn(1, 1, 3)}
    weights["p"] = torch.randn(1, 9)
    layer = program(
        tmp_path,
        """(float[1,1,2] x) => (float[1,1,1,3] y, float[1,1,3] last, float[1,1,3] cell) {
          y, last, cell = LSTM<
            hidden_size=3, clip=0.4, input_forget=1,
            activations=["HardSigmoid", "Affine", "Softsign"],
            activation_alpha=[0.3, 2.0], activation_beta=[0.6, 0.1]
          >(x, w, r, b, , h, c, p)
        }""",
        weights,
    )
    x = torch.randn(1, 1, 2)
    w, r, b, h, c, p = (weights[name][0] for name in "wrbhcp")
    i, o, _, made = (w @ x[0, 0] + r @ h[0] + b[:12] + b[12:]).chunk(4)
    of_i, of_o, _ = p.chunk(3)

    def gate(product: torch.Tensor) -> torch.Tensor:
        return (0.3 * product.clamp(-0.4, 0.4) + 0.6).clamp(0, 1)

    taken = gate(i + of_i * c[0])
    cell = (1 - taken) * c[0] + taken * (2 * made.clamp(-0.4, 0.4) + 0.1)
    shown = gate(o + of_o * cell) * cell / (1 + cell.abs())
    _, hidden, last = layer(x).values()
    torch.testing.assert_close(hidden.flatten(), shown)
    torch.testing.assert_close(last.flatten(), cell)


@pytest.mark.parametrize("reset", [0, 1])
def test_sizes_of_a_compiled_layer_may_differ(reset: int, tmp_path: Path) -> None:
    layer = program(
        tmp_path,
        f"""(float[T,B,2] x, int32[B] n) => (float[T,D,B,3] y, float[D,B,3] last) {{
          y, last = GRU<hidden_size=3, direction="reverse", linear_before_reset={reset}>(
            x, w, r, b, n
          )
        }}""",
        _weights("GRU"),
    )
    steps, batch = torch.export.Dim("steps"), torch.export.Dim("batch")
    compiled = plumbline.compile(
        layer,
        (torch.randn(5, 3, 2), torch.tensor(_LENGTHS, dtype=torch.int32)),
        dynamic_shapes=({0: steps, 1: batch}, {0: batch}),
    )
    given = torch.randn(7, 2, 2), torch.tensor([7, 3], dtype=torch.int32)
    for mine, expected in zip(compiled(*given), layer(*given).values(), strict=True):
        torch.testing.assert_close(mine, expected)


def test_activations_that_are_none_are_refused(tmp_path: Path) -> None:
    layer = program(
        tmp_path,
        """(float[T,B,2] x) => (float[T,D,B,3] y) {
          y = RNN<hidden_size=3, activations=["Cube"]>(x, w, r)
        }""",
        _weights("RNN"),
    )
    with pytest.raises(UserError, match="there is no activation cube"):
        layer(torch.randn(5, 3, 2))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
