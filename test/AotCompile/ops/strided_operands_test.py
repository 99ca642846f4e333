"""Products and windows of what is a part of another tensor, against PyTorch.

Such a part is no copy: its elements lie farther from one another than those of a whole tensor.
"""

import sys
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

import plumbline


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *arguments: torch.Tensor) -> torch.Tensor:
        return self._function(*arguments)


_Sizes = tuple[int, ...]

_CASES: dict[str, tuple[Callable[..., torch.Tensor], tuple[_Sizes, ...]]] = {
    "one_of_pairs": (lambda x, w: x @ w[..., 1], ((64, 64), (64, 64, 2))),
    "every_other_column": (lambda x, w: x @ w[:, ::2], ((64, 64), (64, 128))),
    "every_other_row": (lambda x, w: x @ w[1::2], ((64, 64), (128, 64))),
    "transposed": (lambda x, w: x @ w[..., 1].T, ((64, 64), (64, 64, 2))),
    "few_rows": (lambda x, w: x[..., 0] @ w[..., 1].T, ((2, 256, 2), (256, 256, 2))),
    "left": (lambda x, w: x[..., 1] @ w, ((64, 64, 2), (64, 64))),
    "both": (lambda x, w: x[..., 0] @ w[..., 1], ((3, 64, 64, 2), (3, 64, 64, 2))),
    "epilogue": (lambda x, w, b: x @ w + b[..., 0], ((40, 64), (64, 64), (40, 64, 2))),
    "epilogue_every_other": (lambda x, w, b: x @ w + b[:, ::2], ((40, 64), (64, 64), (40, 128))),
    "cropped": (lambda x, w: F.conv2d(x[:, :, 1:-1, 1:-1], w), ((2, 16, 18, 18), (32, 16, 1, 1))),
    "windows": (lambda x, w: F.conv1d(x[..., 0], w[..., 1]), ((3, 16, 64, 2), (8, 16, 3, 2))),
    "depthwise": (
        lambda x, w: F.conv2d(x[..., 0], w[..., 1], groups=16),
        ((2, 16, 18, 18, 2), (16, 1, 3, 3, 2)),
    ),
    "depthwise_every_other": (
        lambda x, w: F.conv2d(x[..., ::2], w, groups=16),
        ((2, 16, 18, 36), (16, 1, 3, 3)),
    ),
    "attention": (
        lambda q, k, v: F.scaled_dot_product_attention(q[..., 0], k[..., 0], v[..., ::2, 1]),
        ((2, 4, 32, 16, 2), (2, 4, 32, 16, 2), (2, 4, 32, 32, 2)),
    ),
}


_BATCHED = ("both", "attention")


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("case", _CASES)
def test_parts_of_tensors(case: str, *, dynamic: bool) -> None:
    function, sizes = _CASES[case]
    torch.manual_seed(0)
    arguments = tuple(torch.randn(*shape) for shape in sizes)
    # Of the first argument, and of what is added to its product.
    batch = Dim("batch", max=1000)
    has_batch = {0, 2} if "epilogue" in case else {0, 1, 2} if case in _BATCHED else {0}
    shapes = (tuple({0: batch} if at in has_batch else {} for at in range(len(sizes))),)
    program = plumbline.compile(_Of(function), arguments, shapes if dynamic else None)
    expected = function(*arguments)
    torch.testing.assert_close(program(*arguments)[0], expected, rtol=1e-5, atol=1e-4)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
