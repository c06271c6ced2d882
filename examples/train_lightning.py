# SPDX-License-Identifier: Apache-2.0
"""A Lightning training as people have them; nothing in it is for Ridgeline:

    ridgeline bench --batch-sizes 32,64,128 --num-workers 0,1,2 -- python examples/train_lightning.py --epochs 1
"""
import argparse

import lightning
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


class Classifier(lightning.LightningModule):
    def __init__(self, lr=0.01):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
                                 nn.MaxPool2d(4), nn.Flatten(), nn.Linear(32 * 8 * 8, 10))

    def training_step(self, batch, batch_index):
        images, labels = batch
        return nn.functional.cross_entropy(self.net(images), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=0)
    arguments = parser.parse_args()
    loader = DataLoader(Images(), batch_size=arguments.batch_size, num_workers=arguments.workers, shuffle=True)
    trainer = lightning.Trainer(max_epochs=arguments.epochs, logger=False, enable_checkpointing=False)
    trainer.fit(Classifier(), loader)


if __name__ == "__main__":
    main()
