"""Branches and loops of ONNX that its own tests have not."""

import sys
from pathlib import Path

import pytest
import torch

import plumbline
from plumbline.errors import UserError
from test.onnx_to_torch.models import program

_WEIGHTS = {"w": torch.tensor([[0.5, -1.0], [2.0, 0.25]]), "b": torch.tensor([1.0, -2.0])}
_ROWS = {0: torch.export.Dim("rows", min=2)}


def test_branches_read_what_is_around_them(tmp_path: Path) -> None:
    # The constant of one is its own, and the other has a branch within, on what is known.
    model = program(
        tmp_path,
        """(float[N,2] x) => (float[N,2] y) {
          axes = Constant<value = int64[1] {0}>()
          sum = ReduceSum<keepdims=0>(x)
          zero = Constant<value = float {0.0}>()
          holds = Greater(sum, zero)
          row = ReduceSum(x, axes)
          sizes = Shape(x)
          rank = Size(sizes)
          two = Constant<value = int64 {2}>()
          isMatrix = Equal(rank, two)
          y = If<
            then_branch = positive () => (float[N,2] p) {
              factor = Constant<value = float[2] {2.0, 64.0}>()
              first = Constant<value = int64 {1}>()
              last = Gather(factor, first)
              scaled = Mul(row, last)
              p = Add(x, scaled)
            },
            else_branch = negative () => (float[N,2] n) {
              n = If<
                then_branch = matrix () => (float[N,2] m) { m = MatMul(x, w) },
                else_branch = other () => (float[N,2] o) { o = Identity(x) }
              >(isMatrix)
            }
          >(holds)
        }""",
        _WEIGHTS,
    )
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, -6.0]])
    compiled = plumbline.compile(model, (x,), dynamic_shapes=(_ROWS,))
    for given, expected in ((x, x + 64 * x.sum(0)), (-x[:2], -x[:2] @ _WEIGHTS["w"])):
        torch.testing.assert_close(compiled(given)[0], expected)
        torch.testing.assert_close(model(given)["y"], expected)


_STEP = """
  sizes = Shape(x)
  last = Constant<value = int64 {0}>()
  length = Gather(sizes, last)
  yes = Constant<value = bool {1}>()
  state, all = Loop<
    body = turn (int64 i, bool c, float[2] before) => (bool d, float[2] after, float[2] row) {
      taken = Gather<axis=0>(x, i)
      mixed = MatMul(before, w)
      sum = Add(mixed, taken)
      scale = Size(x)
      factor = CastLike(scale, sum)
      after = Div(sum, factor)
      row = Identity(sum)
      d = %s
    }
  >(length, yes, b)
"""


def _steps(x: torch.Tensor, most: float) -> tuple[torch.Tensor, torch.Tensor]:
    state, rows = _WEIGHTS["b"], []
    for taken in x:
        rows.append(state @ _WEIGHTS["w"] + taken)
        state = rows[-1] / x.numel()
        if rows[-1][0] >= most:
            break
    return state, torch.stack(rows)


@pytest.mark.parametrize(("condition", "most"), [("Identity(c)", 1e9), ("Less(first, most)", 3.0)])
def test_turns_of_a_loop_may_be_as_many_as_rows(
    condition: str, most: float, tmp_path: Path
) -> None:
    body = _STEP % condition
    if "most" in condition:
        body = body.replace(" d = ", " first = Gather(sum, last) d = ")
    model = program(
        tmp_path,
        f"(float[N,2] x) => (float[2] state, float[M,2] all) {{ {body} }}",
        _WEIGHTS | {"most": torch.tensor(most)},
    )
    torch.manual_seed(0)
    x = torch.cat([torch.randn(9, 2), torch.full((2, 2), 5.0)])
    compiled = plumbline.compile(model, (x,), dynamic_shapes=(_ROWS,))
    for given in (x, x[:4], torch.cat([x, x])):
        expected = _steps(given, most)
        for results in (compiled(given), model(given).values()):
            for mine, theirs in zip(results, expected, strict=True):
                torch.testing.assert_close(mine, theirs)


def test_a_loop_may_make_a_sequence_of_growing_tensors(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[N] x) => (float[M] y, int64 n) {
          three = Constant<value = int64 {3}>()
          nothing = SequenceEmpty()
          longest, parts = Loop<
            body = turn (int64 i, bool c, float[K] before, seq(float[]) some)
                => (bool d, float[L] after, seq(float[]) more) {
              d = Identity(c)
              after = Concat<axis=0>(before, x)
              more = SequenceInsert(some, before)
            }
          >(three, , x, nothing)
          y = ConcatFromSequence<axis=0>(parts)
          n = SequenceLength(parts)
        }""",
    )
    x = torch.tensor([1.0, 2.0])
    y, n = plumbline.compile(model, (x,), dynamic_shapes=(_ROWS,))(x)
    torch.testing.assert_close(y, x.repeat(6))
    assert n == 3


def test_a_scan_goes_along_any_dimension_in_any_direction(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[2,N] x, float[N,2] z) => (float[2] last, float[2,N] all) {
          last, all = Scan<
            num_scan_inputs=2, scan_input_axes=[1, 0], scan_input_directions=[0, 1],
            scan_output_axes=[-1], scan_output_directions=[1],
            body = step (float[2] s, float[2] one, float[2] other) => (float[2] t, float[2] u) {
              product = Mul(one, other)
              t = Add(s, product)
              u = Identity(t)
            }
          >(b, x, z)
        }""",
        _WEIGHTS,
    )
    x, z = torch.arange(8.0).reshape(2, 4), torch.arange(8.0, 16).reshape(4, 2)
    dims = torch.export.Dim("steps")
    compiled = plumbline.compile(model, (x, z), dynamic_shapes=({1: dims}, {0: dims}))
    sums = _WEIGHTS["b"][:, None] + (x * z.flip(0).T).cumsum(1)
    last, every = compiled(x, z)
    torch.testing.assert_close(last, sums[:, -1])
    torch.testing.assert_close(every, sums.flip(1))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            """d = Identity(c) total = ReduceSum<keepdims=0>(before)
            after = Concat<axis=0>(before, x)""",
            r"it carries a tensor of shape \[2\] that has shape \[4\] after a turn",
        ),
        (
            """after = Mul(before, x) total = ReduceSum<keepdims=0>(after) d = Less(total, most)""",
            "it collects results of turns of which there may be any number",
        ),
    ],
)
def test_loops_without_bounds_are_refused(body: str, reason: str, tmp_path: Path) -> None:
    model = program(
        tmp_path,
        f"""(float[2] x, bool c) => (float[M] y, float[K] all) {{
          y, all = Loop<
            body = turn (int64 i, bool c0, float[K] before) => (bool d, float[L] after, float total)
            {{ {body} }}
          >(, c, x)
        }}""",
        {"most": torch.tensor(100.0)},
    )
    with pytest.raises(UserError, match=reason):
        model(torch.tensor([2.0, 3.0]), torch.tensor(True))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
