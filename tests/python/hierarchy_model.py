"""Exports a small network with a hierarchy: a stem, residual blocks and transformer layers.

    hierarchy_model.py OUT.onnx
"""
import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(x + self.bn2(self.conv2(y)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 7, stride=2, padding=3), nn.ReLU(), nn.MaxPool2d(2))
        self.backbone = nn.Sequential(*[Block(32) for _ in range(4)])
        self.project = nn.Linear(32, 64)
        self.encoder = nn.ModuleList([nn.TransformerEncoderLayer(64, 4, 256, batch_first=True) for _ in range(2)])
        self.head = nn.Linear(64, 100)

    def forward(self, x):
        x = self.backbone(self.stem(x))
        x = self.project(nn.functional.adaptive_avg_pool2d(x, 14).flatten(2).transpose(1, 2))
        for layer in self.encoder:
            x = layer(x)
        return self.head(x.mean(1))


if __name__ == "__main__":
    torch.manual_seed(0)
    # The exporter that names nodes by their modules' attributes; since 2.5 it has to be asked for.
    by_attributes = {"dynamo": False} if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 5) else {}
    torch.onnx.export(Net().eval(), torch.randn(1, 3, 224, 224), sys.argv[1], input_names=["x"], output_names=["y"],
                      opset_version=14, **by_attributes)
