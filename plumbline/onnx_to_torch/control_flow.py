"""Branches and loops of ONNX.

What is known as the program is exported is decided there: a branch, and the turns of a short loop.
Others are PyTorch's `cond`, `scan` and `while_loop`, whose bodies are functions of tensors, and
read no others than those that they are handed.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._higher_order_ops.cond import cond_op
from torch._higher_order_ops.scan import scan_op
from torch._higher_order_ops.while_loop import while_loop_op
from torch.func import functional_call

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.graph import Graph, Values
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import (
    Dequantized,
    Numbers,
    Unsigned,
    Value,
    integer,
    numbers,
    tensor,
    tensors,
)

_MOST_UNROLLED = 128
"""How many nodes a loop may become; with more, it stays one, unless it carries sequences."""

_ENDLESS = 2**63 - 1

_Tensors = Sequence[torch.Tensor]


class _Body(torch.nn.Module):
    """A graph as a function of its inputs, and of the tensors that it reads beside them."""

    def __init__(self, graph: Graph, around: Values) -> None:
        super().__init__()
        self.graph = graph
        self._around = around
        self._read = {name: around[name] for name in graph.names if name in around}
        buffers = dict(self.named_buffers())
        self._buffer_names = [*buffers]
        read = [*_within(self._read), *buffers.values()]
        self.operands = tuple({id(each): each for each in read}.values())
        """The tensors that it reads, each of them once."""
        numbered = {id(each): number for number, each in enumerate(self.operands)}
        self._places = [numbered[id(each)] for each in read]

    @property
    def reads_sequences(self) -> bool:
        """Whether any of what it reads is one."""
        return any(isinstance(value, list) for value in self._read.values())

    def run(self, inputs: Sequence[Value], operands: _Tensors) -> list[Value]:
        """Its outputs, with other tensors in the place of its operands."""
        given = (operands[place] for place in self._places)
        read = {name: _replaced(value, given) for name, value in self._read.items()}
        held = dict(zip(self._buffer_names, given, strict=True))
        named = dict(zip(self.graph.input_names, inputs, strict=True))
        values = {**self._around, **read, **named}
        return functional_call(self, held, (values,))  # type: ignore[no-any-return]

    def forward(self, values: Values) -> list[Value]:
        """Its outputs, of all values that it reads."""
        return self.graph.run(values)


def _within(values: Mapping[str, Value]) -> list[torch.Tensor]:
    """The tensors that values hold."""
    found: list[torch.Tensor] = []

    def visit(value: Value) -> None:
        if isinstance(value, list):
            for each in value:
                visit(each)
        elif isinstance(value, torch.Tensor | Dequantized | Unsigned):
            found.append(tensor(value))
        elif value is not None and value.constant is not None:
            found.append(value.constant)

    for value in values.values():
        visit(value)
    return found


def _replaced(value: Value, given: Iterator[torch.Tensor]) -> Value:
    """A value with the next of the given tensors for each that it holds."""
    if isinstance(value, list):
        return [_replaced(each, given) for each in value]
    if isinstance(value, torch.Tensor | Dequantized | Unsigned):
        return next(given)
    if value is None or value.constant is None:
        return value
    return value.held_by(next(given))


def _truth(value: Value) -> bool | None:
    """Whether a condition holds, if that is known."""
    if value is None:
        return True
    if isinstance(value, Numbers) and value.is_known:
        return all(map(bool, value.elements.flat))
    return None


def _made(values: Sequence[Value]) -> list[torch.Tensor]:
    """Results of a body, which are tensors of their own that lie in order."""
    return [each.clone(memory_format=torch.contiguous_format) for each in tensors(values)]


def _if(node: Node, graphs: Mapping[str, Graph], around: Values, condition: Value) -> Any:
    known = _truth(condition)
    if known is not None:
        return tuple(graphs["then_branch" if known else "else_branch"].run(around))
    bodies = [_Body(graphs[name], around) for name in ("then_branch", "else_branch")]
    # What both read is handed to them once.
    operands = {id(each): each for body in bodies for each in body.operands}

    def branch(body: _Body) -> Callable[..., tuple[torch.Tensor, ...]]:
        def run(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
            by_id = dict(zip(operands, given, strict=True))
            return tuple(_made(body.run([], [by_id[id(each)] for each in body.operands])))

        return run

    holds, (then, otherwise) = tensor(condition).reshape(()), map(branch, bodies)
    return tuple(cond_op(holds, then, otherwise, tuple(operands.values())))


def _loop(
    node: Node,
    graphs: Mapping[str, Graph],
    around: Values,
    trips: Value = None,
    condition: Value = None,
    *initial: Value,
) -> tuple[Value, ...]:
    body = _Body(graphs["body"], around)
    count = None if trips is None else _count(trips)
    unrolled = _unrolled(body, count, condition, initial)
    if unrolled is not None:
        return tuple(unrolled)
    if any(isinstance(value, list) for value in initial):
        raise Unsupported("it makes a sequence in turns that are not known as it is exported")
    carried = _made(initial)
    first = _turn(body, torch.zeros((), dtype=torch.int64), carried, body.operands)
    _refuse_growth(carried, tensors(first[1 : 1 + len(carried)]))
    ends_early = condition is not None and not (_truth(condition) and _truth(first[0]))
    if count is not None and not isinstance(count, torch.Tensor) and not ends_early:
        return tuple(_counted(body, count, carried))
    return tuple(_while(body, count, condition, carried, tensors(first[1 + len(carried) :])))


def _count(trips: Value) -> Any:
    """How many turns there are at most; a number of a tensor is none before it has been read."""
    return integer(trips) if isinstance(trips, Numbers) else tensor(trips).reshape(())


def _turn(body: _Body, number: Value, carried: Sequence[Value], operands: _Tensors) -> list[Value]:
    """The condition after a turn, what is carried on, and what else it gives."""
    return body.run([number, numbers(True, torch.bool), *carried], operands)


def _refuse_growth(before: _Tensors, after: _Tensors) -> None:
    for one, other in zip(before, after, strict=True):
        sizes = [[*one.shape], [*other.shape]]
        if len(sizes[0]) != len(sizes[1]) or any(
            mine != theirs
            for mine, theirs in zip(*sizes, strict=True)
            if isinstance(mine, int) and isinstance(theirs, int)
        ):
            raise Unsupported(
                f"it carries a tensor of shape {sizes[0]} that has shape {sizes[1]} after a turn"
            )


def _unrolled(
    body: _Body, count: Any, condition: Value, initial: Sequence[Value]
) -> list[Value] | None:
    """What a loop gives, turn by turn, if these are known and few; else None."""
    of_sequences = body.reads_sequences or any(isinstance(value, list) for value in initial)
    most = _ENDLESS if of_sequences else _MOST_UNROLLED // max(len(body.graph.names), 1)
    if count is not None and not (isinstance(count, int) and count <= most):
        return None
    carried, others = [*initial], []
    goes_on = _truth(condition)
    number = 0
    while goes_on and number < (most if count is None else count):
        after = _turn(body, numbers(number, torch.int64), carried, body.operands)
        carried = after[1 : 1 + len(carried)]
        others.append(after[1 + len(carried) :])
        # The condition is there, but does not count, where the loop begins without one.
        goes_on = True if condition is None else _truth(after[0])
        number += 1
    is_whole = goes_on is False or number == count
    if not is_whole:
        return None
    if not others:
        nothing = _turn(body, numbers(0, torch.int64), carried, body.operands)
        stacks = [tensor(each).unsqueeze(0)[:0] for each in nothing[1 + len(carried) :]]
    else:
        stacks = [torch.stack(tensors(each)) for each in zip(*others, strict=True)]
    return [*carried, *stacks]


def _counted(body: _Body, count: Any, carried: _Tensors) -> _Tensors:
    """What a loop gives that ends after so many turns, and not before."""

    def turn(*operands: torch.Tensor) -> list[torch.Tensor]:
        before, (number, *read) = operands[: len(carried)], operands[len(carried) :]
        return _made(_turn(body, number, before, read)[1:])

    return scan_op(turn, [*carried], [torch.arange(count)], body.operands)  # type: ignore[no-any-return]


def _while(
    body: _Body, count: Any, condition: Value, carried: _Tensors, shown: _Tensors
) -> _Tensors:
    """What a loop gives that ends by its condition; `shown` is like what a turn adds to results.

    Raises:
      Unsupported: nothing says how large the results may become.
    """
    if shown and count is None:
        raise Unsupported("it collects results of turns of which there may be any number")
    is_tensor = isinstance(count, torch.Tensor)
    most = torch.tensor(_ENDLESS) if count is None else tensor(_as_value(count))
    rows = [each.new_zeros(count.item() if is_tensor else count, *each.shape) for each in shown]
    begins = torch.tensor(True) if condition is None else tensor(condition).reshape(()).clone()
    start: Any = (torch.zeros((), dtype=torch.int64), begins, *carried, *rows)

    def goes_on(number: torch.Tensor, holds: torch.Tensor, *operands: torch.Tensor) -> torch.Tensor:
        return holds & (number < operands[len(start) - 2])

    def turn(
        number: torch.Tensor, _: torch.Tensor, *operands: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        before, rest = operands[: len(carried)], operands[len(carried) :]
        stacks, read = rest[: len(rows)], rest[len(rows) + 1 :]
        holds, *after = tensors(_turn(body, number, before, read))
        if condition is None:
            holds = torch.tensor(True)
        filled = [
            stack.index_copy(0, number.reshape(1), row.unsqueeze(0))
            for stack, row in zip(stacks, after[len(carried) :], strict=True)
        ]
        made = _made([holds.reshape(()), *after[: len(carried)], *filled])
        return number + 1, *made

    read: Any = (most, *body.operands)
    number, _, *results = while_loop_op(goes_on, turn, start, read)
    last, stacks = results[: len(carried)], results[len(carried) :]
    turns = number.item() if rows else 0
    return [*last, *(stack[:turns] for stack in stacks)]


def _as_value(count: Any) -> Value:
    return count if isinstance(count, torch.Tensor) else numbers(count, torch.int64)


def _scan(
    node: Node, graphs: Mapping[str, Graph], around: Values, *inputs: Value
) -> tuple[torch.Tensor, ...]:
    body = _Body(graphs["body"], around)
    if node.opset >= 9:
        return tuple(_scanned(node, body, tensors(inputs)))
    # Formerly, of each sequence of a batch, which had directions under another name.
    lengths, *batches = inputs
    if lengths is not None:
        raise Unsupported("the sequences that it scans have lengths of their own")
    alone = [each.unbind() for each in tensors(batches)]
    made = [_scanned(node, body, each) for each in zip(*alone, strict=True)]
    return tuple(torch.stack(each) for each in zip(*made, strict=True))


def _scanned(node: Node, body: _Body, inputs: _Tensors) -> _Tensors:
    """The states after the last step, and what all steps give."""
    scanned = node.required("num_scan_inputs")
    count = len(inputs) - scanned
    shown = len(body.graph.output_names) - count

    def of_each(name: str, number: int) -> list[int]:
        return node.attribute(name, [0] * number)

    directions = node.attribute("directions", of_each("scan_input_directions", scanned))
    ordered = functools.partial(_ordered, to_front=True)
    xs = map(ordered, inputs[count:], of_each("scan_input_axes", scanned), directions)

    def turn(*operands: torch.Tensor) -> list[torch.Tensor]:
        return _made(body.run(operands[: len(inputs)], operands[len(inputs) :]))

    results = scan_op(turn, _made(inputs[:count]), [*xs], body.operands)
    stacks = map(
        functools.partial(_ordered, to_front=False),
        results[count:],
        of_each("scan_output_axes", shown),
        of_each("scan_output_directions", shown),
    )
    return [*results[:count], *stacks]


def _ordered(x: torch.Tensor, axis: int, backwards: int, *, to_front: bool) -> torch.Tensor:
    """A tensor with the dimension of its steps at the front, or from there where it is to be."""
    x = x.movedim(axis, 0) if to_front else x
    x = x.flip(0) if backwards else x
    return x if to_front else x.movedim(0, axis)


PATTERNS: Mapping[str, Pattern] = {"If": _if, "Loop": _loop, "Scan": _scan}
