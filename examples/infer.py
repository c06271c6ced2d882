# SPDX-License-Identifier: Apache-2.0
"""A small image classifier, and below it the function with which Ridgeline tunes its inference."""
import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def block(channels_in, channels_out):
    return nn.Sequential(nn.Conv2d(channels_in, channels_out, 3, stride=2, padding=1), nn.BatchNorm2d(channels_out), nn.ReLU())


def classifier():
    return nn.Sequential(block(3, 32), block(32, 64), block(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))


def make():  # all that Ridgeline needs
    model = classifier().eval().to(DEVICE)
    image = torch.randn(1, 3, 96, 96, device=DEVICE)
    return model, image


if __name__ == "__main__":
    net, picture = make()
    with torch.inference_mode():
        print("class", int(net(picture).argmax()))
