"""Programs with `torch.func.vmap`, whose graphs enter and leave it by ops of their own."""

import contextlib
import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim
from torch.func import grad, jacrev, jvp, vmap

import plumbline
from plumbline.errors import UserError

_depth = torch._C._functorch.get_dynamic_layer_stack_depth


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self._function(x, y)


_FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "one": lambda x, y: vmap(lambda row: torch.where(row.sum() > 0, row, -row) + y[0])(x),
    "nested": lambda x, y: vmap(vmap(torch.dot, (None, 0)), (0, None))(x, y),
    "cast": lambda x, y: vmap(lambda column: column.double(), 1, 1)(x) + y[0],
    "beside": lambda x, y: vmap(torch.sin)(x) + (x @ y.mT).sum(1, keepdim=True),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_a_batch_of_any_size(name: str) -> None:
    module = _Of(_FUNCTIONS[name])
    example = (torch.randn(3, 5), torch.randn(4, 5))
    program = plumbline.compile(module, example, ({0: Dim("rows")}, {}))
    assert _depth() == 0
    for rows in (1, 3, 7):
        inputs = (torch.randn(rows, 5), torch.randn(4, 5))
        torch.testing.assert_close(program(*inputs), (module(*inputs),))


def test_curvatures_of_a_batch_of_any_size() -> None:
    layer = torch.nn.Linear(5, 2)

    def along(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        def curvature(row: torch.Tensor) -> torch.Tensor:
            slope = grad(lambda point: layer(point).tanh()[0])
            changes = [jvp(slope, (row,), (torch.eye(5)[axis],))[1] for axis in range(2)]
            return torch.stack(changes) + y[0]

        return vmap(curvature)(x)

    module = _Of(along)
    example = (torch.randn(3, 5), torch.randn(4, 5))
    program = plumbline.compile(module, example, ({0: Dim("rows", min=2)}, {}))
    for rows in (2, 3, 7):
        inputs = (torch.randn(rows, 5), torch.randn(4, 5))
        torch.testing.assert_close(program(*inputs), (module(*inputs),))


def test_a_refusal_leaves_no_level() -> None:
    with contextlib.suppress(UserError):
        plumbline.compile(
            _Of(lambda x, y: vmap(jacrev(torch.sin))(x) + y.sum()),
            (torch.randn(3, 5), torch.randn(4, 5)),
        )
    assert _depth() == 0
    torch.randn(2)


@pytest.mark.parametrize(
    "function", [lambda x: torch.masked_select(x, x > 0).sum(), lambda x: torch.quantile(x, 0.5)]
)
def test_nor_one_of_derivatives_that_run_forward(
    function: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    def along(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        slope: torch.Tensor = jvp(function, (x,), (y,))[1]
        return slope

    inputs = (torch.tensor([1.0, 2.0, 3.0]), torch.ones(3))
    slope = along(*inputs)
    with contextlib.suppress(UserError):
        plumbline.compile(_Of(along), inputs)
    assert torch.equal(along(*inputs), slope)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
