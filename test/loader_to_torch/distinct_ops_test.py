"""Programs are taken apart as PyTorch does it, with as many ops traced as differ."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim, ExportedProgram

import plumbline
from plumbline.loader_to_torch import distinct_ops
from plumbline.loader_to_torch.decompositions import decomposition_table
from plumbline.loader_to_torch.pytorch_state import exporting

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


def _batch_norm(layer: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.nn.functional.relu_(layer(x[None, :, :, None]))
    out += y[None, :, :, None]
    return torch.nn.functional.relu_(out)


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
    "shapes changed in place": lambda x, y: ((x * 2).resize_(2, 6), (y * 2).t_().unsqueeze_(0)),
    "no ops": lambda x, y: (x, y),
}


def _exported(program: _Program) -> ExportedProgram:
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    return torch.export.export(program.eval(), (x, y), strict=False)


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


def test_the_graph_of_a_block_with_a_residual_is_pytorchs(traced: list[int]) -> None:
    exported = _exported(_Program(_batch_norm, torch.nn.BatchNorm2d(3)))
    with exporting(), torch.no_grad():
        expected = _run_decompositions(exported, decomposition_table())
        actual = distinct_ops.run_decompositions(exported, decomposition_table())
    assert _spelled(actual) == _spelled(expected)
    # Two to add dimensions, then batch_norm, relu_ and add_.
    assert traced == [5]


def _layers(count: int) -> torch.nn.Module:
    layers = (
        torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
        for _ in range(count)
    )
    return torch.nn.Sequential(*layers).eval()


def test_equal_layers_are_traced_once(traced: list[int]) -> None:
    for count in (2, 6):
        plumbline.compile(_layers(count), (torch.randn(1, 3, 8),))
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


@pytest.mark.parametrize(
    "function",
    [_view_is_written, _written_with_a_view, _written_by_two_names, _written_with_another_name],
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


def test_sizes_that_are_not_fixed_are_left_to_pytorch(traced: list[int]) -> None:
    model = torch.nn.Sequential(*(torch.nn.Tanh() for _ in range(5)))
    plumbline.compile(model, (torch.randn(3, 4),), {"input": {0: Dim("rows")}})
    assert traced[0] >= 5


def test_what_is_counted_in_two_places_are_two_numbers() -> None:
    def forward(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ones = torch.ones(())
        return x.index_put((x > 0,), ones), y.index_put((y > 0,), ones)

    x, y = torch.randn(3, 4), torch.randn(3, 4)
    y[0] = -1
    actual = plumbline.compile(_Program(forward), (x, y))(x, y)
    torch.testing.assert_close(actual, forward(x, y))


@pytest.mark.parametrize("op", [torch.linalg.eigvalsh, torch.linalg.inv])
def test_ops_that_become_loops_and_assertions_are_left_to_pytorch(
    op: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    x, y = torch.randn(3, 3), torch.randn(3, 3)
    (actual,) = plumbline.compile(_Program(lambda x, y: op(x) - op(y)), (x, y))(x, y)
    torch.testing.assert_close(actual, op(x) - op(y), rtol=1e-4, atol=1e-5)


def test_random_numbers_are_left_to_pytorch(traced: list[int]) -> None:
    program = _Program(lambda x, y: x + torch.dropout(y, 0.5, True) + torch.dropout(y, 0.5, True))
    torch.manual_seed(0)
    exported = _exported(program)
    with exporting(), torch.no_grad():
        distinct_ops.run_decompositions(exported, {})
    assert traced == [_ops(exported)]


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
