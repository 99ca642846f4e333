"""Loader functions of models of text: the full ones, and small ones of the same definition."""

from typing import cast

import torch
from torch.export import Dim
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    DynamicCache,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    PreTrainedModel,
    T5Config,
    T5EncoderModel,
)

from test.AotCompile.models.random_weights import draw_weights
from tools.aot.torch_loader_utils import TorchLoaderOutput

# Where PyTorch itself is off against float64 by half of the default tolerance or more, the two may
# differ by so many times that. The benchmark measures it.
_SLACK = 4


class _LastHiddenState(torch.nn.Module):
    """The states of an encoder's last layer, out of what it returns."""

    def __init__(self, encoder: PreTrainedModel) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        output = self.encoder(input_ids, attention_mask=attention_mask)
        return cast("torch.Tensor", output.last_hidden_state)


def _encoder(
    model: PreTrainedModel, sequence: int, *, batch: int = 1, dynamic: bool = False
) -> TorchLoaderOutput:
    draw_weights(model)
    tokens = torch.randint(0, model.config.vocab_size, (batch, sequence))
    # Texts of different lengths, padded at the end.
    lengths = torch.linspace(0.75, 1.0, batch) * sequence
    mask = (torch.arange(sequence) < lengths[:, None]).to(torch.int64)
    sizes = {0: Dim("batch"), 1: Dim("sequence", max=sequence * 4)}
    return TorchLoaderOutput(
        model=_LastHiddenState(model).eval(),
        inputs=(tokens, mask),
        dynamic_shapes={"input_ids": sizes, "attention_mask": sizes} if dynamic else None,
    )


def bert_base_loader() -> TorchLoaderOutput:
    """BERT-base, which is what the configuration is by default, over 128 tokens."""
    return _encoder(BertModel(BertConfig(), add_pooling_layer=False), sequence=128)


def bert_small_loader() -> TorchLoaderOutput:
    """Two layers over twelve tokens."""
    config = BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
    )
    return _encoder(BertModel(config, add_pooling_layer=False), sequence=12, batch=2)


def distilbert_loader() -> TorchLoaderOutput:
    """DistilBERT, which is what the configuration is by default, over 128 tokens."""
    return _encoder(DistilBertModel(DistilBertConfig()), sequence=128)


_SMALL_DISTILBERT = DistilBertConfig(
    vocab_size=50, dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=64
)


def distilbert_small_loader() -> TorchLoaderOutput:
    """Two layers over twelve tokens."""
    return _encoder(DistilBertModel(_SMALL_DISTILBERT), sequence=12, batch=2)


def distilbert_small_dynamic_loader() -> TorchLoaderOutput:
    """The same over any number of texts of any length."""
    return _encoder(DistilBertModel(_SMALL_DISTILBERT), sequence=12, batch=2, dynamic=True)


class _DecoderLogits(torch.nn.Module):
    """The scores of the next token at each place, out of what a decoder returns."""

    def __init__(self, decoder: PreTrainedModel) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return cast("torch.Tensor", self.decoder(input_ids, use_cache=False).logits)


class _DecodeStep(torch.nn.Module):
    """One token after a text whose keys and values, layer by layer, are given and returned."""

    def __init__(self, decoder: PreTrainedModel) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(
        self, input_ids: torch.Tensor, *keys_and_values: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        layers = list(zip(keys_and_values[::2], keys_and_values[1::2], strict=True))
        output = self.decoder(input_ids, past_key_values=DynamicCache(layers), use_cache=True)
        after = (
            tensor
            for layer in output.past_key_values.layers
            for tensor in (layer.keys, layer.values)
        )
        return output.logits, *after


def _decoder(
    model: PreTrainedModel, sequence: int, *, batch: int = 1, dynamic: bool = False
) -> TorchLoaderOutput:
    draw_weights(model)
    tokens = torch.randint(0, model.config.vocab_size, (batch, sequence))
    sizes = {0: Dim("batch"), 1: Dim("sequence", min=2, max=sequence * 4)}
    return TorchLoaderOutput(
        model=_DecoderLogits(model).eval(),
        inputs=(tokens,),
        dynamic_shapes={"input_ids": sizes} if dynamic else None,
    )


def _decode_step(
    model: PreTrainedModel, past: int, heads: int, head_size: int, *, dynamic: bool = False
) -> TorchLoaderOutput:
    draw_weights(model)
    token = torch.randint(0, model.config.vocab_size, (1, 1))
    tensors = 2 * model.config.num_hidden_layers
    cache = tuple(torch.randn(1, heads, past, head_size) for _ in range(tensors))
    sizes = {2: Dim("past", min=1, max=past * 4)}
    return TorchLoaderOutput(
        model=_DecodeStep(model).eval(),
        inputs=(token, *cache),
        dynamic_shapes=({}, (sizes,) * tensors) if dynamic else None,
    )


def gpt2_loader() -> TorchLoaderOutput:
    """GPT-2 small, which is what the configuration is by default, over 64 tokens."""
    return _decoder(GPT2LMHeadModel(GPT2Config()), sequence=64)


def gpt2_decode_step_loader() -> TorchLoaderOutput:
    """The 65th token of GPT-2 small."""
    output = _decode_step(GPT2LMHeadModel(GPT2Config()), past=64, heads=12, head_size=64)
    output.atol = _SLACK * 1.0e-5  # Plumbline is off by 1.1e-5.
    return output


_SMALL_GPT2 = GPT2Config(
    vocab_size=50,
    n_positions=64,
    n_embd=16,
    n_layer=2,
    n_head=2,
    bos_token_id=0,
    eos_token_id=0,
)


def gpt2_small_loader() -> TorchLoaderOutput:
    """Two layers over ten tokens."""
    return _decoder(GPT2LMHeadModel(_SMALL_GPT2), sequence=10)


def gpt2_small_decode_step_loader() -> TorchLoaderOutput:
    """One token more of the same, after a text of any length."""
    return _decode_step(GPT2LMHeadModel(_SMALL_GPT2), past=10, heads=2, head_size=8, dynamic=True)


def llama_loader() -> TorchLoaderOutput:
    """Two layers of TinyLlama-1.1B's sizes, over 64 tokens."""
    config = LlamaConfig(
        num_hidden_layers=2,
        hidden_size=2048,
        intermediate_size=5632,
        num_attention_heads=32,
        num_key_value_heads=4,
        vocab_size=32000,
    )
    output = _decoder(LlamaForCausalLM(config), sequence=64)
    output.atol = _SLACK * 6.2e-6  # Plumbline is off by 6.1e-6.
    return output


_SMALL_LLAMA = LlamaConfig(
    num_hidden_layers=2,
    hidden_size=16,
    intermediate_size=40,
    num_attention_heads=4,
    num_key_value_heads=2,
    vocab_size=50,
    max_position_embeddings=64,
)


def llama_small_loader() -> TorchLoaderOutput:
    """Two small layers over ten tokens."""
    return _decoder(LlamaForCausalLM(_SMALL_LLAMA), sequence=10)


def llama_small_dynamic_loader() -> TorchLoaderOutput:
    """The same over any number of texts of any length."""
    return _decoder(LlamaForCausalLM(_SMALL_LLAMA), sequence=10, batch=2, dynamic=True)


def mixtral_small_dynamic_loader() -> TorchLoaderOutput:
    """A mixture of four experts, of which two answer, in each of two small layers."""
    config = MixtralConfig(
        num_hidden_layers=2,
        hidden_size=16,
        intermediate_size=40,
        num_attention_heads=4,
        num_key_value_heads=2,
        num_local_experts=4,
        num_experts_per_tok=2,
        vocab_size=50,
        max_position_embeddings=64,
    )
    return _decoder(MixtralForCausalLM(config), sequence=10, batch=2, dynamic=True)


def t5_encoder_block_loader() -> TorchLoaderOutput:
    """One block of T5-base with its embeddings and relative positions, over 128 tokens."""
    config = T5Config(num_layers=1, d_model=768, d_ff=3072, num_heads=12)
    output = _encoder(T5EncoderModel(config), sequence=128)
    output.atol = _SLACK * 9.7e-6  # Plumbline is off by 1.1e-5.
    return output


def t5_encoder_block_small_loader() -> TorchLoaderOutput:
    """One small block over twelve tokens."""
    config = T5Config(num_layers=1, vocab_size=50, d_model=16, d_kv=8, d_ff=32, num_heads=2)
    return _encoder(T5EncoderModel(config), sequence=12, batch=2)
