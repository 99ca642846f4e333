"""Loader functions of models of speech: the full ones, and small ones of the same definition."""

import torch
from transformers import WhisperConfig
from transformers.models.whisper.modeling_whisper import WhisperEncoderLayer

from test.AotCompile.models.random_weights import draw_weights
from tools.aot.torch_loader_utils import TorchLoaderOutput


class _HiddenStates(torch.nn.Module):
    """An encoder's layer over frames none of which is masked."""

    def __init__(self, layer: WhisperEncoderLayer) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        output = self.layer(hidden_states, attention_mask=None)
        return output if isinstance(output, torch.Tensor) else output[0]


def _whisper_encoder_block(config: WhisperConfig, frames: int) -> TorchLoaderOutput:
    config._attn_implementation = "sdpa"
    model = _HiddenStates(WhisperEncoderLayer(config)).eval()
    draw_weights(model)
    return TorchLoaderOutput(model=model, inputs=(torch.randn(1, frames, config.d_model),))


def whisper_encoder_block_loader() -> TorchLoaderOutput:
    """One block of Whisper-small, over the 1500 frames of half a minute."""
    config = WhisperConfig(d_model=768, encoder_attention_heads=12, encoder_ffn_dim=3072)
    return _whisper_encoder_block(config, frames=1500)


def whisper_encoder_block_small_loader() -> TorchLoaderOutput:
    """One small block over 20 frames."""
    config = WhisperConfig(d_model=16, encoder_attention_heads=2, encoder_ffn_dim=32)
    return _whisper_encoder_block(config, frames=20)
