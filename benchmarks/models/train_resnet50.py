# SPDX-License-Identifier: Apache-2.0
"""torchvision's ResNet-50 on random images of 3x224x224, stored as bytes and normalised sample by sample:

    ridgeline bench --python benchmarks/models/train_resnet50.py:bench --amp both
"""
import numpy
import torch
import torchvision
from torch import nn
from torch.utils.data import Dataset
from torchvision.transforms import v2


class Images(Dataset):
    def __init__(self):
        self.images = numpy.random.default_rng(1).integers(256, size=(256, 3, 224, 224), dtype=numpy.uint8)
        self.transform = v2.Compose([v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True),
                                     v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])

    def __len__(self):
        return 50000

    def __getitem__(self, index):
        return self.transform(torch.from_numpy(self.images[index % len(self.images)])), index % 1000


def bench(settings):
    model = torchvision.models.resnet50()
    return dict(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
                loss=nn.CrossEntropyLoss(), dataset=Images())
