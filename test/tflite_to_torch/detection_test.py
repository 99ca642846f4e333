"""What detectors of objects end with, against LiteRT."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

from plumbline.errors import UserError
from plumbline.tflite_to_torch.program import load_tflite
from test.tflite_to_torch.models import Case, Value, check, given, known, result, weights

_INTEGERS = torch.int32
_DETECTION = "CUSTOM TFLite_Detection_PostProcess"


def _boxes(count: int) -> Value:
    """Boxes of which many overlap, some with their corners the other way around."""
    made = torch.Generator().manual_seed(count)
    one = torch.rand(count, 2, generator=made)
    return Value(torch.cat([one, one + torch.rand(count, 2, generator=made) - 0.2], 1))


# Of these, the second has half of the union in common with the first, and the third touches it.
_HALVES = torch.tensor([[0.0, 0, 1, 1], [0, 0, 0.5, 1], [1, 0, 2, 1], [0, 0, 1, 1], [3, 3, 4, 4]])


def _suppression(boxes: Value, scores: torch.Tensor, *numbers: float) -> Case:
    most, *others = numbers
    operands = [boxes, Value(scores), known(int(most)), *map(known, others)]
    if len(others) == 2:
        options, results = schema.NonMaxSuppressionV4OptionsT(), [result(_INTEGERS)] * 2
        return Case("NON_MAX_SUPPRESSION_V4", operands, options, [*map(replace, results)])
    results = [result(_INTEGERS), result(), result(_INTEGERS)]
    return Case("NON_MAX_SUPPRESSION_V5", operands, schema.NonMaxSuppressionV5OptionsT(), results)


def _random(count: int) -> torch.Tensor:
    return torch.rand(count, generator=torch.Generator().manual_seed(count))


_EQUAL = torch.tensor([0.5, 0.9, 0.9, 0.5, 0.25])

_SUPPRESSIONS = [
    _suppression(_boxes(40), _random(40), 10, 0.3, 0.2),
    _suppression(_boxes(40), _random(40), 50, 0.3, 0.5),
    _suppression(Value(_HALVES), _EQUAL, 5, 0.5, 0.25),
    _suppression(Value(_HALVES), _EQUAL.flip(0), 3, 0.49, 0.0),
    _suppression(Value(_HALVES), _EQUAL, 4, 0.5, 0.95),
    _suppression(_boxes(40), _random(40), 10, 0.3, 0.2, 0.0),
    _suppression(_boxes(40), _random(40), 10, 1.0, 0.2, 0.5),
    _suppression(_boxes(40), _random(40), 40, 0.6, 0.1, 0.1),
    _suppression(Value(_HALVES), _EQUAL, 7, 0.5, 0.0, 0.001),
]


_OPTIONS = {
    "max_detections": 10,
    "max_classes_per_detection": 1,
    "nms_score_threshold": 0.3,
    "nms_iou_threshold": 0.5,
    "y_scale": 10.0,
    "x_scale": 9.0,
    "h_scale": 5.0,
    "w_scale": 4.0,
}


def _packed(options: dict[str, float]) -> bytes:
    builder = flexbuffers.Builder()
    with builder.Map():
        for name, number in options.items():
            (builder.Int if isinstance(number, int) else builder.Float)(name, number)
    return bytes(builder.Finish())


def _detection(
    boxes: int, classes: int, *, scores: Value | None = None, background: int = 1, **options: float
) -> Case:
    made = torch.Generator().manual_seed(boxes)
    anchors = torch.rand(boxes, 4, generator=made) * torch.tensor([1, 1, 0.3, 0.3])
    predictions = torch.rand(1, boxes, classes + background, generator=made)
    operands = [given(1, boxes, 4), scores or Value(predictions), weights(Value(anchors))]
    results = [result() for _ in range(4)]
    packed = _packed({"num_classes": classes, **_OPTIONS, **options})
    return Case(_DETECTION, operands, packed, results)


_DETECTIONS = [
    _detection(60, 5, background=0),
    _detection(60, 5, max_classes_per_detection=3),
    _detection(60, 5, nms_score_threshold=0.9),
    _detection(60, 5, use_regular_nms=1),
    _detection(60, 5, use_regular_nms=1, detections_per_class=2, background=0),
    _detection(8, 2, use_regular_nms=1, max_detections=30),
    # Few scores, of which many are equal.
    _detection(60, 5, use_regular_nms=1, scores=given(1, 60, 6, dtype=torch.uint8, scale=1 / 16)),
    _detection(60, 5, scores=given(1, 60, 6, dtype=torch.uint8, scale=1 / 16)),
]

CASES = [*_SUPPRESSIONS, *_DETECTIONS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_agrees_with_litert(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.parametrize(
    "case",
    [
        _detection(60, 2, max_classes_per_detection=3, nms_iou_threshold=0.1),
        _detection(8, 3, max_detections=20),
        _detection(60, 5, nms_score_threshold=2.0),
    ],
)
def test_zeros_are_where_litert_leaves_what_was_there(case: Case, tmp_path: Path) -> None:
    file, expected = case.write(tmp_path)
    *rows, count = load_tflite(file).model(*case.inputs).values()
    *expected_rows, expected_count = expected
    assert count.equal(expected_count)
    is_there = rows[2] > 0
    for one, other in zip(rows, expected_rows, strict=True):
        torch.testing.assert_close(one[is_there], other[is_there])
        assert not one[~is_there].any()


def test_the_file_may_say_no_sizes(tmp_path: Path) -> None:
    case = _detection(60, 5)
    file, expected = case.write(tmp_path)
    file.write_bytes(
        case.content([replace(each, numbers=torch.empty(())) for each in case.results])
    )
    assert len(load_tflite(file).model(*case.inputs)) == len(expected)


_SIX = {"num_classes": 6, **_OPTIONS}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (_packed({**_SIX, "nms_iou_threshold": 1.5}), "boxes may have 1.5 in common"),
        (_packed({**_SIX, "max_detections": 0}), "it keeps 0 boxes"),
        (_packed({**_SIX, "num_classes": 4}), "it has scores of 6 classes, where it is of 4"),
        (_packed(_OPTIONS), "it has no option num_classes"),
        (b"abc", "its options cannot be read"),
        (_packed(_SIX)[:-4], "its options cannot be read"),
    ],
)
def test_is_refused(options: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "model.tflite"
    case = replace(_detection(60, 5), options=options)
    file.write_bytes(case.content([result() for _ in range(4)]))
    with pytest.raises(UserError, match=f"TFLite_Detection_PostProcess\\): {message}"):
        load_tflite(file)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
