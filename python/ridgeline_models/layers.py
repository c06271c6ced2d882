# SPDX-License-Identifier: Apache-2.0
"""Layers that several models share, by the operators that the plug-in calls: torch's own modules for convolution and batch
normalization do more per step."""

import math

import torch
from torch import nn


class Conv(nn.Module):
    """Square kernel, no bias: a normalization follows."""

    def __init__(self, channels_in, channels_out, kernel, stride=1):
        super().__init__()
        self.stride = stride
        self.padding = kernel // 2
        deviation = math.sqrt(2.0 / (channels_out * kernel * kernel))
        self.weight = nn.Parameter(torch.randn(channels_out, channels_in, kernel, kernel) * deviation)

    def forward(self, x):
        return torch.conv2d(x, self.weight, None, self.stride, self.padding)


class BatchNorm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))

    def forward(self, x):
        return torch.batch_norm(x, self.weight, self.bias, self.mean, self.variance, True, 0.1, 1e-5, True)


def positions(count, width):
    return nn.Parameter(torch.randn(1, count, width) * 0.02)


def _attention(queries, keys, values):
    fused = getattr(nn.functional, "scaled_dot_product_attention", None)
    if fused is not None:  # torch 2.0 and later
        return fused(queries, keys, values)
    scale = 1 / math.sqrt(queries.shape[-1])
    return torch.matmul(torch.softmax(torch.matmul(queries * scale, keys.transpose(-2, -1)), -1), values)


class EncoderBlock(nn.Module):
    """One block of a transformer's encoder, normalized first: attention over all tokens, then two layers with GELU."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.before_mlp = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        parts = self.queries_keys_values(self.before_attention(x)).view(batch, tokens, 3, self.heads, width // self.heads)
        mixed = _attention(*parts.permute(2, 0, 3, 1, 4).unbind(0))
        attended = x + self.projection(mixed.transpose(1, 2).reshape(batch, tokens, width))
        return attended + self.down(nn.functional.gelu(self.up(self.before_mlp(attended))))
