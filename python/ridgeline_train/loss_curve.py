# SPDX-License-Identifier: Apache-2.0
"""The losses of a trial's first steps, and the random numbers that make two trials comparable."""

import math
import random
import sys


def seed_all(torch, seed):
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


class LossCurve:
    """`most`: losses to keep, from the first step on; 0: none."""

    def __init__(self, most=0):
        self._most = most
        self._kept = []

    def is_wanted(self):
        return self._most > 0

    def add(self, loss):
        if len(self._kept) < self._most:
            self._kept.append(loss.detach())

    def facts(self):
        """{"losses": [..]} up to the first that is no finite number, whose step (1, 2 ..) is "lost_at_step"."""
        if not self._most:
            return {}
        values = [float(one.float().mean()) for one in self._kept]
        for number, value in enumerate(values):
            if not math.isfinite(value):
                return {"losses": values[:number], "lost_at_step": number + 1}
        return {"losses": values}
