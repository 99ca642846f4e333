"""Layers of recurrent networks of ONNX.

A layer that PyTorch has is PyTorch's, which later stages know; others are a scan over the steps of
their sequences. Gates are in PyTorch's order here, and ONNX's are put into it first.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch._higher_order_ops.scan import scan_op
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Numbers, Value, tensor

Function = Callable[[torch.Tensor], torch.Tensor]

_Tensors = Sequence[torch.Tensor]


@dataclass(frozen=True)
class _Cell:
    """What a kind of layer computes of an input and of the state before it."""

    step: "_Step"
    order: tuple[int, ...]
    """Where ONNX has each of PyTorch's gates."""
    states: int
    activations: tuple[str, ...]
    """Those that it has where a model names none."""
    of_torch: Mapping[tuple[str, ...], Callable[..., tuple[torch.Tensor, ...]]]
    """PyTorch's layers, by their activations."""


@dataclass(frozen=True)
class _Direction:
    """What a layer has for one of its directions."""

    of_input: torch.Tensor
    """[gates * size, inputs]."""
    of_state: torch.Tensor
    """[gates * size, size]."""
    input_bias: torch.Tensor
    """[gates * size]."""
    state_bias: torch.Tensor
    peepholes: torch.Tensor
    """[3, size]: of the input, output and forget gate."""


@dataclass(frozen=True)
class _Options:
    """What a layer does beside its products."""

    activations: tuple[Function, ...]
    clip: Function
    """Comes before each activation but that of an LSTM's cell."""
    is_linear_before_reset: bool
    has_coupled_gates: bool
    """Whether an LSTM forgets as much as it takes in."""


_Step = Callable[[_Options, torch.Tensor, _Direction, _Tensors], _Tensors]
"""From options, the products of one input, weights, and the state before it to the state after it,
of which the first tensor is the result."""


def _lstm_step(
    options: _Options, inputs: torch.Tensor, weights: _Direction, state: _Tensors
) -> _Tensors:
    hidden, cell = state
    *clipped, of_cell = options.activations
    gate, made = (_clipped(options, each) for each in clipped)
    products = functional.linear(hidden, weights.of_state, weights.state_bias) + inputs
    taken, kept, candidate, shown = products.chunk(4, -1)
    of_taken, of_shown, of_kept = weights.peepholes
    taken = gate(taken + of_taken * cell)
    kept = 1 - taken if options.has_coupled_gates else gate(kept + of_kept * cell)
    cell = kept * cell + taken * made(candidate)
    return gate(shown + of_shown * cell) * of_cell(cell), cell


def _gru_step(
    options: _Options, inputs: torch.Tensor, weights: _Direction, state: _Tensors
) -> _Tensors:
    (hidden,) = state
    gate, made = (_clipped(options, each) for each in options.activations)
    reset, kept, candidate = inputs.chunk(3, -1)
    of_gates, of_candidate = _split(weights.of_state)
    gates_bias, candidate_bias = _split(weights.state_bias)
    own_reset, own_kept = functional.linear(hidden, of_gates, gates_bias).chunk(2, -1)
    reset, kept = gate(reset + own_reset), gate(kept + own_kept)
    if options.is_linear_before_reset:
        own_candidate = reset * functional.linear(hidden, of_candidate, candidate_bias)
    else:
        own_candidate = functional.linear(reset * hidden, of_candidate, candidate_bias)
    return ((1 - kept) * made(candidate + own_candidate) + kept * hidden,)


def _split(of_state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What a GRU has for its two gates, and for its candidate."""
    size = of_state.shape[0] // 3
    return of_state[: 2 * size], of_state[2 * size :]


def _rnn_step(
    options: _Options, inputs: torch.Tensor, weights: _Direction, state: _Tensors
) -> _Tensors:
    (hidden,) = state
    (made,) = (_clipped(options, each) for each in options.activations)
    return (made(functional.linear(hidden, weights.of_state, weights.state_bias) + inputs),)


def _clipped(options: _Options, activation: Function) -> Function:
    return lambda x: activation(options.clip(x))


_LSTM = _Cell(
    _lstm_step,
    (0, 2, 3, 1),
    2,
    ("sigmoid", "tanh", "tanh"),
    {("sigmoid", "tanh", "tanh"): torch.lstm},
)
_GRU = _Cell(_gru_step, (1, 0, 2), 1, ("sigmoid", "tanh"), {("sigmoid", "tanh"): torch.gru})
_RNN = _Cell(_rnn_step, (0,), 1, ("tanh",), {("tanh",): torch.rnn_tanh, ("relu",): torch.rnn_relu})

_ACTIVATIONS: Mapping[
    str, tuple[Callable[..., torch.Tensor], tuple[float | None, float | None]]
] = {
    "affine": (lambda x, alpha, beta: alpha * x + beta, (1.0, 0.0)),
    "elu": (functional.elu, (1.0, None)),
    "hardsigmoid": (lambda x, alpha, beta: (alpha * x + beta).clamp(0, 1), (0.2, 0.5)),
    "leakyrelu": (functional.leaky_relu, (0.01, None)),
    "relu": (torch.relu, (None, None)),
    "scaledtanh": (lambda x, alpha, beta: alpha * torch.tanh(beta * x), (1.0, 1.0)),
    "sigmoid": (torch.sigmoid, (None, None)),
    "softplus": (functional.softplus, (None, None)),
    "softsign": (functional.softsign, (None, None)),
    "tanh": (torch.tanh, (None, None)),
    "thresholdedrelu": (lambda x, alpha: torch.where(x > alpha, x, 0), (1.0, None)),
}
"""By name, a function of a tensor and its scales, and these where a model gives none."""


def _activations(node: Node, names: Sequence[str]) -> Iterator[Function]:
    """The functions of these names.

    Raises:
      Unsupported: ONNX has none of a name.
    """
    given: list[Iterator[float]] = [
        iter(node.attribute(f"activation_{name}", [])) for name in ("alpha", "beta")
    ]
    for name in names:
        if name not in _ACTIVATIONS:
            raise Unsupported(f"there is no activation {name}")
        function, defaults = _ACTIVATIONS[name]
        scales = [
            next(values, default)
            for values, default in zip(given, defaults, strict=True)
            if default is not None
        ]
        yield functools.partial(_applied, function, scales)


def _applied(
    function: Callable[..., torch.Tensor], scales: Sequence[float], x: torch.Tensor
) -> torch.Tensor:
    return function(x, *scales)


def _layer(cell: _Cell) -> Pattern:
    def pattern(
        node: Node,
        data: Value,
        of_input: Value,
        of_state: Value,
        biases: Value = None,
        lengths: Value = None,
        hidden: Value = None,
        cell_state: Value = None,
        peepholes: Value = None,
    ) -> tuple[torch.Tensor, ...]:
        batch_first = bool(node.attribute("layout", 0))
        x = tensor(data).transpose(0, 1) if batch_first else tensor(data)
        weights = _directions(cell, of_input, of_state, biases, peepholes)
        before = [
            _state(state, x, tensor(of_state), batch_first=batch_first)
            for state in (hidden, cell_state)[: cell.states]
        ]
        steps = _steps(x, lengths)
        layer = _of_torch(cell, node) if peepholes is None else None
        if steps is None and layer is not None:
            results, *after = _with_torch(layer, node, x, weights, before)
        else:
            results, *after = _with_scans(cell, node, x, weights, before, steps)
        # [length, batch, directions, size], and [directions, batch, size] of each state.
        if batch_first:
            return results.transpose(0, 1), *(each.transpose(0, 1) for each in after)
        return results.transpose(1, 2), *after

    return pattern


def _directions(
    cell: _Cell, of_input: Value, of_state: Value, biases: Value, peepholes: Value
) -> list[_Direction]:
    """What the layer has for each direction, gates in PyTorch's order."""
    inputs, states = tensor(of_input), tensor(of_state)
    gates, count, size = len(cell.order), states.shape[0], states.shape[2]
    both = inputs.new_zeros(count, 2 * gates * size) if biases is None else tensor(biases)
    of_cell = inputs.new_zeros(count, 3 * size) if peepholes is None else tensor(peepholes)

    def ordered(weights: torch.Tensor) -> torch.Tensor:
        chunks = weights.chunk(gates)
        return torch.cat([chunks[place] for place in cell.order])

    def direction(number: int) -> _Direction:
        input_bias, state_bias = map(ordered, both[number].chunk(2))
        return _Direction(
            ordered(inputs[number]),
            ordered(states[number]),
            input_bias,
            state_bias,
            of_cell[number].reshape(3, size),
        )

    return [direction(number) for number in range(count)]


def _state(
    state: Value, x: torch.Tensor, of_state: torch.Tensor, *, batch_first: bool
) -> torch.Tensor:
    """A state before the first step, [directions, batch, size]."""
    if state is None:
        return x.new_zeros(of_state.shape[0], x.shape[1], of_state.shape[2])
    return tensor(state).transpose(0, 1) if batch_first else tensor(state)


def _steps(x: torch.Tensor, lengths: Value) -> torch.Tensor | None:
    """How many steps each sequence of a batch has; None where all have all."""
    if lengths is None:
        return None
    if isinstance(lengths, Numbers) and all(each == x.shape[0] for each in lengths.elements.flat):
        return None
    return tensor(lengths)


def _names(cell: _Cell, node: Node) -> tuple[tuple[str, ...], ...]:
    """The activations of each direction."""
    count = 2 if node.attribute("direction", "forward") == "bidirectional" else 1
    given: list[str] = node.attribute("activations", [])
    names = [name.lower() for name in given] or [*cell.activations] * count
    each = len(cell.activations)
    if len(names) != count * each:
        raise Unsupported(f"it has {len(names)} activations where there are to be {count * each}")
    return tuple(tuple(names[start : start + each]) for start in range(0, len(names), each))


def _of_torch(cell: _Cell, node: Node) -> Callable[..., tuple[torch.Tensor, ...]] | None:
    """PyTorch's layer that does the same, but for peepholes, if there is one."""
    names = _names(cell, node)
    has_more = node.optional("clip") or node.attribute("input_forget", 0)
    is_gru_of_its_own = cell is _GRU and not node.attribute("linear_before_reset", 0)
    if has_more or is_gru_of_its_own or len(set(names)) > 1:
        return None
    return cell.of_torch.get(names[0])


def _with_torch(
    layer: Callable[..., tuple[torch.Tensor, ...]],
    node: Node,
    x: torch.Tensor,
    weights: Sequence[_Direction],
    before: _Tensors,
) -> tuple[torch.Tensor, ...]:
    backwards = node.attribute("direction", "forward") == "reverse"
    both = len(weights) == 2
    results, *after = layer(
        x.flip(0) if backwards else x,
        before if len(before) > 1 else before[0],
        [
            each
            for given in weights
            for each in (given.of_input, given.of_state, given.input_bias, given.state_bias)
        ],
        True,  # There are biases,
        1,  # and one layer,
        0.0,  # which drops nothing out,
        False,  # even in training.
        both,
        False,  # The batch comes second.
    )
    results = results.reshape(*results.shape[:2], len(weights), -1)
    return results.flip(0) if backwards else results, *after


def _with_scans(
    cell: _Cell,
    node: Node,
    x: torch.Tensor,
    weights: Sequence[_Direction],
    before: _Tensors,
    lengths: torch.Tensor | None,
) -> tuple[torch.Tensor, ...]:
    names = _names(cell, node)
    functions = list(_activations(node, [name for each in names for name in each]))
    bound = node.attribute("clip", 0.0)
    results, after = [], []
    for number, direction in enumerate(weights):
        options = _Options(
            tuple(functions[number * len(names[0]) :][: len(names[0])]),
            (lambda each: each.clamp(-bound, bound)) if bound else (lambda each: each),
            bool(node.attribute("linear_before_reset", 0)),
            bool(node.attribute("input_forget", 0)),
        )
        backwards = number == 1 or node.attribute("direction", "forward") == "reverse"
        step = functools.partial(cell.step, options)
        state = [each[number] for each in before]
        result, last = _scanned(step, x, direction, state, lengths, backwards=backwards)
        results.append(result)
        after.append(last)
    states = (torch.stack(each) for each in zip(*after, strict=True))
    return torch.stack(results, 2), *states


def _scanned(
    step: Callable[[torch.Tensor, _Direction, _Tensors], _Tensors],
    x: torch.Tensor,
    weights: _Direction,
    state: _Tensors,
    lengths: torch.Tensor | None,
    *,
    backwards: bool,
) -> tuple[torch.Tensor, _Tensors]:
    """The results [length, batch, size] in one direction, and the state after the last step."""
    order = _backwards(x.shape[0], lengths) if backwards else None
    inputs = x if order is None else _reordered(x, order)
    products = functional.linear(inputs, weights.of_input, weights.input_bias)
    read = (weights.of_state, weights.state_bias, weights.peepholes)
    goes_on = (
        [] if lengths is None else [torch.arange(x.shape[0])[:, None, None] < lengths[:, None]]
    )
    count = len(state)

    def turn(*operands: torch.Tensor) -> list[torch.Tensor]:
        before, (products, *rest) = operands[:count], operands[count:]
        own = _Direction(weights.of_input, rest[-3], weights.input_bias, *rest[-2:])
        after = step(products, own, before)
        shown = after[0]
        for is_step in rest[:-3]:
            after = [torch.where(is_step, new, old) for new, old in zip(after, before, strict=True)]
            shown = torch.where(is_step, shown, 0)
        return [*after, shown.clone()]

    # What is carried lies alike after each turn.
    start = [each.clone(memory_format=torch.contiguous_format) for each in state]
    *last, results = scan_op(turn, start, [products, *goes_on], read)
    return results if order is None else _reordered(results, order), last


def _backwards(length: int, lengths: torch.Tensor | None) -> torch.Tensor:
    """Which step comes at each place [length, batch or 1] from the end of a sequence to its start.

    The steps behind its end stay where they are.
    """
    steps = torch.arange(length)[:, None]
    if lengths is None:
        return steps.flip(0)
    return torch.where(steps < lengths, lengths - 1 - steps, steps)


def _reordered(x: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    return torch.gather(x, 0, order.to(torch.int64)[:, :, None].expand(x.shape))


lstm = _layer(_LSTM)
"""Of floats."""

PATTERNS: Mapping[str, Pattern] = {
    "GRU": _layer(_GRU),
    "LSTM": lstm,
    "RNN": _layer(_RNN),
}
