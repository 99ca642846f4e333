"""What no compiled function can do is refused, with its place; what only looks like it is not."""

import sys
from collections.abc import Callable
from typing import Any

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
        (lambda x: x.nonzero(), ["sizes depend on the values", "aten.nonzero"]),
        (lambda x: (), ["it: forward returns no tensor"]),
    ],
    ids=["random", "sparse", "nonzero", "nothing"],
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


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
