"""Inputs of other sizes than the sample's, for a program with dynamic sizes.

Sizes: one case has smaller sizes than the sample and one has larger ones, wherever the ranges of
the dynamic sizes have room. The smaller are the smallest that the ranges allow, though none is 0:
an empty tensor is a case of its own, which many programs (a maximum, say) do not mean to take, and
which a loader can ask for with `further_inputs`. The larger are a little larger, each symbol by
another step, so that sizes of the same value in the sample do not stay so. Derived sizes (2*n)
follow.

Values: floats are drawn evenly from between the least and the greatest of the sample. All else is
the sample's own elements, cropped, and repeated from the start where there are more: indices stay
within what they index, and masks stay masks, as a random one need not. That also holds for floats
of at most two values and those with infinities or NaN, which are masks as a rule. An input whose
size does not change is the sample itself. Only where PyTorch refuses these values, as it does with
an index into a tensor that has become smaller, integers are taken modulo the least of the sizes.
"""

from collections.abc import Iterator, Mapping, Sequence

import torch

from plumbline.archives.reference_archive import RefusedSize
from plumbline.loader_to_torch.decompositions.stored_types import STORED_AS
from plumbline.signature.argument_shapes import ArgumentShapes, Place
from plumbline.signature.size_expressions import Symbol, evaluate, symbols_of

Sizes = list[list[int]]

_INDICES = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)


def further_sizes(shapes: ArgumentShapes, samples: Sequence[torch.Tensor]) -> Iterator[Sizes]:
    """The sizes of the further cases, in each for all inputs."""
    sizes = [list(tensor.shape) for tensor in samples]
    values = shapes.solve(sizes)
    smaller, larger = {}, {}
    for step, (index, value) in enumerate(sorted(values.items()), 1):
        smaller[index], larger[index] = _neighbours(shapes.symbols[index], value, step)
    tried = [sizes]
    for chosen in (_without_zeros(shapes, smaller, values), larger):
        other = [
            [own if size is None else size for own, size in zip(*pair, strict=True)]
            for pair in zip(sizes, shapes.sizes(chosen), strict=True)
        ]
        if other not in tried:
            tried.append(other)
            yield other


def resized(
    sample: torch.Tensor,
    sizes: Sequence[int],
    generator: torch.Generator,
    indices_below: int | None = None,
) -> torch.Tensor:
    """A tensor of these sizes with values such as those of `sample`.

    With `indices_below`, integers are taken modulo that number.
    """
    if indices_below is not None and sample.dtype in _INDICES:
        sample = sample % indices_below
    if list(sample.shape) == list(sizes):
        return sample.clone()
    if sample.numel() == 0:
        return torch.zeros(tuple(sizes), dtype=sample.dtype)
    if sample.is_complex():
        parts = (resized(part, sizes, generator) for part in (sample.real, sample.imag))
        return torch.complex(*parts)
    if sample.dtype in STORED_AS or sample.dtype == torch.uint32:
        # In a type that PyTorch does all of this with.
        wide = torch.float32 if sample.dtype.is_floating_point else torch.int64
        return resized(sample.to(wide), sizes, generator).to(sample.dtype)
    if _is_drawn(sample):
        low, high = sample.double().min(), sample.double().max()
        unit = torch.rand(tuple(sizes), generator=generator, dtype=torch.float64)
        # Rounding to a narrower type does not leave the range, as its ends are of that type; nor
        # does the range's width have to be a number of it.
        return (low * (1 - unit) + high * unit).to(sample.dtype)
    for axis, size in enumerate(sizes):
        sample = sample.index_select(axis, torch.arange(size) % sample.shape[axis])
    return sample


def refused_size(shapes: ArgumentShapes, samples: Sequence[torch.Tensor]) -> RefusedSize | None:
    """A size that calls with otherwise the sizes of `samples` must not have, if there is one.

    The more telling, the better: one that disagrees with another, then one that is out of its
    range, then one that is not the static size, and a negative one only where all others are right.
    """
    sizes = [list(tensor.shape) for tensor in samples]
    places = [
        (argument, axis) for argument, shape in enumerate(sizes) for axis in range(len(shape))
    ]
    # From the back, where sizes depend on those before them.
    places.reverse()
    dynamic = [(a, x) for a, x in places if not isinstance(shapes.shapes[a][x], int)]
    bounds = {
        bound
        for symbol in shapes.symbols
        for bound in (symbol.min - 1, None if symbol.max is None else symbol.max + 1)
        if bound is not None and bound >= 0
    }
    candidates = [(a, x, sizes[a][x] + 1) for a, x in dynamic]
    candidates += [(a, x, bound) for a, x in dynamic for bound in sorted(bounds)]
    candidates += [(a, x, sizes[a][x] + 1) for a, x in places]
    candidates += [(a, x, -1) for a, x in places]
    for argument, axis, size in candidates:
        wrong = [list(shape) for shape in sizes]
        wrong[argument][axis] = size
        violation = shapes.violation(wrong)
        # One that is told of another size would say less of what was tested.
        if violation is not None and violation.place == Place(argument, axis):
            return RefusedSize(argument, axis, size)
    return None


def _neighbours(symbol: Symbol, value: int, step: int) -> tuple[int, int]:
    """Another two values of a symbol, the smaller first, where its range has room for them."""
    least = max(symbol.min, 1)
    smaller = [least, value - 1] if least < value else []
    larger = [value + step, value + 2 * step]
    if symbol.max is not None:
        larger = [min(other, symbol.max) for other in larger]
    larger = [other for other in larger if other > value]
    if not smaller:
        smaller = larger[1:] or larger or [value]
    if not larger:
        larger = smaller[1:]
    return smaller[0], larger[0] if larger else value


def _without_zeros(
    shapes: ArgumentShapes, chosen: Mapping[int, int], values: Mapping[int, int]
) -> dict[int, int]:
    """`chosen`, raised towards `values` until no size that follows is 0 (n - 1, say)."""
    raised = dict(chosen)
    for shape in shapes.shapes:
        for size in shape:
            if size is None:
                continue
            symbols = symbols_of(size)
            while (evaluate(size, raised) or 0) < 1 and any(
                raised.get(index, 0) < values.get(index, 0) for index in symbols
            ):
                for index in symbols & set(raised):
                    raised[index] = min(raised[index] + 1, values[index])
    return raised


def _is_drawn(sample: torch.Tensor) -> bool:
    if not sample.dtype.is_floating_point or not sample.isfinite().all():
        return False
    # More than two values, which a mask has.
    return bool(((sample != sample.min()) & (sample != sample.max())).any())
