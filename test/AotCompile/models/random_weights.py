"""Weights of models that are defined by their configuration alone."""

import math

import torch
from transformers.pytorch_utils import Conv1D

_SPREAD = 0.1


def draw_weights(model: torch.nn.Module) -> None:
    """Gives `model` random weights at which a mistake anywhere in it shows, in place.

    The ones that definitions draw are made for training. At 0.02 each, attention in a narrow model
    is even to the last digit of its output; biases of 0, scales of 1, and the statistics 0 and 1 of
    batch norms hide whether they are used. Here the products of matrices keep the scale of what
    goes in, and what is one number throughout moves away from it, by less than its value, so that
    variances stay positive.
    """
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.Linear | torch.nn.Conv2d | torch.nn.Embedding):
                module.weight.normal_(std=1 / math.sqrt(module.weight[0].numel()))
            elif isinstance(module, Conv1D):
                # GPT-2's layers keep their weights transposed.
                module.weight.normal_(std=1 / math.sqrt(module.weight.shape[0]))
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point() and tensor.numel() > 1 and tensor.min() == tensor.max():
                tensor.add_(torch.empty_like(tensor).uniform_(-_SPREAD, _SPREAD))
