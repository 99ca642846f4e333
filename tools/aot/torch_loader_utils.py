"""What a loader function imports: `TorchLoaderOutput`, the loader contract."""

from plumbline.loader_to_torch.loader import TorchLoaderOutput

__all__ = ["TorchLoaderOutput"]
