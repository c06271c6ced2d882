# SPDX-License-Identifier: Apache-2.0
import torch
from torch import nn

from .image import Image
from .options import refuse, shape_text


def _row(nodes, reach):
    """(from, to) of nodes in a row that are at most `reach` apart."""
    for node in range(nodes):
        for other in range(node + 1, min(node + reach, nodes - 1) + 1):
            yield node, other
            yield other, node


def _grid(image, diagonals):
    steps = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dx != 0) != (dy != 0) or (diagonals and dx != 0 and dy != 0)]
    for y in range(image.height):
        for x in range(image.width):
            for dy, dx in steps:
                if 0 <= y + dy < image.height and 0 <= x + dx < image.width:
                    yield (y + dy) * image.width + x + dx, y * image.width + x


class MessagePassing(nn.Module):
    """Message passing (Gilmer et al. 2017) on a graph that all samples share: the pixels of an image and their neighbours, or nodes
    in a row (axes nodes, features). A message is relu(A [from, to]), a node's update x + B relu(C [x, sum of messages]); the mean of
    all nodes is the answer."""

    def __init__(self, info, options, request):
        super().__init__()
        self.width = info.option(options, "hidden", 1, 1 << 16)
        depth = info.option(options, "depth", 1, 1000)
        neighbours = info.option(options, "neighbours", 1, 64)
        sample = request.sample
        if len(sample) not in (2, 3):
            refuse("model %s: samples of %s are no graph; expected channels, height and width, or nodes and features"
                   % (info.name, shape_text(sample)))
        self.image = None
        if len(sample) == 3:
            self.image = Image(info.name, sample)
            features, self.nodes = self.image.channels, self.image.height * self.image.width
            if neighbours not in (4, 8):
                refuse("option neighbours=%d: expected 4 or 8 on a grid" % neighbours)
            links = list(_grid(self.image, neighbours == 8))
        else:
            self.nodes, features = sample
            links = list(_row(self.nodes, (neighbours + 1) // 2))
        if not links:
            refuse("model %s: samples of %s have one node only" % (info.name, shape_text(sample)))
        self.register_buffer("sources", torch.tensor([link[0] for link in links]))
        self.register_buffer("targets", torch.tensor([link[1] for link in links]))
        self.encoder = nn.Linear(features, self.width)
        self.messages = nn.ModuleList(nn.Linear(2 * self.width, self.width) for _ in range(depth))
        self.updates = nn.ModuleList(nn.Linear(2 * self.width, self.width) for _ in range(depth))
        self.outputs = nn.ModuleList(nn.Linear(self.width, self.width) for _ in range(depth))
        self.head = nn.Linear(self.width, request.outputs)

    def forward(self, batch):
        nodes = batch if self.image is None else self.image.arrange(batch).flatten(2).transpose(1, 2)
        x = torch.relu(self.encoder(nodes))
        for message, update, output in zip(self.messages, self.updates, self.outputs):
            ends = torch.cat((x.index_select(1, self.sources), x.index_select(1, self.targets)), -1)
            messages = torch.relu(message(ends))
            received = messages.new_zeros((x.shape[0], self.nodes, self.width)).index_add(1, self.targets, messages)
            x = x + output(torch.relu(update(torch.cat((x, received.to(x.dtype)), -1))))
        return self.head(x.mean(1))
