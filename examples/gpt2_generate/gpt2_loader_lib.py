"""GPT-2, as one step: from a token to the next, with keys and values of those before in a cache."""

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch import nn
from torch.export import Dim

from tools.aot.torch_loader_utils import TorchLoaderOutput

# GPT-2's own: 12 layers of 12 heads of 64, 50257 tokens, 1024 places.
LAYERS, HEADS, HEAD_SIZE, TOKENS, PLACES = 4, 4, 32, 512, 64
SIZE = HEADS * HEAD_SIZE


class Layer(nn.Module):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.attention_norm, self.mlp_norm = nn.LayerNorm(SIZE), nn.LayerNorm(SIZE)
        self.query_key_value = nn.Linear(SIZE, 3 * SIZE)
        self.attention_out = nn.Linear(SIZE, SIZE)
        self.mlp_in, self.mlp_out = nn.Linear(SIZE, 4 * SIZE), nn.Linear(4 * SIZE, SIZE)

    def forward(
        self, x: torch.Tensor, place: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """X is [SIZE], place [1], keys and values are [LAYERS, PLACES, HEADS, HEAD_SIZE]."""
        own = self.query_key_value(self.attention_norm(x)).reshape(3, HEADS, HEAD_SIZE)
        here = torch.tensor([self.number]), place
        keys.index_put_(here, own[1:2])
        values.index_put_(here, own[2:3])
        mixed = F.scaled_dot_product_attention(
            own[0].unsqueeze(1),
            keys[self.number].transpose(0, 1),
            values[self.number].transpose(0, 1),
            attn_mask=torch.arange(PLACES) <= place,
        )
        x = torch.add(x, self.attention_out(mixed.reshape(SIZE)))
        inner = F.gelu(self.mlp_in(self.mlp_norm(x)), approximate="tanh")
        return torch.add(x, self.mlp_out(inner))


class GPT2Step(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(TOKENS, SIZE)
        self.place_embedding = nn.Embedding(PLACES, SIZE)
        self.layers = nn.ModuleList(Layer(number) for number in range(LAYERS))
        self.norm = nn.LayerNorm(SIZE)
        for embedding in (self.token_embedding, self.place_embedding):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(
        self, token: int, position: int, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """The score of each token to be the next, [TOKENS]."""
        place = torch.full((1,), position)
        x = self.token_embedding(torch.full((), token)) + self.place_embedding(place)[0]
        for layer in self.layers:
            x = layer(x, place, keys, values)
        # The scores are by the tokens' own vectors.
        return torch.matmul(self.token_embedding.weight, self.norm(x))


def gpt2_step_loader() -> TorchLoaderOutput:
    """A step in the middle of a text, of random weights."""
    cache = (LAYERS, PLACES, HEADS, HEAD_SIZE)
    return TorchLoaderOutput(
        model=GPT2Step().eval(),
        inputs=(17, 5, torch.randn(cache), torch.randn(cache)),
        dynamic_shapes={
            "token": Dim.DYNAMIC,
            "position": Dim.DYNAMIC,
            "keys": None,
            "values": None,
        },
        mutable=["keys", "values"],
    )
