"""The lines that sum products: matrices, windows and attention, and what is done to their results.

Their operands lie in any layout, and are inputs or weights, also such as are computed of weights.
"""

import torch

from test.random_graphs.drawing import FLOATS, INTEGERS, Drawing, Sizes, Unsuitable

_TAILS = (
    ".flatten(1)",
    ".flatten(2).mT",
    ".flatten(1).mT",
    ".mT",
    ".movedim(1, -1)",
    ".transpose(0, 1)",
    ".transpose(0, -1)",
    ".reshape(-1)",
    ".mT.reshape(-1)",
    ".movedim(1, -1).flatten(1)",
    ".flip(-1)",
    ".flip(0)",
    ".chunk(2, 1)[-1]",
    ".chunk(2, -1)[0]",
    ".unflatten(-1, (-1, 2))",
    ".squeeze()",
    ".unsqueeze(1).repeat_interleave(2, 1)",
    "[:, 1:]",
    "[1:]",
    "[..., ::2]",
    "[..., -1]",
    "[:, 0]",
    ".sum(1)",
    ".sum(-1)",
    ".amax(-1)",
    ".amax(0)",
    ".mean(-1, keepdim=True)",
    ".softmax(-1)",
    ".relu()",
    ".sigmoid()",
    ".cumsum(-1)",
    ".tril()",
)


def with_tail(drawing: Drawing, expression: str) -> str:
    """An expression, often with something done to its result."""
    while drawing.chance(0.35):
        expression += drawing.random.choice(_TAILS)
    return expression


_LAYOUTS = (
    "{x}.mT",
    "{x}.permute({order})",
    "{x}.flip({axis})",
    "{x}[{all}1:]",
    "{x}[{all}::2]",
    "{x}[{all}1::2]",
    "{x}.expand({sizes})",
)


def laid_out(drawing: Drawing, dtype: torch.dtype, shape: list[Sizes]) -> str:
    """An operand of a shape, often as a view of another, or as cast from another type."""
    draw = drawing.random
    stored, cast = dtype, ""
    if dtype == torch.float32 and drawing.chance(0.25):
        stored = draw.choice((torch.int8, torch.uint8, *FLOATS))
        cast = ".to(torch.float32)"
        if not stored.is_floating_point and drawing.chance(0.5):
            cast += draw.choice((" * 0.25", " - 3", " / 8"))
    rank = len(shape)
    view = draw.choice(_LAYOUTS if rank > 1 and drawing.chance(0.5) else ("{x}",))
    axis, order = draw.randrange(max(rank, 1)), draw.sample(range(rank), rank)
    sizes = [*shape]
    match view:
        case "{x}.mT":
            sizes[-2:] = reversed(sizes[-2:])
        case "{x}.permute({order})":
            sizes = [shape[order.index(place)] for place in range(rank)]
        case "{x}[{all}1:]":
            sizes[axis] = tuple(size + 1 for size in shape[axis])
        case "{x}[{all}::2]" | "{x}[{all}1::2]":
            sizes[axis] = tuple(2 * size for size in shape[axis])
        case "{x}.expand({sizes})":
            if len(set(shape[axis])) > 1:
                raise Unsuitable
            sizes[axis] = (1,) * len(drawing.cases)
    view = view.format(
        x=drawing.operand(stored, sizes),
        axis=axis,
        all=":, " * axis,
        order=order,
        sizes=[shape[axis][0] if place == axis else -1 for place in range(rank)],
    )
    made = view + cast
    return f"({made})" if " " in cast else made


def contraction(drawing: Drawing) -> str:
    """A product of matrices or vectors."""
    x = drawing.tensor(FLOATS if drawing.chance(0.85) else INTEGERS, lambda value: value.ndim > 0)
    dtype = drawing.value(x).dtype
    shape = drawing.shape(x)
    rank = len(shape)
    inner, other = shape[-1], drawing.any_size()

    def operand(*sizes: Sizes) -> str:
        return laid_out(drawing, dtype, list(sizes))

    kind = drawing.random.randrange(9)
    if kind == 0:
        return f"torch.matmul({x}, {operand(inner)})"
    if kind == 1:
        return f"{x} @ {operand(inner, other)}"
    if kind == 2:
        return f"F.linear({x}, {operand(other, inner)}, {operand(other)})"
    if kind == 3:
        return f"{x} @ {operand(*shape[:-2], inner, other)}"
    if kind == 4:
        return f"{x} @ {x}.mT" if rank > 1 else f"torch.outer({x}, {x})"
    if kind == 5 and rank == 2:
        right = operand(inner, other)
        return f"torch.addmm({operand(other)}, {x}, {right}, beta=0.5, alpha=2)"
    if kind == 6 and rank == 3:
        form = drawing.random.choice(("bij,bjk->bik", "bij,bjk->kib", "bij,bjk->ik", "bij,bjk->bi"))
        return f"torch.einsum({form!r}, {x}, {operand(shape[0], inner, other)})"
    if kind == 7 and rank == 2:
        form = drawing.random.choice(("ij,jk->ki", "ij,jk->k", "ij,jk->ijk", "ij,jk->i"))
        return f"torch.einsum({form!r}, {x}, {operand(inner, other)})"
    return f"{operand(other, shape[-2] if rank > 1 else inner)} @ {x}"


_COMPUTED = (
    "{w} - {w}.mean({d}, keepdim=True)",
    "F.normalize({w}, dim={d})",
    "{w} * {s}",
    "{w}.to(torch.float32) * 0.25",
    "({w}.to(torch.float32) - {s}.to(torch.float32)) * 0.5",
    "{w}.softmax({d})",
    "{w}.flip({d}) + {w}",
    "{w}.view(-1, 2, {w}.shape[-1]).transpose(0, 1).reshape({w}.shape)",
    "torch.where({w} > 0, {w}, 0)",
    "{w} + torch.arange({w}.shape[-1]) * 0.25",
    "{w}.tril()",
    "{w}.roll(1, {d})",
    "{w} @ {w}.mT",
    "{w}.cumsum({d})",
)


def computed_weight(drawing: Drawing) -> str:
    """A product by something that is computed of weights alone, and large enough to pay for it."""
    x = drawing.tensor(FLOATS[:1], lambda value: value.ndim > 0)
    inner = drawing.shape(x)[-1]
    if len(set(inner)) > 1 or inner[0] < 8:
        raise Unsuitable
    draw = drawing.random
    columns = 2 * max(draw.choice((8, 20, 33)), -(-4096 // inner[0]))
    if columns * inner[0] > 20_000:
        raise Unsuitable
    cast = drawing.chance(0.3)
    stored = draw.choice((torch.int8, torch.bfloat16, torch.float16)) if cast else torch.float32
    weight = drawing.weight(stored, [columns, inner[0]])
    scale = drawing.weight(stored, [columns, 1])
    name = f"{weight}.to(torch.float32)" if cast else weight
    made = draw.choice(_COMPUTED).format(w=name, s=scale, d=draw.choice((0, 1)))
    form = draw.choice(("F.linear({x}, {w})", "{x} @ ({w}).mT", "torch.matmul({w}, {x}.mT)"))
    return form.format(x=x, w=made)


def _sides(drawing: Drawing, count: int) -> list[Sizes]:
    cases = len(drawing.cases)
    least, most = {1: (4, 40), 2: (4, 12), 3: (3, 6)}[count]
    return [
        tuple(max(size, 4) for size in drawing.any_size())
        if drawing.chance(0.4)
        else (drawing.random.randint(least, most),) * cases
        for _ in range(count)
    ]


def _image(drawing: Drawing, count: int) -> str:
    """A batch of images of so many dimensions, static in its channels; or one that there is."""
    cases = len(drawing.cases)
    if drawing.chance(0.3):
        return drawing.tensor(
            FLOATS,
            lambda value: value.ndim == 2 + count and min(value.shape) > 0,
            rank=(2 + count,),
        )
    dtype = drawing.random.choice(FLOATS[:1] * 3 + FLOATS)
    channels = (drawing.random.choice((1, 2, 3, 4, 8, 16)),) * cases
    return drawing.input(dtype, [drawing.any_size(), channels, *_sides(drawing, count)])


def convolution(drawing: Drawing) -> str:
    """A convolution in one to three dimensions, transposed or not."""
    draw = drawing.random
    count = draw.choice((1, 1, 2, 2, 2, 3))
    image = _image(drawing, count)
    _, channels, *sides = drawing.shape(image)
    if len(set(channels)) > 1:
        raise Unsuitable
    dtype = drawing.value(image).dtype
    groups = draw.choice([1, 1, 1, channels[0], *[2] * (channels[0] % 2 == 0)])
    cases = len(drawing.cases)
    window = [(draw.choice((1, 2, 3)),) * cases for _ in range(count)]
    padding: int | str = draw.choice((0, 0, 1, 2))
    dilation = draw.choice((1, 1, 2))
    whole = drawing.chance(0.2)
    if whole:
        # One window alone.
        window = [
            side if len(set(side)) == 1 else size for side, size in zip(sides, window, strict=True)
        ]
        padding, dilation = 0, 1
    outer = draw.choice((1, 2, 3, 8, 16)) * groups
    stride: object = draw.choice((1, 1, 2, (1, 2, 3)[:count] if count > 1 else 3))
    if drawing.chance(0.25):
        weight = laid_out(drawing, dtype, [channels, (outer // groups,) * cases, *window])
        bias = drawing.operand(dtype, [(outer,) * cases])
        further = draw.choice((0, 0, 1)) if stride == 2 else 0
        return (
            f"F.conv_transpose{count}d({image}, {weight}, {bias}, stride={stride}, "
            f"padding={padding}, output_padding={further}, dilation={dilation}, groups={groups})"
        )
    weight = laid_out(drawing, dtype, [(outer,) * cases, (channels[0] // groups,) * cases, *window])
    bias = drawing.operand(dtype, [(outer,) * cases]) if drawing.chance(0.5) else "None"
    if stride == 1 and drawing.chance(0.15):
        padding = "'same'"
    elif not whole and drawing.chance(0.15):
        mode = draw.choice(("reflect", "replicate", "circular"))
        image = f"F.pad({image}, {(1,) * 2 * count}, mode={mode!r})"
    return (
        f"F.conv{count}d({image}, {weight}, {bias}, stride={stride}, padding={padding}, "
        f"dilation={dilation}, groups={groups})"
    )


def attention(drawing: Drawing) -> str:
    """Attention, with masks, by groups of heads, or of the values alone."""
    draw = drawing.random
    cases = len(drawing.cases)
    dtype = draw.choice(FLOATS[:1] * 4 + FLOATS)
    queries, keys, batch = (drawing.any_size() for _ in range(3))
    width, depth = ((draw.choice((1, 4, 8, 16, 20)),) * cases for _ in range(2))
    heads, shared = draw.choice(((1, 1), (2, 2), (3, 3), (4, 2), (4, 1), (6, 2)))
    options = "" if heads == shared else ", enable_gqa=True"
    by_token = drawing.chance(0.3)

    def operand(head_count: int, length: Sizes, size: Sizes) -> str:
        count = (head_count,) * cases
        if by_token:
            return f"{drawing.operand(dtype, [batch, length, count, size])}.transpose(1, 2)"
        return laid_out(drawing, dtype, [batch, count, length, size])

    q, k, v = (
        operand(heads, queries, width),
        operand(shared, keys, width),
        operand(shared, keys, depth),
    )
    if drawing.chance(0.2):
        options += ", scale=0.25"
    if drawing.chance(0.3):
        options += ", is_causal=True"
    elif drawing.chance(0.5):
        ones = (1,) * cases
        sizes = draw.choice(
            ([queries, keys], [batch, ones, queries, keys], [batch, ones, ones, keys])
        )
        mask = drawing.operand(draw.choice((torch.bool, dtype)), sizes)
        if drawing.value(mask).dtype == torch.bool and drawing.chance(0.7):
            mask = f"{mask}.logical_or(torch.arange({mask}.shape[-1]) == 0)"
        options += f", attn_mask={mask}"
    return f"F.scaled_dot_product_attention({q}, {k}, {v}{options})"
