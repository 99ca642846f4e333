"""Functions of torchvision's detectors that no export goes through, and what is traced instead.

They ask whether there are any boxes, and how many. That follows from values, which a graph cannot
branch on.
"""

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from plumbline.loader_to_torch.decompositions.box_suppression import batched_nms

_BOXES = "torchvision.ops.boxes"

_CODER = "torchvision.models.detection._utils"


@contextlib.contextmanager
def detection_functions() -> Iterator[None]:
    """Has the others be traced meanwhile, if torchvision is loaded."""
    boxes, coder = (sys.modules.get(name) for name in (_BOXES, _CODER))
    with contextlib.ExitStack() as stack:
        if boxes is not None:
            for file in _importers(boxes.batched_nms):
                stack.enter_context(mock.patch.object(file, "batched_nms", _batched_nms))
        if coder is not None:
            stack.enter_context(mock.patch.object(coder.BoxCoder, "decode", _decode))
        yield


def _importers(function: Any) -> list[ModuleType]:
    """The modules that have a function by its name."""
    # A name may stand there for no module, or for none that there is.
    files = [file for file in list(sys.modules.values()) if isinstance(file, ModuleType)]
    return [file for file in files if vars(file).get(function.__name__) is function]


def _batched_nms(
    boxes: torch.Tensor, scores: torch.Tensor, idxs: torch.Tensor, iou_threshold: float
) -> torch.Tensor:
    """The boxes that stay, of which those of other classes may overlap.

    torchvision moves classes apart, which rounds coordinates, or, of many boxes, has a loop.
    """
    kept: torch.Tensor = batched_nms(boxes, scores, idxs, iou_threshold)
    return kept


def _decode(coder: Any, rel_codes: torch.Tensor, boxes: list[torch.Tensor]) -> torch.Tensor:
    """Boxes [n, classes, 4] of what they differ by from others, also of none."""
    decoded: torch.Tensor = coder.decode_single(rel_codes.flatten(1), torch.cat(boxes))
    return decoded.reshape(decoded.shape[0], decoded.shape[1] // 4, 4)
