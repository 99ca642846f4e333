"""The lines that branch and loop by values."""

from test.random_graphs.drawing import FLOATS, INTEGERS, Drawing, Unsuitable
from test.random_graphs.elementwise import FLOAT_FUNCTIONS, NUMBER_FUNCTIONS

_CONDITIONS = (
    "({y} > 1).any()",
    "({y} <= 0).all()",
    "({y} != 0).sum() > 2",
    "{y}.flatten()[0] > 0",
    "{y}.amax() >= 1",
    "{y}.shape[0] > 3",
    "{y}.numel() < 30",
    "torch.tensor(True)",
)
_BRANCHES = (
    "cond({c}, lambda t: {f}, lambda t: {g}, ({x},))",
    "cond({c}, lambda t: {f}, lambda t: {g}, ({x},)) + {x}",
    "cond({c}, lambda t: ({f}, {g}), lambda t: ({g}, {f}), ({x},))[1]",
    "cond({c}, lambda t, u: {f}, lambda t, u: ({g}) + u, ({x}, {x} * 2))",
    "cond({c}, lambda t: cond(t.sum() > 0, lambda t: {f}, lambda t: {g}, (t,)), "
    "lambda t: {g}, ({x},))",
    "cond({c}, lambda t: ({f}).sum(-1), lambda t: ({g}).amax(-1), ({x},))",
    "cond({c}, lambda t: ({f}).mT.contiguous(), lambda t: torch.cat((t[1:], t[:1])).mT + 0, "
    "({x},))",
)
_LOOPS = (
    "while_loop(lambda i, t: i < {n}, lambda i, t: (i + 1, {f}), (torch.tensor(0), {x}))[1]",
    "while_loop(lambda i, t: (i < {n}) & ({c}), lambda i, t: (i + 1, {f}), "
    "(torch.tensor(0), {x}))[1]",
    "while_loop(lambda i, t, u: i < {n}, lambda i, t, u: (i + 1, u * 1, {f}), "
    "(torch.tensor(0), {x}, {x} + 1))[2]",
    "while_loop(lambda i, t, u: (i < 4) & (u.sum() < {n}), "
    "lambda i, t, u: (i + 1, {f}, u + 1), (torch.tensor(0), {x}, {x} * 0))[0] + {x}",
    "while_loop(lambda i, t: i < {n}, lambda i, t: (i + 1, t.index_add(0, torch.tensor([0]), "
    "t[-1:] + i)), (torch.tensor(0), {x}))[1]",
    "while_loop(lambda i, t: i < {n}, lambda i, t: (i + 1, torch.where(t > i, {f}, {g})), "
    "(torch.tensor(0), {x}))[1]",
    "while_loop(lambda i, t: i < {n}, lambda i, t: (i + 1, cond(i > 0, lambda t: {f}, "
    "lambda t: {g}, (t,))), (torch.tensor(0), {x}))[1]",
)
_SCANS = (
    "scan(lambda c, t: (c + t, {f}), torch.zeros_like({x}.select({d}, 0)), {x}, dim={d})[1]",
    "scan(lambda c, t: (c * 1 + t, c + ({f})), {x}.select({d}, 0) * 0, {x}, dim={d}, "
    "reverse={r})[1]",
    "scan(lambda c, t: (torch.maximum(c, t), c - t), {x}.select({d}, -1) + 0, {x}, dim={d}, "
    "reverse={r})[0]",
    "scan(lambda c, t: (c + 1, t.sum() * c), torch.tensor(0, dtype={x}.dtype), {x})[1]",
    "scan(lambda c, t: (c + t, {f}), {x}.select({d}, 0) * 0, {x}, dim={d})[0]",
    "associative_scan(lambda a, b: a + b, {x}, {d}, reverse={r}, combine_mode='generic')",
    "associative_scan(lambda a, b: torch.maximum(a, b), {x}, {d}, reverse={r}, "
    "combine_mode='generic')",
    "map_(lambda t: {f}, {x})",
    "map_(lambda t: ({f}).sum(), {x})",
    "map_(lambda t: t + {x}[0], {x})",
    "map_(lambda t: cond(t.sum() > 0, lambda t: {f}, lambda t: {g}, (t,)), {x})",
)


def control_flow(drawing: Drawing) -> str:
    """A branch, or a loop."""
    x = drawing.tensor((*FLOATS, *INTEGERS), lambda value: value.ndim > 0)
    y = drawing.exact()
    draw = drawing.random
    dim = draw.randrange(drawing.value(x).ndim)
    form = draw.choice(draw.choice((_BRANCHES, _LOOPS, _SCANS)))
    if form in _SCANS and 0 in (*drawing.shape(x)[dim], *drawing.shape(x)[0]):
        # PyTorch's refuse it as they are called, and not those that are compiled.
        raise Unsuitable
    is_float = drawing.value(x).is_floating_point()
    return form.format(
        x=x,
        c=draw.choice(_CONDITIONS).format(y=y),
        f=_function(drawing, is_float),
        g=_function(drawing, is_float),
        n=draw.choice((0, 1, 2, 3)),
        d=dim,
        r=drawing.chance(0.5),
    )


def _function(drawing: Drawing, is_float: bool) -> str:
    """Some function of `t` that leaves its shape and dtype."""
    forms = [form for form in NUMBER_FUNCTIONS if "contiguous" not in form]
    if is_float:
        forms += FLOAT_FUNCTIONS
    text = "t"
    for _ in range(drawing.random.choice((1, 1, 2, 3))):
        text = f"({drawing.random.choice(forms).format(x=text)})"
    return text
