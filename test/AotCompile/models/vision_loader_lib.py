"""Loader functions of models of images: the full ones, and small ones of the same definition."""

from typing import cast

import torch
from torch.export import Dim
from transformers import (
    ConvNextConfig,
    ConvNextForImageClassification,
    MobileNetV2Config,
    MobileNetV2ForImageClassification,
    PreTrainedConfig,
    PreTrainedModel,
    ResNetConfig,
    ResNetForImageClassification,
    ViTConfig,
    ViTForImageClassification,
)

from test.AotCompile.models.random_weights import draw_weights
from tools.aot.torch_loader_utils import TorchLoaderOutput


class _Logits(torch.nn.Module):
    """The scores of an image's classes, out of what a classifier returns."""

    def __init__(self, classifier: PreTrainedModel) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        return cast("torch.Tensor", self.classifier(pixel_values).logits)


def _classifier(
    definition: type[PreTrainedModel],
    config: PreTrainedConfig,
    *,
    image_size: int = 224,
    classes: int = 1000,
    dynamic_batch: bool = False,
) -> TorchLoaderOutput:
    config.num_labels = classes
    model = definition(config)
    draw_weights(model)
    return TorchLoaderOutput(
        model=_Logits(model).eval(),
        inputs=(torch.randn(2 if dynamic_batch else 1, 3, image_size, image_size),),
        dynamic_shapes={"pixel_values": {0: Dim("batch")}} if dynamic_batch else None,
    )


def resnet50_loader() -> TorchLoaderOutput:
    """ResNet-50, which is what the configuration is by default."""
    return _classifier(ResNetForImageClassification, ResNetConfig())


_SMALL_RESNET = ResNetConfig(
    embedding_size=8, hidden_sizes=[16, 24], depths=[1, 2], downsample_in_first_stage=False
)


def resnet_small_loader() -> TorchLoaderOutput:
    """Two stages of bottleneck blocks."""
    return _classifier(ResNetForImageClassification, _SMALL_RESNET, image_size=32, classes=10)


def resnet_small_dynamic_batch_loader() -> TorchLoaderOutput:
    """The same over any number of images."""
    return _classifier(
        ResNetForImageClassification,
        _SMALL_RESNET,
        image_size=32,
        classes=10,
        dynamic_batch=True,
    )


def mobilenet_v2_loader() -> TorchLoaderOutput:
    """MobileNetV2 of width 1."""
    return _classifier(MobileNetV2ForImageClassification, MobileNetV2Config())


def mobilenet_v2_small_loader() -> TorchLoaderOutput:
    """All blocks, an eighth as wide, over a small image."""
    config = MobileNetV2Config(
        image_size=32, depth_multiplier=0.125, min_depth=4, finegrained_output=False
    )
    return _classifier(MobileNetV2ForImageClassification, config, image_size=32, classes=10)


def convnext_tiny_loader() -> TorchLoaderOutput:
    """ConvNeXt-T, which is what the configuration is by default."""
    return _classifier(ConvNextForImageClassification, ConvNextConfig())


def convnext_small_loader() -> TorchLoaderOutput:
    """Two stages, of one block and of two."""
    config = ConvNextConfig(num_stages=2, hidden_sizes=[8, 16], depths=[1, 2], image_size=32)
    return _classifier(ConvNextForImageClassification, config, image_size=32, classes=10)


def vit_base_loader() -> TorchLoaderOutput:
    """ViT-B/16, which is what the configuration is by default."""
    return _classifier(ViTForImageClassification, ViTConfig())


def vit_small_loader() -> TorchLoaderOutput:
    """Two layers over sixteen patches."""
    config = ViTConfig(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=32,
        patch_size=8,
    )
    return _classifier(ViTForImageClassification, config, image_size=32, classes=10)


class _UNetUpBlock(torch.nn.Module):
    """A step up of a diffusion model's U-Net: joins the skip connection, then doubles the sizes.

    As in "Denoising Diffusion Probabilistic Models" (Ho et al., 2020), appendix B: a residual block
    of group norms and convolutions, to which the embedding of the time step is added, then nearest
    upsampling with a convolution.
    """

    def __init__(self, channels: int, skip_channels: int, time_channels: int, groups: int) -> None:
        super().__init__()
        joined = channels + skip_channels
        self.norm1 = torch.nn.GroupNorm(groups, joined)
        self.conv1 = torch.nn.Conv2d(joined, channels, 3, padding=1)
        self.time = torch.nn.Linear(time_channels, channels)
        self.norm2 = torch.nn.GroupNorm(groups, channels)
        self.conv2 = torch.nn.Conv2d(channels, channels, 3, padding=1)
        self.shortcut = torch.nn.Conv2d(joined, channels, 1)
        self.activation = torch.nn.SiLU()
        self.upsample = torch.nn.Upsample(scale_factor=2.0, mode="nearest")
        self.conv3 = torch.nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor, skip: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        x = torch.cat((x, skip), dim=1)
        hidden = self.conv1(self.activation(self.norm1(x)))
        hidden = hidden + self.time(self.activation(time))[:, :, None, None]
        hidden = self.conv2(self.activation(self.norm2(hidden)))
        return cast("torch.Tensor", self.conv3(self.upsample(hidden + self.shortcut(x))))


def _unet_block(channels: int, skip_channels: int, groups: int, size: int) -> TorchLoaderOutput:
    time_channels = 4 * channels
    model = _UNetUpBlock(channels, skip_channels, time_channels, groups)
    draw_weights(model)
    inputs = (
        torch.randn(1, channels, size, size),
        torch.randn(1, skip_channels, size, size),
        torch.randn(1, time_channels),
    )
    return TorchLoaderOutput(model=model, inputs=inputs)


def unet_block_loader() -> TorchLoaderOutput:
    """The widths of a U-Net for images of 256 x 256, at 32 x 32."""
    return _unet_block(channels=256, skip_channels=128, groups=32, size=32)


def unet_block_small_loader() -> TorchLoaderOutput:
    """Few channels, at 6 x 6."""
    return _unet_block(channels=8, skip_channels=4, groups=4, size=6)
