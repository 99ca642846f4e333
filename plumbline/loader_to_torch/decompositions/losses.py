"""Losses that PyTorch has an op of its own for."""

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch._decomp.decompositions import Reduction
from torch._higher_order_ops.while_loop import while_loop_op
from torch.nn.modules import linear_cross_entropy

from plumbline.loader_to_torch.decompositions.rule import Rules, along

aten = torch.ops.aten

_Lengths = torch.Tensor | Sequence[int]


# -- connectionist temporal classification ---------------------------------------------------------


def _ctc_loss(
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    input_lengths: _Lengths,
    target_lengths: _Lengths,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """How improbable targets are, and the logarithms of what was computed on the way.

    By Graves et al., "Connectionist temporal classification" (2006), 4.1, in a loop over time.

    Args:
      log_probs: [times, batch, classes].
      targets: [batch, most], or one after another.
      input_lengths: how many times of each count.
      target_lengths: how long each target is.
      blank: the class that stands for none.
      zero_infinity: something that only the gradient asks for.
    """
    times, batch, _ = log_probs.shape
    labels, lengths = _in_rows(targets, target_lengths)
    path, skips = _path(labels, blank)
    states = path.shape[1]
    first = torch.arange(states) < torch.where(lengths == 0, 1, 2).unsqueeze(-1)
    start = torch.where(first, log_probs[0].gather(-1, path), -math.inf)
    every = torch.full((batch, times, states), -math.inf, dtype=log_probs.dtype)
    every = torch.where(_is_time(times, torch.zeros((), dtype=torch.int64)), _at(start), every)

    def turn(
        time: torch.Tensor,
        alpha: torch.Tensor,
        every: torch.Tensor,
        log_probs: torch.Tensor,
        path: torch.Tensor,
        skips: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        step, skip = (F.pad(alpha, (by, 0), value=-math.inf)[:, :states] for by in (1, 2))
        ways = _log_sum([alpha, step, torch.where(skips, skip, -math.inf)])
        emitted = log_probs.index_select(0, time.reshape(1)).squeeze(0).gather(-1, path)
        alpha = ways + emitted
        return time + 1, alpha, torch.where(_is_time(times, time), _at(alpha), every)

    carried = (torch.ones((), dtype=torch.int64), start, every)
    *_, every = while_loop_op(
        lambda time, *_: time < times,
        turn,
        carried,  # type: ignore[arg-type]
        (log_probs, path, skips),
    )
    ends = _as_tensor(input_lengths)
    last = torch.clamp(ends - 1, min=0).reshape(batch, 1, 1).expand(batch, 1, states)
    last_alpha = every.gather(1, last).squeeze(1)
    final = 2 * lengths.unsqueeze(-1)
    label = torch.where(final > 0, last_alpha.gather(-1, torch.clamp(final - 1, min=0)), -math.inf)
    loss = -_log_sum([last_alpha.gather(-1, final), label]).squeeze(-1)
    of_nothing = torch.where(lengths == 0, 0.0, math.inf).to(loss.dtype)
    return torch.where(ends == 0, of_nothing, loss), every


def _ctc_loss_backward(
    grad: torch.Tensor,
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    input_lengths: _Lengths,
    target_lengths: _Lengths,
    neg_log_likelihood: torch.Tensor,
    log_alpha: torch.Tensor,
    blank: int,
    zero_infinity: bool = False,
) -> torch.Tensor:
    """The gradient of `log_probs`, from that of the loss, [batch].

    Of each class and time it is how probable that is, but for how probable it is if the targets
    come: by what is known of the times up to it, `log_alpha`, and what follows, by a loop back.
    """
    times, batch, _ = log_probs.shape
    labels, lengths = _in_rows(targets, target_lengths)
    path, skips = _path(labels, blank)
    states = path.shape[1]
    ends = _as_tensor(input_lengths)
    places = torch.arange(states)
    final = 2 * lengths.unsqueeze(-1)
    is_last = (places == final) | (places == final - 1)
    # Whether the state two on may follow.
    leaps = F.pad(skips, (0, 2), value=False)[:, 2:]
    nothing = torch.full((batch, states), -math.inf, dtype=log_probs.dtype)

    def turn(
        time: torch.Tensor,
        beta: torch.Tensor,
        every: torch.Tensor,
        log_probs: torch.Tensor,
        path: torch.Tensor,
        leaps: torch.Tensor,
        is_last: torch.Tensor,
        ends: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        step, leap = (F.pad(beta, (0, by), value=-math.inf)[:, by:] for by in (1, 2))
        ways = _log_sum([beta, step, torch.where(leaps, leap, -math.inf)])
        # Before its last time a sequence has not begun, on the way back.
        begun = torch.where(is_last, 0.0, -math.inf).to(beta.dtype)
        ways = torch.where((ends - 1 == time).unsqueeze(-1), begun, ways)
        emitted = log_probs.index_select(0, time.reshape(1)).squeeze(0).gather(-1, path)
        beta = ways + emitted
        return time - 1, beta, torch.where(_is_time(times, time), _at(ways), every)

    carried = (
        torch.full((), times - 1, dtype=torch.int64),
        nothing,
        _at(nothing).expand(batch, times, states).clone(),
    )
    *_, after = while_loop_op(
        lambda time, *_: time >= 0,
        turn,
        carried,  # type: ignore[arg-type]
        (log_probs, path, leaps, is_last, ends),
    )
    given = torch.exp(log_alpha + after + neg_log_likelihood.reshape(batch, 1, 1))
    probs = torch.exp(log_probs).transpose(0, 1)
    met = torch.zeros_like(probs).scatter_add(2, _at(path).expand(given.shape), given)
    # Of what is impossible the slope is no number, of classes that are no targets, too.
    met = met + (neg_log_likelihood - neg_log_likelihood).reshape(batch, 1, 1)
    found = (probs - met) * grad.reshape(batch, 1, 1)
    counts = torch.arange(times) < ends.unsqueeze(-1)
    if zero_infinity:
        counts = counts & (neg_log_likelihood != math.inf).unsqueeze(-1)
    return torch.where(counts.unsqueeze(-1), found, 0.0).transpose(0, 1).contiguous()


def _path(labels: torch.Tensor, blank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The classes [batch, states] that make labels, and which of them may follow the last but one.

    They are the labels with blanks before, between and after them.
    """
    batch, most = labels.shape
    apart = torch.stack([torch.full_like(labels, blank), labels], -1).reshape(batch, 2 * most)
    path = F.pad(apart, (0, 1), value=blank)
    # Two labels that differ need no blank between them.
    return path, (path != blank) & (path != F.pad(path, (2, 0), value=blank)[:, : 2 * most + 1])


def _in_rows(targets: torch.Tensor, lengths: _Lengths) -> tuple[torch.Tensor, torch.Tensor]:
    """Targets [batch, most], 0 beyond the end of each, and their lengths, both of int64.

    Of targets one after another whose lengths are values, one may have all that there are.
    """
    counts = _as_tensor(lengths)
    rows = targets.to(torch.int64)
    most = rows.shape[-1] if isinstance(lengths, torch.Tensor) else max(lengths, default=0)
    numbers = torch.arange(most)
    if targets.dim() == 2:
        rows = rows[:, :most]
    elif targets.shape[0] == 0:
        rows = rows.new_zeros((counts.shape[0], most))
    else:
        starts = torch.cumsum(counts, 0) - counts
        rows = rows[torch.clamp(starts.unsqueeze(-1) + numbers, max=targets.shape[0] - 1)]
    # What pads a row may be no class.
    return torch.where(numbers < counts.unsqueeze(-1), rows, 0), counts


def _as_tensor(lengths: _Lengths) -> torch.Tensor:
    if isinstance(lengths, torch.Tensor):
        return lengths.to(torch.int64)
    # An export takes no constants that a rule makes of lists.
    return torch.cat([torch.full((1,), length, dtype=torch.int64) for length in lengths])


def _is_time(times: int, time: torch.Tensor) -> torch.Tensor:
    return (torch.arange(times) == time).unsqueeze(-1)


def _at(alpha: torch.Tensor) -> torch.Tensor:
    return alpha.unsqueeze(1)


def _log_sum(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """The logarithm of the sum of what these are the logarithms of."""
    most = torch.stack(list(parts)).amax(0)
    most = torch.where(most == -math.inf, 0.0, most)
    terms = [torch.exp(part - most) for part in parts]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return torch.log(total) + most


# -- a linear layer with cross entropy -------------------------------------------------------------


def _linear_cross_entropy(
    operand: torch.Tensor,
    linear_weight: torch.Tensor,
    target: torch.Tensor,
    linear_bias: torch.Tensor | None,
    weight: torch.Tensor | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
    *options: Any,
) -> tuple[torch.Tensor, ...]:
    """The loss, in one go; PyTorch takes it in chunks, and computes gradients on the way."""
    *_, for_operand, for_weight, for_bias = options
    if for_operand or for_weight or for_bias:
        raise NotImplementedError("linear_cross_entropy with gradients that its forward computes")
    loss = F.cross_entropy(
        F.linear(operand, linear_weight, linear_bias),
        target,
        weight,
        ignore_index=ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
    return loss, *(operand.new_empty(shape) for shape in ((0, 0), (0, 0), (0,)))


def _linear_cross_entropy_of_each(
    operand: torch.Tensor,
    linear_weight: torch.Tensor,
    target: torch.Tensor,
    linear_bias: torch.Tensor | None,
    weight: torch.Tensor | None,
    ignore_index: int,
    *options: Any,
) -> torch.Tensor:
    logits = F.linear(operand, linear_weight, linear_bias)
    return F.cross_entropy(logits, target, weight, ignore_index=ignore_index, reduction="none")


# Importing their module has defined them.
assert linear_cross_entropy
_chunked = torch.ops.torch_nn._linear_cross_entropy_batch_chunked
_chunked_no_reduction = torch.ops.torch_nn._linear_cross_entropy_batch_chunked_no_reduction

# -- negative log likelihoods ----------------------------------------------------------------------


def _nll_loss_backward(
    grad: torch.Tensor,
    log_probs: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: torch.Tensor,
) -> torch.Tensor:
    """The gradient of log probabilities: that of the target's, and 0 for all others.

    Each element is compared with the target, where what follows reads it: PyTorch's rule scatters
    into zeros, which takes memory and is read again.

    Args:
      grad: of the loss, of one number or of one for each target.
      log_probs: [batch, classes, ...], or of one row.
      target: the class of each place: [batch, ...], or of rank 0.
      weight: of each class.
      reduction: 0, 1 or 2: none, the mean of targets, or their sum.
      ignore_index: the target that does not count.
      total_weight: the weights of all targets.
    """
    axis = min(log_probs.ndim - 1, 1)
    if reduction == Reduction.MEAN.value:
        grad = grad / total_weight
    elif log_probs.ndim > grad.ndim > 0:
        grad = grad.unsqueeze(axis)
    if weight is not None:
        grad = grad * along(weight, log_probs, axis)
    # In 32 bits, of which vectors hold as many as of floats.
    classes = along(torch.arange(log_probs.shape[axis], dtype=torch.int32), log_probs, axis)
    # That of one row may be of rank 0, or the first one of several.
    place = target.unsqueeze(axis) if axis else target.reshape(-1)[:1]
    counts = (place.to(torch.int32) == classes) & (place != ignore_index)
    return torch.where(counts, -grad, 0.0).to(log_probs.dtype)


# -- margins between classes -----------------------------------------------------------------------


def _labels(chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Classes, or 0, and which are labels: those before the first -1 of a row."""
    # As numbers, whose running sum stays 0 before the first -1.
    is_label = (chosen == -1).to(torch.int64).cumsum(1) == 0
    return torch.where(is_label, chosen, 0), is_label


def multilabel_margin_loss(
    scores: torch.Tensor, labels: torch.Tensor, reduction: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """How far scores of other classes come within 1 of those of each label, and where labels are.

    PyTorch's own rule takes what comes after the first -1 of a row for labels of class 0.

    Args:
      scores: [batch, classes], or of one row.
      labels: of that shape: classes, as many as come before the first -1 of a row.
      reduction: 0, 1 or 2: none, the mean of rows, or their sum.
    """
    rows = torch.atleast_2d(scores)  # type: ignore[no-untyped-call]
    places, is_label = _labels(labels.reshape(rows.shape))
    of_labels = torch.gather(rows, 1, places)
    classes = torch.arange(rows.shape[1])
    is_target = ((places.unsqueeze(2) == classes) & is_label.unsqueeze(2)).any(1)
    # [batch, labels, classes]
    # Of which the slope is 0 at 0, as that of PyTorch's loss.
    excess = torch.relu(1 - of_labels.unsqueeze(2) + rows.unsqueeze(1))
    counts = is_label.unsqueeze(2) & ~is_target.unsqueeze(1)
    loss = torch.where(counts, excess, 0.0).sum([1, 2]) / rows.shape[1]
    if reduction == Reduction.MEAN.value:
        loss = loss.mean()
    elif reduction == Reduction.SUM.value:
        loss = loss.sum()
    else:
        loss = loss.reshape(scores.shape[:-1])
    return loss, is_target.to(scores.dtype).reshape(labels.shape)


def _multilabel_margin_loss_backward(
    grad: torch.Tensor,
    scores: torch.Tensor,
    labels: torch.Tensor,
    reduction: int,
    is_target: torch.Tensor,
) -> torch.Tensor:
    """The gradient of scores: what comes too near a label falls, and the label rises by as much."""
    rows = torch.atleast_2d(scores)  # type: ignore[no-untyped-call]
    places, is_label = _labels(labels.reshape(rows.shape))
    excess = 1 - torch.gather(rows, 1, places).unsqueeze(2) + rows.unsqueeze(1)
    others = is_target.reshape(rows.shape) == 0
    # [batch, labels, classes]
    near = (is_label.unsqueeze(2) & others.unsqueeze(1) & (excess > 0)).to(rows.dtype)
    slope = near.sum(1).scatter_add(1, places, -near.sum(2)) / rows.shape[1]
    if reduction == Reduction.MEAN.value:
        slope = slope / rows.shape[0]
    result: torch.Tensor = (slope * grad.reshape(-1, 1)).reshape(scores.shape)
    return result


def _multi_margin_loss_backward(
    grad: torch.Tensor,
    scores: torch.Tensor,
    target: torch.Tensor,
    p: int,
    margin: float,
    weight: torch.Tensor | None = None,
    reduction: int = Reduction.MEAN.value,
) -> torch.Tensor:
    """The gradient of scores: what comes within `margin` of the target's falls, and that rises.

    Args:
      grad: of the loss, of one number or of one for each row.
      scores: [batch, classes], or of one row.
      target: the class of each row.
      p: the power of what is too near: 1 or 2.
      margin: how far from the target's the others are to stay.
      weight: of each class.
      reduction: 0, 1 or 2: none, the mean of rows, or their sum.
    """
    rows = torch.atleast_2d(scores)  # type: ignore[no-untyped-call]
    place = target.reshape(-1, 1)
    excess = margin - rows.gather(1, place) + rows
    counts = (excess > 0) & (torch.arange(rows.shape[1]) != place)
    near = torch.where(counts, excess if p == 2 else 1.0, 0.0).to(rows.dtype)
    slope = p * near.scatter_add(1, place, -near.sum(1, keepdim=True)) / rows.shape[1]
    if weight is not None:
        slope = slope * weight[place]
    if reduction == Reduction.MEAN.value:
        slope = slope / rows.shape[0]
    result: torch.Tensor = (slope * grad.reshape(-1, 1)).reshape(scores.shape)
    return result


def _soft_margin_loss_backward(
    grad: torch.Tensor, scores: torch.Tensor, target: torch.Tensor, reduction: int
) -> torch.Tensor:
    """The gradient of log(1 + exp(-target * scores)).

    Of the two ways to write it the one that keeps its digits where it is small; PyTorch's rule has
    sigmoid(target * scores) - 1.
    """
    slope = -target * torch.sigmoid(-target * scores) * grad
    return slope / scores.numel() if reduction == Reduction.MEAN.value else slope


RULES: Rules = {
    aten.multi_margin_loss_backward.default: _multi_margin_loss_backward,
    aten.multilabel_margin_loss_backward.default: _multilabel_margin_loss_backward,
    aten.multilabel_margin_loss_forward.default: multilabel_margin_loss,
    aten.nll_loss_backward.default: _nll_loss_backward,
    aten.nll_loss2d_backward.default: _nll_loss_backward,
    aten.soft_margin_loss_backward.default: _soft_margin_loss_backward,
    _chunked.default: _linear_cross_entropy,
    _chunked_no_reduction.default: _linear_cross_entropy_of_each,
    aten._ctc_loss.default: _ctc_loss,
    aten._ctc_loss.Tensor: _ctc_loss,
    aten._ctc_loss_backward.default: _ctc_loss_backward,
    aten._ctc_loss_backward.Tensor: _ctc_loss_backward,
}
