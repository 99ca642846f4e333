"""`torch.compile` with the backend, beside PyTorch itself."""

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed
from torch.nn import functional

import plumbline
from plumbline.compiler import CompiledProgram, compile_export
from plumbline.errors import UserError
from plumbline.loader_to_torch.export import DialectText
from plumbline.torch_compile import backend as by_name
from plumbline.torch_compile import compiled_graph
from test.torch_compile.fresh_dynamo import nothing_compiled_before

_nothing_compiled_before = pytest.fixture(autouse=True)(nothing_compiled_before)


@pytest.fixture
def backend() -> plumbline.Backend:
    return plumbline.Backend(threads=1)


def _randn(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes)


def _compiled(function: Callable[..., Any], backend: Any, **options: Any) -> Callable[..., Any]:
    return torch.compile(function, backend=backend, fullgraph=True, **options)


def _assert_same_steps(
    model: torch.nn.Module, backend: plumbline.Backend, batches: Sequence[torch.Tensor]
) -> None:
    """Trains two copies of a model, which then have the same parameters and buffers."""
    models = [model, copy.deepcopy(model)]
    calls: list[Callable[..., Any]] = [models[0], _compiled(models[1], backend)]
    for trained, compiled in zip(models, calls, strict=True):
        optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
        torch.manual_seed(1)
        for batch in batches:
            optimizer.zero_grad()
            compiled(batch).square().mean().backward()
            optimizer.step()
    expected, state = (each.state_dict() for each in models)
    for name, tensor in expected.items():
        torch.testing.assert_close(state[name], tensor, rtol=1e-4, atol=1e-5)


class _Convolution(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3, padding=1),
            torch.nn.BatchNorm2d(4),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Dropout(0.25),
        )
        self.classifier = torch.nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.log_softmax(self.classifier(self.features(x).mean((2, 3))), -1)


def test_a_model_is_trained_as_pytorch_trains_it(backend: plumbline.Backend) -> None:
    """With its random numbers, and the running statistics that it writes in place."""
    _assert_same_steps(_Convolution(), backend, [_randn(4, 3, 8, 8) for _ in range(3)])
    forward, backward = backend.programs
    assert "random" in forward.stage("torch") or "generator" in forward.stage("torch")
    assert "plumbline.inout" not in backward.stage("torch")


def test_one_program_is_for_all_sizes(backend: plumbline.Backend) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.GELU(), torch.nn.Linear(5, 2))
    _assert_same_steps(model, backend, [_randn(size, 3) for size in (4, 7, 9, 2)])
    # The first is for one size, as torch.compile has it.
    assert len(backend.programs) == 4
    assert "?" in backend.programs[2].stage("tcp")


def test_views_stay_views_and_lie_as_pytorchs(backend: plumbline.Backend) -> None:
    def views(x: torch.Tensor, w: torch.Tensor) -> Sequence[torch.Tensor]:
        y = x @ w
        return y.view(-1, 2, 3).permute(1, 0, 2), y, y.expand(2, *y.shape), w.t(), x[1:]

    x, w = _randn(4, 5), _randn(5, 6)
    expected, results = views(x, w), _compiled(views, backend)(x, w)
    for result, right in zip(results, expected, strict=True):
        torch.testing.assert_close(result, right)
        assert result.stride() == right.stride()
    assert results[0].data_ptr() == results[1].data_ptr() == results[2].data_ptr()
    assert results[3].data_ptr() == w.data_ptr()
    (program,) = backend.programs
    assert len(program.signature.outputs) == 1


def test_axes_lie_in_memory_as_they_did(backend: plumbline.Backend) -> None:
    model = torch.nn.Conv2d(3, 4, 3)
    x = _randn(2, 3, 6, 6).to(memory_format=torch.channels_last)
    with torch.no_grad():
        result, expected = _compiled(model, backend)(x), model(x)
    torch.testing.assert_close(result, expected)
    assert result.stride() == expected.stride()
    (program,) = backend.programs
    assert (2, 6, 6, 3) in [spec.sizes for spec in program.signature.inputs]


def test_what_is_written_is_written_in_place(backend: plumbline.Backend) -> None:
    def step(cache: torch.Tensor, row: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
        cache[1] = row
        column.mul_(2)
        return cache.sum() + column.sum()

    cache, row, square = torch.zeros(3, 4), _randn(4), _randn(3, 3)
    mine, theirs = (cache.clone(), square.clone()), (cache, square)
    expected = step(theirs[0], row, theirs[1][:, 0])
    version = mine[0]._version
    torch.testing.assert_close(_compiled(step, backend)(mine[0], row, mine[1][:, 0]), expected)
    torch.testing.assert_close(mine, theirs)
    # So that PyTorch refuses gradients of what it was before.
    assert mine[0]._version > version
    (program,) = backend.programs
    # The column has gaps: it is copied to.
    assert [program.signature.inputs[n].sizes for n in program.signature.inout] == [(3, 4)]
    with torch.inference_mode():
        _compiled(step, backend)(torch.zeros(3, 4), row, torch.ones(3))


class _OnManifold(torch.nn.Parameter):
    """As libraries of manifolds have them: a parameter that has more attributes."""


def test_parameters_of_classes_of_their_own_are_written(backend: plumbline.Backend) -> None:
    point = _OnManifold(torch.ones(3, 4))

    def retract(step: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            point.add_(step)
            point.div_(point.norm(dim=1, keepdim=True))
            return point.sum()

    compiled = _compiled(retract, backend)
    for _ in range(2):
        torch.testing.assert_close(compiled(torch.ones(4)), torch.tensor(6.0))
        torch.testing.assert_close(point.detach(), torch.full((3, 4), 0.5))
    (program,) = backend.programs
    assert program.signature.inout


def test_what_has_no_elements_is_resized(backend: plumbline.Backend) -> None:
    """Dynamo leaves that to PyTorch, beside programs."""

    def sines(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        result, further, doubled = torch.empty(0), x.new_empty(0), x * 2
        torch.sin(doubled, out=result)
        torch.cos(doubled, out=further)
        return result * further, torch.zeros(2, 0)

    x = _randn(3, 4)
    compiled = torch.compile(sines, backend=backend)
    torch.testing.assert_close(compiled(x), sines(x))
    assert len(backend.programs) == 2


def test_numbers_are_arguments(backend: plumbline.Backend) -> None:
    def scaled(x: torch.Tensor, number: int) -> tuple[torch.Tensor, int]:
        return x * number, number * x.shape[0]

    compiled = _compiled(scaled, backend, dynamic=True)
    x = _randn(3, 2)
    for number in (2, 5, -7):
        torch.testing.assert_close(compiled(x, number), scaled(x, number))
    assert len(backend.programs) <= 2


def test_numbers_that_windows_take_are_parts_of_programs(backend: plumbline.Backend) -> None:
    def padded(x: torch.Tensor, width: int) -> torch.Tensor:
        return functional.pad(x, (width, 1)) * 2

    compiled = _compiled(padded, backend, dynamic=True)
    x = _randn(3, 2)
    for width in (2, -1, 2):
        torch.testing.assert_close(compiled(x, width), padded(x, width))
    assert len(backend.programs) == 1
    # PyTorch has one of its own for a number that takes off all that there is.
    torch.testing.assert_close(compiled(x, -2), padded(x, -2))
    torch.testing.assert_close(compiled(x, 5), padded(x, 5))


def test_a_program_of_numbers_gives_tensors(backend: plumbline.Backend) -> None:
    def line(end: int) -> torch.Tensor:
        return torch.linspace(-2.0, end, 3)

    torch.testing.assert_close(_compiled(line, backend, dynamic=True)(7), line(7))


def test_values_decide_on_sizes(backend: plumbline.Backend) -> None:
    def chosen(x: torch.Tensor) -> torch.Tensor:
        return x[x > 0] * 2

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = _compiled(chosen, backend)
        for x in (_randn(5), torch.tensor([-1.0, 2.0, 3.0, -4.0, 5.0])):
            torch.testing.assert_close(compiled(x), chosen(x))


@torch.compiler.nested_compile_region
def _region(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return functional.gelu(x @ weight) + x


def test_regions_are_parts_of_one_program(backend: plumbline.Backend) -> None:
    def layers(x: torch.Tensor, weights: Sequence[torch.Tensor]) -> torch.Tensor:
        for weight in weights:
            x = _region(weight, x)
        return x

    x, weights = _randn(3, 4), [_randn(4, 4) for _ in range(2)]
    torch.testing.assert_close(_compiled(layers, backend)(x, weights), layers(x, weights))
    assert len(backend.programs) == 1


@pytest.mark.parametrize(("of", "norm_first"), [("keys", False), ("both", True)])
def test_layers_that_pytorch_has_one_op_for(
    backend: plumbline.Backend, of: str, norm_first: bool
) -> None:
    layer = torch.nn.TransformerEncoderLayer(
        8, 2, 16, activation="gelu", batch_first=True, norm_first=norm_first
    ).eval()
    given: dict[str, Any] = {}
    if of == "both":
        given["src_mask"] = torch.ones(5, 5, dtype=torch.bool).triu(1)
    lengths = torch.tensor([[4], [2], [3]])
    given["src_key_padding_mask"] = torch.arange(5).expand(3, 5) > lengths
    x = _randn(3, 5, 8)
    with torch.no_grad():
        torch.testing.assert_close(_compiled(layer, backend)(x, **given), layer(x, **given))
        attention, options = layer.self_attn, {"average_attn_weights": norm_first}
        compiled = _compiled(attention, backend)(x, x, x, **options)
        torch.testing.assert_close(compiled, attention(x, x, x, **options))


class _Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 2)
        self.calls = torch.nn.Buffer(torch.zeros(()))
        self.scale = torch.nn.Buffer(torch.ones(2))
        # That it stays where it is does not make it a weight.
        self.cache = torch.zeros(2)
        torch._dynamo.mark_static_address(self.cache)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        linear = functional.linear(x, self.inner.weight, self.inner.bias)
        return functional.relu(linear) * self.scale + self.cache


def test_weights_are_followed_unless_they_are_frozen() -> None:
    x = _randn(4, 3)
    for freeze in (False, True):
        model, backend = _Linear(), plumbline.Backend(threads=1, freeze=freeze)
        compiled = _compiled(model, backend)
        with torch.no_grad():
            before = compiled(x)
            model.inner.bias.add_(10)
            after, expected = compiled(x), before if freeze else model(x)
        torch.testing.assert_close(after, expected)
        assert model.calls == (2 if freeze else 3)
        (program,) = backend.programs
        for name in ("inner.weight", "scale"):
            assert (f'"{name}"' in program.stage("torch")) == freeze
        with torch.no_grad():
            model.cache.add_(1)
            torch.testing.assert_close(compiled(x), after + 1)
        # To train a model, its weights are no part of the program.
        compiled(x).sum().backward()
        assert model.inner.weight.grad is not None


class _Scaled(torch.Tensor):
    """Integers and a scale that are one tensor, as torchao has quantized weights."""

    integers: torch.Tensor
    scale: torch.Tensor

    def __new__(cls, integers: torch.Tensor, scale: torch.Tensor) -> "_Scaled":
        made: _Scaled = cls._make_wrapper_subclass(cls, integers.shape, dtype=scale.dtype)
        made.integers, made.scale = integers, scale
        return made

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["integers", "scale"], None

    @staticmethod
    def __tensor_unflatten__(parts: dict[str, torch.Tensor], *_: Any) -> "_Scaled":
        return _Scaled(parts["integers"], parts["scale"])

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func is torch.ops.aten.detach.default:
            return _Scaled(args[0].integers, args[0].scale)
        numbers = [
            each.integers * each.scale if isinstance(each, _Scaled) else each for each in args
        ]
        return func(*numbers, **(kwargs or {}))


def test_parts_of_weights_are_frozen() -> None:
    model, backend = torch.nn.Linear(3, 5), plumbline.Backend(threads=1, freeze=True)
    weight = _Scaled(torch.randint(-9, 9, (5, 3), dtype=torch.int8), torch.rand(5, 1))
    model.weight = torch.nn.Parameter(weight, requires_grad=False)
    x = _randn(4, 3)
    with torch.no_grad():
        torch.testing.assert_close(_compiled(model, backend)(x), model(x))
    (program,) = backend.programs
    for name in ("weight.integers", "weight.scale", "bias"):
        assert f'"{name}"' in program.stage("torch")


def test_what_pickle_makes_of_what_is_compiled_is_compiled_anew(backend: plumbline.Backend) -> None:
    compiled: Any = torch.compile(torch.nn.Linear(3, 2), backend=backend)
    x = _randn(4, 3)
    expected = compiled(x)
    torch.testing.assert_close(pickle.loads(pickle.dumps(compiled))(x), expected)
    assert len(backend.programs) == 1
    assert pickle.loads(pickle.dumps(backend)).programs == []


def test_copies_have_the_same_backend(backend: plumbline.Backend) -> None:
    compiled: Any = torch.compile(torch.nn.Linear(3, 2), backend=backend)
    x = _randn(4, 3)
    expected = compiled(x)
    torch.testing.assert_close(copy.deepcopy(compiled)(x), expected)
    # Where configurations are equal, libraries keep what they compiled: transformers' `generate`.
    once, again = copy.deepcopy({"backend": backend}), copy.copy({"backend": backend})
    assert once == again
    assert copy.copy(backend) is backend


def test_what_cannot_be_compiled_is_left_to_pytorch(backend: plumbline.Backend) -> None:
    def step(x: torch.Tensor, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x.exp()
        halves = y.to(torch.complex32).real.float() * 2
        noise.copy_(torch.rand(3))
        return halves + y.sum(), y.t()

    x, noise = _randn(3, 3), torch.zeros(3)
    torch.manual_seed(1)
    expected = step(x, noise)
    mine = torch.zeros(3)
    torch.manual_seed(1)
    places = r"left to PyTorch: aten._to_copy \(.*backend_test.py:\d+\)$"
    with pytest.warns(UserWarning, match=places):
        results = _compiled(step, backend)(x, mine)
    torch.testing.assert_close((*results, mine), (*expected, noise))
    assert results[1].stride() == (1, 3)
    assert len(backend.programs) > 1


def test_what_is_refused_as_a_whole_is_divided(
    backend: plumbline.Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a stage that comes after those in which each op is looked at may refuse what it likes."""

    def refusing(who: str, exported: DialectText, *rest: Any, **options: Any) -> CompiledProgram:
        if "torch.aten.tanh" in exported.text:
            raise UserError(f"{who}: no hyperbola\nas it is none of ours")
        return compile_export(who, exported, *rest, **options)

    def step(x: torch.Tensor, kept: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values, places = (x.exp() + 1).sort()
        curved = values.tanh()
        kept.copy_(curved.sum(1))
        return curved.cos() + torch.rand(3), places, x.sin().mT

    monkeypatch.setattr(compiled_graph, "compile_export", refusing)
    x, kept, mine = _randn(3, 3), torch.zeros(3), torch.zeros(3)
    torch.manual_seed(1)
    expected = step(x, kept)
    torch.manual_seed(1)
    reason = r"torch.compile: no hyperbola; left to PyTorch: aten.tanh \(.*backend_test.py:\d+\)$"
    with pytest.warns(UserWarning, match=reason) as told:
        results = _compiled(step, backend)(x, mine)
    assert len(told) == 1
    torch.testing.assert_close((*results, mine), (*expected, kept))
    assert len(backend.programs) > 1


def test_what_only_asserts_is_a_program(backend: plumbline.Backend) -> None:
    def checked(x: torch.Tensor) -> torch.Tensor:
        torch._assert_async((x > 0).all(), "x is above 0")
        return x

    compiled, x = _compiled(checked, backend), torch.ones(2)
    assert compiled(x).tolist() == [1, 1]
    with pytest.raises(UserError, match="x is above 0"):
        compiled(-x)


def test_what_is_left_gives_lists_of_tensors(backend: plumbline.Backend) -> None:
    def step(
        gradients: list[torch.Tensor], has_overflown: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        torch._amp_foreach_non_finite_check_and_unscale_(
            gradients, has_overflown, torch.tensor(0.5)
        )
        return gradients[0] * 2, has_overflown + 1

    values = torch.tensor([4.0]), torch.tensor([-3.0]).sqrt()
    gradients, mine = [value.clone() for value in values], [value.clone() for value in values]
    with pytest.warns(UserWarning, match="left to PyTorch: aten._amp_foreach_non_finite"):
        results = _compiled(step, backend)(mine, torch.zeros(1))
    torch.testing.assert_close(results, step(gradients, torch.zeros(1)))
    torch.testing.assert_close(mine, gradients, equal_nan=True)


def test_tensors_are_on_a_cpu(backend: plumbline.Backend) -> None:
    with pytest.raises(BackendCompilerFailed, match="a tensor is on meta"):
        _compiled(torch.relu, backend)(torch.ones(2, device="meta"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 0}, "threads is 0; it is a number from 1 to"),
        ({"opt_level": 4}, "opt_level is 4; it is one of 0, 1, 2, 3"),
        ({"runtime_checks": "some"}, "runtime_checks is 'some'; it is one of 'off',"),
        ({"freeze": 1}, "freeze is 1; it is True or False"),
        ({"target_cpu": 1}, "target_cpu is 1; it is a string"),
    ],
)
def test_options_are_what_they_may_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"plumbline.Backend: {message}"):
        plumbline.Backend(**options)


def test_options_of_the_backend_by_name() -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x.add(x)

    def run(**options: Any) -> Any:
        torch._dynamo.reset()
        return _compiled(doubled, by_name.plumbline, **options)(torch.ones(2))

    assert run(options={"opt_level": 0}).tolist() == [2, 2]
    with pytest.raises(BackendCompilerFailed, match="unexpected keyword argument 'fast'"):
        run(options={"fast": True})
    with pytest.raises(BackendCompilerFailed, match="has no mode 'max-autotune'"):
        run(mode="max-autotune")
    with pytest.raises(BackendCompilerFailed, match="options is for a backend by name"):
        _compiled(doubled, plumbline.Backend(), options={"threads": 1})(torch.ones(3))
    with pytest.raises(BackendCompilerFailed, match="has no mode 'max-autotune'"):
        _compiled(doubled, plumbline.Backend(), mode="max-autotune")(torch.ones(3))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
