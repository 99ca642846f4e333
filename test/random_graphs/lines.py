"""The lines that graphs are made of: one function for each kind of op.

Each gets a drawing, and returns an expression over its values. What truncates, compares or orders
floats takes exact ones: a rounding other than PyTorch's must not become another answer.
"""

import re
from collections.abc import Callable

import torch

from test.random_graphs.complex_numbers import complex_numbers
from test.random_graphs.contractions import (
    attention,
    computed_weight,
    contraction,
    convolution,
    with_tail,
)
from test.random_graphs.control_flow import control_flow
from test.random_graphs.drawing import DTYPES, FLOATS, INTEGERS, Drawing, Unsuitable
from test.random_graphs.elementwise import (
    EXACT_FUNCTIONS,
    FLOAT_FUNCTIONS,
    INTEGER_FUNCTIONS,
    NUMBER_FUNCTIONS,
    TRUTHS,
)
from test.random_graphs.graph import NAME
from test.random_graphs.in_place import write, write_argument

Kind = Callable[[Drawing], str]

_NUMBERS = (*FLOATS, *INTEGERS)
_BOOL = (torch.bool,)
_WHOLE = (*INTEGERS, torch.bool)


def _float_function(drawing: Drawing) -> str:
    return drawing.random.choice(FLOAT_FUNCTIONS).format(x=drawing.tensor(FLOATS))


def _number_function(drawing: Drawing) -> str:
    return drawing.random.choice(NUMBER_FUNCTIONS).format(x=drawing.tensor(_NUMBERS))


def _exact_function(drawing: Drawing) -> str:
    return drawing.random.choice(EXACT_FUNCTIONS).format(x=drawing.exact(FLOATS))


def _truth(drawing: Drawing) -> str:
    return drawing.random.choice(TRUTHS).format(x=drawing.exact(DTYPES))


def _integer_function(drawing: Drawing) -> str:
    return drawing.random.choice(INTEGER_FUNCTIONS).format(x=drawing.tensor(INTEGERS))


def _partner(drawing: Drawing, x: str, *, exact: bool = False, dtypes: object = None) -> str:
    """Something that broadcasts with `x`: another value, or an input of its trailing sizes."""
    wanted = dtypes if isinstance(dtypes, tuple) else DTYPES
    shape = drawing.shape(x)
    found = [
        name
        for name, value in drawing.cases[0].items()
        if name != x
        and value.dtype in wanted
        and all(
            left == right or set(left) == {1} or set(right) == {1}
            for left, right in zip(reversed(shape), reversed(drawing.shape(name)), strict=False)
        )
        and (not exact or drawing.is_exact(name))
    ]
    if found and drawing.chance(0.5):
        return drawing.random.choice(found)
    keep = shape[drawing.random.randint(0, len(shape)) :] if drawing.chance(0.4) else shape
    ones = (1,) * len(drawing.cases)
    sizes = [ones if drawing.chance(0.2) else size for size in keep]
    mine = drawing.value(x).dtype
    dtype = mine if mine in wanted and drawing.chance(0.7) else drawing.random.choice(wanted)
    return drawing.operand(dtype, sizes)


_BINARY = (
    "{x} + {y}",
    "{x} - {y}",
    "{x} * {y}",
    "torch.maximum({x}, {y})",
    "torch.minimum({x}, {y})",
    "torch.fmax({x}, {y})",
    "torch.fmin({x}, {y})",
    "torch.add({x}, {y}, alpha=2)",
    "torch.sub({x}, {y}, alpha=3)",
    "torch.rsub({x}, {y})",
    "{x} / ({y}.abs() + 1)",
    "{x}.clamp(min={y})",
    "torch.clamp({x}, max={y})",
)
_FLOAT_BINARY = (
    "torch.atan2({x}, {y}.abs() + 0.5)",
    "torch.hypot({x}, {y})",
    "torch.copysign({x}, {y})",
    "torch.lerp({x}, {y}, 0.25)",
    "torch.addcmul({x}, {y}, {y}, value=0.5)",
    "torch.addcdiv({x}, {y}, {y}.abs() + 1)",
    "torch.logaddexp({x}, {y})",
    "torch.xlogy({x}, {y}.abs() + 1)",
    "({x}.abs() + 0.5) ** {y}.clamp(-2, 2)",
    "F.mse_loss({x}, {y}, reduction='none')",
    "F.smooth_l1_loss({x}, {y}, reduction='none')",
    "torch.cdist({x}, {y})",
    "F.cosine_similarity({x}, {y}, dim=-1)",
)
_EXACT_BINARY = (
    "{x} == {y}",
    "{x} != {y}",
    "{x} < {y}",
    "{x} >= {y}",
    "{x} // ({y}.abs() + 1)",
    "{x} % ({y}.abs() + 1)",
    "torch.fmod({x}, {y}.abs() + 1)",
    "torch.div({x}, {y}.abs() + 1, rounding_mode='trunc')",
    "torch.div({x}, {y}.abs() + 1, rounding_mode='floor')",
    "torch.heaviside({x}, {y})",
    "torch.isclose({x}, {y})",
    "torch.logical_and({x}, {y})",
    "torch.logical_xor({x}, {y})",
)
_WHOLE_BINARY = ("{x} & {y}", "{x} | {y}", "{x} ^ {y}")


def _binary(drawing: Drawing) -> str:
    x = drawing.tensor(_NUMBERS)
    return drawing.random.choice(_BINARY).format(x=x, y=_partner(drawing, x, dtypes=_NUMBERS))


def _float_binary(drawing: Drawing) -> str:
    x = drawing.tensor(FLOATS)
    y = _partner(drawing, x, dtypes=(drawing.value(x).dtype,))
    return drawing.random.choice(_FLOAT_BINARY).format(x=x, y=y)


def _exact_binary(drawing: Drawing) -> str:
    x = drawing.exact()
    return drawing.random.choice(_EXACT_BINARY).format(x=x, y=_partner(drawing, x, exact=True))


def _whole_binary(drawing: Drawing) -> str:
    x = drawing.tensor(_WHOLE)
    return drawing.random.choice(_WHOLE_BINARY).format(x=x, y=_partner(drawing, x, dtypes=_WHOLE))


def _choice(drawing: Drawing) -> str:
    x = drawing.tensor(DTYPES)
    condition = _partner(drawing, x, dtypes=_BOOL)
    other = drawing.random.choice((_partner(drawing, x, dtypes=(drawing.value(x).dtype,)), "2"))
    form = drawing.random.choice(
        ("torch.where({c}, {x}, {y})", "torch.where({c}, {y}, {x})", "{x}.masked_fill({c}, 1)")
    )
    return form.format(c=condition, x=x, y=other)


def _cast(drawing: Drawing) -> str:
    to = drawing.random.choice(DTYPES)
    x = drawing.tensor(DTYPES) if to.is_floating_point else drawing.exact()
    value = drawing.value(x)
    if value.is_floating_point() and not to.is_floating_point and to != torch.bool:
        # Beyond the range of integers there is no right answer.
        return f"torch.nan_to_num({x}).clamp({-100 if to.is_signed else 0}, 100).to({to})"
    return f"{x}.to({to})"


def _dim(drawing: Drawing, x: str, *, beyond: int = 0) -> int:
    rank = drawing.value(x).ndim + beyond
    if rank == 0:
        raise Unsuitable
    return drawing.random.randrange(-rank, rank)


def _some_dims(drawing: Drawing, x: str) -> str:
    rank = drawing.value(x).ndim
    if rank < 2 or drawing.chance(0.6):
        return str(_dim(drawing, x))
    return str(tuple(drawing.random.sample(range(rank), drawing.random.randint(1, rank))))


_REDUCTIONS = (
    "{x}.sum({d}, keepdim={k})",
    "{x}.sum({d}, keepdim={k})",
    "torch.mean({x}.to(torch.float32), {d}, keepdim={k})",
    "{x}.mean({d}, keepdim={k})",
    "torch.amax({x}, {d}, keepdim={k})",
    "torch.amin({x}, {d}, keepdim={k})",
    "torch.var({x}, {d}, correction=0, keepdim={k})",
    "torch.std({x}, {d}, keepdim={k})",
    "torch.logsumexp({x}, {d}, keepdim={k})",
    "torch.linalg.vector_norm({x}, dim={d}, keepdim={k})",
    "torch.linalg.vector_norm({x}, 1, dim={d}, keepdim={k})",
    "torch.nansum({x}, {d}, keepdim={k})",
    "torch.norm({x}, dim={d}, keepdim={k})",
)
_ONE_DIM_REDUCTIONS = (
    "torch.max({x}, {d}, keepdim={k})[0]",
    "torch.min({x}, {d}, keepdim={k})[0]",
    "torch.prod({x}.clamp(-1, 1), {d}, keepdim={k})",
    "torch.softmax({x}, {d})",
    "torch.log_softmax({x}, {d})",
    "torch.cumsum({x}, {d})",
    "torch.cumprod({x}.clamp(-1, 1), {d})",
    "torch.logcumsumexp({x}, {d})",
    "torch.median({x}, {d}, keepdim={k})[0]",
    "torch.nanmedian({x}, {d}, keepdim={k})[0]",
    "torch.cummax({x}, {d})[0]",
    "torch.cummin({x}, {d})[0]",
    "F.normalize({x}, dim={d})",
    "F.glu({x}, {d})",
    "torch.renorm({x}, 2, {d}, 3.0)",
    "F.softmin({x}, {d})",
    "torch.trapezoid({x}, dim={d})",
)
_WHOLE_REDUCTIONS = (
    "{x}.sum()",
    "{x}.max()",
    "{x}.min()",
    "{x}.mean()",
    "{x}.var()",
    "torch.median({x})",
    "{x}.sum(dtype=torch.float32)",
    "{x}.norm()",
)
_EXACT_REDUCTIONS = (
    "torch.argmax({x}, {d}, keepdim={k})",
    "torch.argmin({x}, {d}, keepdim={k})",
    "torch.any({x}, {d}, keepdim={k})",
    "torch.all({x}, {d}, keepdim={k})",
    "torch.count_nonzero({x}, {d})",
    "torch.max({x}, {d}, keepdim={k})[1]",
    "torch.sort({x}, dim={d}, stable=True)[1]",
    "torch.sort({x}, dim={d}, stable=True, descending=True)[1]",
    "torch.argsort({x}, dim={d}, stable=True)",
    "torch.argsort({x}, dim={d}, stable=True).narrow({d}, 0, 1)",
    "torch.sort({x}, dim={d}, stable=True)[1].select({d}, -1)",
    "torch.cummax({x}, {d})[1]",
    "torch.cummin({x}, {d})[1]",
)


def _reduction(drawing: Drawing) -> str:
    x = drawing.tensor(FLOATS if drawing.chance(0.7) else _NUMBERS)
    return drawing.random.choice(_REDUCTIONS).format(
        x=x, d=_some_dims(drawing, x), k=drawing.chance(0.5)
    )


def _one_dim_reduction(drawing: Drawing) -> str:
    x = drawing.tensor(FLOATS if drawing.chance(0.7) else _NUMBERS)
    return drawing.random.choice(_ONE_DIM_REDUCTIONS).format(
        x=x, d=_dim(drawing, x), k=drawing.chance(0.5)
    )


def _whole_reduction(drawing: Drawing) -> str:
    return drawing.random.choice(_WHOLE_REDUCTIONS).format(x=drawing.tensor(_NUMBERS))


def _exact_reduction(drawing: Drawing) -> str:
    x = drawing.exact()
    return drawing.random.choice(_EXACT_REDUCTIONS).format(
        x=x, d=_dim(drawing, x), k=drawing.chance(0.5)
    )


def _sort(drawing: Drawing) -> str:
    x = drawing.tensor(_NUMBERS)
    form = drawing.random.choice(
        (
            "torch.sort({x}, dim={d})[0]",
            "torch.sort({x}, dim={d}, descending=True)[0]",
            "torch.topk({x}, {n}, dim={d})[0]",
            "torch.topk({x}, {n}, dim={d}, sorted=False)[0].sum({d})",
            "torch.topk({x}, {x}.shape[{d}], dim={d})[0]",
            "torch.sort({x}, dim={d})[0].narrow({d}, 0, {n})",
            "torch.sort({x}, dim={d}, descending=True)[0].select({d}, {n} - 1)",
            "torch.sort({x}, dim={d})[0].flip({d}).narrow({d}, 0, {n}).mT",
            "torch.quantile({x}.to(torch.float32), 0.25, dim={d})",
            "torch.topk({x}, {n}, dim={d}, largest=False)[0]",
            "torch.kthvalue({x}, {n}, dim={d})[0]",
            "torch.msort({x})",
        )
    )
    return form.format(x=x, d=_dim(drawing, x), n=drawing.random.choice((1, 1, 2)))


_VIEWS = (
    "{x}.reshape(-1)",
    "{x}.flatten({a}, {b})",
    "{x}.transpose({a}, {b})",
    "{x}.unsqueeze({n})",
    "{x}.squeeze({a})",
    "{x}.movedim({a}, {b})",
    "{x}.flip({a})",
    "{x}.flip(({a}, {b}))",
    "{x}.roll(1, {a})",
    "{x}.roll(-2, {a})",
    "{x}.tile((2,))",
    "{x}.repeat_interleave(2, dim={a})",
    "{x}[1:]",
    "{x}[::2]",
    "{x}[-1:]",
    "{x}[:-1]",
    "{x}[..., 1:]",
    "{x}[..., ::3]",
    "{x}[..., -2:]",
    "{x}[..., None]",
    "{x}[:, None]",
    "{x}.select({a}, 0)",
    "{x}.select({a}, -1)",
    "{x}.narrow({a}, 0, 1)",
    "{x}.chunk(2, {a})[0]",
    "{x}.split(1, {a})[0]",
    "{x}.split(2, {a})[-1]",
    "{x}.unbind({a})[0]",
    "{x}.diff(dim={a})",
    "{x}.tril()",
    "{x}.triu(1)",
    "{x}.tril(-1)",
    "{x}.diagonal()",
    "{x}.diagonal(1, {a}, {b})",
    "torch.diag_embed({x})",
    "{x}.swapaxes({a}, {b}).contiguous()",
    "{x}.swapaxes({a}, {b}).reshape(-1)",
    "torch.cat(({x}, {x}), {a})",
    "torch.stack(({x}, {x}), {n})",
    "{x}.expand(2, *{x}.shape)",
    "{x}.unfold({a}, 2, 1)",
    "torch.rot90({x})",
    "{x}.view({x}.shape[0], -1)",
    "{x}.reshape(-1, {x}.shape[-1])",
    "{x}.new_zeros({x}.shape)",
    "{x}.mT",
)


# Each is a value, of which thousands take long to compile.
_MOST_PARTS = 1000


def _view(drawing: Drawing) -> str:
    x = drawing.tensor(DTYPES)
    form = drawing.random.choice(_VIEWS)
    if ("unbind" in form or "split" in form) and drawing.value(x).numel() > _MOST_PARTS:
        raise Unsuitable
    return form.format(x=x, a=_dim(drawing, x), b=_dim(drawing, x), n=_dim(drawing, x, beyond=1))


def _pad(drawing: Drawing) -> str:
    x = drawing.tensor(_NUMBERS)
    rank = drawing.value(x).ndim
    pads = [drawing.random.choice((0, 1, 1, 2)) for _ in range(2 * drawing.random.randint(1, 2))]
    if rank in (2, 3) and drawing.chance(0.4):
        mode = drawing.random.choice(("reflect", "replicate", "circular"))
        if mode == "circular":
            # Where a program takes gradients, what wraps around twice is not noticed.
            pads = [min(pad, 1) for pad in pads]
        return f"F.pad({x}, {tuple(pads[:2])}, mode={mode!r})"
    if drawing.chance(0.2):
        pads[0] = -1
    return f"F.pad({x}, {tuple(pads)}, value={drawing.random.choice((0, 1, 2))})"


def _concatenation(drawing: Drawing) -> str:
    x = drawing.tensor(DTYPES)
    dim = _dim(drawing, x)
    shape = drawing.shape(x)
    shape[dim] = drawing.any_size()
    dtype = drawing.value(x).dtype
    if drawing.chance(0.15):
        dtype = drawing.random.choice(DTYPES)
    y = drawing.operand(dtype, shape)
    parts = drawing.random.choice((f"{x}, {y}", f"{y}, {x}", f"{x}, {y}, {x}"))
    return f"torch.cat(({parts}), {dim})"


def _places(drawing: Drawing, x: str, dim: int, shape: list[tuple[int, ...]]) -> str:
    """Indices along a dimension of `x`."""
    return drawing.operand(torch.int64, shape, below=drawing.shape(x)[dim])


def _index(drawing: Drawing) -> str:
    x = drawing.tensor(DTYPES)
    dim = _dim(drawing, x)
    shape = drawing.shape(x)
    flat = [drawing.any_size()]
    same = [*shape]
    same[dim] = drawing.any_size()
    kind = drawing.random.randrange(12)
    if kind == 0:
        return f"torch.index_select({x}, {dim}, {_places(drawing, x, dim, flat)})"
    if kind == 1:
        return f"{x}[{_places(drawing, x, 0, flat)}]"
    if kind == 2:
        return f"{x}[..., {_places(drawing, x, -1, [drawing.any_size(), *flat])}]"
    if kind == 3:
        return f"torch.gather({x}, {dim}, {_places(drawing, x, dim, same)})"
    if kind == 4:
        return f"torch.take_along_dim({x}, {_places(drawing, x, dim, same)}, {dim})"
    source = drawing.operand(drawing.value(x).dtype, same)
    if kind == 5:
        return f"torch.scatter_add({x}, {dim}, {_places(drawing, x, dim, same)}, {source})"
    if kind == 6:
        reduce = drawing.random.choice(("amax", "amin", "sum", "prod", "mean"))
        places = _places(drawing, x, dim, same)
        include = drawing.chance(0.5)
        return f"{x}.scatter_reduce({dim}, {places}, {source}, {reduce!r}, include_self={include})"
    places = _places(drawing, x, dim, [same[dim]])
    if kind == 7:
        return f"torch.index_add({x}, {dim}, {places}, {source})"
    if kind == 8:
        return f"torch.scatter({x}, {dim}, {_places(drawing, x, dim, same)}, 1)"
    if kind == 9:
        return f"torch.index_fill({x}, {dim}, {places}, 2)"
    if kind == 10:
        source = drawing.operand(drawing.value(x).dtype, [same[dim], *shape[1:]])
        places = drawing.operand(torch.int64, [same[dim]], below=shape[0])
        return f"{x}.index_put(({places},), {source}, accumulate=True)"
    return f"torch.slice_scatter({x}, {x}[1:] * 2, 0, 1)"


_IMAGE_FUNCTIONS = (
    "F.max_pool2d({x}, 2)",
    "F.max_pool2d({x}, 3, stride=1, padding=1)",
    "F.max_pool2d({x}, 3, stride=2, ceil_mode=True)",
    "F.avg_pool2d({x}, 2)",
    "F.avg_pool2d({x}, 3, stride=2, padding=1)",
    "F.avg_pool2d({x}, 3, stride=1, padding=1, count_include_pad=False)",
    "F.adaptive_avg_pool2d({x}, 1)",
    "F.adaptive_avg_pool2d({x}, (2, 3))",
    "F.adaptive_max_pool2d({x}, 2)",
    "F.lp_pool2d({x}, 2, 2)",
    "F.interpolate({x}, scale_factor=2, mode='nearest')",
    "F.interpolate({x}, size=(5, 6), mode='nearest')",
    "F.interpolate({x}, size=(5, 6), mode='bilinear')",
    "F.interpolate({x}, size=(7, 3), mode='bilinear', align_corners=True)",
    "F.interpolate({x}, size=(6, 6), mode='bicubic')",
    "F.instance_norm({x})",
    "F.group_norm({x}, 1)",
    "F.pixel_unshuffle({x}, 2)",
    "F.unfold({x}, 2)",
    "F.local_response_norm({x}, 3)",
    "F.interpolate({x}, scale_factor=0.5, mode='bilinear')",
    "F.interpolate({x}, size=(3, 5), mode='nearest-exact')",
    "F.interpolate({x}, size=(3, 5), mode='area')",
    "F.avg_pool2d({x}, 2, ceil_mode=True, divisor_override=3)",
    "F.avg_pool2d({x}, {x}.shape[2:])",
    "F.max_pool2d({x}, {x}.shape[2:])",
    "F.max_pool2d({x}, (2, 1), dilation=(1, 2))",
    "F.max_pool2d({x}, 2, return_indices=True)[0]",
    "F.pixel_shuffle({x}.repeat(1, 4, 1, 1), 2)",
    "F.fold(F.unfold({x}, 2), {x}.shape[2:], 2)",
    "F.channel_shuffle({x}.repeat(1, 2, 1, 1), 2)",
    "F.pad({x}, (1, 2, 1, 0), mode='reflect')",
    "F.pad({x}, (1, 2, 1, 0), mode='replicate')",
    "{x}.to(memory_format=torch.channels_last)",
)
_LINE_FUNCTIONS = (
    "F.max_pool1d({x}, 2)",
    "F.max_pool1d({x}, 3, stride=1, padding=1)",
    "F.avg_pool1d({x}, 3, stride=2, padding=1)",
    "F.avg_pool1d({x}, {x}.shape[-1])",
    "F.adaptive_avg_pool1d({x}, 3)",
    "F.adaptive_max_pool1d({x}, 2)",
    "F.lp_pool1d({x}, 2, 3)",
    "F.interpolate({x}, scale_factor=2, mode='linear')",
    "F.interpolate({x}, size=5, mode='nearest')",
    "F.instance_norm({x})",
    "F.group_norm({x}, 1)",
    "F.pad({x}, (2, 1), mode='circular')",
)
_VOLUME_FUNCTIONS = (
    "F.max_pool3d({x}, 2)",
    "F.avg_pool3d({x}, 3, stride=1, padding=1)",
    "F.adaptive_avg_pool3d({x}, (1, 2, 3))",
    "F.interpolate({x}, size=(2, 5, 3), mode='trilinear')",
    "F.interpolate({x}, scale_factor=2, mode='nearest')",
    "F.pad({x}, (1, 0, 1, 2, 0, 1), mode='replicate')",
)


def _image_function(drawing: Drawing) -> str:
    forms = drawing.random.choice((_LINE_FUNCTIONS, *[_IMAGE_FUNCTIONS] * 3, _VOLUME_FUNCTIONS))
    rank = {_LINE_FUNCTIONS: 3, _IMAGE_FUNCTIONS: 4, _VOLUME_FUNCTIONS: 5}[forms]
    x = drawing.tensor(
        FLOATS, lambda value: value.ndim == rank and min(value.shape[2:]) >= 3, rank=(rank,)
    )
    form = drawing.random.choice(forms)
    sizes = {size for sizes in drawing.shape(x) for size in sizes}
    if ("linear" in form and 0 in sizes) or ("instance" in form and sizes & {0, 1}):
        # PyTorch refuses such an image as it runs, and not as it is told of its size.
        raise Unsuitable
    return form.format(x=x)


def _normalization(drawing: Drawing) -> str:
    x = drawing.tensor(FLOATS, lambda value: value.ndim > 1)
    dtype, shape = drawing.value(x).dtype, drawing.shape(x)
    if drawing.chance(0.5) and len(set(shape[-1])) == 1:
        scale, shift = (drawing.operand(dtype, shape[-1:]) for _ in range(2))
        return f"F.layer_norm({x}, ({shape[-1][0]},), {scale}, {shift})"
    if drawing.chance(0.5) and len(set(shape[-1])) == 1:
        return f"F.rms_norm({x}, ({shape[-1][0]},))"
    if 0 in shape[1]:
        # PyTorch looks for statistics of the first channel.
        raise Unsuitable
    mean, scale, shift, spread = (drawing.operand(dtype, shape[1:2]) for _ in range(4))
    return f"F.batch_norm({x}, {mean}, {spread}.abs() + 0.5, {scale}, {shift})"


_COMPUTED_PLACES = (
    "torch.arange({n}.shape[0]) % {x}.shape[0]",
    "torch.arange({x}.shape[0] - 1, -1, -1)",
    "{i}.abs() % {x}.shape[0]",
    "{i}.clamp(0, {x}.shape[0] - 1)",
    "({i} * 2).clamp(-1, 0)",
    "({i} > 0).to(torch.int64) % {x}.shape[0]",
    "-({i} & 1)",
    "{i}.abs() // ({i}.abs() + 1)",
    "torch.argmax({x}, 0) % {x}.shape[0]",
    "torch.argsort({x}, 0, stable=True)",
    "torch.tensor([0, -1, 0])",
    "torch.minimum({i}.abs(), torch.tensor(0))",
    "torch.where({i} > 1, 0, -1).clamp(max=0)",
    "torch.cat((torch.zeros_like({i}).flatten(), torch.arange({x}.shape[0])))",
    "({i}.to(torch.float32) * 0.25).clamp(0, 0.5).to(torch.int64)",
    "torch.cumsum(({i} > 100).to(torch.int64), 0)",
    "{i}.clamp(0, 1).to(torch.uint8).to(torch.int64) % {x}.shape[0]",
)
_USES_OF_PLACES = (
    "{x}[{p}]",
    "{x}[..., 0][{p}]",
    "torch.index_select({x}, 0, (({p}) % {x}.shape[0]).flatten())",
    "F.embedding(({p}) % {x}.shape[0], {x})",
    "{x}.mT[..., ({p})]",
    "{x}[({p}), ..., 0]",
    "{x}.index_add(0, (({p}) % {x}.shape[0]).flatten(), {x}[({p}).flatten()])",
    "{x}.index_put((({p}),), {x}[0])",
    "{x}.scatter_add(0, (({p}) % {x}.shape[0]).expand_as({x}), {x})",
    "torch.zeros_like({x}).index_copy(0, ({p})[:1].flatten() % {x}.shape[0], {x}[:1])",
)


def _computed_index(drawing: Drawing) -> str:
    """What is read or written at places that are computed, and may be seen to be within."""
    x = drawing.exact(DTYPES)
    i = drawing.tensor((torch.int64, torch.int32), rank=(1, 1, 2))
    n = drawing.tensor(DTYPES, lambda value: value.ndim > 0)
    places = drawing.random.choice(_COMPUTED_PLACES).format(x=x, i=i, n=n)
    return drawing.random.choice(_USES_OF_PLACES).format(x=x, p=places)


_USES_OF_NUMBERS = (
    "{x}[:{n} + 1]",
    "{x} * {n}",
    "{x}.roll({n}, 0)",
    "{x}.narrow(0, 0, min({n}, {x}.shape[0]))",
    "({x} if {n} > 1 else {x} + 1)",
    "F.pad({x}, ({n}, 0))",
    "{x}.unsqueeze(0).expand({n} + 1, *{x}.shape)",
    "torch.full(({n} + 2,), {n}) + {x}.sum()",
    "{x}[{n} % {x}.shape[0]]",
    "{x}.repeat_interleave({n} + 1, 0)",
    "torch.arange({n} + 1) * {x}.sum()",
    "{x}.reshape(-1)[::{n} + 1]",
)


def _number_of_buffer(drawing: Drawing) -> str:
    """What is shaped by a number in a small buffer."""
    buffer = drawing.weight(torch.int64, [drawing.random.choice((1, 3))], 4, torch.nn.Buffer)
    form = drawing.random.choice(
        ("int({w}[0])", "{w}[-1].item()", "{w}.tolist()[0]", "int({w}.max())")
    )
    x = drawing.exact(DTYPES)
    return drawing.random.choice(_USES_OF_NUMBERS).format(x=x, n=form.format(w=buffer))


def _further(drawing: Drawing) -> str:
    """What fits nowhere else."""
    kind = drawing.random.randrange(7)
    x = drawing.tensor(DTYPES, lambda value: value.ndim > 0)
    if kind == 0:
        return f"torch.arange({x}.shape[0])"
    if kind == 1:
        return f"torch.arange({x}.shape[-1], dtype=torch.float32) * 0.5"
    if kind == 2:
        weight = drawing.operand(
            drawing.random.choice(FLOATS), [drawing.any_size(), drawing.any_size()]
        )
        return f"F.embedding({_places(drawing, weight, 0, [drawing.any_size()] * 2)}, {weight})"
    if kind == 3:
        return f"F.one_hot({_places(drawing, x, 0, [drawing.any_size()])} % 3, 3)"
    if kind == 4:
        # Where NaN is among the bounds, the answer is what a binary search happens to come upon.
        bounds = f"torch.nan_to_num({drawing.exact(_NUMBERS, rank=(1,))}).flatten().sort()[0]"
        return f"torch.searchsorted({bounds}, {drawing.exact(_NUMBERS)})"
    if kind == 5:
        return f"torch.eye({x}.shape[0], {x}.shape[-1])"
    return f"torch.isin({drawing.exact(INTEGERS)}, {drawing.exact(INTEGERS)})"


_KINDS: tuple[tuple[Kind, int], ...] = (
    (_float_function, 10),
    (_number_function, 4),
    (_exact_function, 4),
    (_truth, 3),
    (_integer_function, 4),
    (_binary, 10),
    (_float_binary, 4),
    (_exact_binary, 5),
    (_whole_binary, 2),
    (_choice, 5),
    (_cast, 7),
    (_reduction, 8),
    (_one_dim_reduction, 7),
    (_whole_reduction, 3),
    (_exact_reduction, 4),
    (_sort, 3),
    (_view, 18),
    (_pad, 4),
    (_concatenation, 5),
    (_index, 8),
    (_computed_index, 5),
    (_number_of_buffer, 2),
    (write, 6),
    (write_argument, 3),
    (contraction, 9),
    (computed_weight, 4),
    (convolution, 7),
    (attention, 4),
    (_image_function, 4),
    (_normalization, 4),
    (_further, 5),
    (control_flow, 5),
    (complex_numbers, 6),
)

# Whether there is a 0 to multiply an infinity with, or a sum that is taken in another order, is
# for each kernel of PyTorch's to choose.
_PRODUCTS = (contraction, computed_weight, convolution, attention, _image_function)
_ONLY_FINITE = (*_PRODUCTS, _normalization, complex_numbers)

_TRANSFORMED = (
    "torch.func.grad(lambda t: ({f}).sum())({x})",
    "torch.func.grad(lambda t: ({f}).square().sum())({x})",
    "torch.func.vjp(lambda t: {f}, {x})[1](torch.ones_like({e}))[0]",
    "torch.func.vmap(lambda t: {f})({x})",
    "torch.func.vmap(lambda t: {f}, in_dims=1, out_dims=-1)({x})",
    "torch.func.vmap(torch.func.grad(lambda t: ({f}).sum()))({x})",
)


def _transformed(drawing: Drawing, expression: str) -> str:
    """The derivative of an expression by a value in it, or what it is for parts of the value."""
    names = sorted(set(NAME.findall(expression)))
    if not names or ":=" in expression:
        return expression
    x = drawing.random.choice(names)
    function = re.sub(rf"\b{x}\b", "t", expression)
    return drawing.random.choice(_TRANSFORMED).format(f=function, x=x, e=expression)


def draw_line(drawing: Drawing) -> None:
    """Adds one line.

    Raises:
      Unsuitable: the dice fell badly; try again.
    """
    kinds, weights = zip(
        *(both for both in _KINDS if not (drawing.special and both[0] in _ONLY_FINITE)),
        strict=True,
    )
    kind = drawing.random.choices(kinds, weights)[0]
    expression = kind(drawing)
    if kind in _PRODUCTS:
        expression = with_tail(drawing, expression)
    if kind is not write_argument and not drawing.special and drawing.chance(0.08):
        expression = _transformed(drawing, expression)
    drawing.add(expression)
