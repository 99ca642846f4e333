"""The lines that write into a copy of a value, an input or a buffer, or into a part of it."""

import torch

from test.random_graphs.drawing import DTYPES, Drawing, Unsuitable

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


_WRITES_OF_ARGUMENTS = (
    "{x}.add_(1)",
    "{x}.mul_(2)",
    "{x}.zero_()",
    "{x}.clamp_(0, 2)",
    "{x}.add_({x}.sum(0))",
    "{x}.copy_({x}.flip(0))",
    "{x}.copy_({y})",
    "{x}.add_({y})",
    "{x}.masked_fill_({y} > 1, 2)",
    "{x}[1:].mul_(2)",
    "{x}[..., ::2].add_(1)",
    "{x}[0].copy_({y}[-1])",
    "{x}.mT.add_(1)",
    "{x}.mT[1:].zero_()",
    "{x}.select(-1, 0).fill_(3)",
    "{x}.narrow(0, 0, 1).add_({y}[:1])",
    "{x}.diagonal().zero_()",
    "{x}.view(-1).add_(1)",
    "{x}.__setitem__(0, 5)",
    "{x}.__setitem__((..., -1), {y}[..., 0])",
    "{x}.__setitem__({y} < 0, 1)",
    "{x}.__setitem__(torch.tensor([0, -1]), 4)",
    "{x}.index_add_(0, torch.tensor([0]), {y}[-1:])",
    "{x}.index_copy_(0, torch.tensor([0]), {y}[:1])",
    "{x}.scatter_(-1, torch.zeros_like({x}, dtype=torch.int64), 2)",
    "{x}.add_(1), {y}.add_({x})",
    "{x}.add_({y}), {y}.copy_({x})",
)
_RESULTS_OF_WRITES = ("{x} + 0", "{x}", "{x}.sum()", "{x}[1:]", "{y} * 1", "{x}.mT", "{x} - {y}")


def write_argument(drawing: Drawing) -> str:
    """An input or a buffer that is written, whatever has been read of it before."""
    draw = drawing.random
    # No two of its elements may be one place in memory.
    names = [
        name
        for name in drawing.inputs
        if all(case[name].is_contiguous() for case in drawing.given)
        and drawing.value(name).dtype != torch.bool
    ]
    if not names:
        raise Unsuitable
    x = draw.choice(names)
    dtype, shape = drawing.value(x).dtype, drawing.shape(x)
    if drawing.chance(0.3) and all(len(set(size)) == 1 for size in shape):
        x = drawing.weight(dtype, [size[0] for size in shape], kind=torch.nn.Buffer)
    alike = [name for name in names if drawing.shape(name) == shape and name != x]
    y = draw.choice(alike) if alike else drawing.input(dtype, shape)
    writes = draw.choice(_WRITES_OF_ARGUMENTS)
    return f"({writes}, {draw.choice(_RESULTS_OF_WRITES)})[-1]".format(x=x, y=y)
