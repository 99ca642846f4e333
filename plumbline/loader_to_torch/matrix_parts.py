"""Parts of matrices whose places a run tells: slices, which are taken, put and multiplied."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import torch
from torch_mlir import ir

from plumbline.loader_to_torch.decompositions.matrix_parts import LESS_PRODUCT, PART, WITH_PART
from plumbline.loader_to_torch.kept_ops import KEPT
from plumbline.loader_to_torch.torch_builder import Builder

_Places = tuple[ir.Value, ir.Value] | None
"""The first place of a part along an axis, and the one after its last; None: all."""


def _import_part(build: Builder, node: torch.fx.Node) -> None:
    tensor, start, dim, size = _arguments(node)
    value, place, count = build.values([tensor, start, size])
    (type_,) = build.types([node.meta["val"]])
    run = _run(build, place, count)
    build.importer.bind_node_value(node, build.slice(value, dim, *run, type_))


def _import_with_part(build: Builder, node: torch.fx.Node) -> None:
    tensor, part, start, dim = _arguments(node)
    value, other, place = build.values([tensor, part, start])
    run = _run(build, place, build.size(part.meta["val"].shape[dim], [part]))
    build.importer.bind_node_value(node, build.with_slice(value, other, dim, *run))


def _run(build: Builder, start: ir.Value, count: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The first of so many places, which a tensor has, and the one after the last."""
    int_ = [build.type("int")]
    first = build.op("torch.aten.Int.Tensor", [start], int_).result
    return first, build.op("torch.aten.add.int", [first, count], int_).result


class _Part(NamedTuple):
    """A part of a matrix, between places if there are some, along its rows and its columns."""

    value: ir.Value
    sizes: tuple[int | None, ...]

    @classmethod
    def of(cls, build: Builder, node: torch.fx.Node, rows: _Places, columns: _Places) -> Self:
        (value,) = build.values([node])
        tensor = node.meta["val"]
        sizes = [size if isinstance(size, int) else None for size in tensor.shape]
        for axis, run in enumerate((rows, columns), len(sizes) - 2):
            if run is not None:
                sizes[axis] = None
                value = build.slice(value, axis, *run, build.tensor_type(sizes, tensor.dtype))
        return cls(value, tuple(sizes))


def _import_less_product(build: Builder, node: torch.fx.Node) -> None:
    matrix, left, right, *bounds = _arguments(node)
    rows, inner, columns = (_places(build, each) for each in bounds)
    dtype = matrix.meta["val"].dtype
    strip = _Part.of(build, matrix, rows, None)
    minuend = _Part.of(build, matrix, rows, columns)
    factors = [_Part.of(build, left, rows, inner), _Part.of(build, right, inner, columns)]
    *batch, count, _ = factors[0].sizes
    product_type = build.tensor_type([*batch, count, factors[1].sizes[-1]], dtype)
    name = "torch.aten.bmm" if batch else "torch.aten.mm"
    product = build.op(name, [each.value for each in factors], [product_type]).result
    operands = [minuend.value, product, build.constant(1)]
    type_ = build.tensor_type(minuend.sizes, dtype)
    result = build.op("torch.aten.sub.Tensor", operands, [type_]).result
    if columns is not None:
        result = build.with_slice(strip.value, result, len(batch) + 1, *columns)
    if rows is not None:
        (value,) = build.values([matrix])
        result = build.with_slice(value, result, len(batch), *rows)
    build.importer.bind_node_value(node, result)


def _places(build: Builder, bounds: torch.fx.Node | None) -> _Places:
    """The first place and the one after the last, which a tensor has."""
    if bounds is None:
        return None
    (value,) = build.values([bounds])
    type_ = build.tensor_type([1], torch.int64)

    def number(place: int) -> ir.Value:
        only = build.slice(value, 0, build.constant(place), build.constant(place + 1), type_)
        return build.op("torch.aten.Int.Tensor", [only], [build.type("int")]).result

    return number(0), number(1)


def _arguments(node: torch.fx.Node) -> tuple[Any, ...]:
    return node.args


IMPORTS: Mapping[str, Callable[[Builder, torch.fx.Node], None]] = {
    KEPT[PART].__name__: _import_part,
    KEPT[WITH_PART].__name__: _import_with_part,
    KEPT[LESS_PRODUCT].__name__: _import_less_product,
}
"""How each op is imported, by its name."""
