"""Ops of ai.onnx.ml that prepare features, and take results apart."""

import math
from collections.abc import Mapping

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, tensor, tensors


def _extract(node: Node, data: Value, indices: Value) -> torch.Tensor:
    x, at = tensor(data), tensor(indices).reshape(-1).to(torch.int64)
    # A vector is a matrix of one row.
    return (x.unsqueeze(0) if x.ndim == 1 else x)[..., at]


def _binarize(node: Node, data: Value) -> torch.Tensor:
    x = tensor(data)
    return (x > node.attribute("threshold", 0.0)).to(x.dtype)


def _concatenate(node: Node, *features: Value) -> torch.Tensor:
    parts = []
    for x, size in zip(tensors(features), node.required("inputdimensions"), strict=True):
        columns = x.reshape(-1, 1) if x.ndim == 1 else x
        parts.append(functional.pad(columns, (0, size - columns.shape[1])))
    return torch.cat(parts, 1).to(torch.float32)


def _impute(node: Node, data: Value) -> torch.Tensor:
    x = tensor(data)
    kind = "float" if x.dtype.is_floating_point else "int64"
    values = torch.tensor(node.required(f"imputed_value_{kind}s"), dtype=x.dtype)
    replaced = node.attribute(f"replaced_value_{kind}", 0)
    is_missing = x.isnan() if math.isnan(replaced) else x == replaced
    return torch.where(is_missing, values, x)


_TYPES = {"floats": torch.float32, "int64s": torch.int64}
"""Of attributes with such an end to their names."""

_DEFAULTS = {"floats": -0.0, "int64s": -1}


def _numbers(node: Node, name: str) -> tuple[str, torch.Tensor]:
    """An attribute of numbers, and by which kind of it they are given.

    Raises:
      Unsupported: it has strings.
    """
    if (given := node.optional(f"{name}_tensor")) is not None:
        return "tensor", given
    for kind, dtype in _TYPES.items():
        if given := node.optional(f"{name}_{kind}"):
            return kind, torch.tensor(given, dtype=dtype)
    raise Unsupported(f"its {name} are strings, which PyTorch has no tensors of")


def _encode_labels(node: Node, data: Value) -> torch.Tensor:
    if node.opset < 2:
        raise Unsupported("its labels are strings, which PyTorch has no tensors of")
    (_, keys), (kind, values) = (_numbers(node, name) for name in ("keys", "values"))
    if kind == "tensor":
        unset: torch.Tensor = node.attribute("default_tensor", torch.full((1,), -1))
        default = unset.to(values.dtype)
    else:
        given = node.attribute(f"default_{kind[:-1]}", _DEFAULTS[kind])
        default = torch.tensor([given], dtype=values.dtype)
    x = tensor(data)
    is_key = x.unsqueeze(-1) == keys
    if keys.is_floating_point():
        is_key = is_key | (x.unsqueeze(-1).isnan() & keys.isnan())
    # The last of all values is the one of what is no key; of equal keys the last one counts.
    order = torch.arange(1, keys.numel() + 1)
    at = torch.where(is_key, order, 0).amax(-1)
    return torch.cat([default.reshape(1), values])[at]


def _normalize(node: Node, data: Value) -> torch.Tensor:
    x, norm = tensor(data), node.attribute("norm", "MAX")
    x = x if x.dtype.is_floating_point else x.to(torch.float32)
    orders = {"MAX": math.inf, "L1": 1, "L2": 2}
    if norm not in orders:
        raise Unsupported(f"there is no norm {norm}")
    lengths: torch.Tensor = torch.linalg.vector_norm(x, orders[norm], -1, keepdim=True)
    return (x / lengths.clamp(min=1e-30)).to(torch.float32)


def _one_hot(node: Node, data: Value) -> torch.Tensor:
    categories = node.optional("cats_int64s")
    if not categories:
        raise Unsupported("its categories are strings, which PyTorch has no tensors of")
    if not node.attribute("zeros", 1):
        raise Unsupported("it fails where a category is none of its own: zeros is to be 1")
    return (tensor(data).unsqueeze(-1) == torch.tensor(categories)).to(torch.float32)


def _scale(node: Node, data: Value) -> torch.Tensor:
    x = tensor(data)
    x = x if x.dtype.is_floating_point else x.to(torch.float32)
    offset, scale = (
        torch.tensor(node.attribute(name, [default]), dtype=x.dtype)
        for name, default in (("offset", 0.0), ("scale", 1.0))
    )
    return ((x - offset) * scale).to(torch.float32)


def _zip_map(node: Node, data: Value) -> torch.Tensor:
    """The scores that a map of each row would have, in the order of classes."""
    if node.optional("classlabels_strings"):
        raise Unsupported(
            "it makes dicts with strings: convert the model with options={'zipmap': False}"
        )
    return tensor(data)


PATTERNS: Mapping[str, Pattern] = {
    "ArrayFeatureExtractor": _extract,
    "Binarizer": _binarize,
    "FeatureVectorizer": _concatenate,
    "Imputer": _impute,
    "LabelEncoder": _encode_labels,
    "Normalizer": _normalize,
    "OneHotEncoder": _one_hot,
    "Scaler": _scale,
    "ZipMap": _zip_map,
}
