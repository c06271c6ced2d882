# SPDX-License-Identifier: Apache-2.0
import math

import torch
from torch import nn

from .layers import EncoderBlock, positions
from .options import refuse, shape_text


class Transformer(nn.Module):
    """An encoder over a sequence: of vectors (axes length, features), or of token numbers (one axis, integers)."""

    def __init__(self, info, options, request):
        super().__init__()
        self.vocabulary = info.option(options, "vocabulary", 1, 1 << 24)
        width = info.option(options, "hidden", 1, 1 << 16)
        heads = info.option(options, "heads", 1, 1024)
        if width % heads != 0:
            refuse("option heads=%d: expected a divisor of hidden %d" % (heads, width))
        sample = request.sample
        self.takes_tokens = request.integers and len(sample) == 1
        if not self.takes_tokens and len(sample) < 2:
            refuse("model %s: samples of %s are no sequences; expected length and features, for example 128x64, or integers for tokens"
                   % (info.name, shape_text(sample)))
        if self.takes_tokens:
            self.table = nn.Parameter(torch.randn(self.vocabulary, width) * 0.02)
        else:
            self.embedding = nn.Linear(math.prod(sample[1:]), width)
        self.positions = positions(sample[0], width)
        depth = info.option(options, "depth", 1, 1000)
        self.blocks = nn.ModuleList(EncoderBlock(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, request.outputs)

    def forward(self, batch):
        # A number outside the vocabulary would stop a GPU for good: it wraps around instead.
        x = nn.functional.embedding(batch.remainder(self.vocabulary), self.table) if self.takes_tokens else self.embedding(batch.flatten(2))
        x = x + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))
