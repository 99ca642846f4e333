"""Programs are taken apart as PyTorch does it, with as many ops traced as differ."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._subclasses.functional_tensor import FunctionalTensorMode
from torch.export import Dim, ExportedProgram
from torch.utils import _pytree as pytree

import plumbline
from plumbline.errors import UserError
from plumbline.loader_to_torch import distinct_ops
from plumbline.loader_to_torch.bodies_of_rules import bodies_of_rules_trusted
from plumbline.loader_to_torch.decompositions import decomposition_table, effects_table
from plumbline.loader_to_torch.decompositions.loops import looped
from plumbline.loader_to_torch.export import to_functional
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.pytorch_state import exporting

aten = torch.ops.aten

_run_decompositions = ExportedProgram.run_decompositions


class _Program(torch.nn.Module):
    def __init__(self, forward: Callable[..., Any], layer: torch.nn.Module | None = None) -> None:
        super().__init__()
        self.function = forward
        self.layer = layer

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        return self.function(x, y) if self.layer is None else self.function(self.layer, x, y)


def _ops(program: ExportedProgram) -> int:
    return sum(isinstance(node.target, torch._ops.OpOverload) for node in program.graph.nodes)


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many ops PyTorch is given to take apart, of each program."""
    counts: list[int] = []

    def noted(program: ExportedProgram, table: dict[Any, Any]) -> Any:
        counts.append(_ops(program))
        return _run_decompositions(program, table)

    monkeypatch.setattr(ExportedProgram, "run_decompositions", noted)
    return counts


def _written(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Writes twice what it has made; reads after that read what has been written."""
    z = x * 2
    w = torch.relu(y)
    z.add_(y).mul_(w)
    w.add_(z)
    return z + 1, z, w


def _written_and_viewed(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Of a composite op; what views what has been written comes after that."""
    z = torch.matmul(x, y.t())
    z /= 2
    return torch.nn.functional.relu_(z).t() + 1


def _batch_norm(layer: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.nn.functional.relu_(layer(x[None, :, :, None]))
    out += y[None, :, :, None]
    return torch.nn.functional.adaptive_avg_pool2d(torch.nn.functional.relu_(out), 1).flatten(1)


_ALIKE = {
    "equal ops": lambda x, y: (x + y) + (y + x) + (x + y),
    "one operand twice": lambda x, y: x * x + x * y + y * y,
    "numbers that are equal": lambda x, y: (x + 1, x + 1.0, x + True, x / 0.0, x / -0.0),
    "several results": lambda x, y: (
        *torch.split(x, 1),
        *torch.split(y, 1),
        *torch.topk(x, 2),
        *torch.aminmax(x),
    ),
    "views": lambda x, y: (x.t() @ y, y.t() @ x, x.t().contiguous() @ y, x.t().reshape(-1)),
    "no tensors": lambda x, y: (
        x + torch.arange(4.0) + torch.zeros(4),
        y + torch.arange(4.0) * torch.ones(4),
    ),
    "assertions": lambda x, y: (x.to(torch.float64) + y, y.to(torch.float64) + x),
    "results that are operands": lambda x, y: (
        torch.dropout(x, 0.5, False),
        torch.dropout(x, 0.5, False) + y,
        x,
    ),
    "lists of operands": lambda x, y: (torch.cat([x, y]), torch.cat([y, x]), torch.stack([x, x])),
    "writes": _written,
    "writes before views": _written_and_viewed,
    "writes of ops called otherwise": lambda x, y: (
        (x * 2).pow_(-0.5),
        (x * 2).pow_(y),
        (x * 2).floor_divide_(y),
        (x * 2).ldexp_(y),
    ),
    "shapes changed in place": lambda x, y: ((x * 2).resize_(2, 6), (y * 2).t_().unsqueeze_(0)),
    "loops and assertions": lambda x, y: (
        torch.linalg.eigvalsh(x @ x.t()),
        torch.linalg.inv(x @ x.t()),
        torch.linalg.eigvalsh(y @ y.t()) @ torch.linalg.inv(y @ y.t()),
    ),
    "parts of one tensor": lambda x, y: [torch.softmax(x[i] @ y.t(), 0) for i in range(3)],
    "places in memory": lambda x, y: [
        part.as_strided((2, 4), (4, 1), 4) + 1 for part in (x[1:], x[:2])
    ],
    "no ops": lambda x, y: (x, y),
}


def _exported(program: _Program, **dims: Any) -> ExportedProgram:
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    return torch.export.export(program.eval(), (x, y), dynamic_shapes=dims or None, strict=False)


def _spelled(program: ExportedProgram) -> list[str]:
    """The graph, with nodes by their numbers in place of their names."""
    numbers = {node: f"node {number}" for number, node in enumerate(program.graph.nodes)}

    def spelled(node: torch.fx.Node) -> object:
        if not isinstance(node.target, torch._ops.OpOverload):
            return node.op, torch.fx.node.map_arg(node.args, numbers.__getitem__)
        # Some are by name that may be by place as well.
        names = [argument.name for argument in node.target._schema.arguments]
        given = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
        named = {name: given[name] for name in names if given.get(name) is not None}
        return node.target, torch.fx.node.map_arg(named, numbers.__getitem__)

    return [str(spelled(node)) for node in numbers]


@pytest.mark.parametrize("name", _ALIKE)
def test_the_graph_is_pytorchs(name: str, traced: list[int]) -> None:
    exported = _exported(_Program(_ALIKE[name]))
    with exporting(), torch.no_grad():
        expected = _run_decompositions(exported, decomposition_table())
        actual = distinct_ops.run_decompositions(exported, decomposition_table())
    assert _spelled(actual) == _spelled(expected)
    assert [spec.kind for spec in actual.graph_signature.output_specs] == [
        spec.kind for spec in expected.graph_signature.output_specs
    ]
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    torch.testing.assert_close(actual.module()(x, y), expected.module()(x, y), equal_nan=True)


def test_steps_along_one_tensor_are_taken_apart_as_one(traced: list[int]) -> None:
    program = _Program(lambda x, y: [torch.nn.functional.linear(row, y) for row in x])
    exported = _exported(program)
    with exporting(), torch.no_grad():
        distinct_ops.run_decompositions(exported, decomposition_table())
    # Of unbind and linear.
    assert traced == [2]


def test_the_graph_of_a_block_with_a_residual_is_pytorchs(traced: list[int]) -> None:
    exported = _exported(_Program(_batch_norm, torch.nn.BatchNorm2d(3)))
    with exporting(), torch.no_grad():
        expected = _run_decompositions(exported, decomposition_table())
        actual = distinct_ops.run_decompositions(exported, decomposition_table())
    assert _spelled(actual) == _spelled(expected)
    # Of batch_norm, relu_, add_, adaptive_avg_pool2d and flatten.
    assert traced == [5]


def _complex(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    z = torch.complex(x, y)
    return (z * 2, z + z, torch.view_as_real(z), z.abs(), x * 2)


def _stored(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    z = x.abs().to(torch.uint16)
    return (z + z, z == 1, z.sum(), z.any(), x.sum(), x == 1)


_LEFT_OR_NOT = {
    "elementwise": lambda x, y: (
        *(x + y, x - 2, x * y, torch.div(x, y), torch.relu(x), torch.sigmoid(y), x.exp().neg()),
        *(torch.maximum(x, y), torch.pow(x, 2), torch.where(x > 0, x, y), (x > 0) & (y > 0)),
        *(torch.nn.functional.gelu(x), torch.atan2(x, y), x.clamp(-1, 1), torch.lerp(x, y, 0.3)),
    ),
    "results of other types": lambda x, y: (x > 1, x > y, x.argmax(1), x.to(torch.int32) + y),
    "reductions": lambda x, y: (x.sum(), x.sum(1), y.amax(0), x.mean(0), torch.all(x), y.cumsum(1)),
    "several results": lambda x, y: (
        *(*torch.sort(x), *torch.topk(y, 2), *torch.var_mean(x, 1), *torch.max(x, 1)),
    ),
    "views": lambda x, y: (
        *(x.permute(1, 0), x[1:], x[0], x[None], x.view(4, 3), x.unfold(1, 2, 1), x.diagonal()),
        *(x[:, ::2], x.expand(2, 3, 4), *x.split([1, 2]), *x.unbind(), x.t(), x[None].squeeze(0)),
    ),
    "views of views": lambda x, y: (x + 1).view(2, 6)[1:].permute(1, 0)[None].expand(2, 6, 1) * 2,
    "views as they are": lambda x, y: (*(x.detach() + 1, aten.alias(y), x.conj(), y.detach()),),
    "moved elements": lambda x, y: (
        *(
            torch.cat([x, y]),
            x.clone(),
            x.flip(0),
            torch.gather(x, 0, (y > 0).long()),
            x.repeat(2, 1),
        ),
        *(torch.nn.functional.pad(x, (1, 1)), x.index_select(0, torch.arange(2)), x.tril()),
    ),
    "composite ops": lambda x, y: (
        *(x @ y.t(), torch.softmax(x, 1), torch.nn.functional.linear(x, y), x.reshape(-1), x.T),
        *(x.flatten(), torch.nn.functional.dropout(x, 0.5, False), x.type_as(y), x.float()),
    ),
    "rules in Python": lambda x, y: (
        *(aten.upsample_bilinear2d(x[None, None], [6, 8], False), x + y, aten.softshrink(y)),
    ),
    "copies of constants": lambda x, y: (aten.lift_fresh_copy(x) + y, aten.lift(x) + y),
    "tensors that are made": lambda x, y: (
        *(torch.zeros(3), torch.full((2,), 3), torch.ones_like(x), torch.empty_like(y) + 1),
        *(x.new_zeros(2), torch.arange(3), torch.eye(2), torch.linspace(0, 1, 3)),
    ),
    "comparisons with numbers": lambda x, y: (x == 1.0, x == 1, x.long() == 1.5, x > True),
    "complex": _complex,
    "stored": _stored,
}
"""Ops that PyTorch leaves as they are beside ops that it does not, family by family."""


@pytest.mark.parametrize("name", _LEFT_OR_NOT)
def test_ops_that_pytorch_leaves_are_left_and_no_others(name: str, traced: list[int]) -> None:
    # Few ops have a rule in this: all others PyTorch itself has to leave.
    table = effects_table()
    exported = _exported(_Program(_LEFT_OR_NOT[name]))
    _assert_as_pytorch_does(exported, table)
    assert sum(traced) < _ops(exported)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (torch.tanh(x) * 2 + torch.relu(y), x.sum(1), *torch.sort(y)),
        lambda x, y: (x.permute(1, 0), x[:, 1:] * 2, x[None], torch.cat([x, y]), y.unsqueeze(0)),
        lambda x, y: torch.cat([torch.nn.functional.gelu(x), y], 1)[:, ::2],
        lambda x, y: x.reshape(-1) + 1,
        lambda x, y: x.new_zeros(x.shape[0] + 1) + x.shape[0],
        lambda x, y: (torch.softmax(x, 1), torch.ones_like(x) + y),
    ],
)
def test_sizes_that_are_not_fixed_stay(function: Callable[..., Any]) -> None:
    rows = Dim("rows", max=64)
    exported = _exported(_Program(function), x={0: rows}, y={0: rows})
    _assert_as_pytorch_does(exported, effects_table())


@pytest.mark.parametrize("name", ["elementwise", "comparisons with numbers", "complex", "stored"])
def test_rules_for_some_arguments_are_followed_for_those(name: str, traced: list[int]) -> None:
    exported = _exported(_Program(_LEFT_OR_NOT[name]))
    _assert_as_pytorch_does(exported, decomposition_table())
    assert sum(traced) < _ops(exported)


def _assert_as_pytorch_does(exported: ExportedProgram, table: distinct_ops.Table) -> None:
    with exporting(), torch.no_grad():
        expected = _run_decompositions(exported, table)
        actual = distinct_ops.run_decompositions(exported, table)
    assert _spelled(actual) == _spelled(expected)
    assert _kinds(actual) == _kinds(expected)
    assert actual.range_constraints == expected.range_constraints


def _kinds(program: ExportedProgram) -> list[str]:
    """What is known of each tensor."""
    values = [node.meta.get("val") for node in program.graph.nodes if node.op != "output"]
    return [str(pytree.tree_map_only(torch.Tensor, _kind_of, value)) for value in values]


def _kind_of(tensor: torch.Tensor) -> object:
    return tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.is_conj()


@pytest.mark.parametrize("dims", [{}, {"x": {0: Dim.DYNAMIC}, "y": {0: Dim.DYNAMIC}}])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x + y,
        lambda x, y: (torch.relu(x).sum(1), y == 1.0),
        lambda x, y: (x[:, 1:].permute(1, 0) * 2, *y.split([1, 3], 1)),
    ],
)
def test_a_program_of_ops_that_are_left_is_not_traced(
    function: Callable[..., Any], dims: dict[str, Any], traced: list[int]
) -> None:
    exported = _exported(_Program(function), **dims)
    with exporting(), torch.no_grad():
        actual = distinct_ops.run_decompositions(exported, decomposition_table())
    assert traced == []
    assert _spelled(actual) == _spelled(exported)


def test_a_graph_that_nobody_runs_does_not_become_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it did at each of eight changes."""
    monkeypatch.delattr(torch.fx.Graph, "python_code")
    x = torch.ones(3, 4)
    plumbline.compile(_Program(lambda x, y: torch.relu(x) + y), (x, x))


def test_ops_that_draw_random_numbers_and_have_no_rule_are_left() -> None:
    exported = _exported(_Program(lambda x, y: (torch.rand_like(x), torch.bernoulli(y.sigmoid()))))
    _assert_as_pytorch_does(exported, {})


def test_ops_of_extensions_are_left_to_pytorch() -> None:
    """They may have rules for any of its layers."""

    def twice(mode: Any, _op: Any, _types: Any, args: Any, _kwargs: Any) -> torch.Tensor:
        with mode:
            result: torch.Tensor = args[0] + args[0]
            return result

    with torch.library._scoped_library("untouched", "DEF") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", torch.empty_like, "CompositeExplicitAutograd")
        exported = _exported(_Program(lambda x, y: torch.ops.untouched.twice(x) * y))
        torch.library.register_torch_dispatch("untouched::twice", FunctionalTensorMode, twice)
        with exporting(), torch.no_grad():
            expected = _run_decompositions(exported, {})
            actual = distinct_ops.run_decompositions(exported, {})
    assert _spelled(actual) == _spelled(expected) != _spelled(exported)


def _layers(count: int) -> torch.nn.Module:
    layers = (
        torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
        for _ in range(count)
    )
    return torch.nn.Sequential(*layers).eval()


def test_writes_to_what_composite_ops_make_are_no_more_than_the_op(traced: list[int]) -> None:
    def scores(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z, w = torch.einsum("ij,kj->ik", x, y), torch.einsum("ij,kj->ik", y, x)
        z /= 2
        w /= 2
        return z + w

    exported = _exported(_Program(scores))
    with exporting(), torch.no_grad():
        actual = distinct_ops.run_decompositions(exported, decomposition_table())
    # Of einsum and div_.
    assert traced == [2]
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    torch.testing.assert_close(actual.module()(x, y), scores(x, y))


def test_equal_layers_are_traced_once(traced: list[int]) -> None:
    for count in (2, 6):
        to_functional("it", TorchLoaderOutput(_layers(count), (torch.randn(1, 3, 8),)))
    two, six = traced
    assert two == six < 40


def test_a_rule_is_asked_once_for_equal_ops() -> None:
    asked: list[torch.Size] = []
    table = decomposition_table()
    rule = table[torch.ops.aten.silu.default]

    def counted(x: torch.Tensor) -> Any:
        asked.append(x.shape)
        return rule(x)

    silu = torch.nn.functional.silu
    program = _Program(lambda x, y: [silu(x), silu(y), silu(silu(x)), silu(x[:1])])
    with exporting(), torch.no_grad():
        distinct_ops.run_decompositions(
            _exported(program), {**table, torch.ops.aten.silu.default: counted}
        )
    # PyTorch traces twice, to find writes first; half of it with rules.
    assert len(set(asked)) == 2
    assert len(asked) <= 4


def test_the_body_of_a_rule_is_run_once_in_each_trace() -> None:
    runs = 0

    def turn(step: torch.Tensor, x: torch.Tensor) -> list[torch.Tensor]:
        nonlocal runs
        runs += 1
        return [x + step]

    def rule(x: torch.Tensor) -> torch.Tensor:
        return looped(turn, [torch.arange(3)], [x], [])[0]

    exported = _exported(_Program(lambda x, y: torch.square(x) + y))
    table = {**decomposition_table(), torch.ops.aten.square.default: rule}
    with exporting(), torch.no_grad(), bodies_of_rules_trusted():
        functional = _run_decompositions(exported, table)
    # PyTorch traces twice, to find writes first.
    assert runs == 2
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    torch.testing.assert_close(functional.module()(x, y), x + 3 + y)


def _view_is_written(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x * 2
    z[:1].add_(y[:1])
    return z


def _written_with_a_view(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x * 2
    first = z[:1]
    z.add_(y)
    return first + z


def _written_by_two_names(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x * 2
    w = z.add_(y)
    z.mul_(y)
    return w + z


def _written_with_another_name(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x * 2
    # Returns what it is given.
    same = z.type_as(y)
    z.add_(y)
    return same + z


def _view_by_einsum_is_written(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x * 2
    w = torch.einsum("ij->ji", z)
    w += y.t()
    return z


def _view_of_what_is_written_is_written(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.relu_(x * 2)
    z.t().add_(y.t())
    return z


@pytest.mark.parametrize(
    "function",
    [
        _view_is_written,
        _written_with_a_view,
        _written_by_two_names,
        _written_with_another_name,
        _view_by_einsum_is_written,
        _view_of_what_is_written_is_written,
    ],
)
def test_writes_to_what_has_other_names_are_seen(function: Callable[..., Any]) -> None:
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    (actual,) = plumbline.compile(_Program(function), (x, y))(x, y)
    torch.testing.assert_close(actual, function(x, y))


def test_statistics_that_a_norm_writes_as_it_trains_are_seen() -> None:
    model = torch.nn.Sequential(torch.nn.Conv1d(2, 3, 3), torch.nn.BatchNorm1d(3))
    x = torch.randn(4, 2, 7)
    program = plumbline.compile(model, (x,), mutation="return")
    result, *state = program(x, *program.state.values())
    torch.testing.assert_close(result, model(x))
    torch.testing.assert_close(state, [model.state_dict()[name] for name in program.state])


def test_ops_of_sizes_that_are_not_fixed_are_traced_once(traced: list[int]) -> None:
    counts = []
    for count in (1, 3):
        rows, columns = Dim("rows", min=2, max=64), Dim("columns", min=2, max=64)
        x = torch.randn(3, 5, 8)
        sizes = {"input": {0: rows, 1: columns}}
        model = _layers(count)
        functional = to_functional("it", TorchLoaderOutput(model, (x,), sizes))
        counts.append(traced.pop(0))
        traced.clear()
        for shape in ((3, 5, 8), (7, 2, 8)):
            x = torch.randn(shape)
            torch.testing.assert_close(functional.module()(x), model(x))
    one, three = counts
    assert one == three


# The others have as many results as rows, or change their number in place.
@pytest.mark.parametrize(
    "name", sorted(_ALIKE.keys() - {"several results", "shapes changed in place"})
)
def test_sizes_are_those_that_pytorch_has(name: str) -> None:
    """Also where it computes them of other sizes."""
    dims = {"x": {0: Dim.DYNAMIC}, "y": {0: Dim.DYNAMIC}}
    exported = _exported(_Program(_ALIKE[name]), **dims)
    with exporting(), torch.no_grad():
        expected = _run_decompositions(exported, decomposition_table())
        actual = distinct_ops.run_decompositions(exported, decomposition_table())
    assert actual.range_constraints == expected.range_constraints
    # What lies at fixed places in memory is of as many rows as in the example.
    for rows in (3, 5)[: 1 if name == "places in memory" else 2]:
        x, y = torch.randn(rows, 4), torch.randn(rows, 4)
        torch.testing.assert_close(actual.module()(x, y), expected.module()(x, y), equal_nan=True)


def test_sizes_that_are_found_as_a_program_runs_are_left_to_pytorch(traced: list[int]) -> None:
    exported = _exported(_Program(lambda x, y: (torch.nonzero(x) + 1, x * y)))
    with exporting(), torch.no_grad():
        distinct_ops.run_decompositions(exported, {})
    assert traced == [_ops(exported)]


def test_what_is_counted_in_two_places_are_two_numbers() -> None:
    def forward(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ones = torch.ones(())
        return x.index_put((x > 0,), ones), y.index_put((y > 0,), ones)

    x, y = torch.randn(3, 4), torch.randn(3, 4)
    y[0] = -1
    actual = plumbline.compile(_Program(forward), (x, y))(x, y)
    torch.testing.assert_close(actual, forward(x, y))


class _Chain(torch.nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.LSTM(4, 4) for _ in range(count))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)[0]
        return x


@pytest.mark.parametrize("op", [torch.linalg.eigvalsh, torch.linalg.inv])
def test_loops_and_assertions_come_along(
    op: Callable[[torch.Tensor], torch.Tensor], traced: list[int]
) -> None:
    x, y = torch.randn(3, 3), torch.randn(3, 3)
    (actual,) = plumbline.compile(_Program(lambda x, y: op(x) - op(y)), (x, y))(x, y)
    torch.testing.assert_close(actual, op(x) - op(y), rtol=1e-4, atol=1e-5)
    assert traced == [1]


def test_an_assertion_of_each_place_is_kept() -> None:
    module = _Program(lambda x, y: torch.linalg.inv(x) + torch.linalg.inv(y))
    x = torch.eye(3)
    program = plumbline.compile(module, (x, x))
    for operands in ((x, torch.zeros(3, 3)), (torch.zeros(3, 3), x)):
        with pytest.raises(UserError, match="singular"):
            program(*operands)


def test_layers_with_loops_are_traced_once(traced: list[int]) -> None:
    x = torch.randn(5, 2, 4)
    for count in (1, 3):
        model = _Chain(count).eval()
        (actual,) = plumbline.compile(model, (x,))(x)
        torch.testing.assert_close(actual, model(x).detach())
    one, three = traced
    assert one == three


def test_random_numbers_are_left_to_pytorch(traced: list[int]) -> None:
    program = _Program(lambda x, y: x + torch.dropout(y, 0.5, True) + torch.dropout(y, 0.5, True))
    torch.manual_seed(0)
    exported = _exported(program)
    with exporting(), torch.no_grad():
        distinct_ops.run_decompositions(exported, {})
    assert traced == [_ops(exported)]


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
