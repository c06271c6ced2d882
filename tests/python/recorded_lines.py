# SPDX-License-Identifier: Apache-2.0
"""A program that launches kernels as far as a recorder can see: the driver's part is here, and the stand-in for CUPTI has the launches."""
import ctypes
import os
import threading

import torch
from torch import nn

cupti = ctypes.CDLL(os.environ["RIDGELINE_TEST_CUPTI"])
if "CUDA_INJECTION64_PATH" in os.environ:
    ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection()
numbers = iter(range(1, 10**6))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        for _ in range(2):
            cupti.fake_cupti_launch(b"softmax", 7, next(numbers))  # softmax
        helper()
        return self.linear(x)


def helper():
    cupti.fake_cupti_launch(b"add", 7, next(numbers)), cupti.fake_cupti_launch(b"mul", 7, next(numbers))  # helper


def train():
    model = Model()
    for _ in range(3):
        model(torch.ones(1, 2)).sum().backward()
        cupti.fake_cupti_launch(b"add", 7, next(numbers))  # loop


def work():
    for _ in range(5):
        cupti.fake_cupti_launch(b"copy", 8, next(numbers))  # thread


with torch.enable_grad():
    train()
thread = threading.Thread(target=work)
thread.start()
thread.join()
print("done")
