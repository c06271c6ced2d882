# SPDX-License-Identifier: Apache-2.0
from torch import nn

from .image import Image
from .layers import EncoderBlock, positions
from .options import refuse


class VisionTransformer(nn.Module):
    """Dosovitskiy et al. 2020, with the mean of all tokens in place of a class token."""

    def __init__(self, info, options, request):
        super().__init__()
        self.image = Image(info.name, request.sample)
        self.patch = info.option(options, "patch", 1, 1024)
        width = info.option(options, "width", 1, 1 << 16)
        if self.image.height % self.patch != 0 or self.image.width % self.patch != 0:
            refuse("option patch=%d: images of %dx%d are no whole number of patches; expected a divisor, for example --option patch=4"
                   % (self.patch, self.image.height, self.image.width))
        heads = info.option(options, "heads", 1, 1024)
        if width % heads != 0:
            refuse("option heads=%d: expected a divisor of width %d" % (heads, width))
        depth = info.option(options, "depth", 1, 1000)
        self.rows, self.columns = self.image.height // self.patch, self.image.width // self.patch
        self.embedding = nn.Linear(self.image.channels * self.patch * self.patch, width)
        self.positions = positions(self.rows * self.columns, width)
        self.blocks = nn.ModuleList(EncoderBlock(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, request.outputs)

    def forward(self, batch):
        # Patches as rows of a matrix: the same as a convolution with stride `patch`.
        channels, patch = self.image.channels, self.patch
        patches = self.image.arrange(batch).reshape(-1, channels, self.rows, patch, self.columns, patch)
        patches = patches.permute(0, 2, 4, 1, 3, 5).reshape(-1, self.rows * self.columns, channels * patch * patch)
        x = self.embedding(patches) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))
