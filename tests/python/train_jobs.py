# SPDX-License-Identifier: Apache-2.0
"""What tests of ridgeline_train share: the pretended torch (tests/fakes/faketorch) and a job's specification."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FAKE = os.path.join(ROOT, "tests", "fakes", "faketorch")
sys.path[:0] = [FAKE, os.path.join(ROOT, "python")]

import torch  # noqa: E402  the pretended one
from torch.utils.data import Dataset  # noqa: E402


def made(settings, **changes):
    out = dict(model=torch.Module(), optimizer=torch.Optimizer(), loss=lambda output, target: torch.Tensor(),
               loader=lambda now: [(torch.Tensor(), torch.Tensor())] * 3)
    out.update(changes)
    return out


def spec(data="loader", device="cuda:0", **settings):
    chosen = dict(batch=8, workers=0, amp="off", pin_memory=False)
    chosen.update(settings)
    return {"job": {"target": "x:y", "seed": 3, "options": {"depth": "3"}}, "settings": chosen, "device": device, "data": data}


def pair(samples, *rest):
    return torch.Tensor(shape=(samples,) + rest), torch.Tensor(shape=(samples,))


class Samples(Dataset):
    def __init__(self, make=lambda index: (torch.Tensor(shape=(4,)), index % 2)):
        self.make = make

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return self.make(index)
