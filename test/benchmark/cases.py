"""What is timed: programs with their inputs, in groups, each with the goal that it is held to.

Sizes are those of models (ResNet-50, MobileNetV2, ConvNeXt-T, BERT-base, ViT-B), round ones, and
ones that are no multiple of anything.
"""

import fnmatch
import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import nn
from torch.nn import functional
from transformers import LlamaConfig, LlamaModel

from plumbline.loader_to_torch.loader import load
from test.AotCompile.models.random_weights import draw_weights

Function = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Program:
    """A module, in the mode for inference, and what it is called with."""

    module: nn.Module
    inputs: tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Group:
    """Cases of a kind. Goals are our time over the best peer's, by the number of threads."""

    title: str
    goals: dict[int, float]


@dataclass(frozen=True)
class Case:
    """What is timed under a name; `make` draws weights and inputs."""

    name: str
    group: Group
    make: Callable[[], Program]
    share_of_flops: float = 1.0
    """How much of the operations that the program counts as written its result depends on."""


CONTRACTIONS = Group("contractions and attention", {1: 1.0, 2: 1.0})
ROWS = Group("row-wise", {1: 0.8, 2: 0.8})
ELEMENTWISE = Group("elementwise, with exp, tanh or erf", {1: 0.8, 2: 0.8})
STENCILS = Group("stencils", {1: 0.3, 2: 0.5})
MEMORY = Group("bound by memory: one op", {})
MODELS = Group("models", {1: 1.0, 2: 1.0})
STEPS = Group("steps and small tensors", {1: 0.8})


class _Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self._function = function

    def forward(self, *operands: torch.Tensor) -> torch.Tensor:
        return self._function(*operands)


class _LlamaBlock(nn.Module):
    """A layer of Llama, with its last norm, over embeddings."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.model = LlamaModel(config)

    def forward(self, inputs_embeds: torch.Tensor) -> torch.Tensor:
        output = self.model(inputs_embeds=inputs_embeds, use_cache=False)
        return cast("torch.Tensor", output.last_hidden_state)


def _sum(terms: Iterable[torch.Tensor]) -> torch.Tensor:
    return functools.reduce(torch.add, terms)


def _blur(image: torch.Tensor) -> torch.Tensor:
    """A binomial filter of five taps each way, as sums of shifted images, without borders."""
    taps = (0.0625, 0.25, 0.375, 0.25, 0.0625)
    height, width = image.shape[-2] - 4, image.shape[-1] - 4
    rows = _sum(tap * image[..., :, i : i + width] for i, tap in enumerate(taps))
    return _sum(tap * rows[..., i : i + height, :] for i, tap in enumerate(taps))


def _unsharp_mask(image: torch.Tensor) -> torch.Tensor:
    inner = image[..., 2:-2, 2:-2]
    detail = inner - _blur(image)
    sharpened = (inner + 1.5 * detail).clamp(0.0, 1.0)
    return torch.where(detail.abs() > 0.01, sharpened, inner)


def _chain(x: torch.Tensor) -> torch.Tensor:
    return functional.gelu(x) * torch.sigmoid(x) - torch.tanh(x)


def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(query, key, value)


def _causal(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def _grouped(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(query, key, value, enable_gqa=True)


def _llama_block(batch: int) -> Callable[[], Program]:
    def make() -> Program:
        config = LlamaConfig(
            num_hidden_layers=1,
            hidden_size=2048,
            intermediate_size=5632,
            num_attention_heads=32,
            num_key_value_heads=4,
            vocab_size=8,
        )
        block = _LlamaBlock(config).eval()
        draw_weights(block)
        return Program(block, (torch.randn(batch, 64, 2048),))

    return make


def _loaded(loader: str) -> Callable[[], Program]:
    def make() -> Program:
        loaded = load(f"test.AotCompile.models.{loader}_loader")
        return Program(loaded.model.eval(), tuple(loaded.inputs))

    return make


def _function(function: Function, *shapes: tuple[int, ...]) -> Callable[[], Program]:
    """A function of tensors of random numbers."""
    return lambda: Program(_Function(function).eval(), tuple(map(torch.randn, shapes)))


def _layer(
    shape: tuple[int, ...], layer: Callable[..., nn.Module], *arguments: object, **named: object
) -> Callable[[], Program]:
    """A layer, made with these arguments, of a tensor of random numbers."""
    return lambda: Program(layer(*arguments, **named).eval(), (torch.randn(shape),))


def _mlp(*widths: int) -> nn.Module:
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.GELU()]
    return nn.Sequential(*layers[:-1])


def _contractions() -> dict[str, Callable[[], Program]]:
    head, odd_head, long_head = (1, 12, 128, 64), (1, 12, 197, 64), (1, 12, 512, 64)
    few_heads = (1, 4, 512, 64)
    return {
        "matmul_1024": _function(torch.matmul, (1024, 1024), (1024, 1024)),
        "matmul_197x773x771": _function(torch.matmul, (197, 773), (773, 771)),
        # Few rows by a matrix that is not packed beforehand, as weights are under torch.compile.
        "matmul_1x4096x1024": _function(torch.matmul, (1, 4096), (4096, 1024)),
        "matmul_8x4096x1024": _function(torch.matmul, (8, 4096), (4096, 1024)),
        "matmul_16x1024x1024": _function(torch.matmul, (16, 1024), (1024, 1024)),
        "matmul_64x768x3072": _function(torch.matmul, (64, 768), (768, 3072)),
        "batch_matmul": _function(torch.matmul, (12, 128, 64), (12, 64, 128)),
        "batch_matmul_odd": _function(torch.matmul, (3, 77, 65), (3, 65, 77)),
        "linear_128x768x768": _layer((128, 768), nn.Linear, 768, 768),
        "linear_128x3072x768": _layer((128, 3072), nn.Linear, 3072, 768),
        "linear_64x4096x1024": _layer((64, 4096), nn.Linear, 4096, 1024),
        "linear_3x1000x1000": _layer((3, 1000), nn.Linear, 1000, 1000),
        "matrix_vector": _layer((1, 2048), nn.Linear, 2048, 1000),
        "mlp_64x1024x4096x1024": _layer((64, 1024), _mlp, 1024, 4096, 1024),
        "conv_3x3_56": _layer((1, 64, 56, 56), nn.Conv2d, 64, 64, 3, padding=1),
        "conv_3x3_28": _layer((1, 128, 28, 28), nn.Conv2d, 128, 128, 3, padding=1),
        "conv_3x3_14": _layer((1, 256, 14, 14), nn.Conv2d, 256, 256, 3, padding=1),
        "conv_3x3_7": _layer((1, 512, 7, 7), nn.Conv2d, 512, 512, 3, padding=1),
        "conv_3x3_stride_2": _layer((1, 128, 56, 56), nn.Conv2d, 128, 128, 3, stride=2, padding=1),
        "conv_1x1_56": _layer((1, 64, 56, 56), nn.Conv2d, 64, 256, 1),
        "conv_1x1_7": _layer((1, 2048, 7, 7), nn.Conv2d, 2048, 512, 1),
        "conv_1x1_stride_2": _layer((1, 256, 56, 56), nn.Conv2d, 256, 512, 1, stride=2),
        "conv_7x7_stride_2": _layer((1, 3, 224, 224), nn.Conv2d, 3, 64, 7, stride=2, padding=3),
        "conv_depthwise_112": _layer((1, 96, 112, 112), nn.Conv2d, 96, 96, 3, padding=1, groups=96),
        "conv_depthwise_14": _layer((1, 96, 14, 14), nn.Conv2d, 96, 96, 3, padding=1, groups=96),
        "conv_depthwise_stride_2": _layer(
            (1, 96, 112, 112), nn.Conv2d, 96, 96, 3, stride=2, padding=1, groups=96
        ),
        "conv_depthwise_7x7": _layer(
            (1, 384, 14, 14), nn.Conv2d, 384, 384, 7, padding=3, groups=384
        ),
        "conv_grouped": _layer((1, 128, 28, 28), nn.Conv2d, 128, 128, 3, padding=1, groups=4),
        "conv_dilated": _layer((1, 64, 28, 28), nn.Conv2d, 64, 64, 3, padding=2, dilation=2),
        "conv_transposed": _layer(
            (1, 64, 28, 28), nn.ConvTranspose2d, 64, 32, 4, stride=2, padding=1
        ),
        "conv_transposed_3x3": _layer(
            (1, 64, 28, 28), nn.ConvTranspose2d, 64, 32, 3, stride=2, padding=1, output_padding=1
        ),
        "conv_1d": _layer((1, 64, 1000), nn.Conv1d, 64, 128, 5, padding=2),
        "conv_3d": _layer((1, 16, 16, 28, 28), nn.Conv3d, 16, 32, 3, padding=1),
        "attention_128": _function(_attention, head, head, head),
        "attention_197": _function(_attention, odd_head, odd_head, odd_head),
        "attention_512": _function(_attention, long_head, long_head, long_head),
        "attention_512_causal": _function(_causal, long_head, long_head, long_head),
        "attention_512_grouped": _function(_grouped, long_head, few_heads, few_heads),
    }


def _rows() -> dict[str, Callable[[], Program]]:
    square = (4096, 4096)
    return {
        "softmax_4096": _layer(square, nn.Softmax, -1),
        "softmax_12x128x128": _layer((12, 128, 128), nn.Softmax, -1),
        "softmax_3x1000": _layer((3, 1000), nn.Softmax, -1),
        "log_softmax_4096": _layer(square, nn.LogSoftmax, -1),
        "log_softmax_3x1000": _layer((3, 1000), nn.LogSoftmax, -1),
        "layer_norm_4096": _layer(square, nn.LayerNorm, 4096),
        "layer_norm_128x768": _layer((1, 128, 768), nn.LayerNorm, 768),
        "rms_norm_64x2048": _layer((1, 64, 2048), nn.RMSNorm, 2048),
        "group_norm": _layer((1, 64, 32, 32), nn.GroupNorm, 8, 64),
        "batch_norm": _layer((1, 64, 56, 56), nn.BatchNorm2d, 64),
        "variance_of_rows": _function(lambda x: x.var(1), (1024, 1024)),
        "cumulative_sum": _function(lambda x: x.cumsum(1), (1024, 1024)),
        "cumulative_sum_down": _function(lambda x: x.cumsum(0), (1024, 1024)),
        "cumulative_sum_across": _function(lambda x: x.cumsum(1), (16, 256, 256)),
        "cumulative_sum_of_one_row": _function(lambda x: x.cumsum(0), (1 << 20,)),
        "argmax_of_rows": _function(lambda x: x.argmax(1), (1024, 1000)),
        "argmax_of_columns": _function(lambda x: x.argmax(0), (1024, 1000)),
        "max_with_places": _function(lambda x: x.max(1), (1024, 1000)),
    }


def _elementwise() -> dict[str, Callable[[], Program]]:
    return {
        "chain_4096": _function(_chain, (4096, 4096)),
        "chain_197x773": _function(_chain, (197, 773)),
        "gelu": _layer((128, 3072), nn.GELU),
        "gelu_tanh": _layer((128, 3072), nn.GELU, "tanh"),
        "silu": _layer((128, 3072), nn.SiLU),
        "exp": _function(torch.exp, (1024, 1024)),
    }


def _memory() -> dict[str, Callable[[], Program]]:
    square = (1024, 1024)
    return {
        "relu": _layer((128, 3072), nn.ReLU),
        "add": _function(torch.add, square, square),
        "transpose": _function(lambda x: x.t().contiguous(), square),
        "sum": _function(torch.sum, square),
        "sum_of_rows": _function(lambda x: x.sum(1), square),
        "sum_of_columns": _function(lambda x: x.sum(0), square),
        "max_of_rows": _function(lambda x: x.amax(1), square),
        "pixel_shuffle": _layer((1, 64, 56, 56), nn.PixelShuffle, 2),
        "upsample_nearest": _layer((1, 64, 56, 56), nn.Upsample, scale_factor=2),
        "upsample_bilinear": _layer((1, 64, 56, 56), nn.Upsample, scale_factor=2, mode="bilinear"),
        "max_pool": _layer((1, 64, 112, 112), nn.MaxPool2d, 3, 2, 1),
        "avg_pool": _layer((1, 64, 112, 112), nn.AvgPool2d, 2),
        "global_avg_pool": _layer((1, 2048, 7, 7), nn.AdaptiveAvgPool2d, 1),
    }


def _stencils() -> dict[str, Callable[[], Program]]:
    image = (3, 1080, 1920)
    return {
        "blur_5x5": _function(_blur, image),
        "unsharp_mask": _function(_unsharp_mask, image),
    }


def _models() -> dict[str, Callable[[], Program]]:
    return {
        "resnet50": _loaded("vision_loader_lib.resnet50"),
        "mobilenet_v2": _loaded("vision_loader_lib.mobilenet_v2"),
        "convnext_tiny": _loaded("vision_loader_lib.convnext_tiny"),
        "vit_base": _loaded("vision_loader_lib.vit_base"),
        "bert_base": _loaded("language_loader_lib.bert_base"),
        "gpt2": _loaded("language_loader_lib.gpt2"),
        "llama_block": _llama_block(1),
        "llama_block_batch_8": _llama_block(8),
    }


def _steps() -> dict[str, Callable[[], Program]]:
    return {
        "gpt2_decode_step": _loaded("language_loader_lib.gpt2_decode_step"),
        "lstm": _loaded("recurrent_loader_lib.lstm"),
        "embedding_bag_mlp": _loaded("recommendation_loader_lib.embedding_bag_mlp"),
        "small_add": _function(lambda x, y: x + y, (4, 3), (3,)),
        "small_chain": _function(_chain, (7, 13)),
        "small_softmax": _layer((3, 10), nn.Softmax, -1),
        "small_mlp": _layer((3, 16), _mlp, 16, 32, 4),
    }


# Of the scores of causal attention, those of later keys are not needed.
_SHARES = {"attention_512_causal": 513 / 1024}

CASES = {
    name: Case(name, group, make, _SHARES.get(name, 1.0))
    for group, programs in (
        (CONTRACTIONS, _contractions()),
        (ROWS, _rows()),
        (ELEMENTWISE, _elementwise()),
        (STENCILS, _stencils()),
        (MEMORY, _memory()),
        (MODELS, _models()),
        (STEPS, _steps()),
    )
    for name, make in programs.items()
}
"""All cases by name, in the order of the table."""


def chosen(patterns: Sequence[str]) -> list[Case]:
    """The cases whose names match any of the patterns, as a shell matches; all for no pattern.

    Raises:
      ValueError: a pattern matches no case.
    """
    for pattern in patterns:
        if not fnmatch.filter(CASES, pattern):
            raise ValueError(f"no case matches {pattern}; there are {', '.join(CASES)}")
    return [
        case
        for name, case in CASES.items()
        if not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]
