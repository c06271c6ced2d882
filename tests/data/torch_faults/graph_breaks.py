# SPDX-License-Identifier: Apache-2.0
"""A print in the middle of the model, which no compiler takes in."""
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(64, 64)
        self.second = torch.nn.Linear(64, 64)

    def forward(self, x):
        x = torch.relu(self.first(x))
        print("half way")
        return self.second(x)


def make():
    torch.manual_seed(1)
    return Net().eval(), torch.randn(4, 64)
