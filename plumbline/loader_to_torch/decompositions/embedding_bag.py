"""What embedding_bag is made of, as the Torch dialect has it, but no lowering for it."""

import torch

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
    for gradients: the last is empty here.
    """
    rows = torch.nn.functional.embedding(indices, weight)
    wide = torch.float64 if weight.dtype == torch.float64 else torch.float32
    rows = rows.to(wide)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.to(wide).unsqueeze(1)
    bags = offsets.shape[0] - 1 if include_last_offset else offsets.shape[0]

    # A one where a bag begins, as many where empty bags begin too; their running sum counts bags.
    begins = torch.zeros(indices.shape[0] + 1, dtype=torch.int64)
    begins = begins.scatter_add(0, offsets[:bags].to(torch.int64), _ones(bags))
    bag = begins.cumsum(0)[: indices.shape[0]] - 1

    if padding_idx is None:
        ends = torch.cat([offsets[1:bags], offsets.new_full((1,), indices.shape[0])])
        sizes = ends - offsets[:bags]
    else:
        is_padding = indices == padding_idx % weight.shape[0]
        counted = torch.where(is_padding, 0, _ones(indices.shape[0]))
        neutral = float("-inf") if mode == _MAX else 0.0
        rows = torch.where(is_padding.unsqueeze(1), neutral, rows)
        sizes = torch.zeros(bags, dtype=torch.int64).scatter_add(0, bag, counted)

    reduced = torch.zeros(bags, weight.shape[1], dtype=wide)
    places = bag.unsqueeze(1).expand(rows.shape)
    if mode == _MAX:
        reduced = reduced.scatter_reduce(0, places, rows, "amax", include_self=False)
        # A bag of nothing but padding.
        reduced = torch.where(sizes.unsqueeze(1) == 0, 0.0, reduced)
    else:
        reduced = reduced.scatter_add(0, places, rows)
        if mode == _MEAN:
            reduced = reduced / sizes.clamp(min=1).unsqueeze(1)
    empty = torch.zeros(0, dtype=torch.int64)
    return reduced.to(weight.dtype), bag.to(indices.dtype), sizes.to(indices.dtype), empty


def _ones(count: int) -> torch.Tensor:
    return torch.ones(count, dtype=torch.int64)
