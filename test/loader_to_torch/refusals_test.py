"""What no compiled function can do is refused, with its place; what only looks like it is not."""

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it

from plumbline.errors import UserError
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self._function(x)


_HERE = ": 1 place\n    test/loader_to_torch/refusals_test.py:"


def _diagonal_of_a_view(x: torch.Tensor) -> torch.Tensor:
    return torch.as_strided_copy(x.t(), (2,), (4,))


def _printed(x: torch.Tensor) -> torch.Tensor:
    torch.ops.aten._print("here")
    return x + 1


def _seeded(x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(0)
    return x + 1


def _export(function: Callable[[torch.Tensor], Any]) -> str:
    return export("it", TorchLoaderOutput(_Of(function), (torch.ones(2, 3),))).text


@pytest.mark.parametrize(
    ("function", "messages"),
    [
        (
            lambda x: F.dropout(x, training=True) + torch.rand_like(x),
            ["it: forward draws random numbers", "native_dropout", "rand_like", "refusals_test.py"],
        ),
        (lambda x: x.to_sparse(), ["it: forward makes a sparse tensor", "_to_sparse"]),
        (_seeded, ["forward calls torch.manual_seed", "call it before", "refusals_test.py"]),
        (lambda x: (), ["it: forward returns no tensor"]),
        (
            _printed,
            [
                "it: forward calls higher-order ops that nothing lowers:\n  with_effects(",
                _HERE,
                "what would help: branch and loop by torch.cond and by while_loop, scan, map and",
            ],
        ),
        (
            _diagonal_of_a_view,
            [
                "it: PyTorch cannot take the program's ops apart: NotImplementedError: strides",
                "\n  aten.as_strided_copy.default(f32[3,2]): 1 place",
                _HERE,
                "what would help: write a decomposition of it",
            ],
        ),
        (
            lambda x: torch.cond(x.sum() > 0, lambda y: y @ y.T, lambda y: -(y @ y.T), (x,)),
            ["might be aliasing", "\n  cond(", _HERE, "call a method, x.transpose(0, 1)"],
        ),
    ],
    ids=["random", "sparse", "seed", "nothing", "effect", "not taken apart", "view in a branch"],
)
def test_refused(function: Callable[[torch.Tensor], Any], messages: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        _export(function)
    for message in messages:
        assert message in str(caught.value)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.dropout(x, training=False),
        lambda x: F.rrelu(x, training=False),
        # Drawn, and not looked at.
        lambda x: (torch.rand_like(x), x + 1)[1],
        lambda x: torch.nonzero_static(x, size=4),
    ],
    ids=["dropout", "rrelu", "unused", "nonzero_static"],
)
def test_taken(function: Callable[[torch.Tensor], Any]) -> None:
    text = _export(function)
    assert not [name for name in ("rand", "dropout", "rrelu") if name in text]


_LIBRARY = """
import torch


class Positive(torch.nn.Module):
    def forward(self, x):
        if (x > 0).all():
            return x
        return -x
"""


def test_a_place_in_a_library_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "models_of_others.py").write_text(_LIBRARY)
    monkeypatch.syspath_prepend(str(folder))
    positive = importlib.import_module("models_of_others").Positive()
    in_library = "\n  in models_of_others.py:7: if (x > 0).all():\n"
    here = "\n  at test/loader_to_torch/refusals_test.py:"
    for function, is_called_here in ((positive, False), (lambda x: positive(x) + 1, True)):
        with pytest.raises(UserError) as caught:
            _export(function)
        message = str(caught.value)
        assert in_library in message
        assert here in message
        assert str(tmp_path) not in message
        assert ("positive(x) + 1" in message) == is_called_here
    with pytest.raises(UserError) as caught:
        export("it", TorchLoaderOutput(positive, (torch.ones(2, 3),)))
    assert in_library in str(caught.value)
    assert here not in str(caught.value)


class _Replaced(torch.nn.Module):
    """Takes its weight from the first batch, as flows do."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.nn.Parameter(torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.data = x.mean(0)
        return x - self.mean


def test_data_that_are_replaced_are_written() -> None:
    with pytest.raises(UserError, match=r"writes in place:\n  into the parameter mean: "):
        export("it", TorchLoaderOutput(_Replaced(), (torch.ones(2, 3),)))


def test_a_batch_of_one_as_an_example_of_any() -> None:
    batches = ({0: torch.export.Dim("batch")},)
    with pytest.raises(UserError, match=r"batch = 1\n.* hand over inputs where .* 2 or more"):
        export("it", TorchLoaderOutput(torch.nn.ReLU(), (torch.ones(1, 3),), batches))


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor", "ignore:torch.ao.quantization")
def test_modules_with_packed_weights_are_named() -> None:
    quantize: Any = torch.ao.quantization.quantize_dynamic
    layers = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()).eval()
    model = torch.nn.ModuleDict({"layers": quantize(layers, {torch.nn.Linear})})
    expected = r"^it: weights are packed .*: layers\.0\._packed_params \(LinearPackedParams\)\. "
    with pytest.raises(UserError, match=expected):
        export("it", TorchLoaderOutput(model, (torch.ones(2, 3),)))


def test_kernels_of_onednn_are_named() -> None:
    """As they are in a model that has been lowered for them, with weights that only they read."""

    class Lowered(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, x, None, "relu", [], "")
            return y

    expected = (
        r"^it: forward calls kernels of oneDNN, .*\n  mkldnn\._linear_pointwise.*convert_pt2e"
    )
    with pytest.raises(UserError, match=re.compile(expected, re.DOTALL)):
        export("it", TorchLoaderOutput(Lowered(), (torch.ones(3, 3),)))


@pytest.mark.parametrize(
    "held",
    [torch.eye(4).to_sparse_bsr((2, 2)), torch.ones(2, 4, 4).to_sparse()],
    ids=["blocks", "matrices"],
)
def test_sparse_buffers_are_named(held: torch.Tensor) -> None:
    class Graph(torch.nn.Module):
        neighbours: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("neighbours", held)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.neighbours.to_dense() @ x

    program = TorchLoaderOutput(Graph(), (torch.ones(4, 2),))
    with pytest.raises(UserError, match=r"^it: holds sparse tensors: neighbours\. .*to_dense\("):
        export("it", program)
    # What the program does not look at is in nobody's way.
    with mock.patch.object(Graph, "forward", lambda self, x: x + 1):
        export("it", program)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
