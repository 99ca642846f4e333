"""Programs that take gradients, and train what they are made of."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, vmap

import plumbline
from plumbline.errors import UserError

_BATCH = {0: Dim("batch", min=2)}


class _Step(torch.nn.Module):
    """A step of training, which writes new weights in place of the old ones."""

    def __init__(self, middle: torch.nn.Module) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), middle, torch.nn.Linear(4, 2))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def _loss(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.net(x), labels)


class _ByTransform(_Step):
    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        weights: dict[str, torch.Tensor] = dict(self.net.named_parameters())

        def loss_of(weights: dict[str, torch.Tensor]) -> torch.Tensor:
            return F.cross_entropy(functional_call(self.net, weights, x), labels)

        slopes, loss = grad_and_value(loss_of)(weights)
        for name, weight in weights.items():
            weight.sub_(0.1 * slopes[name])
        assert isinstance(loss, torch.Tensor)
        return loss


class _ByAutograd(_Step):
    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        weights = list(self.net.parameters())
        with torch.enable_grad():
            loss = self._loss(x, labels)
            slopes = torch.autograd.grad(loss, weights)
        for weight, slope in zip(weights, slopes, strict=True):
            weight.sub_(0.1 * slope)
        return loss.detach()


class _ByOptimizer(_Step):
    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        with torch.enable_grad():
            loss = self._loss(x, labels)
            loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()


@pytest.mark.parametrize(
    ("step", "middle", "drawn"),
    [
        (_ByTransform, torch.nn.Tanh(), []),
        (_ByAutograd, torch.nn.BatchNorm1d(4), []),
        (_ByOptimizer, torch.nn.Dropout(0.5), ["torch.default_generator"]),
    ],
    ids=["transform", "autograd", "optimizer"],
)
def test_steps_of_training(
    step: type[_Step], middle: torch.nn.Module, drawn: Sequence[str]
) -> None:
    """With batches of any size, running statistics and random numbers, as PyTorch takes them."""
    torch.manual_seed(0)
    model = step(middle)
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    given = [tensor.detach().clone() for tensor in state.values()]
    batch = (torch.randn(8, 3), torch.randint(2, (8,)))
    mutable = [*state, *drawn]
    program = plumbline.compile(model, batch, (_BATCH, _BATCH), mutable=mutable)
    assert all(map(torch.equal, state.values(), given))
    for size in (5, 8):
        batch = (torch.randn(size, 3), torch.randint(2, (size,)))
        torch.manual_seed(1)
        (loss,) = program(*batch, *given)
        torch.manual_seed(1)
        with torch.no_grad():
            torch.testing.assert_close(loss, model(*batch))
        torch.testing.assert_close(given, [tensor.detach() for tensor in state.values()])


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self._function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self._function(self.weight, x)


def _derivatives(weight: torch.Tensor, x: torch.Tensor) -> Any:
    def function(row: torch.Tensor) -> torch.Tensor:
        return (row * weight).tanh().sum()

    def mixed(row: torch.Tensor) -> torch.Tensor:
        return (row.sin() * row.roll(1)).sum()

    return vmap(jacrev(function))(x), hessian(function)(x[0]), vmap(hessian(mixed))(x * weight)


def test_derivatives_of_any_number_of_rows() -> None:
    model = _Of(_derivatives)
    program = plumbline.compile(model, (torch.randn(4, 3),), (_BATCH,))
    for rows in (2, 4, 7):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(program(x), tuple(slope.detach() for slope in model(x)))


def _of_curvatures(weight: torch.Tensor, x: torch.Tensor) -> Any:
    """What a network that is to solve a differential equation is trained by."""

    def loss(weight: torch.Tensor) -> torch.Tensor:
        def function(row: torch.Tensor) -> torch.Tensor:
            return (weight[:2] @ torch.tanh(F.linear(row, torch.outer(weight[1:], weight)))).sum()

        curvatures: torch.Tensor = vmap(hessian(function))(x)
        return curvatures.square().sum()

    return grad(loss)(weight)


def test_gradients_of_curvatures() -> None:
    """Which PyTorch takes with zeros that are no data."""
    x = torch.randn(4, 3)
    model = _Of(_of_curvatures)
    torch.testing.assert_close(plumbline.compile(model, (x,))(x), (model(x).detach(),))


def test_forward_derivatives_of_rows() -> None:
    def along(weight: torch.Tensor, x: torch.Tensor) -> Any:
        def function(row: torch.Tensor) -> torch.Tensor:
            return F.linear(row, x).tanh().sum() * weight

        return torch.func.jvp(function, (x[0],), (torch.ones(3),))

    x = torch.randn(4, 3)
    model = _Of(along)
    expected = tuple(each.detach() for each in model(x))
    torch.testing.assert_close(plumbline.compile(model, (x,))(x), expected)


def _of_none(weight: torch.Tensor, x: torch.Tensor) -> Any:
    """The slopes of whole numbers: none, and none are asked for in the end."""
    return grad(lambda x: torch.nan_to_num(x).to(torch.int16).sum())(x)


def test_derivatives_of_what_has_none() -> None:
    """PyTorch exports it, of wrappers that point to no memory."""
    x = torch.randn(3)
    (slopes,) = plumbline.compile(_Of(_of_none), (x,))(x)
    torch.testing.assert_close(slopes, torch.zeros(3))


class _Sign(torch.autograd.Function):
    """Of which a gradient goes through tripled."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.sign()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return 3 * gradients[0]


@pytest.mark.parametrize("transform", [grad, jacrev, vmap])
def test_functions_with_gradients_of_their_own(transform: Callable[..., Any]) -> None:
    def function(weight: torch.Tensor) -> torch.Tensor:
        signs: torch.Tensor = _Sign.apply(weight * 2)  # type: ignore[no-untyped-call]
        return signs.sum()

    model = _Of(lambda weight, x: transform(function)(weight + x))
    x = torch.randn(3)
    torch.testing.assert_close(plumbline.compile(model, (x,))(x), (model(x).detach(),))


def test_gradients_of_products_with_complex_numbers() -> None:
    def size(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return (torch.exp((0.5 - 1j) * weight) + 2j * x).abs().sum()

    x = torch.randn(3)
    model = _Of(grad(size))
    torch.testing.assert_close(plumbline.compile(model, (x,))(x), (model(x),))


def test_labels_end_at_the_first_minus_one() -> None:
    """PyTorch's rule, which takes gradients as well, takes what follows for labels of class 0."""

    def loss(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        labels = torch.tensor([1, -1, 0]).expand(x.shape)
        return F.multilabel_margin_loss(weight * x, labels)

    x = torch.randn(4, 3)
    model = _Of(grad_and_value(loss))
    program = plumbline.compile(model, (x,), (_BATCH,))
    for rows in (x, x[:3]):
        expected = tuple(each.detach() for each in model(rows))
        torch.testing.assert_close(program(rows), expected)


class _Sequences(torch.nn.Module):
    """What PyTorch's kernels, but not its rules, take for one of the example's size."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.GRU(3, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> Any:
        with torch.enable_grad():
            images = self.layer(x)[0].unsqueeze(1)
            larger = F.interpolate(images, scale_factor=2, mode="bilinear")
            return torch.autograd.grad(larger.square().sum(), list(self.layer.parameters()))


def test_batches_of_sequences_and_images() -> None:
    torch.manual_seed(0)
    model = _Sequences()
    program = plumbline.compile(model, (torch.randn(3, 5, 3),), (_BATCH,))
    for batch in (2, 4):
        x = torch.randn(batch, 5, 3)
        torch.testing.assert_close(program(x), model(x), rtol=1e-4, atol=1e-5)


def _backward(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    loss = (x * weight).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    return loss


def _backward_enabled(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    with torch.enable_grad():
        return _backward(weight, x)


def _of_products(weight: torch.Tensor, x: torch.Tensor) -> Any:
    """Of which PyTorch looks whether one is 0."""

    def products(weight: torch.Tensor) -> torch.Tensor:
        places = torch.zeros(2, 3, dtype=torch.int64)
        total: torch.Tensor = x.scatter_reduce(0, places, x * weight, "prod").sum()
        return total

    return grad(products)(weight)


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (_backward, r"take gradients within `with torch\.enable_grad\(\):`"),
        (_backward_enabled, r"leaves gradients in \.grad of a tensor"),
        (_of_products, r"make_fx: hand over the graph that it makes of the program"),
    ],
)
def test_refusals_tell_what_helps(
    function: Callable[..., Any], advice: str, recwarn: pytest.WarningsRecorder
) -> None:
    with pytest.raises(UserError, match=advice) as refusal:
        plumbline.compile(_Of(function), (torch.ones(2, 3),))
    assert len(str(refusal.value).splitlines()) < 6
    assert not recwarn.list


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
