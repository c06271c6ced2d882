# SPDX-License-Identifier: Apache-2.0
"""A program that runs until standard input ends, with kernels as far as a recorder can see. It ends with 5, or with 6 if torch is not as it was
at the start.

    idle_service.py training|inference [--fork]"""
import ctypes
import os
import sys
import threading
import time

import torch
from torch import nn

cupti = ctypes.CDLL(os.environ["RIDGELINE_TEST_CUPTI"], ctypes.RTLD_GLOBAL)  # it has the driver's functions, too
numbers = iter(range(1, 10**9))


def launch(name):
    cupti.fake_cupti_launch(name, 7, next(numbers))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        launch(b"block")
        time.sleep(0.005)  # most of the time a recording begins within a call
        return self.linear(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block(), Block())

    def forward(self, x):
        launch(b"stem")
        return self.blocks(x)


def replaced():
    tensor = torch.Tensor
    return {"call": nn.Module.__call__, "backward": torch.autograd.backward, "grad": torch.autograd.grad, "step": torch.optim.SGD.step,
            "item": tensor.item, "own item": vars(tensor).get("item"), "bool": vars(tensor).get("__bool__"),
            "next": torch.utils.data.dataloader._BaseDataLoaderIter.__next__, "synchronize": torch.cuda.synchronize,
            "hooks": len(getattr(sys.modules["torch.optim.optimizer"], "_global_optimizer_pre_hooks", ()))}


def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    # It wraps the optimizer's step, which no change of the class reaches afterwards; hooks of torch 2 do.
    has_hooks = hasattr(sys.modules["torch.optim.optimizer"], "register_optimizer_step_pre_hook")
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1) if has_hooks else None
    while True:
        loss = model(torch.ones(2, 8)).sum()
        loss.backward()
        launch(b"optimizer")
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        optimizer.zero_grad()
        yield


def infer(model):
    model.eval()
    while True:
        with torch.no_grad():
            model(torch.ones(2, 8))
        yield


ends = threading.Event()


def wait():
    sys.stdin.read()
    ends.set()


torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1)  # torch changes the class of the first
before = replaced()
ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection()
threading.Thread(target=wait, daemon=True).start()
child = os.fork() if "--fork" in sys.argv else None
if child == 0:
    os.read(0, 1)
    os._exit(0)
print("ready", child or "", flush=True)
steps = {"training": train, "inference": infer}[sys.argv[1]](Model())
while not ends.is_set():
    next(steps)
time.sleep(0.2)
after = replaced()
print([name for name in before if after[name] != before[name]], flush=True)
sys.exit(5 if after == before else 6)
