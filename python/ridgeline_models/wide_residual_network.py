# SPDX-License-Identifier: Apache-2.0
from torch import nn

from .image import Image
from .layers import BatchNorm, Conv
from .options import refuse

FIRST = 16  # channels


class _Block(nn.Module):
    """Zagoruyko and Komodakis 2016: normalized and activated before each convolution."""

    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.first_norm = BatchNorm(channels_in)
        self.first = Conv(channels_in, channels, 3, stride)
        self.second_norm = BatchNorm(channels)
        self.second = Conv(channels, channels, 3)
        self.shortcut = Conv(channels_in, channels, 1, stride) if stride != 1 or channels_in != channels else None

    def forward(self, x):
        active = self.first_norm(x).relu_()
        y = self.second(self.second_norm(self.first(active)).relu_())
        return y + (x if self.shortcut is None else self.shortcut(active))


class WideResidualNetwork(nn.Module):
    def __init__(self, info, options, request):
        super().__init__()
        self.image = Image(info.name, request.sample)
        depth = info.option(options, "depth", 10, 1000)
        width = info.option(options, "width", 1, 256)
        if (depth - 4) % 6 != 0:
            refuse("option depth=%d: a wide residual network has 6 n + 4 layers, for example 16, 22 or 28" % depth)
        self.stem = Conv(self.image.channels, FIRST, 3)
        self.blocks = nn.ModuleList()
        channels_in = FIRST
        for stage in range(3):
            for i in range((depth - 4) // 6):
                channels = FIRST * width << stage
                self.blocks.append(_Block(channels_in, channels, 2 if stage > 0 and i == 0 else 1))
                channels_in = channels
        self.norm = BatchNorm(channels_in)
        self.head = nn.Linear(channels_in, request.outputs)

    def forward(self, batch):
        x = self.stem(self.image.arrange(batch))
        for block in self.blocks:
            x = block(x)
        return self.head(nn.functional.adaptive_avg_pool2d(self.norm(x).relu_(), 1).flatten(1))
