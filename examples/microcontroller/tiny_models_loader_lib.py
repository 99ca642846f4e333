"""Models of the sizes of MLPerf Tiny's, whose weights are drawn at random, as an example has none.

The sizes are those of "MLPerf Tiny Benchmark" (Banbury et al., 2021); numbers are float32 here.
"""

import itertools

import torch
from torch import nn

from tools.aot.torch_loader_utils import TorchLoaderOutput


def keyword_loader() -> TorchLoaderOutput:
    """Which of 12 words is said, of a spectrogram: a DS-CNN."""
    first = nn.Conv2d(1, 64, (10, 4), stride=2, padding=(5, 1), bias=False)
    blocks = [_separable(64, 64) for _ in range(4)]
    return _loader(
        nn.Sequential(first, nn.BatchNorm2d(64), nn.ReLU(), *blocks, *_head(64, 12)), 1, 1, 49, 10
    )


def image_loader() -> TorchLoaderOutput:
    """Which of 10 things is in a picture: a ResNet-8."""
    blocks = (_Residual(16, 16, 1), _Residual(16, 32, 2), _Residual(32, 64, 2))
    return _loader(nn.Sequential(*_convolution(3, 16), *blocks, *_head(64, 10)), 1, 3, 32, 32)


def person_loader() -> TorchLoaderOutput:
    """Whether a person is in a picture: a MobileNetV1 of a quarter of the width."""
    layers = [*_convolution(3, 8, stride=2)]
    channels = 8
    for outputs, stride in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2)):
        layers.append(_separable(channels, outputs, stride))
        channels = outputs
    layers += [_separable(128, 128) for _ in range(5)]
    layers += [_separable(128, 256, 2), _separable(256, 256), *_head(256, 2)]
    return _loader(nn.Sequential(*layers), 1, 3, 96, 96)


def anomaly_loader() -> TorchLoaderOutput:
    """A sound as it usually is, from which one that is not differs: an autoencoder."""
    sizes = (640, 128, 128, 128, 128, 8, 128, 128, 128, 128)
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()]
    return _loader(nn.Sequential(*layers, nn.Linear(128, 640)), 1, 640)


def _loader(model: nn.Module, *shape: int) -> TorchLoaderOutput:
    for name, statistics in model.named_buffers():
        if name.endswith("running_mean"):
            nn.init.uniform_(statistics, -0.1, 0.1)
        elif name.endswith("running_var"):
            nn.init.uniform_(statistics, 0.5, 1.5)
    return TorchLoaderOutput(model=model.eval(), inputs=(torch.randn(*shape),))


def _convolution(
    inputs: int, outputs: int, size: int = 3, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    convolution = nn.Conv2d(
        inputs, outputs, size, stride, padding=size // 2, groups=groups, bias=False
    )
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


def _separable(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        *_convolution(inputs, inputs, stride=stride, groups=inputs),
        *_convolution(inputs, outputs, size=1),
    )


def _head(features: int, classes: int) -> tuple[nn.Module, ...]:
    pool = nn.AdaptiveAvgPool2d(1)
    return pool, nn.Flatten(), nn.Linear(features, classes), nn.Softmax(dim=1)


class _Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = _convolution(inputs, outputs, stride=stride)
        self.second = _convolution(outputs, outputs)[:2]
        self.beside = nn.Conv2d(inputs, outputs, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.second(self.first(x)) + self.beside(x))
