"""What embedding_bag is made of, as the Torch dialect has it, but no lowering for it."""

from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

_SUM, _MEAN, _MAX = range(3)


def embedding_bag(
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    per_sample_weights: torch.Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The rows of `weight` that `indices` names, reduced by bags that begin at `offsets`.

    Args and results are those of `torch.ops.aten.embedding_bag.padding_idx`, of which
    `torch.nn.functional.embedding_bag` returns the first result only. The others (the bag of each
    index, the size of each bag, and for the mode "max" the index that each element comes from) are
    for gradients, and have the sizes that PyTorch's have on a CPU.
    """
    rows, counts = _rows_of(weight, indices, per_sample_weights, padding_idx, mode == _MAX)
    bags = offsets.shape[0] - 1 if include_last_offset else offsets.shape[0]
    bag = _bag_of_each(indices, offsets, bags)
    sizes = _sizes(indices, offsets, bags, bag, counts)

    reduced = torch.zeros(bags, weight.shape[1], dtype=rows.dtype)
    places = bag.unsqueeze(1).expand(rows.shape)
    chosen = sizes
    if mode == _MAX:
        reduced = reduced.scatter_reduce(0, places, rows, "amax", include_self=False)
        chosen = _chosen(indices, rows, reduced, places)
        # A bag of nothing but padding.
        reduced = torch.where(sizes.unsqueeze(1) == 0, 0.0, reduced)
    else:
        reduced = reduced.scatter_add(0, places, rows)
        if mode == _MEAN:
            reduced = reduced / sizes.clamp(min=1).unsqueeze(1)
    if mode == _SUM and counts is None and _adds_at_once(weight, per_sample_weights):
        bag = bag[:0]
    bag, sizes, chosen = (each.to(offsets.dtype) for each in (bag, sizes, chosen))
    return reduced.to(weight.dtype), bag, sizes, chosen


def bags_of_one_length(
    input: torch.Tensor,  # noqa: A002 - PyTorch's name
    weight: torch.Tensor,
    offsets: torch.Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: torch.Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> torch.Tensor:
    """What `torch.nn.functional.embedding_bag` gives of a matrix, whose rows are bags.

    PyTorch says where each begins, so that the place that a row is added to has to be found, and
    counts them by a division, for which there must be more than one where that is dynamic.
    """
    is_matrix = not input.is_nested and input.dim() == weight.dim() == 2 and offsets is None
    has_its_weights = per_sample_weights is None or (
        mode == "sum" and per_sample_weights.shape == input.shape
    )
    if (
        not (is_matrix and has_its_weights and mode in ("sum", "mean", "max"))
        or max_norm is not None
        or scale_grad_by_freq
        or sparse
    ):
        return torch.nn.functional.embedding_bag(
            *(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse),
            *(per_sample_weights, include_last_offset, padding_idx),
        )
    is_max = mode == "max"
    rows, counts = _rows_of(weight, input, per_sample_weights, padding_idx, is_max)
    if is_max:
        reduced = rows.amax(1)
        if counts is not None:
            # A bag of nothing but padding.
            reduced = torch.where(counts.any(1, keepdim=True), reduced, 0.0)
    else:
        reduced = rows.sum(1)
        if mode == "mean":
            size = counts.sum(1, keepdim=True).clamp(min=1) if counts is not None else rows.shape[1]
            reduced = reduced / size
    return reduced.to(weight.dtype)


def _rows_of(
    weight: torch.Tensor,
    indices: torch.Tensor,
    per_sample_weights: torch.Tensor | None,
    padding_idx: int | None,
    is_max: bool,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The rows to reduce, one for each index, and which indices count; None: all do.

    Rows are as wide as they are reduced. Those of padding change nothing.
    """
    wide = torch.float64 if weight.dtype == torch.float64 else torch.float32
    rows = torch.nn.functional.embedding(indices, weight).to(wide)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.to(wide).unsqueeze(-1)
    if padding_idx is None:
        return rows, None
    counts = indices != padding_idx % weight.shape[0]
    return torch.where(counts.unsqueeze(-1), rows, float("-inf") if is_max else 0.0), counts


def _adds_at_once(weight: torch.Tensor, per_sample_weights: torch.Tensor | None) -> bool:
    """Whether PyTorch reduces bags without asking which one each index is in."""
    return (
        weight.dtype in (torch.float32, torch.float16)
        and weight.stride(1) == 1
        and (per_sample_weights is None or per_sample_weights.stride(0) == 1)
    )


def _bag_of_each(indices: torch.Tensor, offsets: torch.Tensor, bags: int) -> torch.Tensor:
    """The bag that each index is in."""
    # A one where a bag begins, as many where empty bags begin too; their running sum counts bags.
    begins = torch.zeros(indices.shape[0] + 1, dtype=torch.int64)
    begins = begins.scatter_add(0, offsets[:bags].to(torch.int64), _ones(bags))
    return begins.cumsum(0)[: indices.shape[0]] - 1


def _sizes(
    indices: torch.Tensor,
    offsets: torch.Tensor,
    bags: int,
    bag: torch.Tensor,
    counts: torch.Tensor | None,
) -> torch.Tensor:
    """How many indices each bag has, of those that count; None: all do."""
    if counts is None:
        ends = torch.cat([offsets[1:bags], offsets.new_full((1,), indices.shape[0])])
        return ends - offsets[:bags]
    counted = torch.where(counts, _ones(indices.shape[0]), 0)
    return torch.zeros(bags, dtype=torch.int64).scatter_add(0, bag, counted)


def _chosen(
    indices: torch.Tensor, rows: torch.Tensor, reduced: torch.Tensor, places: torch.Tensor
) -> torch.Tensor:
    """The index that each greatest element comes from, the first of several; any of no indices."""
    last = indices.shape[0] - 1
    if last < 0:
        return torch.zeros(reduced.shape, dtype=indices.dtype)
    numbers = torch.arange(last + 1).unsqueeze(1)
    firsts = torch.where(rows == reduced.gather(0, places), numbers, last)
    start = torch.full(reduced.shape, last, dtype=torch.int64)
    return indices[start.scatter_reduce(0, places, firsts, "amin")]


def _ones(count: int) -> torch.Tensor:
    return torch.ones(count, dtype=torch.int64)


def _with_gradients(*arguments: Any, **options: Any) -> tuple[torch.Tensor, ...]:
    """What a step of training has that was traced: no padding is -1 there."""
    names = [argument.name for argument in aten._embedding_bag.default._schema.arguments]
    given = {**dict(zip(names, arguments, strict=False)), **options}
    padding_idx = given.pop("padding_idx", -1)
    return embedding_bag(**given, padding_idx=None if padding_idx < 0 else padding_idx)


def _backward(
    grad: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    offset2bag: torch.Tensor,
    bag_size: torch.Tensor,
    maximum_indices: torch.Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: torch.Tensor | None,
    padding_idx: int = -1,
) -> Any:
    """The gradient of the weight, [num_weights, size], of that of the bags, [bags, size]."""
    # PyTorch divides by how often other indices come, but for the first ones.
    if sparse or scale_grad_by_freq:
        return NotImplemented
    bags, size = grad.shape
    bag = _bag_of_each(indices, offsets, bags)
    counts = None if padding_idx < 0 else indices != padding_idx
    sizes = _sizes(indices, offsets, bags, bag, counts)
    nothing = torch.zeros(num_weights, size, dtype=grad.dtype)
    if mode == _MAX:
        grad = torch.where(sizes.unsqueeze(1) == 0, 0.0, grad)
        return nothing.scatter_add(0, maximum_indices.to(torch.int64), grad)
    if mode == _MEAN:
        grad = grad / sizes.clamp(min=1).unsqueeze(1)
    share = grad[bag]
    if per_sample_weights is not None:
        share = share * per_sample_weights.unsqueeze(1)
    if counts is not None:
        share = torch.where(counts.unsqueeze(1), share, 0.0)
    return nothing.index_add(0, indices, share)


def _per_sample_weights_backward(
    grad: torch.Tensor,
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    offset2bag: torch.Tensor,
    mode: int,
    padding_idx: int = -1,
) -> torch.Tensor:
    """The gradient of what each row is multiplied with."""
    bag = _bag_of_each(indices, offsets, grad.shape[0])
    found = (grad[bag] * torch.nn.functional.embedding(indices, weight)).sum(1)
    return found if padding_idx < 0 else torch.where(indices == padding_idx, 0.0, found)


RULES: Rules = {
    aten.embedding_bag.padding_idx: embedding_bag,
    aten._embedding_bag.default: _with_gradients,
    aten._embedding_bag_backward.default: _backward,
    aten._embedding_bag_forward_only.default: _with_gradients,
    aten._embedding_bag_per_sample_weights_backward.default: _per_sample_weights_backward,
}
