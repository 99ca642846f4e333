"""What torchvision's ops for detectors are made of, against plain loops, and programs of them.

torchvision is not among the packages here: a library of its name has the ops that it registers.
"""

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any
from unittest import mock

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.loader_to_torch.decompositions import decomposition_table

_REGION = "Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_IMAGES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_CONVOLVED = (
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
    "SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, "
    "SymInt groups, SymInt offset_groups, bool use_mask"
)
_FOUND = _REGION.replace("rois,", "rois, Tensor found,")
_SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align(Tensor input, {_REGION}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_align_backward(Tensor grad, {_REGION}, {_IMAGES}, int sampling_ratio, bool aligned) "
    "-> Tensor",
    f"ps_roi_align(Tensor input, {_REGION}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward(Tensor grad, {_FOUND}, int sampling_ratio, {_IMAGES}) -> Tensor",
    f"roi_pool(Tensor input, {_REGION}) -> (Tensor, Tensor)",
    f"_roi_pool_backward(Tensor grad, {_FOUND}, {_IMAGES}) -> Tensor",
    f"ps_roi_pool(Tensor input, {_REGION}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward(Tensor grad, {_FOUND}, {_IMAGES}) -> Tensor",
    f"deform_conv2d({_CONVOLVED}) -> Tensor",
    f"_deform_conv2d_backward(Tensor grad, {_CONVOLVED}) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)


@pytest.fixture(scope="module")
def ops() -> Iterator[torch._ops._OpNamespace]:
    make: Any = torch.library.Library
    library = make("torchvision", "DEF")
    for schema in _SCHEMAS:
        library.define(schema)
    register: Any = torch.library.register_fake

    def nms(dets: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
        # As torchvision has it: of at least two elements, by what PyTorch takes it to mean.
        count = torch.library.get_ctx().create_unbacked_symint()
        return dets.new_empty(count, dtype=torch.int64)

    def roi_align(
        images: torch.Tensor, rois: torch.Tensor, scale: float, *bins: int
    ) -> torch.Tensor:
        return images.new_empty(rois.shape[0], images.shape[1], *bins[:2])

    for shape in (nms, roi_align):
        register(f"torchvision::{shape.__name__}", shape, lib=library)
    yield torch.ops.torchvision
    library._destroy()


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


# -- regions ---------------------------------------------------------------------------------------

_BINS = (2, 3)
_SCALE = 0.5
_SIZE = (6, 7)


def _rois(count: int) -> torch.Tensor:
    """Regions of two images, of which some reach beyond them, and one has no size."""
    corner, size = torch.rand(count, 2) * 10 - 2, torch.rand(count, 2) * 9
    size[0] = 0
    corner[1], size[1] = -9, 12
    images = torch.arange(count) % 2
    return torch.cat([images.unsqueeze(1), corner, corner + size], 1).double()


def _images(channels: int) -> torch.Tensor:
    return torch.randn(2, channels, *_SIZE, dtype=torch.float64, requires_grad=True)


def _by_bins(
    images: torch.Tensor,
    rois: torch.Tensor,
    bin_: Callable[[torch.Tensor, Sequence[float], int, int], torch.Tensor],
    *,
    apart: bool,
) -> torch.Tensor:
    """What `bin_` gives of an image, the corners of a region and the place of a bin, of all."""
    down, across = _BINS
    results = []
    for number, *corners in rois.tolist():
        image = images[int(number)]
        of_region = []
        for row, column in itertools.product(range(down), range(across)):
            seen = image
            if apart:
                seen = image.reshape(-1, down * across, *_SIZE)[:, row * across + column]
            of_region.append(bin_(seen, corners, row, column))
        results.append(torch.stack(of_region, 1).reshape(-1, *_BINS))
    return torch.stack(results)


def _between(image: torch.Tensor, y: float, x: float) -> torch.Tensor:
    """What is read between four pixels, the last of which go on for one more."""
    height, width = image.shape[1:]
    if not (-1 <= y <= height and -1 <= x <= width):
        return torch.zeros_like(image[:, 0, 0])
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    above = (left + 1 - x) * image[:, top, left] + (x - left) * image[:, top, right]
    below = (left + 1 - x) * image[:, bottom, left] + (x - left) * image[:, bottom, right]
    return (top + 1 - y) * above + (y - top) * below


def _averages(
    images: torch.Tensor,
    rois: torch.Tensor,
    ratio: int,
    *,
    offset: float,
    least: float,
    apart: bool = False,
) -> torch.Tensor:
    def average(
        image: torch.Tensor, corners: Sequence[float], row: int, column: int
    ) -> torch.Tensor:
        left, top, right, bottom = (corner * _SCALE - offset for corner in corners)
        down = max(bottom - top, least) / _BINS[0]
        across = max(right - left, least) / _BINS[1]
        counts = [ratio if ratio > 0 else math.ceil(step) for step in (down, across)]
        total = torch.zeros_like(image[:, 0, 0])
        for y, x in itertools.product(*map(range, counts)):
            at = top + down * (row + (y + 0.5) / counts[0])
            total = total + _between(image, at, left + across * (column + (x + 0.5) / counts[1]))
        return total / max(math.prod(counts), 1)

    return _by_bins(images, rois, average, apart=apart)


@pytest.mark.parametrize("ratio", [2, 3, 0])
@pytest.mark.parametrize("aligned", [True, False])
def test_roi_align(ops: Any, ratio: int, aligned: bool) -> None:
    """Of places whose number is known, few or many, and of as many as a region has pixels."""
    images, rois = _images(3), _rois(5)
    table = decomposition_table()
    options = (_SCALE, *_BINS)
    given = images.detach(), rois, *options, ratio, aligned
    offset, least = (0.5, -math.inf) if aligned else (0.0, 1.0)
    expected = _averages(images, rois, ratio, offset=offset, least=least)
    torch.testing.assert_close(table[ops.roi_align.default](*given), expected)

    grad = torch.randn_like(expected)
    of_images = table[ops._roi_align_backward.default](
        grad, rois, *options, *images.shape, ratio, aligned
    )
    torch.testing.assert_close((of_images,), torch.autograd.grad(expected, images, grad))


@pytest.mark.parametrize("ratio", [2, 0])
def test_ps_roi_align(ops: Any, ratio: int) -> None:
    """The same of channels of their own for each bin."""
    images, rois = _images(2 * math.prod(_BINS)), _rois(5)
    table = decomposition_table()
    options = (_SCALE, *_BINS, ratio)
    expected = _averages(images, rois, ratio, offset=0.5, least=-math.inf, apart=True)
    result, channels = table[ops.ps_roi_align.default](images.detach(), rois, *options)
    torch.testing.assert_close(result, expected)
    torch.testing.assert_close(channels[4], torch.arange(12, dtype=torch.int32).view(2, *_BINS))

    grad = torch.randn_like(expected)
    of_images = table[ops._ps_roi_align_backward.default](
        grad, rois, channels, *options, *images.shape
    )
    torch.testing.assert_close((of_images,), torch.autograd.grad(expected, images, grad))


def _pixels(
    image: torch.Tensor,
    corners: Sequence[float],
    row: int,
    column: int,
    *,
    more: int,
    left_out: int,
) -> tuple[slice, slice]:
    """Those of a bin: of regions that are longer by `more`; the last ones of an image in none."""
    left, top, right, bottom = (
        math.floor(abs(corner * _SCALE) + 0.5) * (1 if corner > 0 else -1) for corner in corners
    )
    slices = []
    for first, last, size, bins, number in (
        (top, bottom, image.shape[1], _BINS[0], row),
        (left, right, image.shape[2], _BINS[1], column),
    ):
        step = max(last - first + more, 1) / bins
        begin, end = first + math.floor(number * step), first + math.ceil((number + 1) * step)
        begin, end = (min(max(edge, 0), size - left_out) for edge in (begin, end))
        slices.append(slice(begin, end))
    return slices[0], slices[1]


def test_roi_pool(ops: Any) -> None:
    """The greatest pixels, and where they are; a bin may have none."""
    images, rois = _images(3), _rois(6)
    table = decomposition_table()

    def greatest(image: torch.Tensor, *of_bin: Any) -> torch.Tensor:
        rows, columns = _pixels(image, *of_bin, more=1, left_out=0)
        seen = image[:, rows, columns].flatten(1)
        return seen.amax(1) if seen.numel() else torch.zeros_like(image[:, 0, 0])

    expected = _by_bins(images, rois, greatest, apart=False)
    result, found = table[ops.roi_pool.default](images.detach(), rois, _SCALE, *_BINS)
    torch.testing.assert_close(result, expected)
    read = images.flatten(2)[rois[:, 0].long()].gather(2, found.clamp(min=0).long().flatten(2))
    torch.testing.assert_close(torch.where(found < 0, 0.0, read.view_as(expected)), expected)
    assert (found < 0).any()

    grad = torch.randn_like(expected)
    of_images = table[ops._roi_pool_backward.default](
        grad, rois, found, _SCALE, *_BINS, *images.shape
    )
    torch.testing.assert_close((of_images,), torch.autograd.grad(expected, images, grad))


def test_ps_roi_pool(ops: Any) -> None:
    """Means of pixels, of channels of their own for each bin."""
    images, rois = _images(2 * math.prod(_BINS)), _rois(6)
    table = decomposition_table()

    def mean(image: torch.Tensor, *of_bin: Any, left_out: int) -> torch.Tensor:
        rows, columns = _pixels(image, *of_bin, more=0, left_out=left_out)
        seen = image[:, rows, columns].flatten(1)
        return seen.sum(1) / max(seen.shape[1], 1)

    expected, wider = (
        _by_bins(images, rois, lambda *of, by=left_out: mean(*of, left_out=by), apart=True)
        for left_out in (1, 0)
    )
    result, channels = table[ops.ps_roi_pool.default](images.detach(), rois, _SCALE, *_BINS)
    torch.testing.assert_close(result, expected)

    grad = torch.randn_like(expected)
    of_images = table[ops._ps_roi_pool_backward.default](
        grad, rois, channels, _SCALE, *_BINS, *images.shape
    )
    torch.testing.assert_close((of_images,), torch.autograd.grad(wider, images, grad))


# -- convolutions ----------------------------------------------------------------------------------


def _read(image: torch.Tensor, y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """What is read between four pixels, beyond which there is nothing."""
    height, width = image.shape[1:]
    total = torch.zeros_like(image[:, 0, 0])
    top, left = math.floor(y.item()), math.floor(x.item())
    for row in (top, top + 1):
        for column in (left, left + 1):
            if 0 <= row < height and 0 <= column < width:
                weight = (1 - (y - row).abs()) * (1 - (x - column).abs())
                total = total + weight * image[:, row, column]
    return total


@pytest.mark.parametrize(("groups", "use_mask"), [(1, True), (2, False)])
def test_deform_conv2d(ops: Any, groups: int, use_mask: bool) -> None:
    """Of which each half of the channels is moved otherwise."""
    kernel, stride, padding, dilation, offset_groups = (2, 1), (1, 2), (1, 0), (2, 1), 2
    make: Any = lambda *shape: torch.randn(*shape, dtype=torch.float64, requires_grad=True)  # noqa: E731
    images, weight, bias = make(1, 4, 4, 5), make(6, 4 // groups, *kernel), make(6)
    places = (4, 3)
    offset = make(1, offset_groups * math.prod(kernel) * 2, *places)
    mask = make(1, offset_groups * math.prod(kernel), *places) if use_mask else make(1, 1)
    columns = []
    for y, x in itertools.product(*map(range, places)):
        for part, moved in enumerate(images[0].chunk(offset_groups)):
            reads = []
            for number, (row, column) in enumerate(itertools.product(*map(range, kernel))):
                at = part * math.prod(kernel) + number
                down = y * stride[0] - padding[0] + row * dilation[0] + offset[0, 2 * at, y, x]
                right = x * stride[1] - padding[1] + column * dilation[1]
                right = right + offset[0, 2 * at + 1, y, x]
                reads.append(_read(moved, down, right) * (mask[0, at, y, x] if use_mask else 1))
            columns.append(torch.stack(reads, 1))
    windows = torch.stack(columns).view(math.prod(places), groups, -1)
    matrices = weight.view(groups, 6 // groups, -1)
    result = torch.einsum("pgi,goi->pgo", windows, matrices).flatten(1) + bias
    expected = result.T.view(1, 6, *places)

    table = decomposition_table()
    operands = images, weight, offset, mask, bias
    given = [operand.detach() for operand in operands]
    options = (*stride, *padding, *dilation, groups, offset_groups, use_mask)
    torch.testing.assert_close(table[ops.deform_conv2d.default](*given, *options), expected)

    grad = torch.randn_like(expected)
    grads = table[ops._deform_conv2d_backward.default](grad, *given, *options)
    known = torch.autograd.grad(expected, operands, grad, materialize_grads=True, allow_unused=True)
    torch.testing.assert_close(grads, known)


# -- boxes -----------------------------------------------------------------------------------------


def _boxes(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    corner, size = torch.rand(count, 2) * 4, torch.rand(count, 2) * 9
    return torch.cat([corner, corner + size], 1), torch.rand(count)


def _kept(
    boxes: torch.Tensor, scores: torch.Tensor, labels: torch.Tensor, threshold: float
) -> list[int]:
    kept: list[int] = []
    for number in scores.argsort(descending=True).tolist():
        for better in kept:
            low = torch.maximum(boxes[number, :2], boxes[better, :2])
            high = torch.minimum(boxes[number, 2:], boxes[better, 2:])
            shared = (high - low).clamp(min=0).prod()
            areas = [(boxes[each, 2:] - boxes[each, :2]).prod() for each in (number, better)]
            if labels[number] == labels[better] and shared / (sum(areas) - shared) > threshold:
                break
        else:
            kept.append(number)
    return kept


class _Head(torch.nn.Module):
    def forward(
        self, boxes: torch.Tensor, scores: torch.Tensor, images: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        ops = torch.ops.torchvision
        kept = ops.nms(boxes, scores, 0.3)
        rois = torch.nn.functional.pad(boxes[kept], (1, 0))
        return kept, ops.roi_align(images, rois, _SCALE, *_BINS, 0, True)


def test_a_program_of_boxes_whose_number_depends_on_values(ops: Any) -> None:
    """Down to one box and none, though torchvision says that two stay at least."""
    images = torch.randn(1, 3, *_SIZE)
    count = {0: Dim("count", min=0)}
    program = plumbline.compile(_Head(), (*_boxes(9), images), (count, count, {}))
    for size in (9, 12, 1, 0):
        boxes, scores = _boxes(size)
        kept, pooled = program(boxes, scores, images)
        known = _kept(boxes, scores, torch.zeros(size), 0.3)
        assert kept.tolist() == known
        assert size < 9 or 1 < len(known) < size
        rois = torch.nn.functional.pad(boxes[known], (1, 0))
        assert pooled.shape == (len(known), 3, *_BINS)
        if known:
            expected = _averages(images, rois, 0, offset=0.5, least=-math.inf)
            torch.testing.assert_close(pooled, expected)


class _Coder:
    """As torchvision's, which branches on how many boxes there are."""

    def decode(self, rel_codes: torch.Tensor, boxes: list[torch.Tensor]) -> torch.Tensor:
        decoded = self.decode_single(rel_codes, torch.cat(boxes))
        return decoded.reshape(boxes[0].shape[0], -1, 4) if boxes[0].shape[0] > 0 else decoded

    def decode_single(self, rel_codes: torch.Tensor, boxes: torch.Tensor) -> torch.Tensor:
        return rel_codes + boxes.repeat(1, rel_codes.shape[1] // 4)


def _batched_nms(boxes: torch.Tensor, *_: object) -> torch.Tensor:
    if boxes.numel() > 4000:
        raise NotImplementedError
    return torch.arange(boxes.shape[0])


def test_functions_of_torchvision_that_branch_on_sizes() -> None:
    """Are others in an export, in which they then may be about no box."""
    modules = {
        "torchvision.ops.boxes": ModuleType("boxes"),
        "torchvision.models.detection._utils": ModuleType("_utils"),
    }
    boxes_module, coder_module = modules.values()
    vars(boxes_module)["batched_nms"] = _batched_nms
    boxes_module.batched_nms.__name__ = "batched_nms"
    vars(coder_module)["BoxCoder"] = _Coder

    class Model(torch.nn.Module):
        def forward(
            self, boxes: torch.Tensor, scores: torch.Tensor, labels: torch.Tensor
        ) -> tuple[torch.Tensor, ...]:
            (good,) = torch.where(scores > 0.5)
            boxes, scores, labels = boxes[good], scores[good], labels[good]
            kept = boxes_module.batched_nms(boxes, scores, labels, 0.3)
            return kept, _Coder().decode(boxes.repeat(1, 2), [boxes])

    boxes, scores = _boxes(16)
    labels = torch.arange(16) % 2
    with mock.patch.dict(sys.modules, modules):
        program = plumbline.compile(Model(), (boxes, scores, labels))
        assert boxes_module.batched_nms is _batched_nms
    good = scores > 0.5
    kept, decoded = program(boxes, scores, labels)
    known = _kept(boxes[good], scores[good], labels[good], 0.3)
    assert kept.tolist() == known
    assert len(known) > len(_kept(boxes[good], scores[good], torch.zeros(16), 0.3))
    torch.testing.assert_close(decoded, 2 * boxes[good].unsqueeze(1).repeat(1, 2, 1))
    kept, decoded = program(boxes, scores / 2, labels)
    assert (kept.shape, decoded.shape) == ((0,), (0, 2, 4))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
