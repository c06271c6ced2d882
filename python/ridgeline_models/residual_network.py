# SPDX-License-Identifier: Apache-2.0
import torch
from torch import nn

from .image import Image
from .layers import BatchNorm, Conv

FIRST = 64  # channels


class _Block(nn.Module):
    """He et al. 2015: two 3x3 convolutions, or 1x1, 3x3 and 1x1 with four times the channels."""

    def __init__(self, channels_in, channels, stride, bottleneck):
        super().__init__()
        out = 4 * channels if bottleneck else channels
        if bottleneck:
            shapes = ((channels_in, channels, 1, 1), (channels, channels, 3, stride), (channels, out, 1, 1))
        else:
            shapes = ((channels_in, channels, 3, stride), (channels, channels, 3, 1))
        self.convolutions = nn.ModuleList(Conv(*shape) for shape in shapes)
        self.norms = nn.ModuleList(BatchNorm(shape[1]) for shape in shapes)
        self.shortcut = self.shortcut_norm = None
        if stride != 1 or channels_in != out:
            self.shortcut = Conv(channels_in, out, 1, stride)
            self.shortcut_norm = BatchNorm(out)

    def forward(self, x):
        y = x
        last = len(self.convolutions) - 1
        for i, (convolution, norm) in enumerate(zip(self.convolutions, self.norms)):
            y = norm(convolution(y))
            if i < last:
                y = y.relu_()
        return y.add_(x if self.shortcut is None else self.shortcut_norm(self.shortcut(x))).relu_()


class ResidualNetwork(nn.Module):
    BLOCKS = {"resnet18": ((2, 2, 2, 2), False), "resnet50": ((3, 4, 6, 3), True)}

    def __init__(self, info, _options, request):
        super().__init__()
        blocks, bottleneck = self.BLOCKS[info.name]
        self.image = Image(info.name, request.sample)
        self.stem = Conv(self.image.channels, FIRST, 7, 2)
        self.stem_norm = BatchNorm(FIRST)
        self.blocks = nn.ModuleList()
        channels_in = FIRST
        for stage, count in enumerate(blocks):
            channels = FIRST << stage
            for i in range(count):
                self.blocks.append(_Block(channels_in, channels, 2 if stage > 0 and i == 0 else 1, bottleneck))
                channels_in = 4 * channels if bottleneck else channels
        self.head = nn.Linear(channels_in, request.outputs)

    def forward(self, batch):
        x = torch.max_pool2d(self.stem_norm(self.stem(self.image.arrange(batch))).relu_(), 3, 2, 1)
        for block in self.blocks:
            x = block(x)
        return self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))
