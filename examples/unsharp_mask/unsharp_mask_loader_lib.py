import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput

_TAPS = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)


class UnsharpMask(torch.nn.Module):
    """Adds to a picture, once more, what a blur takes away from it.

    The blur is of 5x5 binomial weights; beyond the picture, its border goes on. What differs from
    its surroundings by no more than `threshold` is noise, and is left alone.
    """

    def __init__(self, amount: float, threshold: float) -> None:
        super().__init__()
        self._amount, self._threshold = amount, threshold

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Takes and returns f32[3, height, width], from 0 to 1."""
        height, width = image.shape[1:]
        padded = F.pad(image[None], (2, 2, 2, 2), mode="replicate")[0]
        rows = torch.zeros(())
        for i, tap in enumerate(_TAPS):
            rows = rows + tap * padded[:, :, i : i + width]
        blurred = torch.zeros(())
        for i, tap in enumerate(_TAPS):
            blurred = blurred + tap * rows[:, i : i + height]
        detail = image - blurred
        sharpened = (image + self._amount * detail).clamp(0, 1)
        return torch.where(detail.abs() > self._threshold, sharpened, image)


def unsharp_mask_loader() -> TorchLoaderOutput:
    height, width = Dim("height", min=1, max=65536), Dim("width", min=1, max=65536)
    return TorchLoaderOutput(
        model=UnsharpMask(amount=1.5, threshold=0.01),
        inputs=(torch.rand(3, 1080, 1920),),
        dynamic_shapes={"image": {1: height, 2: width}},
    )
