# SPDX-License-Identifier: Apache-2.0
import math

import torch
from torch import nn


class Mlp(nn.Module):
    """Fully connected layers with ReLU."""

    def __init__(self, info, options, request):
        super().__init__()
        depth = info.option(options, "depth", 1, 1000)
        hidden = info.option(options, "hidden", 1, 1 << 20)
        widths = [math.prod(request.sample)] + [hidden] * depth
        self.hidden = nn.ModuleList(nn.Linear(*pair) for pair in zip(widths, widths[1:]))
        self.head = nn.Linear(hidden, request.outputs)

    def forward(self, x):
        x = x.flatten(1)
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.head(x)
