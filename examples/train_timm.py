# SPDX-License-Identifier: Apache-2.0
"""A training with timm's models, loader and schedule as people have them; nothing in it is for Ridgeline:

    ridgeline bench --batch-sizes 16,32,64 --num-workers 0,1,2 -- python examples/train_timm.py --epochs 1
"""
import argparse

import timm
import timm.data
import timm.optim
import timm.scheduler
import torch
from PIL import Image
from torch import nn
from torch.utils.data import Dataset

SIZE = 64


class Images(Dataset):
    """Images of one colour, ten classes."""

    transform = None  # set by timm's loader

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        image = Image.new("RGB", (SIZE, SIZE), (index % 256, index // 16 % 256, 90))
        return self.transform(image), index % 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--model", default="resnet10t")
    parser.add_argument("-b", "--batch-size", type=int, default=32)
    parser.add_argument("-j", "--workers", type=int, default=1)
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = timm.create_model(arguments.model, num_classes=10).to(device)
    optimizer = timm.optim.create_optimizer_v2(model, opt="sgd", lr=0.01, momentum=0.9)
    loader = timm.data.create_loader(Images(), input_size=(3, SIZE, SIZE), batch_size=arguments.batch_size, is_training=True,
                                     num_workers=arguments.workers, use_prefetcher=device.type == "cuda", device=device)
    schedule = timm.scheduler.CosineLRScheduler(optimizer, t_initial=arguments.epochs)
    for epoch in range(arguments.epochs):
        model.train()
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step(epoch + 1)


if __name__ == "__main__":
    main()
