# SPDX-License-Identifier: Apache-2.0
"""The losses of a trial's first steps, and the random numbers that make two trials comparable."""

import math
import random
import sys

from .messages import message


def seed_all(torch, seed):
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


class FiniteLosses:
    """From which step on no loss is a finite number. Losses are kept and looked at between windows of steps: within a step that would wait
    for a GPU."""

    def __init__(self):
        self._unseen = []
        self._steps = 0
        self._lost_at = None  # step, from 1 on
        self._lost = 0        # steps, all together
        self._is_known = True

    def add(self, loss):
        self._unseen.append(loss.detach())

    def look(self):
        """Not within a timed step."""
        unseen, self._unseen = self._unseen, []
        if not unseen or not self._is_known:
            return
        try:
            finite = [math.isfinite(float(one.float().mean())) for one in unseen]
        except RuntimeError:  # a CUDA graph has written over them
            self._is_known = False
            return
        for is_finite in finite:
            self._steps += 1
            self._lost += not is_finite
            if is_finite:
                self._lost_at = None
            elif self._lost_at is None:
                self._lost_at = self._steps

    def facts(self):
        return {"lost_at_step": self._lost_at} if self._is_known and self._lost_at is not None else {}

    def notes(self):
        """{code: message} if losses were lost and came back."""
        if not self._is_known or self._lost_at is not None or not self._lost:
            return {}
        return {"loss_came_back": message("loss_came_back", lost=self._lost, steps=self._steps)}


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
