# SPDX-License-Identifier: Apache-2.0
"""A plain PyTorch training script, and below it the lines that `ridgeline bench` needs:

    ridgeline bench --python examples/train_pytorch.py:bench --batch-sizes 32,64,128 --num-workers 0,1,2 --devices cpu
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    """Random 3x32x32 images of ten classes, made when asked for."""

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 32, 32, generator=generator), index % 10


def make_model():
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(), nn.Linear(16 * 8 * 8, 10))


def train(epochs=1):
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for images, labels in DataLoader(Images(), batch_size=64, shuffle=True):
            optimizer.zero_grad()
            loss(model(images), labels).backward()
            optimizer.step()


def bench(settings):  # all that Ridgeline needs
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return dict(model=model, optimizer=optimizer, loss=nn.CrossEntropyLoss(), dataset=Images())


if __name__ == "__main__":
    train()
