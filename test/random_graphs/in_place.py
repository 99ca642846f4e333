"""The lines that write into a copy of a value, or into a part of it."""

from test.random_graphs.drawing import DTYPES, Drawing

_PARTS = (
    "y",
    "y[1:]",
    "y[..., 1:]",
    "y[..., ::2]",
    "y[0]",
    "y[-1:]",
    "y[..., -1]",
    "y[:, 1:]",
    "y[:, 0]",
    "y.mT",
    "y.select({a}, 0)",
    "y.narrow({a}, 0, 1)",
    "y.diagonal()",
    "y.view(-1)[1:]",
    "y.view(-1)[::3]",
    "y.transpose({a}, {b})[1:]",
    "y.chunk(2, {a})[0]",
    "y.select({a}, -1)",
    "y[1:][..., 1:]",
    "y.unsqueeze(0)[..., -2:]",
    "y.flatten(0, 1)[1:]",
)
_WRITES = (
    "z.add_(1)",
    "z.mul_(2)",
    "z.fill_(3)",
    "z.zero_()",
    "z.neg_()",
    "z.clamp_(0, 2)",
    "z.relu_()",
    "z.add_(z)",
    "z.add_(z.sum())",
    "z.sub_(z.flip(0))",
    "z.copy_(z.flip(-1))",
    "z.copy_(z[..., :1].clone())",
    "z.copy_(z.cumsum(-1))",
    "z.masked_fill_(z > 1, 2)",
    "z.index_fill_(-1, torch.tensor([0]), 2)",
    "z.__setitem__(0, 5)",
    "z.__setitem__((..., -1), z[..., 0].clone())",
    "z.__setitem__(z < 0, 1)",
    "z.__setitem__(torch.tensor([0, -1]), 4)",
    "z.index_add_(0, torch.tensor([0]), z[-1:].clone())",
    "z.index_copy_(-1, torch.tensor([0]), z[..., -1:].clone())",
    "z.scatter_(-1, torch.zeros_like(z, dtype=torch.int64), 2)",
    "z.transpose_(0, 1)",
    "z.squeeze_()",
    "y.add_(1)",
    "y.mul_(z.amax())",
    "y.sub_(z.amin())",
)
_RESULTS = ("y", "y", "y", "z", "z + 0", "y.sum() + z", "y.mT", "y.reshape(-1)")


def write(drawing: Drawing) -> str:
    """A copy of a value of which parts are written."""
    x = drawing.exact(DTYPES, rank=(1, 2, 2, 3))
    rank = max(drawing.value(x).ndim, 1)
    draw = drawing.random
    steps = [f"y := {x}.clone()"]
    for _ in range(draw.choice((1, 1, 2, 3))):
        part = draw.choice(_PARTS).format(a=draw.randrange(-rank, rank), b=draw.randrange(rank))
        steps += [f"z := {part}", draw.choice(_WRITES)]
    return f"({', '.join(steps)}, {draw.choice(_RESULTS)})[-1]"
