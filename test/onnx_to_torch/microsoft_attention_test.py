"""Attention of ONNX Runtime's own ops, held against that of whole texts, written out."""

import math
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

import plumbline
from plumbline.errors import UserError
from plumbline.onnx_to_torch.program import OnnxProgram, load_onnx
from test.onnx_to_torch.models import program

_HEADS, _OF_KEYS, _SIZE, _PLACES = 4, 2, 8, 32
_STEPS = (5, 1, 1, 4, 1)


def _normal(*sizes: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(seed))


def _by_heads(x: torch.Tensor, count: int) -> torch.Tensor:
    return x.reshape(*x.shape[:2], count, -1).transpose(1, 2)


def _angles() -> dict[str, torch.Tensor]:
    angle = torch.arange(_PLACES)[:, None] * 0.5 ** torch.arange(_SIZE // 2)
    return {"cosines": angle.cos(), "sines": angle.sin()}


def _turned(x: torch.Tensor, *, interleaved: bool) -> torch.Tensor:
    """Complex numbers by others of magnitude 1, as many as there are places."""
    table = _angles()
    by = torch.complex(table["cosines"], table["sines"])[: x.shape[2]]
    one, other = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    made = torch.complex(one, other) * by
    parts = [made.real, made.imag]
    return torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1)


def _text(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    window: int = 0,
    softcap: float = 0.0,
    sinks: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """Each token looks at itself and those before it."""
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    products = q @ k.mT / math.sqrt(q.shape[3])
    products = softcap * torch.tanh(products / softcap) if softcap else products
    products = products if bias is None else products + bias
    before = torch.arange(q.shape[2])[:, None] - torch.arange(k.shape[2])
    seen = (before >= 0) & (before < window) if window else before >= 0
    shares = torch.where(seen, products, -torch.inf).exp()
    total = shares.sum(-1, keepdim=True)
    total = total if sinks is None else total + sinks.exp()[:, None, None]
    return (shares / total @ v).transpose(1, 2).flatten(2)


def _cached(
    folder: Path,
    attributes: str = "",
    more: str = "",
    constants: Mapping[str, torch.Tensor] | None = None,
) -> OnnxProgram:
    """Attention of queries, keys and values side by side, as model builders write it."""
    size = (_HEADS + 2 * _OF_KEYS) * _SIZE
    cache = f"[batch, {_OF_KEYS}, past, size]"
    kept = f"[batch, {_OF_KEYS}, kept, {_SIZE}]"
    return program(
        folder,
        f"""(float[batch, new, {size}] x, int64[batch, total] mask,
             float{cache} past_k, float{cache} past_v)
          => (float[batch, new, {_HEADS * _SIZE}] y, float{kept} k, float{kept} v)
          <int64[1] one = {{1}}, int64 first = {{1}}> {{
            counts = ReduceSum<keepdims=0>(mask, one)
            less = Sub(counts, one)
            last = Cast<to=6>(less)
            sizes = Shape(mask)
            length = Gather(sizes, first)
            total_length = Cast<to=6>(length)
            y, k, v = com.microsoft.GroupQueryAttention
              <num_heads={_HEADS}, kv_num_heads={_OF_KEYS} {attributes}>
              (x, , , past_k, past_v, last, total_length{more})
        }}""",
        constants,
    )


_VARIANTS: Mapping[str, tuple[str, str]] = {
    "plain": ("", ""),
    "turned": (", do_rotary=1", ", cosines, sines"),
    "interleaved": (", do_rotary=1, rotary_interleaved=1", ", cosines, sines"),
    "windowed": (", local_window_size=3", ""),
    "capped": (", softcap=2.0", ""),
    "smooth": (", smooth_softmax=1", ""),
    "sinks": ("", ", , , , , sinks"),
}


@pytest.mark.parametrize("room", [0, 20])
@pytest.mark.parametrize("variant", _VARIANTS)
def test_steps_with_a_cache_are_a_text(tmp_path: Path, variant: str, room: int) -> None:
    """A cache grows, or has room for more than there is at first."""
    sinks = _normal(_HEADS, seed=3)
    model = _cached(tmp_path, *_VARIANTS[variant], {**_angles(), "sinks": sinks})
    x = _normal(2, sum(_STEPS), (_HEADS + 2 * _OF_KEYS) * _SIZE)
    q, k, v = _split(x)
    if variant in ("turned", "interleaved"):
        q, k = (_turned(each, interleaved=variant == "interleaved") for each in (q, k))
    options = {
        "windowed": {"window": 3},
        "capped": {"softcap": 2.0},
        "smooth": {"sinks": torch.zeros(_HEADS)},
        "sinks": {"sinks": sinks},
    }
    expected = _text(q, k, v, **options.get(variant, {}))  # type: ignore[arg-type]
    keys = values = torch.zeros(2, _OF_KEYS, room, _SIZE)
    parts, count = [], 0
    for part in x.split_with_sizes(_STEPS, 1):
        count += part.shape[1]
        mask = torch.ones(2, count, dtype=torch.int64)
        y, keys, values = model(part, mask, keys, values).values()
        parts.append(y)
        assert keys.shape[2] == max(room, count)
    torch.testing.assert_close(torch.cat(parts, 1), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(keys[:, :, :count], k, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(values[:, :, :count], v)


def _split(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    q, k, v = x.split_with_sizes([_HEADS * _SIZE, _OF_KEYS * _SIZE, _OF_KEYS * _SIZE], 2)
    return _by_heads(q, _HEADS), _by_heads(k, _OF_KEYS), _by_heads(v, _OF_KEYS)


def test_a_compiled_cache_takes_texts_of_several_lengths(tmp_path: Path) -> None:
    """The second text is shorter by two tokens, behind which there are others that do not count."""
    _cached(tmp_path, *_VARIANTS["turned"], _angles())
    given = load_onnx(tmp_path / "model.onnx")
    # What a head has in the cache is what its queries have, whatever the model calls it.
    assert given.inputs[2].shape[3] == _SIZE
    compiled = plumbline.compile(given)
    x = _normal(2, 6, (_HEADS + 2 * _OF_KEYS) * _SIZE)
    texts = [x[:1, :5], torch.cat([x[1:, :3], x[1:, 5:]], 1)[:, :3]]
    last = x[:, 5:]
    mask = torch.ones(2, 5, dtype=torch.int64)
    mask[1, 3:] = 0
    empty = torch.zeros(2, _OF_KEYS, 0, _SIZE)
    first, keys, values = compiled(x[:, :5], mask, empty, empty)
    mask = torch.cat([mask, torch.zeros(2, 1, dtype=torch.int64)], 1)
    mask[0, 5] = mask[1, 3] = 1
    second, keys, values = compiled(last, mask, keys, values)
    for number, text in enumerate(texts):
        count = text.shape[1]
        q, k, v = _split(torch.cat([text, last[number : number + 1]], 1))
        q, k = (_turned(each, interleaved=False) for each in (q, k))
        made = torch.cat([first[number, :count], second[number]])
        torch.testing.assert_close(made, _text(q, k, v)[0], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(keys[number, :, : count + 1], k[0], rtol=1e-5, atol=1e-5)


def test_a_cache_that_slides_holds_the_last_tokens(tmp_path: Path) -> None:
    """Of 5 places for 3 that are looked at three go at once, as many as do not fit."""
    window, room = 3, 5
    attributes = f", local_window_size={window}, sliding_window_cache=1"
    model = _cached(tmp_path, attributes)
    x = _normal(1, 12, (_HEADS + 2 * _OF_KEYS) * _SIZE)
    q, k, v = _split(x)
    keys = values = torch.zeros(1, _OF_KEYS, room, _SIZE)
    parts, count = [], 0
    for part in x.split_with_sizes((4, 1, 1, 6), 1):
        count += part.shape[1]
        mask = torch.ones(1, count, dtype=torch.int64)
        y, keys, values = model(part, mask, keys, values).values()
        parts.append(y)
        held = {4: 4, 5: 5, 6: 3, 12: 3}[count]
        torch.testing.assert_close(keys[:, :, :held], k[:, :, count - held : count])
        torch.testing.assert_close(values[:, :, :held], v[:, :, count - held : count])
    expected = _text(q, k, v, window=window)
    torch.testing.assert_close(torch.cat(parts, 1), expected, rtol=1e-5, atol=1e-5)


_MASKS = {
    "ends": torch.tensor([6, 4], dtype=torch.int32),
    "ends and starts": torch.tensor([6, 5, 0, 1], dtype=torch.int32),
    "keys": torch.tensor([[1, 1, 1, 1, 1, 1], [0, 1, 1, 0, 1, 1]], dtype=torch.int32),
    "queries": (torch.arange(72).reshape(2, 6, 6) % 5 > 0).to(torch.int32),
}


def _masked(name: str, new: int) -> torch.Tensor:
    """Whether a query looks at a key, [batch, 1, new or 1, 6]."""
    mask = _MASKS[name]
    if name == "queries":
        return mask[:, None, :new] != 0
    if name == "keys":
        return mask[:, None, None] != 0
    ends, starts = mask[:2], mask[2:] if name == "ends and starts" else torch.zeros(2)
    at = torch.arange(6)
    return ((at < ends[:, None]) & (at >= starts[:, None]))[:, None, None]


@pytest.mark.parametrize("mask", _MASKS)
@pytest.mark.parametrize("new", [4, 6])
def test_masks_of_each_shape(tmp_path: Path, mask: str, new: int) -> None:
    """`Attention` projects; `MultiHeadAttention` has what it does. Of 6 keys 2 may be past."""
    past = new == 4
    given_mask = _MASKS[mask][:, :new] if mask == "queries" else _MASKS[mask]
    x, weight, bias = _normal(2, new, 10), _normal(10, 48, seed=1), _normal(48, seed=2)
    before = _normal(2, 2, 2, 2 if past else 0, 8, seed=4)
    shape, cache = ", ".join(map(str, given_mask.shape)), "[2, 2, 2, past, 8]"
    model = program(
        tmp_path,
        f"""(float[2, {new}, 10] x, int32[{shape}] mask, float{cache} before)
          => (float[2, {new}, 16] y, float[2, 2, 2, n, 8] kept) {{
            y, kept = com.microsoft.Attention<num_heads=2>(x, weight, bias, mask, before)
        }}""",
        {"weight": weight, "bias": bias},
    )
    q, k, v = (_by_heads(each, 2) for each in (x @ weight + bias).chunk(3, 2))
    k, v = torch.cat([before[0], k], 2), torch.cat([before[1], v], 2)
    products = q @ k.mT / math.sqrt(8)
    shares = torch.softmax(torch.where(_masked(mask, new), products, products - 10000), -1)
    expected = (shares @ v).transpose(1, 2).flatten(2)
    made = model(x, given_mask, before)
    torch.testing.assert_close(made["y"], expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(made["kept"], torch.stack([k, v]))
    if mask == "ends and starts":
        return
    projected = (x @ weight).chunk(3, 2)
    given = f"float[2, {new}, 16]"
    model = program(
        tmp_path,
        f"""({given} q, {given} k, {given} v, int32[{shape}] mask,
             float[2, 2, past, 8] past_k, float[2, 2, past, 8] past_v)
          => ({given} y, float[2, 2, n, 8] all_k, float[2, 2, n, 8] all_v) {{
            y, all_k, all_v = com.microsoft.MultiHeadAttention<num_heads=2>
              (q, k, v, bias, mask, , past_k, past_v)
        }}""",
        {"bias": bias},
    )
    y, all_k, all_v = model(*projected, given_mask, *before).values()
    torch.testing.assert_close(y, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(torch.stack([all_k, all_v]), torch.stack([k, v]))


def test_attention_of_half_precision(tmp_path: Path) -> None:
    """Masks are of what products are of."""
    q, k, v = (_normal(2, 5, 16, seed=seed).half() for seed in range(3))
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], dtype=torch.int32)
    model = program(
        tmp_path,
        """(float16[2,5,16] q, float16[2,5,16] k, float16[2,5,16] v, int32[2,5] mask)
          => (float16[2,5,16] y) {
            y = com.microsoft.MultiHeadAttention<num_heads=2, unidirectional=1>
              (q, k, v, , mask)
        }""",
    )
    expected = _text(*(_by_heads(each.float(), 2) for each in (q, k, v)))
    made = model(q, k, v, mask)["y"]
    assert made.dtype is torch.float16
    # Of the second text two queries would look at keys that are masked.
    torch.testing.assert_close(made[0].float(), expected[0], rtol=0, atol=4e-3)
    torch.testing.assert_close(made[1, :3].float(), expected[1, :3], rtol=0, atol=4e-3)


def test_heads_side_by_side_or_apart(tmp_path: Path) -> None:
    """Packed queries, keys and values; packed keys and values; keys of a text seen before."""
    q, k, v = (_normal(2, 5, 2, 8, seed=seed) for seed in range(3))
    expected = _text(*(each.transpose(1, 2) for each in (q, k, v)))
    flat = [each.flatten(2) for each in (q, k, v)]
    forms = [
        ("float[2,5,2,3,8] q", "q", [torch.stack([q, k, v], 3)]),
        ("float[2,5,16] q, float[2,5,2,2,8] k", "q, k", [flat[0], torch.stack([k, v], 3)]),
        (
            "float[2,5,16] q, float[2,2,5,8] k, float[2,2,5,8] v",
            "q, k, v",
            [flat[0], k.transpose(1, 2), v.transpose(1, 2)],
        ),
    ]
    for arguments, names, given in forms:
        model = program(
            tmp_path,
            f"""({arguments}) => (float[2,5,16] y) {{
              y = com.microsoft.MultiHeadAttention<num_heads=2, unidirectional=1>({names})
            }}""",
        )
        torch.testing.assert_close(model(*given)["y"], expected, rtol=1e-5, atol=1e-5)


def test_places_turn_pairs(tmp_path: Path) -> None:
    """From a place on, of a head of which half is turned, or of the place that each token has."""
    x = _normal(2, 5, 2 * _SIZE)
    model = program(
        tmp_path,
        """(float[2,5,16] x, int64[1] start, int64[2,5] at)
          => (float[2,5,16] y, float[2,5,16] z) {
          y = com.microsoft.RotaryEmbedding(x, start, cosines, sines)
          z = com.microsoft.RotaryEmbedding<interleaved=1>(x, at, cosines, sines)
        }""",
        _angles(),
    )
    at = torch.arange(5).expand(2, 5)
    y, z = model(x, torch.tensor([3]), at).values()
    longer = torch.cat([torch.zeros(2, 3, 16), x], 1)
    for made, given, interleaved in ((y, longer, False), (z, x, True)):
        turned = _turned(_by_heads(given, 2), interleaved=interleaved)
        turned = turned.transpose(1, 2).flatten(2)[:, -5:]
        torch.testing.assert_close(made, turned, rtol=1e-5, atol=1e-6)


def test_quantized_projections(tmp_path: Path) -> None:
    made = torch.Generator().manual_seed(1)
    x = torch.randint(0, 256, (2, 5, 10), dtype=torch.uint8, generator=made)
    weight = torch.randint(-128, 128, (10, 48), dtype=torch.int8, generator=made)
    scales, bias = torch.rand(48) / 64, _normal(48)
    model = program(
        tmp_path,
        """(uint8[2,5,10] x) => (float[2,5,16] y)
          <float scale = {0.015625}, uint8 zero = {128}, int8 none = {0}> {
            y = com.microsoft.QAttention<num_heads=2, unidirectional=1>
              (x, weight, bias, scale, scales, , zero, none)
        }""",
        {"weight": weight, "scales": scales, "bias": bias},
    )
    projected = ((x.float() - 128) / 64) @ (weight * scales) + bias
    expected = _text(*(_by_heads(each, 2) for each in projected.chunk(3, 2)))
    torch.testing.assert_close(model(x)["y"], expected, rtol=1e-4, atol=1e-5)


def test_what_is_not_read_is_refused(tmp_path: Path) -> None:
    model = _cached(tmp_path, more=", , , , , , scale, scale", constants={"scale": torch.ones(1)})
    cache = torch.zeros(1, _OF_KEYS, 2, _SIZE)
    x, mask = _normal(1, 1, 64), torch.ones(1, 3, dtype=torch.int64)
    with pytest.raises(UserError, match=r"GroupQueryAttention.*its cache is quantized"):
        model(x, mask, cache, cache)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
