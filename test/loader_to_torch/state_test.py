"""Programs that write in place, with what they write as arguments and results."""

import sys
from typing import Any, cast

import pytest
import torch
from torch.export import Dim
from torch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions

import plumbline
from plumbline.errors import UserError
from plumbline.loader_to_torch.export import export, functional_graph
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.mutations import mutations
from plumbline.loader_to_torch.references import (
    check_repeatable,
    record_further_cases,
    record_references,
)
from plumbline.loader_to_torch.returned_mutations import state_of
from plumbline.loader_to_torch.state import with_mutations_returned


class _Cache(torch.nn.Module):
    """Keys of tokens, by their positions."""

    keys: torch.Tensor
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.register_buffer("keys", torch.zeros(8, 4))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        self.keys.index_copy_(0, positions, cast("torch.Tensor", self.layer(x)))
        # Assigned, where the line above writes into the tensor.
        self.count = self.count + x.shape[0]
        return self.keys @ x.t()


_TOKENS = Dim("tokens", min=1, max=8)


def _cache() -> TorchLoaderOutput:
    return TorchLoaderOutput(
        _Cache(),
        (torch.randn(2, 4), torch.tensor([3, 1])),
        {"x": {0: _TOKENS}, "positions": {0: _TOKENS}},
        mutation="return",
    )


def test_buffers_are_arguments_and_results_after_the_program_s_own() -> None:
    model, inputs = _Cache(), (torch.randn(2, 4), torch.tensor([3, 1]))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    program = plumbline.compile(model, inputs, ({0: _TOKENS}, {0: _TOKENS}), mutation="return")
    assert list(program.state) == ["keys", "count"]
    assert all(torch.equal(model.state_dict()[name], value) for name, value in before.items())
    # The weights have the names that the model gives them.
    assert 'plumbline.weight = "layer.weight"' in program.stage("torch")
    assert "plumbline/loader_to_torch" not in program.stage("torch")
    state = list(program.state.values())
    for positions in ([0], [5, 2], [7, 0, 1]):
        x = torch.randn(len(positions), 4)
        scores, *state = program(x, torch.tensor(positions), *state)
        torch.testing.assert_close(scores, model(x, torch.tensor(positions)))
        torch.testing.assert_close(state, [model.keys, model.count])


class _Trains(torch.nn.Module):
    """Writes into all that there is."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)
        self.scale = torch.nn.Parameter(torch.ones(3))

    def forward(
        self, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        z[0] = 2
        x.add_(y)
        with torch.no_grad():
            self.scale.mul_(2)
        return self.norm(x) * self.scale, z


def test_arguments_come_before_buffers_and_parameters() -> None:
    model = _Trains()
    program = plumbline.compile(
        model, (torch.randn(4, 3), torch.randn(3), torch.zeros(2)), mutation="return"
    )
    names = list(program.state)
    assert set(names) == {
        *("scale", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked")
    }
    state = list(program.state.values())
    for _ in range(3):
        x, y, z = torch.randn(4, 3), torch.randn(3), torch.randn(2)
        given = x.clone(), y, z.clone()
        result, same, written_x, written_z, *state = program(*given, *state)
        assert torch.equal(given[0], x), "a compiled function does not write into its arguments"
        expected, _ = model(x, y, z)
        torch.testing.assert_close((result, same), (expected.detach(), z))
        torch.testing.assert_close((written_x, written_z), (x, z))
        current = model.state_dict()
        torch.testing.assert_close(state, [current[name] for name in names])


class _AttendsAndNormalises(torch.nn.Module):
    """Of an op that may draw and one that may write without a word in its schema."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.InstanceNorm1d(4, track_running_stats=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)[None]
        attention = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
        return attention(y, y, y, dropout_p=0.0)[0]  # type: ignore[no-any-return]


def test_ops_that_write_or_draw_with_other_arguments() -> None:
    model = _AttendsAndNormalises().eval()
    program = TorchLoaderOutput(model, (torch.randn(3, 4, 5),))
    assert not mutations(functional_graph("it", program))
    model.norm.train()
    written = [each.name for each in mutations(functional_graph("it", program))]
    assert written == ["norm.running_mean", "norm.running_var"]


class _Counted(torch.nn.Module):
    """A count of calls, and a loss in chunks: Python that writes into what it allocates."""

    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor, weight: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        options = LinearCrossEntropyOptions(batch_chunk_size=2)
        return torch.nn.functional.linear_cross_entropy(x, weight, target, options=options)


def test_ops_that_are_python() -> None:
    inputs = (torch.randn(4, 3), torch.randn(5, 3), torch.tensor([0, 4, 2, 1]))
    program = TorchLoaderOutput(_Counted(), inputs)
    written = [each.name for each in mutations(functional_graph("it", program))]
    assert written == ["calls"]


def test_references_have_the_state_too() -> None:
    program = with_mutations_returned("it", _cache())
    assert list(state_of(program)) == ["keys", "count"]
    references = record_references("it", program)
    check_repeatable("it", program, references)
    references = record_further_cases("it", program, export("it", program).shapes, references)
    assert [array.shape for array in references.inputs] == [(2, 4), (2,), (8, 4), ()]
    assert [array.shape for array in references.outputs] == [(8, 2), (8, 4), ()]
    assert int(references.outputs[2]) == 2
    assert [case.inputs[0].shape[0] for case in references.further_cases] == [1, 3]
    assert [int(case.outputs[2]) for case in references.further_cases] == [1, 3]


def test_inputs_of_the_loader_s_own_get_the_state() -> None:
    loaded = _cache()
    loaded.further_inputs = [(torch.randn(5, 4), torch.arange(5))]
    program = with_mutations_returned("it", loaded)
    references = record_references("it", program)
    references = record_further_cases("it", program, export("it", program).shapes, references)
    assert [int(case.outputs[2]) for case in references.further_cases] == [5]


def test_a_program_that_writes_nothing_stays_as_it_is() -> None:
    program = TorchLoaderOutput(torch.nn.Tanh(), (torch.ones(2),), mutation="return")
    assert with_mutations_returned("it", program) is program
    assert state_of(program) == {}


class _Decode(torch.nn.Module):
    """Attention of one token to those before it, whose keys are an argument."""

    def __init__(self, *, assigns: bool) -> None:
        super().__init__()
        self.assigns = assigns

    def forward(self, x: torch.Tensor, cache: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        if self.assigns:
            cache[:, position] = x
        else:
            cache.index_copy_(1, position, x)
        return torch.softmax(x @ cache.transpose(1, 2), -1) @ cache


@pytest.mark.parametrize("assigns", [True, False])
def test_a_decode_step_writes_its_row_into_the_cache(assigns: bool) -> None:
    model = _Decode(assigns=assigns)
    cache = torch.randn(2, 5, 4)
    example = (torch.randn(2, 1, 4), cache, torch.tensor([0]))
    program = plumbline.compile(model, example, mutable=["cache"])
    assert program.signature.names.inputs == ("x", "cache", "position")
    assert program.signature.inout == (1,)
    assert program.state == {}
    for stage in ("torch", "tcp", "linalg"):
        assert "{plumbline.inout = 1 : i64}" in program.stage(stage)
    assert "{plumbline.inout}" in program.stage("kernels")
    # No kernel copies it, so that a step costs what its row does.
    assert "memref<2x5x4xf32>, memref<2x5x4xf32>)" not in program.stage("kernels")
    expected_cache = cache.clone()
    for position in (3, 1):
        x, at = torch.randn(2, 1, 4), torch.tensor([position])
        (result,) = program(x, cache, at)
        torch.testing.assert_close(result, model(x, expected_cache, at))
        assert torch.equal(cache, expected_cache)
        assert torch.equal(cache[:, position], x[:, 0])


class _Rows:
    """Rows of a layer, held by an object that is no module, as caches of transformers are."""

    def __init__(self) -> None:
        self.keys = torch.zeros(8, 4)
        self.count = torch.zeros((), dtype=torch.int64)

    def update(self, positions: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        self.count.add_(positions.shape[0])
        self.keys.index_copy_(0, positions, rows)
        return self.keys


class _HoldsRows(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rows = _Rows()
        self.inner = torch.nn.Linear(4, 4)
        self.inner.register_buffer("keys", self.rows.keys)
        self.register_buffer("count", self.rows.count, persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        keys = self.rows.update(positions, self.inner(x))
        return torch.cat([keys @ x.t(), keys @ keys.t()], 1) + self.rows.count


@pytest.mark.parametrize("options", [{"mutation": "return"}, {"mutable": ["inner.keys", "count"]}])
def test_buffers_that_another_object_holds_too(options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    model, inputs = _HoldsRows(), (torch.randn(2, 4), torch.tensor([3, 1]))
    program = TorchLoaderOutput(model, inputs, **options)
    returning = with_mutations_returned("it", program)
    references = record_references("it", returning)
    check_repeatable("it", returning, references)
    compiled = plumbline.compile(model, inputs, **options)
    # All of that was done to copies.
    assert not model.rows.keys.any()
    assert not model.rows.count.any()
    assert compiled.state.keys() == {"count", "inner.keys"}
    state = [value.clone() for value in compiled.state.values()]
    results = compiled(*inputs, *state)
    expected = model(*inputs)
    torch.testing.assert_close(results[0], expected)
    torch.testing.assert_close(torch.from_numpy(references.outputs[0]), expected)
    written = results[1:] if len(results) > 1 else state
    for name, value in zip(compiled.state, written, strict=True):
        torch.testing.assert_close(value, dict(model.named_buffers())[name])


def test_state_of_a_model_is_carried_from_call_to_call() -> None:
    model = _Trains()
    program = plumbline.compile(
        model,
        (torch.randn(4, 3), torch.randn(3), torch.zeros(2)),
        mutation="return",
        mutable=["norm", "scale"],
    )
    assert program.signature.names.inputs[:3] == ("x", "y", "z")
    assert len(program.signature.inout) == len(program.state) == 4
    for _ in range(3):
        x, y, z = torch.randn(4, 3), torch.randn(3), torch.randn(2)
        # What is not mutable is still a result.
        result, same, written_x, written_z = program(x, y, z, *program.state.values())
        expected, _ = model(x, y, z)
        torch.testing.assert_close((result, same), (expected.detach(), z))
        torch.testing.assert_close((written_x, written_z), (x, z))
        current = model.state_dict()
        for name, value in program.state.items():
            torch.testing.assert_close(value, current[name])


class _Swaps(torch.nn.Module):
    """Each new value is another's old one, and so is a result."""

    def forward(self, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        old = x.clone()
        x.copy_(y)
        y.copy_(old)
        z.copy_(z.t().clone())
        return old


def test_new_values_that_are_old_ones_of_others() -> None:
    model = _Swaps()
    sizes = ((3,), (3,), (4, 4))
    example = [torch.randn(size) for size in sizes]
    program = plumbline.compile(model, example, mutable=["x", "y", "z"])
    given = [torch.randn(size) for size in sizes]
    expected = [tensor.clone() for tensor in given]
    for _ in range(2):
        (result,) = program(*given)
        assert torch.equal(result, model(*expected))
        assert all(map(torch.equal, given, expected))


class _Nested(torch.nn.Module):
    def forward(
        self, x: torch.Tensor, past: dict[str, list[torch.Tensor]], scale: torch.Tensor
    ) -> torch.Tensor:
        for keys in past["keys"]:
            keys.add_(x)
        scale.add_(1)
        return torch.stack(past["keys"]).sum(0) * scale


@pytest.mark.parametrize("mutable", [["past", "scale"], ["past_keys_0", "past_keys_1", "scale"]])
def test_a_name_means_all_tensors_in_an_argument(mutable: list[str]) -> None:
    def arguments() -> tuple[torch.Tensor, dict[str, list[torch.Tensor]], torch.Tensor]:
        return torch.ones(3), {"keys": [torch.zeros(3), torch.arange(3.0)]}, torch.tensor(0.0)

    program = plumbline.compile(_Nested(), arguments(), mutable=mutable)
    assert program.signature.names.inputs == ("x", "past_keys_0", "past_keys_1", "scale")
    x, past, scale = arguments()
    (result,) = program(x, past, scale)
    assert result.tolist() == [2, 3, 4]
    assert [keys.tolist() for keys in past["keys"]] == [[1, 1, 1], [1, 2, 3]]
    assert scale == 1


def test_names_of_what_is_not_written_are_refused() -> None:
    example = (torch.randn(2, 1, 4), torch.randn(2, 5, 4), torch.tensor([0]))
    with pytest.raises(UserError) as refusal:
        plumbline.compile(_Decode(assigns=True), example, mutable=["cache", "cahce"])
    assert str(refusal.value) == (
        "_Decode: mutable has 'cahce', which forward does not write in place; it writes the input "
        "cache"
    )
    with pytest.raises(UserError, match=r"mutable has 'x', .*; it writes nothing"):
        plumbline.compile(torch.nn.Tanh(), (torch.ones(2),), mutable=["x"])
    with pytest.raises(UserError, match="mutable is 'cache'; it is a list of names"):
        plumbline.compile(_Decode(assigns=True), example, mutable="cache")
    # The rest is refused as ever.
    with pytest.raises(UserError, match=r"into the input x: .*\n.*say mutable=\["):
        plumbline.compile(_Swaps(), [torch.ones(1, 1)] * 3, mutable=["y", "z"])


def test_references_of_what_is_written_come_last() -> None:
    loaded = _cache()
    loaded.mutable = ["keys"]
    program = with_mutations_returned("it", loaded)
    references = record_references("it", program)
    assert [array.shape for array in references.inputs] == [(2, 4), (2,), (8, 4), ()]
    assert [array.shape for array in references.outputs] == [(8, 2), (), (8, 4)]
    assert references.inout == ((2, 2),)
    assert references.with_leading_inputs(references.inputs).inout == ((6, 2),)


def test_otherwise_it_is_refused_with_that_advice() -> None:
    with pytest.raises(UserError) as refusal:
        plumbline.compile(_Cache(), (torch.randn(2, 4), torch.tensor([3, 1])))
    lines = str(refusal.value).splitlines()
    assert lines[0] == "_Cache: forward writes in place:"
    assert lines[1].startswith("  into the buffer keys: test/loader_to_torch/state_test.py:")
    assert lines[2].startswith("  into the buffer count: test/loader_to_torch/state_test.py:")
    assert 'say mutable=["keys", "count"]' in lines[3]
    assert 'or mutation="return"' in lines[3]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
